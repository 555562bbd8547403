package safehaven

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/providertest"
)

// The plug sends what Safe Haven's documentation describes, and reads what it shows.
func TestDocumentedExchanges(t *testing.T) {
	token := map[string]string{"/oauth2/token": `{"access_token":"token-1","token_type":"Bearer","expires_in":2399,"ibs_client_id":"ibs-1"}`}
	providertest.Play(t, "testdata/documented", token, func(t *testing.T, url string) providertest.Calls {
		p, err := New(Config{
			ClientConfig: provider.ClientConfig{BaseURL: url, PayDeadline: 5 * time.Second, ReadDeadline: 5 * time.Second},
			ClientID:     "oauth-1", PrivateKeyPEM: keyPEM(), Issuer: "https://us.example.test", DebitAccount: "0100000001",
		}, clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)))
		if err != nil {
			t.Fatal(err)
		}
		calls := sales(p)
		for name, call := range transfers(p) {
			calls[name] = call
		}
		return calls
	})
}

func sales(p *Plug) providertest.Calls {
	return providertest.Calls{
		"pay":      providertest.Call(p.Pay),
		"requery":  providertest.Call(p.Requery),
		"verify":   providertest.Call(p.VerifyEntity),
		"services": providertest.CallOr(func(ctx context.Context, _ struct{}) ([]provider.Service, error) { return p.Services(ctx) }),
		"categories": providertest.CallOr(func(ctx context.Context, in struct{ Service string }) ([]provider.Category, error) {
			return p.Categories(ctx, in.Service)
		}),
		"products": providertest.CallOr(func(ctx context.Context, in struct {
			Kind     provider.ServiceKind
			Category string
		},
		) ([]provider.Product, error) {
			return p.Products(ctx, in.Kind, in.Category)
		}),
	}
}

type byReference struct{ Reference string }

func transfers(p *Plug) providertest.Calls {
	return providertest.Calls{
		"transfer": providertest.Call(p.Transfer),
		"requeryTransfer": providertest.Call(func(ctx context.Context, in byReference) provider.TransferAnswer {
			return p.RequeryTransfer(ctx, in.Reference)
		}),
		"name": providertest.Call(func(ctx context.Context, in struct{ Bank, Account string }) provider.NameAnswer {
			return p.NameEnquiry(ctx, in.Bank, in.Account)
		}),
		"banks":           providertest.CallOr(func(ctx context.Context, _ struct{}) ([]provider.BankCode, error) { return p.Banks(ctx) }),
		"startIdentity":   providertest.Call(p.Start),
		"confirmIdentity": providertest.Call(p.Confirm),
		"openAccount":     providertest.Call(p.OpenAccount),
		"openVirtual":     providertest.Call(p.OpenVirtualAccount),
		"findAccount": providertest.Call(func(ctx context.Context, in byReference) provider.AccountAnswer {
			return p.FindAccount(ctx, in.Reference)
		}),
		"notice": providertest.CallOr(func(_ context.Context, in struct{ Body json.RawMessage }) (provider.Notification, error) {
			return p.ParseNotification(in.Body)
		}),
		"inbound": providertest.Call(func(ctx context.Context, in struct {
			Session string
			Virtual bool
		},
		) provider.InboundAnswer {
			return p.Inbound(ctx, in.Session, in.Virtual)
		}),
		"receiving": providertest.CallOr(func(ctx context.Context, in struct{ Page int }) (any, error) {
			accounts, more, err := p.Receiving(ctx, in.Page)
			return struct {
				Accounts []provider.Receiving
				More     bool
			}{accounts, more}, err
		}),
		"inboundSince": providertest.CallOr(func(ctx context.Context, in struct {
			Account string
			From    time.Time
			Page    int
		},
		) (any, error) {
			credits, more, err := p.InboundSince(ctx, in.Account, in.From, in.Page)
			return struct {
				Credits []provider.Inbound
				More    bool
			}{credits, more}, err
		}),
		"statement": providertest.CallOr(func(ctx context.Context, in struct{ From, To time.Time }) (any, error) {
			lines, more, err := p.Statement(ctx, in.From, in.To, 0)
			return struct {
				Lines []provider.StatementLine
				More  bool
			}{lines, more}, err
		}),
	}
}
