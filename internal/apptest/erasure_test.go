package apptest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/erasure"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/report"
)

// zubaidah is a customer whose name occurs nowhere else.
type zubaidah struct{ id, account string }

var namesOfZubaidah = []string{"Zubaidah", "Quaynor", "Ekwutosi", "zq@quaynor.example", "08077665544", "1977-03-09", "9 Ikwere Close"}

// zubaidahOf makes the customer, with stored responses, an account and a credit.
func zubaidahOf(t *testing.T, p *apptest.Program) (z zubaidah) {
	t.Helper()
	var made struct{ Data struct{ ID string } }
	p.Do(http.MethodPost, "/api/v1/customer/create", map[string]any{
		"firstName": "Zubaidah", "middleName": "Ekwutosi", "lastName": "Quaynor", "email": "ZQ@quaynor.example", "phoneNumber": "08077665544",
		"dateOfBirth": "1977-03-09", "bvn": "22219876543", "address": map[string]string{"line1": "9 Ikwere Close", "city": "Lagos", "state": "Lagos"},
	}, header, "creates").Want(t, http.StatusOK).Into(t, &made)
	p.Do(http.MethodPost, "/api/v1/customer/generate-account", map[string]any{"customerId": made.Data.ID, "otp": "123456"}, header, "opens").
		Want(t, http.StatusOK)
	var shown struct {
		BankAccount struct{ AccountNumber string }
	}
	p.Data("/api/v1/customer/"+made.Data.ID, &shown)
	z = zubaidah{made.Data.ID, shown.BankAccount.AccountNumber}
	z.paid(t, p, 900)
	return z
}

// paid pays into the account of the customer, and waits until the credit is booked.
func (z zubaidah) paid(t *testing.T, p *apptest.Program, naira int) {
	t.Helper()
	before := p.Balance(p.SettlementID)
	pay(t, p.Client, z.account, naira, nil)
	apptest.Eventually(t, func() string {
		if got := p.Balance(p.SettlementID); got != before+money.Kobo(naira)*money.Naira {
			return fmt.Sprintf("the balance is %s, and was %s", got, before)
		}
		return ""
	})
	settled(t, p)
}

// operates sends a request of an operator.
func operates(t *testing.T, p *apptest.Program, key, path, body string) apptest.Answer {
	t.Helper()
	a, err := p.Raw(t.Context(), http.MethodPost, "/admin/v1/"+path, body, "Authorization", "Bearer "+key)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// eraseByTwo has one operator propose the erasure, and a second one approve it.
func eraseByTwo(t *testing.T, p *apptest.Program, customer string) apptest.Answer {
	t.Helper()
	_, second, err := p.App.Operators.IssueKey(t.Context(), tester, "second-"+customer)
	if err != nil {
		t.Fatal(err)
	}
	var waits struct {
		Data struct{ ProposalID, Company string }
	}
	operates(t, p, p.AdminKey, "customers/"+customer+"/erase", "").Want(t, http.StatusAccepted).Into(t, &waits)
	if waits.Data.Company != p.Reference {
		t.Errorf("the proposal is of the company %q", waits.Data.Company)
	}
	approve := "proposals/" + waits.Data.ProposalID + "/approve"
	operates(t, p, p.AdminKey, approve, "").Want(t, http.StatusBadRequest)
	return operates(t, p, second.Reveal(), approve, "")
}

// where returns the columns that contain one of the names of the customer.
func where(t *testing.T, d *db.DB) (found []string) {
	t.Helper()
	for table, list := range rows(t, d) {
		for _, row := range list {
			for _, name := range namesOfZubaidah {
				if strings.Contains(strings.ToLower(fmt.Sprint(row)), strings.ToLower(name)) {
					found = append(found, table+": "+name)
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// nowhere waits until no row names the customer. A job needs a checkpoint, and a company gets one each second.
func nowhere(t *testing.T, p *apptest.Program) {
	t.Helper()
	apptest.Eventually(t, func() string { return strings.Join(where(t, p.App.DB), ", ") })
}

// faultsOf returns what kobo verify finds in the company.
func faultsOf(t *testing.T, p *apptest.Program) string {
	t.Helper()
	v, err := p.App.Reports.Verify(t.Context(), p.Reference)
	lines := v.Lines()
	if err == nil {
		err = p.App.DB.Snapshot(t.Context(), func(q db.Querier) error {
			removed, err := report.Archived(t.Context(), q, p.Reference)
			if err != nil {
				return err
			}
			trees, err := p.App.Evidence.Verify(t.Context(), q, p.Reference, removed, v.Rows)
			lines = append(lines, trees...)
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// about returns the events about the customer.
func about(t *testing.T, p *apptest.Program, z zubaidah) []event.Event {
	t.Helper()
	list, err := p.App.Events.Naming(t.Context(), p.Reference, z.id, 0, 1_000_000, 100)
	if err != nil || len(list) != 3 {
		t.Fatalf("%d events about the customer, %v", len(list), err)
	}
	return list
}

// Two operators erase a customer. Afterwards no row of the database names the customer, the history is
// still proven, and money that arrives later is credited.
func TestTwoOperatorsEraseACustomer(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect, func(c *app.Config) { c.FourEyes = "on" })
		first, z := customerOf(t, p.Client, "22211111111"), zubaidahOf(t, p)
		last := customerOf(t, p.Client, "22222222222")
		before := about(t, p, z)
		if found := where(t, p.App.DB); len(found) < 10 {
			t.Fatalf("before the erasure the search finds only %v", found)
		}
		eraseByTwo(t, p, z.id).Want(t, http.StatusOK)
		nowhere(t, p)
		if wrongs := faultsOf(t, p); wrongs != "" {
			t.Errorf("verify: %s", wrongs)
		}
		walkedWithoutFinding(t, p)
		keys, err := p.App.Evidence.VerifierKeys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range before {
			r, err := p.App.Evidence.Receipt(t.Context(), p.Reference, e.ID, nil)
			if err != nil || !r.Leaf.Erased || r.Index != e.Leaf-1 {
				t.Fatalf("the receipt of %s: %+v, %v", e.Kind, r, err)
			}
			if st, err := r.Verify(keys[0]); err != nil || len(st.Row) > 0 {
				t.Errorf("the receipt of %s: %+v, %v", e.Kind, st, err)
			}
		}
		unseen(t, p, z, first, last)
		z.paid(t, p, 800)
		if found := where(t, p.App.DB); len(found) > 0 {
			t.Errorf("after a late credit: %v", found)
		}
		told := p.Events(0)
		if !slices.ContainsFunc(told, func(e apptest.Event) bool {
			return e.Event == event.CustomerErased && strings.Contains(string(e.Data), z.id)
		}) {
			t.Error("no event tells the company of the erasure")
		}
		p.Sound(t)
	})
}

// walkedWithoutFinding advances the clock by a day, so that the daily walk reads the erased rows. It
// checks that the walk finds nothing and opens no case.
func walkedWithoutFinding(t *testing.T, p *apptest.Program) {
	t.Helper()
	p.Advance(25 * time.Hour)
	tampered{Program: p, t: t}.walk()
	i, err := p.App.Reports.Integrity(t.Context(), p.Reference)
	if err != nil || !i.Intact() {
		t.Errorf("the walk: %+v, %v", i, err)
	}
	opens(t, p, "", 0)
}

// unseen checks that the company does not see the customer, and that lists and pages are right.
func unseen(t *testing.T, p *apptest.Program, z zubaidah, first, last string) {
	t.Helper()
	for _, path := range []string{z.id, "zq@quaynor.example"} {
		if a := p.Do(http.MethodGet, "/api/v1/customer/"+path, nil); a.Status < 400 || !strings.Contains(a.Body, "Customer not found") {
			t.Errorf("the company still sees the customer: %s", a)
		}
	}
	for page, want := range [][]string{{last, first}, {last}, {first}, {}} {
		size, offset := 10, 0
		if page > 0 {
			size, offset = 1, page-1
		}
		list, total, err := p.App.Customers.Customers(t.Context(), p.Reference, "", offset, size)
		got := []string{}
		for _, c := range list {
			got = append(got, c.ID)
		}
		if err != nil || total != 2 || !slices.Equal(got, want) {
			t.Errorf("page %d of the customers: %v of %d, %v; want %v", page, got, total, err, want)
		}
	}
	p.Do(http.MethodPost, "/api/v1/customer/create", map[string]any{
		"firstName": "Zubaidah", "lastName": "Quaynor", "email": "ZQ@quaynor.example", "phoneNumber": "08077665544", "bvn": "22219876543",
	}, header, "creates").Want(t, http.StatusUnprocessableEntity)
	operates(t, p, p.AdminKey, "customers/"+z.id+"/erase", "").Want(t, http.StatusNotFound)
	var again struct{ Data struct{ ID string } }
	p.Do(http.MethodPost, "/api/v1/customer/create", map[string]any{
		"firstName": "Another", "lastName": "Person", "email": "ZQ@quaynor.example", "phoneNumber": "08011111111", "bvn": "22233333333",
	}).Want(t, http.StatusOK).Into(t, &again)
	eraseByTwo(t, p, again.Data.ID).Want(t, http.StatusOK) // so that the e-mail address is in no row
	nowhere(t, p)
}

// A customer with something open is not erased.
func TestAnErasureIsRefusedWhileSomethingIsOpen(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect, func(c *app.Config) { c.FourEyes = "on" })
		card := cardOf(t, p.Client)
		c, err := p.App.Cards.Find(t.Context(), p.Reference, card)
		if err != nil {
			t.Fatal(err)
		}
		refused := func(why string) {
			t.Helper()
			a := operates(t, p, p.AdminKey, "customers/"+c.CustomerID+"/erase", "")
			if a.Status != http.StatusBadRequest || !strings.Contains(a.Body, why) {
				t.Errorf("%s, want %q", a, why)
			}
		}
		set := func(statement string, more ...any) {
			t.Helper()
			if n, err := p.App.DB.Exec(t.Context(), statement, append([]any{p.Reference}, more...)...); err != nil || n != 1 {
				t.Fatal(n, err)
			}
		}
		refused("the card " + card + " is active at the issuer and may hold money")
		p.Do(http.MethodPost, "/api/v1/card/"+card+"/terminate", map[string]any{"reason": "Ada lost it"}).Want(t, http.StatusOK)
		refused("what was left on the card " + card + " has not come back")
		set(`UPDATE card_change SET state = 'OPEN' WHERE company_id = $1`)
		refused("a change of the card " + card + " has no outcome")
		set(`UPDATE card_change SET state = 'DONE' WHERE company_id = $1`)
		p.Advance(2 * time.Hour) // the job finds that nothing was left
		set(`INSERT INTO card_funding (company_id, id, card_id, amount_kobo, state, created_at) VALUES ($1, 'f1', $2, 100, 'OPEN', 1)`, card)
		refused("the card funding f1 has no outcome")
		set(`DELETE FROM card_funding WHERE company_id = $1 AND id = 'f1'`)
		set(`UPDATE card_holder SET state = 'BUSY' WHERE company_id = $1`)
		refused("a card is being made")
		set(`UPDATE card_holder SET state = 'FREE' WHERE company_id = $1`)
		set(`UPDATE customer_account SET state = 'PENDING' WHERE company_id = $1`)
		refused("the account is being opened")
		set(`UPDATE customer_account SET state = 'OPEN' WHERE company_id = $1`)
		if err := p.App.Operations.OpenCase(t.Context(), p.Reference, c.CustomerID, operation.Unresolved, "test"); err != nil {
			t.Fatal(err)
		}
		refused(" is open")
		agree(t, p, opens(t, p, operation.Unresolved, 1)[0].ID, operation.Finding{Outcome: operation.Dismissed})
		operates(t, p, p.AdminKey, "customers/nobody/erase", "").Want(t, http.StatusNotFound)
		eraseByTwo(t, p, c.CustomerID).Want(t, http.StatusOK)
		if kept := fmt.Sprint(rows(t, p.App.DB)["card_change"]); strings.Contains(kept, "Ada lost it") {
			t.Errorf("the reason stays: %s", kept)
		}
	})
}

// An interrupted erasure continues. After the retention the record of identification is deleted.
func TestAnErasureContinuesAndEnds(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		z := zubaidahOf(t, p)
		own, whole, interrupted := *p.App.Erasures, p.App.Erasures.Erasing, errors.New("interrupted")
		p.App.Erasures.Erasing = func(context.Context, string, int64) (db.Record, error) { return db.Record{}, interrupted } // only this test continues
		e, err := own.Erase(t.Context(), tester, z.id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := own.Erase(t.Context(), tester, z.id); err == nil {
			t.Error("the customer was erased twice")
		}
		j, left := job.Job{Company: p.Reference, Kind: erasure.Job, Subject: z.id}, 0
		eraseLimited(t, own, j)
		own.Erasing = func(ctx context.Context, company string, leaf int64) (db.Record, error) {
			if left--; left < 0 {
				return db.Record{}, interrupted
			}
			return whole(ctx, company, leaf)
		}
		for allowed := 0; len(where(t, p.App.DB)) > 0; allowed++ {
			left = allowed
			if _, err := own.Complete(t.Context(), j); err != nil && !errors.Is(err, interrupted) || allowed > 10 {
				t.Fatalf("after %d steps: %v", allowed, err)
			}
			if wrongs := faultsOf(t, p); wrongs != "" {
				t.Errorf("after %d steps: %s", allowed, wrongs)
			}
		}
		if next, err := own.Complete(t.Context(), j); err != nil || next.Sub(own.KeptUntil(e)).Abs() > time.Millisecond {
			t.Errorf("the next run is at %v, %v", next, err)
		}
		own.Clock = clock.At(own.KeptUntil(e))
		sessions := func() int { return len(rows(t, p.App.DB)["identity_session"]) }
		if n := sessions(); n != 1 {
			t.Errorf("%d OTP sessions before the end of the retention", n)
		}
		for range 2 {
			if _, err := own.Complete(t.Context(), j); err != nil {
				t.Fatal(err)
			}
		}
		if n := sessions(); n != 0 {
			t.Errorf("%d OTP sessions after the retention", n)
		}
		if kept := fmt.Sprint(rows(t, p.App.DB)["erasure"]); !strings.Contains(kept, "FORGOTTEN") {
			t.Errorf("the erasure: %s", kept)
		}
		if wrongs := faultsOf(t, p); wrongs != "" {
			t.Errorf("after the retention: %s", wrongs)
		}
	})
}

// eraseLimited checks that an erasure waits, without an error, while its company gets no checkpoint.
func eraseLimited(t *testing.T, s erasure.Service, j job.Job) {
	t.Helper()
	s.Erasing = func(context.Context, string, int64) (db.Record, error) {
		return db.Record{}, fault.New(fault.Limited, "no checkpoint now").After(time.Hour)
	}
	if _, err := s.Complete(t.Context(), j); err != nil { // the stored responses
		t.Fatal(err)
	}
	began := s.Clock.Now()
	if next, err := s.Complete(t.Context(), j); err != nil || next.Sub(began) < time.Hour {
		t.Errorf("without a checkpoint, the next run is at %v, %v", next, err)
	}
	if n, err := s.Finish(t.Context()); n != 0 || !fault.Is(err, fault.Limited) {
		t.Errorf("without a checkpoint, Finish completes %d erasures, %v", n, err)
	}
}
