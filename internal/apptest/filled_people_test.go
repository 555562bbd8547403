package apptest_test

import (
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/person"
)

// people invites a person of the company, who then signs in by a password and a code.
func people(t *testing.T, p *apptest.Program) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	link, digest := person.NewLink()
	invited, err := p.App.People.InvitePerson(ctx, operator.Local("fixture"), p.Reference, "ada", person.Owner, digest)
	must(err)
	ada, _, err := p.App.People.UseLink(ctx, p.Reference, link.Reveal(), invited.Code.Reveal(), "")
	must(err)
	codes, err := p.App.People.NewCode(ada, "")
	must(err)
	code, err := totp.GenerateCode(codes.Secret, time.Now())
	must(err)
	must(p.App.People.SetPassword(ctx, ada, person.Session{}, "a long word for a fixture", codes.State, code))
	_, err = p.App.People.Begin(ctx, ada, "a browser", true)
	must(err)
	must(p.App.People.SaveView(ctx, ada, "Not finished", "/app/payouts?status=PENDING"))
	must(p.App.Payouts.Keep(ctx, operator.Local("fixture"), p.Reference, verify(t, p.Client, "10"), "Rent"))
	by := company.Access{Company: p.Reference, Person: "ada"}
	must(p.App.Companies.RequireTwoPeople(ctx, by))
	off, err := p.App.Companies.WaiveTwoPeople(ctx, by)
	must(err)
	_, err = p.App.Companies.SetPayoutRule(ctx, by, company.PayoutRule{On: true, Least: money.Naira})
	must(err)
	by.Person = "bola"
	_, _, err = p.App.Companies.Approve(ctx, by, off.ID, nil)
	must(err)
}
