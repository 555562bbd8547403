package app

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/person"
)

// A fresh development program agrees with its bank: the difference on the overview is 0.
func TestAFreshDevelopmentProgramAgreesWithItsBank(t *testing.T) {
	a, _, err := OpenDev(t.Context(), DevConfig(t.TempDir(), ""), false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for range 2 { // as at the next start
		if err := a.AgreeWithBank(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.wallets.Ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	overview, err := a.Reports.Overview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if bank, ledger := a.program().Wallets()["safehaven"].Balance, overview.Ledgers["safehaven"]; bank != ledger || ledger != devFloat {
		t.Errorf("the bank has %s, and the ledger %s", bank.Decimal(), ledger.Decimal())
	}
}

// The development company has an owner, and a second person for each thing that takes two.
func TestTheDevelopmentCompanyHasThreePeople(t *testing.T) {
	cfg := DevConfig(t.TempDir(), "")
	cfg.ConsoleOrigin = "http://localhost:8080"
	a, c, err := OpenDev(t.Context(), cfg, false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.AppURLs(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	begin := "http://localhost:8080/app/link/" + c.Reference + "/"
	for role, link := range map[string]*string{"owner": c.AppURL, "developer": c.SecondAppURL, "finance": c.ThirdAppURL} {
		if link == nil {
			t.Fatalf("no link for the role %s", role)
		}
		token, isLink := strings.CutPrefix(*link, begin)
		if p, _, err := a.People.UseLink(t.Context(), c.Reference, token, "", ""); !isLink || err != nil || p.Role != role {
			t.Errorf("%s: %+v, %v", *link, p, err)
		}
	}
	// The owner gives one of them another role. The next start has a link for this role.
	second, err := a.People.FindNamed(t.Context(), c.Reference, "second")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.People.SetRole(t.Context(), operator.Local("test"), c.Reference, second.ID, person.Viewer); err != nil {
		t.Fatal(err)
	}
	if err := a.AppURLs(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	token := strings.TrimPrefix(*c.SecondAppURL, begin)
	if p, _, err := a.People.UseLink(t.Context(), c.Reference, token, "", ""); err != nil || p.Role != person.Viewer {
		t.Errorf("%+v, %v", p, err)
	}
}
