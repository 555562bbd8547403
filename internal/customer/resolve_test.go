package customer_test

import (
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

var (
	unheard = provider.AccountAnswer{}
	absent  = provider.AccountAnswer{Answer: provider.Answer{Missing: true}}
)

const notSaid = "Failed to create account. The bank has not said whether it was opened. Try again."

// lost asks the bank to open a customer's account, and the bank's reply is lost. It returns the job
// that resolves this opening.
func (w *world) lost(t *testing.T) job.Job {
	t.Helper()
	_, err := w.Create(t.Context(), w.registration("ada@example.test"))
	must(t, err)
	w.bank.open = func(int) provider.AccountAnswer { return unheard }
	w.bank.found = unheard
	_, err = w.GenerateAccount(t.Context(), w.request("ada@example.test", w.other.ID))
	want(t, err, fault.Refused, notSaid)
	subject, err := db.One(t.Context(), w.db, db.Value[string],
		`SELECT subject FROM job WHERE company_id = $1 AND kind = $2`, w.company, customer.ResolveJob)
	must(t, err)
	w.clock.Advance(10 * time.Second)
	return job.Job{Company: w.company, Kind: customer.ResolveJob, Subject: subject}
}

// look runs the job once, and returns the time at which the job is due again.
func (w *world) look(t *testing.T, j job.Job) (next time.Time) {
	t.Helper()
	next, err := w.Resolve(t.Context(), j)
	must(t, err)
	return next
}

func (w *world) generated(t *testing.T) (n int) {
	t.Helper()
	for _, e := range w.told(t) {
		if e.Kind == "customer.account_generated" {
			n++
		}
	}
	return n
}

func TestAnAccountWhoseAnswerWasLostIsFound(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		j := w.lost(t)
		if next := w.look(t, j); next.Sub(w.clock.Now()) > 30*time.Second || next.IsZero() {
			t.Errorf("a list that cannot be read is read again at %v, now is %v", next, w.clock.Now())
		}
		w.bank.found = account(77)
		for range 2 {
			if next := w.look(t, j); !next.IsZero() {
				t.Errorf("it is looked for again at %v", next)
			}
		}
		c, err := w.Find(t.Context(), w.company, "ada@example.test")
		must(t, err)
		if c.Account == nil || c.Account.Number != "8000000077" || int64(c.Account.SettlementID) != w.other.ID || c.Status != customer.Active || w.generated(t) != 1 {
			t.Errorf("%+v with %+v, told %d times", c, c.Account, w.generated(t))
		}
		w.pay(t, "8000000077", "s1", 700)
		if got := w.balance(t, w.other.ID); got != 700 {
			t.Errorf("what was paid in is %s", got)
		}
		_, err = w.GenerateAccount(t.Context(), w.request("ada@example.test", 0))
		want(t, err, fault.Refused, "An account generated already")
		if len(w.bank.opened) != 1 {
			t.Errorf("the bank was asked %d times", len(w.bank.opened))
		}
	})
}

// If the bank does not know the requested account, the opening ends after fifteen minutes and at
// least three searches. The next request starts a new opening, with a new reference at the bank.
func TestAnAccountThatWasNotOpenedIsOver(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		j := w.lost(t)
		begun := w.clock.Now().Add(-10 * time.Second)
		w.bank.found = absent
		looks := 0
		for next := w.clock.Now(); !next.IsZero(); looks++ {
			w.clock.Advance(next.Sub(w.clock.Now()))
			next = w.look(t, j)
		}
		if took := w.clock.Now().Sub(begun); took != 15*time.Minute || looks < 3 {
			t.Errorf("it was over after %d looks and %v", looks, took)
		}
		w.bank.open = nil
		c, err := w.GenerateAccount(t.Context(), w.request("ada@example.test", 0))
		must(t, err)
		if c.Account == nil || len(w.bank.opened) != 2 || w.bank.opened[0].Reference == w.bank.opened[1].Reference {
			t.Errorf("%+v, and the bank was asked for %+v", c, w.bank.opened)
		}
		if next := w.look(t, j); !next.IsZero() || w.generated(t) != 1 {
			t.Errorf("the old job goes on at %v, told %d times", next, w.generated(t))
		}
	})
}

// An opening ends fifteen minutes after the latest request to the bank. If the company repeats its
// request, the fifteen minutes begin again.
func TestAskingAgainBeginsTheGraceAnew(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		j := w.lost(t)
		w.bank.found = absent
		for range 5 {
			w.look(t, j)
		}
		w.clock.Advance(14 * time.Minute)
		_, err := w.GenerateAccount(t.Context(), w.request("ada@example.test", 0))
		want(t, err, fault.Refused, notSaid)
		w.clock.Advance(14 * time.Minute)
		for range 5 {
			if w.look(t, j).IsZero() {
				t.Error("it is over, and the bank was asked 14 minutes ago")
			}
		}
		if len(w.bank.opened) != 2 || w.bank.opened[0].Reference != w.bank.opened[1].Reference {
			t.Errorf("the bank was asked for %+v", w.bank.opened)
		}
	})
}

// The bank refuses a second request, with the reference of the first one, whose outcome is unknown. The first one may still be carried
// out. So the opening goes on, and the company may repeat its request.
func TestARefusalOfASecondRequestIsNoOutcomeOfTheFirst(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		j := w.lost(t)
		w.bank.found = absent
		w.bank.open = func(int) provider.AccountAnswer {
			return provider.AccountAnswer{Answer: provider.Answer{Outcome: provider.Rejected, Message: "OTP has expired"}}
		}
		_, err := w.GenerateAccount(t.Context(), w.request("ada@example.test", w.other.ID))
		want(t, err, fault.Refused, "Failed to create account. OTP has expired")
		if fault.Of(err) != nil && fault.Of(err).Reason() != fault.BeingConfirmed {
			t.Errorf("the reason is %s", fault.Of(err).Reason())
		}
		if w.look(t, j).IsZero() {
			t.Error("the opening is over")
		}
		w.bank.found = account(77)
		if next := w.look(t, j); !next.IsZero() || w.generated(t) != 1 {
			t.Errorf("it is looked for again at %v, told %d times", next, w.generated(t))
		}
		if len(w.bank.opened) != 2 || w.bank.opened[0].Reference != w.bank.opened[1].Reference {
			t.Errorf("the bank was asked for %+v", w.bank.opened)
		}
	})
}

func TestTheJobAndTheCompanyRace(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		j := w.lost(t)
		w.bank.found = account(77)
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				if i%2 == 0 {
					if _, err := w.Resolve(t.Context(), j); err != nil {
						t.Error(err)
					}
					return
				}
				if c, err := w.GenerateAccount(t.Context(), w.request("ada@example.test", w.other.ID)); err == nil && c.Account.Number != "8000000077" || err != nil && !fault.Is(err, fault.Refused) {
					t.Errorf("%+v, %v", c, err)
				}
			})
		}
		all.Wait()
		c, err := w.Find(t.Context(), w.company, "ada@example.test")
		must(t, err)
		if c.Account == nil || w.generated(t) != 1 || len(w.bank.opened) != 1 {
			t.Errorf("%+v, told %d times, asked for %d times", c.Account, w.generated(t), len(w.bank.opened))
		}
	})
}

func TestAListThatCannotBeReadBecomesACase(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		j := w.lost(t)
		for range 80 {
			w.clock.Advance(w.look(t, j).Sub(w.clock.Now()))
		}
		cases, _, err := w.operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open}, 10, 0)
		must(t, err)
		if len(cases) != 1 || cases[0].Reason != operation.Unresolved || cases[0].Company != w.company {
			t.Errorf("the cases are %+v", cases)
		}
		for _, by := range []string{"ada", "bola"} {
			_, err = w.operations.ResolveCase(t.Context(), cases[0].ID, operation.Finding{Outcome: operation.Dismissed}, "away", by, me.Note)
			must(t, err)
		}
		_, err = w.GenerateAccount(t.Context(), w.request("ada@example.test", 0)) // its outcome is unknown too
		want(t, err, fault.Refused, notSaid)
		for days, open := range []int{0, 0, 0, 0, 1, 1} {
			w.look(t, j)
			cases, _, err := w.operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open}, 10, 0)
			if must(t, err); len(cases) != open {
				t.Errorf("after %d days the cases are %+v", days, cases)
			}
			w.clock.Advance(24 * time.Hour)
		}
		w.bank.found = account(77) // the job still searches for the account after it has opened the case
		if next := w.look(t, j); !next.IsZero() || w.generated(t) != 1 {
			t.Errorf("%v, told %d times", next, w.generated(t))
		}
	})
}
