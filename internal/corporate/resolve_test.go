package corporate_test

import (
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/corporate"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// lost asks the bank to open an account, and the bank's reply is lost. It returns the request and
// the job that resolves the attempt.
func (w *world) lost(t *testing.T) (corporate.Request, job.Job) {
	t.Helper()
	r := w.request(w.proven(t))
	w.bank.open = func(int) provider.AccountAnswer { return provider.AccountAnswer{} }
	_, err := w.GenerateAccount(t.Context(), r)
	want(t, err, fault.Refused, notCreated)
	subject, err := db.One(t.Context(), w.db, db.Value[string],
		`SELECT subject FROM job WHERE company_id = $1 AND kind = $2`, w.company, corporate.ResolveJob)
	must(t, err)
	w.clock.Advance(10 * time.Second)
	return r, job.Job{Company: w.company, Kind: corporate.ResolveJob, Subject: subject}
}

// look runs the job once, and returns the time at which the job is due again.
func (w *world) look(t *testing.T, j job.Job) time.Time {
	t.Helper()
	next, err := w.Resolve(t.Context(), j)
	must(t, err)
	return next
}

func (w *world) created(t *testing.T) (n int) {
	t.Helper()
	for _, kind := range w.told(t) {
		if kind == "corporate.account_created" {
			n++
		}
	}
	return n
}

func TestAnAttemptThatWasNotAnsweredIsFound(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		_, j := w.lost(t)
		if next := w.look(t, j); next.IsZero() {
			t.Error("a list that cannot be read is the end")
		}
		w.bank.found = account("8000000077")
		for range 2 {
			if next := w.look(t, j); !next.IsZero() {
				t.Errorf("it is looked for again at %v", next)
			}
		}
		shown, err := w.settlements.Find(t.Context(), w.company, w.account.ID)
		must(t, err)
		if shown.AccountNumber != "8000000077" || w.created(t) != 1 || len(w.bank.opened) != 1 {
			t.Errorf("%+v, told %d times, asked for %d times", shown, w.created(t), len(w.bank.opened))
		}
		must(t, w.settlements.Receive(t.Context(), "safehaven", provider.Inbound{
			Outcome: provider.Confirmed, SessionID: "s1", CreditAccount: "8000000077", Amount: 250_00, Narration: "rent",
		}))
		shown, err = w.settlements.Find(t.Context(), w.company, w.account.ID)
		must(t, err)
		if shown.Balance != 250_00 {
			t.Errorf("the balance is %s", shown.Balance)
		}
	})
}

func TestAnAttemptThatTheBankNeverHadIsOver(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		r, j := w.lost(t)
		begun, looks := w.clock.Now().Add(-10*time.Second), 0
		w.bank.found = provider.AccountAnswer{Answer: provider.Answer{Missing: true}}
		for next := w.clock.Now(); !next.IsZero(); looks++ {
			w.clock.Advance(next.Sub(w.clock.Now()))
			next = w.look(t, j)
		}
		if took := w.clock.Now().Sub(begun); took != 15*time.Minute || looks < 3 {
			t.Errorf("it was over after %d looks and %v", looks, took)
		}
		w.bank.open = nil
		_, err := w.GenerateAccount(t.Context(), r)
		must(t, err)
		if len(w.bank.opened) != 2 || w.bank.opened[0].Reference == w.bank.opened[1].Reference || w.created(t) != 1 {
			t.Errorf("the bank was asked for %+v, told %d times", w.bank.opened, w.created(t))
		}
	})
}

func TestTheJobAndTheCompanyRace(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		r, j := w.lost(t)
		w.bank.found, w.bank.open = account("8000000077"), func(int) provider.AccountAnswer { return account("8000000077") }
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				if i%2 == 0 {
					if _, err := w.Resolve(t.Context(), j); err != nil {
						t.Error(err)
					}
					return
				}
				if a, err := w.GenerateAccount(t.Context(), r); err == nil && a.Bank.Number != "8000000077" || err != nil && !fault.Is(err, fault.Refused) {
					t.Errorf("%+v, %v", a, err)
				}
			})
		}
		all.Wait()
		if w.created(t) != 1 {
			t.Errorf("told %d times", w.created(t))
		}
	})
}

func TestAListThatCannotBeReadBecomesACase(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		_, j := w.lost(t)
		for range 80 {
			w.clock.Advance(w.look(t, j).Sub(w.clock.Now()))
		}
		cases, _, err := w.operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open}, 10, 0)
		must(t, err)
		if len(cases) != 1 || cases[0].Reason != operation.Unresolved || cases[0].Subject != j.Subject {
			t.Errorf("the cases are %+v", cases)
		}
	})
}
