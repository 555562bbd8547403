package sudo

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/providertest"
)

// The plug sends what Sudo's documentation describes, and reads what it shows.
func TestDocumentedExchanges(t *testing.T) {
	providertest.Play(t, "testdata/documented", nil, func(t *testing.T, url string) providertest.Calls {
		p := documented(t, url, func(*Config) {})
		calls := cards(p)
		calls["fund"] = providertest.Call(p.FundCard)
		calls["requery"] = providertest.Call(p.RequeryFunding)
		calls["requery, complete list"] = providertest.Call(documented(t, url, func(c *Config) { c.CompleteList = true }).RequeryFunding)
		calls["notice"] = notices(p)
		calls["notice, approving"] = notices(documented(t, url, func(c *Config) { c.Approve = true }))
		return calls
	})
}

func documented(t *testing.T, url string, change func(*Config)) *Plug {
	t.Helper()
	cfg := Config{
		ClientConfig: provider.ClientConfig{BaseURL: url, PayDeadline: 5 * time.Second, ReadDeadline: 5 * time.Second},
		VaultURL:     url, APIKey: "key-1", DebitAccount: debit, WebhookAuthorization: "hook-1",
	}
	change(&cfg)
	p, err := New(cfg, clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type ofCard struct {
	Card, Holder, Reason string
	To                   provider.CardStatus
	Since                time.Time
}

func cards(p *Plug) providertest.Calls {
	return providertest.Calls{
		"holder": providertest.CallOr(p.OpenCardholder),
		"card":   providertest.Call(p.CreateCard),
		"cards": providertest.CallOr(func(ctx context.Context, in ofCard) ([]provider.IssuedCard, error) {
			return p.Cards(ctx, in.Holder)
		}),
		"show": providertest.CallOr(func(ctx context.Context, in ofCard) (provider.IssuedCard, error) { return p.Card(ctx, in.Card) }),
		"token": providertest.CallOr(func(ctx context.Context, in ofCard) (any, error) {
			got, err := p.CardToken(ctx, in.Card)
			return struct {
				Token string
				Life  time.Duration
			}{got.Value.Reveal(), got.ExpiresIn}, err
		}),
		"pin":     providertest.CallOr(func(ctx context.Context, in ofCard) (string, error) { return p.SendDefaultPIN(ctx, in.Card) }),
		"balance": providertest.CallOr(func(ctx context.Context, in ofCard) (money.Kobo, error) { return p.CardBalance(ctx, in.Card) }),
		"status": providertest.Call(func(ctx context.Context, in ofCard) provider.Answer {
			return p.SetCardStatus(ctx, in.Card, in.To, in.Reason)
		}),
		"returned": providertest.CallOr(func(ctx context.Context, in ofCard) (any, error) {
			back, listed, err := p.ReturnedBalance(ctx, in.Card, in.Since)
			return struct {
				Back   money.Kobo
				Listed bool
			}{back, listed}, err
		}),
	}
}

type notified struct {
	Authorization string
	Body          json.RawMessage
}

func notices(p *Plug) func(context.Context, json.RawMessage) (any, error) {
	return providertest.CallOr(func(_ context.Context, in notified) (provider.CardNotice, error) {
		return p.ParseCardNotice(http.Header{"Authorization": {in.Authorization}}, in.Body)
	})
}
