package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/fault"
	asked "github.com/kobo-waas/kobo/internal/request"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/wire"
)

func companyOf(c company.Company) Company {
	return Company{c.Reference, c.Name, string(c.KYB), c.Live, c.PerSecond, clock.Text(c.CreatedAt), clock.Text(c.UpdatedAt)}
}

func keyOf(k company.Key, last asked.Use) Key {
	return Key{k.ID, wire.Optional(k.Ending), k.State, clock.Text(k.CreatedAt), clock.Optional(k.ExpiresAt), clock.Optional(last.At), wire.Optional(last.Address)}
}

func keyTokenOf(t company.Token) KeyToken {
	return KeyToken{Reference: t.Company, KeyToken: t.Text.Reveal(), ExpiresAt: clock.Text(t.ExpiresAt)}
}

func (e *edge) createCompany(ctx context.Context, r *request, body CompanyRequest) (any, error) {
	if e.HideSecrets {
		_, t, err := e.Companies.CreateWithToken(ctx, r.by, body.Name)
		return keyTokenOf(t), err
	}
	c, key, err := e.Companies.Create(ctx, r.by, body.Name)
	return CreatedCompany{APIKey: key.Reveal(), Reference: c.Reference}, err
}

func (e *edge) listCompanies(ctx context.Context, r *request) (any, error) {
	f := company.Filter{KYB: company.KYB(r.filter("kybStatus")), Live: r.filter("live")}
	return continued(ctx, r, companyOf, f, func(ctx context.Context, f company.Filter, limit, offset int) ([]company.Company, int64, error) {
		return e.Companies.List(ctx, f, limit, offset)
	}, func(ctx context.Context, f company.Filter, cursor string, limit int) ([]company.Company, error) {
		return e.Companies.After(ctx, f, cursor, limit)
	})
}

// findCompany shows a company with its API keys and settlement accounts. Other operations need
// the ids of these keys and accounts.
func (e *edge) findCompany(ctx context.Context, r *request) (any, error) {
	c, err := e.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	keys, err := e.Companies.Keys(ctx, c.Reference)
	if err != nil {
		return nil, err
	}
	accounts, err := e.Settlements.Accounts(ctx, c.Reference)
	if err != nil {
		return nil, err
	}
	uses, err := e.Requests.Uses(ctx, c.Reference, rows(keys, func(k company.Key) string { return k.ID }))
	if err != nil {
		return nil, err
	}
	pin, err := e.Companies.PINState(ctx, c.Reference)
	return struct {
		Company
		PINStatus string              `json:"pinStatus"`
		APIKeys   []Key               `json:"apiKeys"`
		Accounts  []SettlementAccount `json:"settlementAccounts"`
	}{companyOf(c), pin, rows(keys, func(k company.Key) Key { return keyOf(k, uses[k.ID]) }), rows(accounts, accountOf)}, err
}

func (e *edge) moveKYB(ctx context.Context, r *request, body KYBRequest) (any, error) {
	c, err := e.Companies.SetKYB(ctx, r.by, r.PathValue("reference"), company.KYB(body.Status), body.Reason)
	return companyOf(c), err
}

func (e *edge) setLive(ctx context.Context, r *request, body LiveRequest) (any, error) {
	c, err := e.Companies.SetLive(ctx, r.by, r.PathValue("reference"), body.Live)
	return companyOf(c), err
}

func (e *edge) setRequestLimit(ctx context.Context, r *request, body RequestLimitRequest) (any, error) {
	c, err := e.Companies.SetPerSecond(ctx, r.by, r.PathValue("reference"), body.RequestsPerSecond)
	return companyOf(c), err
}

// resetPIN issues a token with which the company sets its PIN.
func (e *edge) resetPIN(ctx context.Context, r *request, _ NoRequest) (any, error) {
	t, err := e.Companies.IssuePINToken(ctx, r.by, r.PathValue("reference"))
	return PINToken{PinToken: t.Text.Reveal(), ExpiresAt: clock.Text(t.ExpiresAt)}, err
}

func (e *edge) setPIN(ctx context.Context, r *request, body PINRequest) (any, error) {
	if e.HideSecrets {
		return nil, fault.New(fault.Forbidden, "Operators do not set PINs here. Issue a PIN token with pin-reset.")
	}
	return nil, e.Companies.SetPIN(ctx, r.by, r.PathValue("reference"), secret.NewText(body.Pin))
}

func (e *edge) unlockPIN(ctx context.Context, r *request, _ NoRequest) (any, error) {
	return nil, e.Companies.UnlockPIN(ctx, r.by, r.PathValue("reference"))
}

func (e *edge) issueKey(ctx context.Context, r *request, body KeyRequest) (any, error) {
	if e.HideSecrets || body.Token {
		t, err := e.Companies.IssueKeyToken(ctx, r.by, r.PathValue("reference"), instant(body.ExpiresAt))
		return keyTokenOf(t), err
	}
	k, text, err := e.Companies.IssueKey(ctx, r.by, r.PathValue("reference"), instant(body.ExpiresAt))
	row := keyOf(k, asked.Use{})
	return IssuedKey{row.ID, row.Status, row.CreatedAt, row.ExpiresAt, text.Reveal()}, err
}

func (e *edge) revokeKey(ctx context.Context, r *request) (any, error) {
	return nil, e.Companies.RevokeKey(ctx, r.by, r.PathValue("reference"), r.PathValue("id"))
}
