package operation_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

var (
	confirmed = provider.Answer{Outcome: provider.Confirmed, Code: "00", Reference: "theirs", Message: "done"}
	rejected  = provider.Answer{Outcome: provider.Rejected, Code: "51", Message: "no"}
	silence   = provider.Answer{Code: provider.CodeTimeout}
	missing   = provider.Answer{Missing: true, Code: "404"}
)

func TestStepOneIsWrittenBeforeAnybodyIsAsked(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		now := p.stands(o, operation.Pending)
		if !now.InFlight(p.clock.Now()) || now.InFlight(p.clock.Now().Add(window)) || now.Outcome != "" {
			t.Errorf("as written: %+v", now)
		}
		due, err := db.One(t.Context(), p.db, db.Value[int64],
			`SELECT run_at FROM job WHERE company_id = $1 AND kind = $2 AND subject = $3`, p.company, operation.ResolveJob, o.ID)
		if err != nil || due != clock.Micros(p.clock.Now().Add(window+5*time.Second)) {
			t.Errorf("the resolver's job is due at %v, %v", clock.Time(due), err)
		}
	})
}

func TestTheOutcomeMovesTheMoneyInItsOwnCommit(t *testing.T) {
	for name, c := range map[string]struct {
		answer provider.Answer
		want   operation.State
		told   string
	}{
		"confirmed": {confirmed, operation.Success, "[test.SUCCESS]"},
		"rejected":  {rejected, operation.Failed, "[test.FAILED]"},
		"unknown":   {silence, operation.Pending, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				o := p.begin()
				p.clock.Advance(time.Second)
				after := p.run(o, c.answer)
				if stored := p.stands(o, c.want); stored != after {
					t.Errorf("Run returned\n%+v, stored is\n%+v", after, stored)
				}
				if after.Outcome != c.answer.Outcome.String() || after.Code != c.answer.Code || after.ProviderReference != c.answer.Reference {
					t.Errorf("the answer was written as %+v", after)
				}
				if got := fmt.Sprint(p.told()); got != c.told {
					t.Errorf("told: %s", got)
				}
				if pending := c.want == operation.Pending; after.NextAt.IsZero() == pending ||
					pending && !after.NextAt.Equal(p.clock.Now().Add(5*time.Second)) {
					t.Errorf("the next poll: %v", after.NextAt)
				}
			})
		})
	}
}

// Nobody can see an outcome without its event, not even a listener of the very commit.
func TestAnOutcomeIsCommittedWithItsEvent(t *testing.T) {
	for _, a := range []provider.Answer{confirmed, rejected} {
		t.Run(a.Outcome.String(), func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				o, looks := p.begin(), 0
				p.book.Committed(func([]string) {
					looks++
					now, err := p.Find(t.Context(), o.Company, o.ID)
					if told := p.told(); err != nil || now.State == operation.Pending || len(told) != 1 {
						t.Errorf("committed %s, told %v, %v", now.State, told, err)
					}
				})
				p.run(o, a)
				if looks != 1 {
					t.Errorf("%d commits", looks)
				}
			})
		})
	}
}

// A program may be frozen after it has committed an operation and before it calls the provider.
// After the operation's window, it must not make the call, because the resolver may have returned
// the money.
func TestNoCallIsMadeAfterItsWindow(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		p.clock.Advance(window)
		after, err := p.Run(t.Context(), o, func(context.Context) provider.Answer {
			t.Error("the provider was asked to pay")
			return confirmed
		}, nil)
		if p.must(err); after.Code != provider.CodeNotSent {
			t.Errorf("after: %+v", after)
		}
		p.stands(o, operation.Failed)
	})
}

// If a provider's adapter panics during the call, the outcome is unknown. A caller that disconnects
// does not end the call.
func TestAPanicOfAProviderIsUnknown(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		ctx, hangUp := context.WithCancel(t.Context())
		after, err := p.Run(ctx, p.begin(), func(ctx context.Context) provider.Answer {
			hangUp()
			if ctx.Err() != nil {
				t.Error("the call ended with its caller")
			}
			if _, limited := ctx.Deadline(); !limited {
				t.Error("the call has no deadline")
			}
			panic("a bug in the plug")
		}, nil)
		if p.must(err); after.Code != "panic" {
			t.Errorf("after: %+v", after)
		}
		p.stands(after, operation.Pending)
	})
}

// If several goroutines write the same outcome concurrently, it is written only once.
func TestConcurrentWritersWriteOneOutcome(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.unknown()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				after, err := p.Notified(t.Context(), o.Company, o.ID, confirmed)
				if err != nil || after.State != operation.Success {
					t.Errorf("notified: %+v, %v", after, err)
				}
			})
		}
		all.Wait()
		p.stands(o, operation.Success)
		if got := fmt.Sprint(p.told()); got != "[test.SUCCESS]" || len(p.open()) != 0 {
			t.Errorf("told %s, cases %+v", got, p.open())
		}
	})
}

// If the ledger refuses the changes that a request adds to the outcome, the outcome is written
// without them. The ledger refuses them, for example, if a retry of the request has written them.
func TestAnOutcomeIsWrittenWithoutTheRequestsEffects(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		after, err := p.Run(t.Context(), o, func(context.Context) provider.Answer { return confirmed },
			func(_ operation.Operation, u *ledger.Unit) {
				u.Transition(guarded.Record(guardedRow{p.company, "no such row", "RESOLVED"}), "OPEN")
			})
		if p.must(err); after.State != operation.Success {
			t.Errorf("after: %+v", after)
		}
		p.stands(o, operation.Success)
	})
}

// guarded is the table of cases. A test adds a transition of a case that does not exist, so that
// the ledger refuses the unit.
var guarded = db.Declare[guardedRow]("operation_case")

type guardedRow struct {
	Company string `db:"company_id,key"`
	ID      string `db:"id,key"`
	State   string `db:"state,state"`
}

// If a notification writes the outcome before the call returns another one, the written outcome
// stands and the other is a case. The money of a further operation in the clearing account stays.
func TestAnOutcomeIsNotWrittenOverAnOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		first, second provider.Answer
		state         operation.State
		settlement    money.Kobo
	}{
		"failed, then done":   {rejected, confirmed, operation.Failed, opening - price - fee},
		"done, then rejected": {confirmed, rejected, operation.Success, opening - 2*(price+fee)},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				other, o := p.begin(), p.begin()
				after, err := p.Run(t.Context(), o, func(ctx context.Context) provider.Answer {
					_, err := p.Notified(ctx, o.Company, o.ID, c.first)
					p.must(err)
					return c.second
				}, nil)
				if err != nil || after.State != c.state {
					t.Errorf("%s, %v", after.State, err)
				}
				now, err := p.book.Balances(t.Context(), p.company)
				if p.must(err); now["settlement/1"] != c.settlement || now["clearing/test"] != other.Amount+other.Fee {
					t.Errorf("the accounts hold %v", now)
				}
				if cases := p.open(); len(cases) != 1 || cases[0].Reason != operation.Contradiction || len(p.told()) != 1 {
					t.Errorf("cases %+v, told %v", cases, p.told())
				}
			})
		})
	}
}

// If a notification writes the outcome before the call returns, the changes that the request adds
// are still written.
func TestARequestAddsItsEffectsToAnOutcomeWrittenByAnother(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		after, err := p.Run(t.Context(), o, func(ctx context.Context) provider.Answer {
			_, err := p.Notified(ctx, o.Company, o.ID, confirmed)
			p.must(err)
			return confirmed
		}, func(after operation.Operation, u *ledger.Unit) {
			event.Emit(u, "added."+string(after.State), o.ID)
		})
		p.must(err)
		if got := fmt.Sprint(p.told()); after.State != operation.Success || got != "[test.SUCCESS added.SUCCESS]" {
			t.Errorf("%s, told %s", after.State, got)
		}
	})
}

func TestAnOperationIsFoundByItsOwnCompanyAlone(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		if found, err := p.FindByKey(t.Context(), p.company, "test", o.IdempotencyKey); err != nil || found.ID != o.ID {
			t.Errorf("by key: %+v, %v", found, err)
		}
		for name, find := range map[string]func() (operation.Operation, error){
			"another company's id": func() (operation.Operation, error) { return p.Find(t.Context(), id.Cuid(), o.ID) },
			"another company's key": func() (operation.Operation, error) {
				return p.FindByKey(t.Context(), id.Cuid(), "test", o.IdempotencyKey)
			},
			"another kind's key": func() (operation.Operation, error) {
				return p.FindByKey(t.Context(), p.company, "else", o.IdempotencyKey)
			},
			"an id that is not ours": func() (operation.Operation, error) { return p.Find(t.Context(), p.company, id.New()) },
		} {
			if found, err := find(); !fault.Is(err, fault.Missing) {
				t.Errorf("%s: %+v, %v", name, found, err)
			}
		}
		again := p.Start(operation.Operation{Company: p.company, Kind: "test", IdempotencyKey: o.IdempotencyKey, SettlementID: 1, Amount: 1})
		err := p.book.Commit(t.Context(), p.Unit(again, 0, ""))
		if earlier, ok := operation.Earlier(err); !ok || earlier.ID != o.ID || earlier != p.stands(o, operation.Pending) {
			t.Errorf("the same key again: %+v, %v", earlier, err)
		}
	})
}
