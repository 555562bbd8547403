package admin

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/secret"
)

type companyRow struct {
	Reference string      `json:"reference"`
	Name      string      `json:"name"`
	KYBStatus company.KYB `json:"kybStatus"`
	Live      bool        `json:"live"`
	CreatedAt string      `json:"createdAt"`
	UpdatedAt string      `json:"updatedAt"`
}

func companyOf(c company.Company) companyRow {
	return companyRow{c.Reference, c.Name, c.KYB, c.Live, clock.Text(c.CreatedAt), clock.Text(c.UpdatedAt)}
}

type keyRow struct {
	ID        string  `json:"id"`
	Status    string  `json:"status"`
	CreatedAt string  `json:"createdAt"`
	ExpiresAt *string `json:"expiresAt"`
	APIKey    string  `json:"apiKey,omitempty"`
}

func keyOf(k company.Key) keyRow {
	return keyRow{ID: k.ID, Status: k.State, CreatedAt: clock.Text(k.CreatedAt), ExpiresAt: moment(k.ExpiresAt)}
}

// present is a text, or null for one that does not exist.
func present(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// moment is an instant, or null for one that has not been.
func moment(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := clock.Text(t)
	return &s
}

func (d *door) createCompany(ctx context.Context, r *request) (any, error) {
	name := r.form.text("name")
	if err := r.form.done(); err != nil {
		return nil, err
	}
	c, key, err := d.Companies.Create(ctx, r.by, name)
	if err != nil {
		return nil, err
	}
	return map[string]string{"reference": c.Reference, "apiKey": key.Reveal()}, nil
}

func (d *door) listCompanies(ctx context.Context, r *request) (any, error) {
	return listed(r, companyOf, func(limit, offset int) ([]company.Company, int64, error) {
		return d.Companies.List(ctx, limit, offset)
	})
}

// findCompany shows a company with what belongs to it, so that an operator finds
// the ids that the other routes ask for.
func (d *door) findCompany(ctx context.Context, r *request) (any, error) {
	c, err := d.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	keys, err := d.Companies.Keys(ctx, c.Reference)
	if err != nil {
		return nil, err
	}
	accounts, err := d.Settlements.Accounts(ctx, c.Reference)
	if err != nil {
		return nil, err
	}
	pin, err := d.Companies.PINState(ctx, c.Reference)
	if err != nil {
		return nil, err
	}
	whole := struct {
		companyRow
		PINStatus string       `json:"pinStatus"`
		APIKeys   []keyRow     `json:"apiKeys"`
		Accounts  []accountRow `json:"settlementAccounts"`
	}{companyOf(c), pin, make([]keyRow, len(keys)), make([]accountRow, len(accounts))}
	for i, k := range keys {
		whole.APIKeys[i] = keyOf(k)
	}
	for i, a := range accounts {
		whole.Accounts[i] = accountOf(a)
	}
	return whole, nil
}

func (d *door) moveKYB(ctx context.Context, r *request) (any, error) {
	status, reason := r.form.text("status"), r.form.optional("reason")
	if err := r.form.done(); err != nil {
		return nil, err
	}
	c, err := d.Companies.MoveKYB(ctx, r.by, r.PathValue("reference"), company.KYB(status), reason)
	return companyOf(c), err
}

func (d *door) setLive(ctx context.Context, r *request) (any, error) {
	live := r.form.flag("live")
	if err := r.form.done(); err != nil {
		return nil, err
	}
	c, err := d.Companies.SetLive(ctx, r.by, r.PathValue("reference"), live)
	return companyOf(c), err
}

func (d *door) setPIN(ctx context.Context, r *request) (any, error) {
	pin := secret.NewText(r.form.text("pin"))
	if err := r.form.done(); err != nil {
		return nil, err
	}
	return nil, d.Companies.SetPIN(ctx, r.by, r.PathValue("reference"), pin)
}

func (d *door) unlockPIN(ctx context.Context, r *request) (any, error) {
	if err := r.form.done(); err != nil {
		return nil, err
	}
	return nil, d.Companies.UnlockPIN(ctx, r.by, r.PathValue("reference"))
}

func (d *door) issueKey(ctx context.Context, r *request) (any, error) {
	expiresAt := r.form.instant("expiresAt")
	if err := r.form.done(); err != nil {
		return nil, err
	}
	k, text, err := d.Companies.IssueKey(ctx, r.by, r.PathValue("reference"), expiresAt)
	row := keyOf(k)
	row.APIKey = text.Reveal()
	return row, err
}

func (d *door) revokeKey(ctx context.Context, r *request) (any, error) {
	return nil, d.Companies.RevokeKey(ctx, r.by, r.PathValue("reference"), r.PathValue("id"))
}
