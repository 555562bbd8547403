package keyring_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/keyring"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
)

// tokens returns the number of tokens that may depend on a line.
func (p *program) tokens(t *testing.T, keyID string) int64 {
	t.Helper()
	lines, err := p.Lines(t.Context(), keyring.Master)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if l.ID != keyID {
			continue
		}
		found, err := p.Dependents(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range found {
			if d.Name == "tokens" {
				return d.Count
			}
		}
	}
	t.Fatalf("nothing says how many tokens depend on %s", keyID)
	return 0
}

// live returns the reference and the API key of a new company that gets tokens.
func live(t *testing.T, s *company.Service) (reference, apiKey string) {
	t.Helper()
	by := operator.Local("test")
	c, key, err := s.Create(t.Context(), by, "Acme")
	for _, to := range []company.KYB{company.InProgress, company.Submitted, company.Approved} {
		if err == nil {
			_, err = s.SetKYB(t.Context(), by, c.Reference, to, "test")
		}
	}
	if err == nil {
		_, err = s.SetLive(t.Context(), by, c.Reference, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c.Reference, key.Reveal()
}

// A program signs a token after its last statement that it writes with the old line. The line stays while the token works.
func TestATokenThatIsNewerThanTheLastStatementKeepsItsLine(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk := clock.At(noon)
		old, next := line("old"), line("next")
		p := start(t, d, clk, old)
		p.state(t)
		book := ledger.New(d, clk)
		t.Cleanup(book.Drain)
		companies := company.New(d, book, p.keys, clk)
		reference, apiKey := live(t, companies)
		clk.Advance(time.Second)
		_, refresh, err := companies.Tokens(t.Context(), reference, apiKey)
		if err != nil {
			t.Fatal(err)
		}
		clk.Advance(time.Second)
		p.write(t, next+old)
		if got := p.state(t); got != "next" {
			t.Fatalf("it writes with %s", got)
		}
		clk.Advance(29 * 24 * time.Hour)
		p.state(t)
		if _, err := companies.Refresh(t.Context(), refresh); err != nil {
			t.Fatalf("the token does not work: %v", err)
		}
		if n := p.tokens(t, "old"); n != 1 {
			t.Errorf("%d tokens depend on the old line", n)
		}
		if err := p.Remove(t.Context(), "old", false); err == nil || !strings.Contains(err.Error(), "tokens: 1") {
			t.Errorf("removed: %v", err)
		}
		if _, _, err := companies.Tokens(t.Context(), reference, apiKey); err != nil {
			t.Fatal(err)
		}
		if n := p.tokens(t, "old"); n != 0 {
			t.Errorf("%d tokens depend on the old line, and the company has a new one", n)
		}
	})
}

// An access token that was signed after the last statement keeps its line until it has expired, although no refresh token shows it.
func TestAnAccessTokenKeepsItsLine(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk := clock.At(noon)
		old, next := line("old"), line("next")
		p := start(t, d, clk, old)
		p.state(t)
		p.write(t, next+old)
		clk.Advance(2 * time.Second)
		p.state(t)
		clk.Advance(company.AccessLife - time.Second) // an access token of the last second works
		if err := p.Remove(t.Context(), "old", false); err == nil || !strings.Contains(err.Error(), "tokens: 1") {
			t.Errorf("removed: %v", err)
		}
		clk.Advance(time.Hour)
		if n := p.tokens(t, "old"); n != 0 {
			t.Errorf("%d tokens depend on the old line", n)
		}
		if err := p.Remove(t.Context(), "old", false); err != nil {
			t.Error(err)
		}
	})
}
