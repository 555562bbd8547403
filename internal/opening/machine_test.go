package opening_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/opening"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// row is the row of an attempt. The tests use the table of customers' accounts.
type row struct {
	Company    string `db:"company_id,key"`
	CustomerID string `db:"customer_id,key"`
	State      string `db:"state,state"`
	Turn       string `db:"turn"`
	opening.Intent
	Reference    string `db:"reference"`
	SettlementID int64  `db:"settlement_id"`
	provider.Account
	Message   string    `db:"message,changes"`
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at,changes"`
}

var rows = db.Declare[row]("customer_account")

// attempt is a fake opening.Attempt. Each test sets its ask and adopt functions.
type attempt struct {
	row
	ask   func() (provider.Answer, error)
	adopt func(u *ledger.Unit) (any, error)
}

var (
	yes        = provider.Answer{Outcome: provider.Confirmed}
	errNo      = fault.New(fault.Refused, "no")
	errUnknown = fault.New(fault.Unavailable, "nobody knows")
)

func (a *attempt) Name() opening.Name {
	return opening.Name{Company: a.Company, ID: a.CustomerID, Subject: a.CustomerID, Reference: a.Reference}
}
func (a *attempt) Record() db.Record           { return rows.Record(a.row) }
func (a *attempt) Touch(at time.Time)          { a.UpdatedAt = at }
func (a *attempt) Enter(context.Context) error { return nil }

func (a *attempt) Ask(context.Context) (provider.Answer, error) { return a.ask() }

func (a *attempt) Look(context.Context) (provider.Answer, error) {
	return provider.Answer{Missing: true}, nil
}

func (a *attempt) Adopt(_ context.Context, u *ledger.Unit) (any, error) {
	a.State = "OPEN"
	if a.adopt != nil {
		return a.adopt(u)
	}
	return "made", nil
}

func (a *attempt) Refuse(_ *ledger.Unit, no provider.Answer) error {
	a.State, a.Message = "FAILED", no.Message
	return errNo
}

func (a *attempt) Unanswered(provider.Answer) error { return errUnknown }

// world is the fixture of these tests: a company with a Machine and a service for
// Idempotency-Keys.
type world struct {
	*opening.Machine
	t       *testing.T
	db      *db.DB
	clock   *clock.Manual
	keys    *idempotency.Service
	company string
	open    opening.Attempt // what Find returns; nil for an attempt that has ended
}

func each(t *testing.T, f func(t *testing.T, w *world)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := &world{t: t, db: d, clock: clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))}
		log := slog.New(slog.DiscardHandler)
		ring, err := secret.Parse(secret.Generate())
		w.must(err)
		book := ledger.New(d, w.clock)
		t.Cleanup(book.Drain)
		w.keys = idempotency.NewService(d, book, w.clock, ring)
		w.Machine = &opening.Machine{
			Book: book, Clock: w.clock, Log: log, Cases: operation.NewService(d, book, w.clock, log, time.Second), Window: time.Second,
			Kind: "thing", Job: "thing.resolve", Unknown: "unknown", Gone: "gone", TooOld: "old",
			Find: func(context.Context, job.Job) (opening.Attempt, error) { return w.open, nil },
		}
		c, _, err := company.New(d, book, ring, w.clock).Create(t.Context(), operator.Local("test"), "Acme")
		w.must(err)
		w.company = c.Reference
		f(t, w)
	})
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) attempt(ask func() (provider.Answer, error)) *attempt {
	return &attempt{row: row{Company: w.company, CustomerID: id.New(), State: "PENDING", Reference: id.New()}, ask: ask}
}

// key opens an Idempotency-Key. It returns the key and its stored response, if there is one.
func (w *world) key() (*idempotency.Key, *idempotency.Answer) {
	w.t.Helper()
	key, stored, err := w.keys.Open(w.t.Context(), w.company, "one", "print")
	w.must(err)
	key.Render(func(result any, err error) idempotency.Answer {
		if err != nil {
			return idempotency.Answer{Status: 400, Body: []byte(err.Error())}
		}
		return idempotency.Answer{Status: 200, Body: []byte(result.(string))}
	})
	return key, stored
}

// is fails the test unless the attempt's row is in this state.
func (w *world) is(a *attempt, want string) {
	w.t.Helper()
	got, err := db.One(w.t.Context(), w.db, db.Value[string],
		`SELECT state FROM customer_account WHERE company_id = $1 AND customer_id = $2`, w.company, a.CustomerID)
	if err != nil || got != want {
		w.t.Errorf("the attempt is %s, %v; want %s", got, err, want)
	}
}

func TestAKeyKeepsTheAnswerOfARetry(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		key, _ := w.key()
		a := w.attempt(func() (provider.Answer, error) {
			return yes, w.keys.Finish(t.Context(), key, "the retry's", nil)
		})
		w.must(w.Open(t.Context(), a, opening.From{}, key, nil))
		w.is(a, "OPEN")
		if _, stored := w.key(); stored == nil || string(stored.Body) != "the retry's" {
			t.Errorf("stored: %+v", stored)
		}
	})
}

// If Adopt returns no response to store, a response can be stored for the Idempotency-Key later.
func TestAKeyWaitsForALaterAnswer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		key, _ := w.key()
		a := w.attempt(func() (provider.Answer, error) { return yes, nil })
		a.adopt = func(*ledger.Unit) (any, error) { return nil, nil }
		w.must(w.Open(t.Context(), a, opening.From{}, key, nil))
		w.must(w.keys.Finish(t.Context(), key, "later", nil))
		if _, stored := w.key(); stored == nil || string(stored.Body) != "later" {
			t.Errorf("stored: %+v", stored)
		}
	})
}

func TestAnAttemptThatSomebodyElseEnds(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.attempt(nil)
		a.ask = func() (provider.Answer, error) {
			_, err := w.db.Exec(t.Context(), `UPDATE customer_account SET state = 'FAILED' WHERE company_id = $1`, w.company)
			return yes, err
		}
		if err := w.Open(t.Context(), a, opening.From{}, nil, nil); !errors.Is(err, opening.ErrTaken) {
			t.Error(err)
		}
		w.is(a, "FAILED")
		if err := w.Open(t.Context(), a, opening.From{}, nil, nil); !errors.Is(err, opening.ErrTaken) {
			t.Errorf("the same row again: %v", err)
		}
	})
}

// If the ledger refuses every unit because of a row other than the attempt's row, Open returns the
// error and the attempt stays open.
func TestAUnitThatNeverFitsIsGivenUp(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.attempt(func() (provider.Answer, error) { return yes, nil })
		tries := 0
		a.adopt = func(u *ledger.Unit) (any, error) {
			tries++
			u.Transition(holders.Record(holder{Company: w.company, CustomerID: a.CustomerID, State: "FREE"}), "BUSY")
			return "made", nil
		}
		w.open = a
		err := w.Open(t.Context(), a, opening.From{}, nil, nil)
		if !ledger.Is(err, ledger.Moved) || tries < 2 {
			t.Errorf("%v after %d tries", err, tries)
		}
		w.is(a, "PENDING")
		a.CustomerID, a.State, w.open, tries = id.New(), "PENDING", nil, 0 // another request ends this attempt
		if err := w.Open(t.Context(), a, opening.From{}, nil, nil); !errors.Is(err, opening.ErrTaken) || tries != 1 {
			t.Errorf("%v after %d tries", err, tries)
		}
	})
}

// holder is a row of the cardholder table. A test adds a transition of a cardholder that does not
// exist, so that the ledger refuses the unit.
type holder struct {
	Company    string `db:"company_id,key"`
	CustomerID string `db:"customer_id,key"`
	State      string `db:"state,state"`
}

var holders = db.Declare[holder]("card_holder")

// If the provider was not asked, the attempt ends, and the same Idempotency-Key may be used again
// immediately.
func TestAProviderThatIsNotAsked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		errLimited := fault.New(fault.Limited, "too many guesses")
		key, _ := w.key()
		a := w.attempt(func() (provider.Answer, error) { return provider.Answer{}, errLimited })
		if err := w.Open(t.Context(), a, opening.From{}, key, nil); !errors.Is(err, errLimited) {
			t.Error(err)
		}
		w.is(a, "FAILED")
		if key, stored := w.key(); stored != nil || key.Subject() != a.CustomerID {
			t.Errorf("stored: %+v", stored)
		}
	})
}

// If the database takes the whole time of the call, the provider was not asked. The request may be
// sent again, and the error is no mistake of the program.
func TestTheTimeEndsBeforeTheProviderIsAsked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.attempt(func() (provider.Answer, error) {
			return provider.Answer{}, fmt.Errorf("a guess: %w", context.DeadlineExceeded)
		})
		err := w.Open(t.Context(), a, opening.From{}, nil, nil)
		if !fault.Is(err, fault.Unavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		w.is(a, "FAILED")
	})
}

func TestAPanicIsAnUnknownOutcome(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.attempt(func() (provider.Answer, error) { panic("a mistake") })
		if err := w.Open(t.Context(), a, opening.From{}, nil, nil); !errors.Is(err, errUnknown) {
			t.Error(err)
		}
		w.is(a, "PENDING")
		jobs, err := db.All(t.Context(), w.db, db.Value[string], `SELECT subject FROM job WHERE company_id = $1 AND kind = 'thing.resolve'`, w.company)
		if err != nil || !slices.Equal(jobs, []string{a.CustomerID}) {
			t.Errorf("the jobs are %q, %v", jobs, err)
		}
	})
}

// After a jump of the clock a thing counts as not made after fifteen minutes of true time, and not at once.
func TestAJumpOfTheClockEndsNoAttemptEarly(t *testing.T) {
	for name, jump := range map[string]time.Duration{"an hour": time.Hour, "ten days": 240 * time.Hour, "ten days back": -240 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				a := w.attempt(func() (provider.Answer, error) { return provider.Answer{Code: provider.CodeTimeout}, nil })
				if err := w.Open(t.Context(), a, opening.From{}, nil, nil); !errors.Is(err, errUnknown) {
					t.Fatal(err)
				}
				w.open = a
				look := func() (next time.Time) {
					t.Helper()
					next, err := w.Resolve(t.Context(), job.Job{Company: w.company, Subject: a.CustomerID})
					w.must(err)
					return next
				}
				w.clock.Jump(jump)
				for range 5 {
					if next := look(); next.Sub(w.clock.Now()) > 2*time.Hour {
						t.Fatalf("the next look is at %s", next)
					}
					w.clock.Advance(30 * time.Second)
				}
				w.is(a, "PENDING")
				w.clock.Advance(15 * time.Minute)
				look()
				w.is(a, "FAILED")
			})
		})
	}
}

// A request began while the clock was ten days ahead. The program may still ask the provider, so the attempt stays as long as a call may
// take. Then it is like the attempt of a right clock: another request continues it. A late outcome of the first request does not count.
func TestAnAttemptOfAClockAheadIsContinued(t *testing.T) {
	const ahead = 10 * 24 * time.Hour
	each(t, func(t *testing.T, w *world) {
		a := w.attempt(nil)
		resolve := func() time.Time {
			b := *a // as it is in the database
			w.open = &b
			next, err := w.Resolve(t.Context(), job.Job{Company: w.company, Subject: a.CustomerID})
			w.must(err)
			a.Intent = b.Intent
			return next
		}
		first := *a
		first.ask = func() (provider.Answer, error) {
			a.Intent = first.Intent
			w.clock.Jump(-ahead)
			for range 2 {
				if next := resolve(); next.Sub(w.clock.Now()) != w.Window+5*time.Second || a.CalledUntil.Sub(w.clock.Now()) != w.Window {
					t.Errorf("the call ends at %s, and the next look is at %s", a.CalledUntil, next)
				}
			}
			return yes, nil
		}
		w.clock.Jump(ahead)
		if err := w.Open(t.Context(), &first, opening.From{}, nil, nil); !errors.Is(err, opening.ErrTaken) {
			t.Fatalf("the first request: %v", err)
		}
		w.is(a, "PENDING")
		w.clock.Advance(w.Window)
		second := *a
		second.ask = func() (provider.Answer, error) { return yes, nil }
		w.must(w.Open(t.Context(), &second, opening.From{Row: a.Record(), Asked: true}, nil, nil))
		w.is(a, "OPEN")
	})
}
