package apptest

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
)

// DevFloat is the opening balance of the development company.
const DevFloat = 1_000_000 * money.Naira

// by is the operator as which the test harness appears in the audit log.
var by = operator.Local("apptest")

// Account opens a settlement account with a balance for the company. It returns a client that
// uses this account.
func (p *Program) Account(c *Client, balance money.Kobo) *Client {
	p.t.Helper()
	account, err := p.App.Settlements.Create(p.t.Context(), by, c.Reference, "Test account")
	if err != nil {
		p.t.Fatal(err)
	}
	holder := c.As(c.Reference, c.APIKey, account.ID)
	if balance > 0 {
		p.Fund(holder, balance)
	}
	return holder
}

// Fund adds money to the client's account.
func (p *Program) Fund(c *Client, amount money.Kobo) {
	p.t.Helper()
	err := p.App.Settlements.Fund(p.t.Context(), by, c.Reference, c.SettlementID, amount, "safehaven", "test")
	if err != nil {
		p.t.Fatal(err)
	}
}

// Company creates a further approved company, with an account that has a balance.
func (p *Program) Company(balance money.Kobo) *Client {
	p.t.Helper()
	ctx := p.t.Context()
	c, key, err := p.App.Companies.Create(ctx, by, "Another Company")
	for _, to := range []company.KYB{company.InProgress, company.Submitted, company.Approved} {
		if err == nil {
			_, err = p.App.Companies.SetKYB(ctx, by, c.Reference, to, "test")
		}
	}
	if err == nil {
		_, err = p.App.Companies.SetLive(ctx, by, c.Reference, true)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return p.Account(p.As(c.Reference, key.Reveal(), 0), balance)
}

// Decide closes the only open case, which must have this reason. Two operators submit the same
// decision.
func (p *Program) Decide(t testing.TB, reason, outcome string) {
	t.Helper()
	_, second, err := p.App.Operators.IssueKey(t.Context(), by, "second-"+strings.ToLower(rand.Text()[:8]))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(key, method, path string, body any) Answer {
		a, err := p.Raw(t.Context(), method, path, body, "Authorization", "Bearer "+key)
		if err != nil {
			t.Fatal(err)
		}
		return a.Want(t, http.StatusOK)
	}
	var list struct {
		Data struct {
			Data []struct{ ID, Reason string }
		}
	}
	ask(p.AdminKey, http.MethodGet, "/admin/v1/cases", nil).Into(t, &list)
	open := list.Data.Data
	if len(open) != 1 || open[0].Reason != reason {
		t.Fatalf("the open cases: %+v", open)
	}
	for _, key := range []string{p.AdminKey, second.Reveal()} {
		ask(key, http.MethodPost, "/admin/v1/cases/"+open[0].ID+"/resolve", map[string]string{"outcome": outcome, "note": "asked the provider"})
	}
}
