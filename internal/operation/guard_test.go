package operation_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// An operation is refused if its amount and fee would leave less than the required balance in the
// settlement account. The clearing account never pays out more money than it received.
func TestAnOperationLeavesTheRequiredBalance(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		whole := p.Start(operation.Operation{
			Company: p.company, Kind: "test", IdempotencyKey: id.New(), Provider: "bank", SettlementID: 1, Amount: opening - fee, Fee: fee,
		})
		r := ledger.Refused(p.book.Commit(t.Context(), p.Unit(whole, 1, "all but one kobo must go")))
		if r == nil || r.Reason != ledger.Short || r.Account != "settlement/1" {
			t.Errorf("the whole balance, where a kobo must stay: %v", r)
		}
		p.must(p.book.Commit(t.Context(), p.Unit(whole, 0, "all of it")))
		u := ledger.For(p.company)
		u.Transfer(ledger.Transfer{Reference: id.New(), Debit: "clearing/test", Credit: "capital", Amount: opening + 1, Kind: "test"})
		r = ledger.Refused(p.book.Commit(t.Context(), u))
		if r == nil || r.Reason != ledger.Short || r.Account != "clearing/test" {
			t.Errorf("more than is in clearing: %v", r)
		}
	})
}

// The first call to the provider ends at the operation's CalledUntil, even if the call began late.
// From then on the resolver may ask the provider for the outcome.
func TestACallEndsWithItsWindow(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		const left = time.Second
		p.clock.Advance(window - left)
		_, err := p.Run(t.Context(), o, func(ctx context.Context) provider.Answer {
			if until, limited := ctx.Deadline(); !limited || time.Until(until) > left {
				t.Errorf("the call may go on until %v", until)
			}
			return confirmed
		}, nil)
		p.must(err)
	})
}

// If the first call ends early without an outcome, the first requery is also due earlier.
func TestAnEarlyEndOfTheCallBringsTheRequeryForward(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		p.clock.Advance(time.Second)
		p.run(o, silence)
		due, err := db.One(t.Context(), p.db, db.Value[int64],
			`SELECT run_at FROM job WHERE company_id = $1 AND kind = $2 AND subject = $3`, p.company, operation.ResolveJob, o.ID)
		if err != nil || due != clock.Micros(p.clock.Now().Add(5*time.Second)) {
			t.Errorf("the resolver's job is due at %v, %v", clock.Time(due), err)
		}
	})
}

// A successful operation is reversed only once. A FAILED operation is not reversed, because its
// money was returned when it failed.
func TestOnlyASuccessIsReversedAndOnce(t *testing.T) {
	back := provider.Answer{Outcome: provider.Rejected, Code: "reversed", Reversed: true}
	for name, c := range map[string]struct {
		first provider.Answer
		state operation.State
	}{
		"pending": {silence, operation.Failed}, "failed": {rejected, operation.Failed}, "success": {confirmed, operation.Reversed},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				o := p.run(p.begin(), c.first)
				var all sync.WaitGroup
				for range 8 {
					all.Go(func() {
						after, err := p.Notified(t.Context(), o.Company, o.ID, back)
						if err != nil || after.State != c.state {
							t.Errorf("%s: %v", after.State, err)
						}
					})
				}
				all.Wait()
				p.stands(o, c.state)
				if _, n, err := p.Cases(t.Context(), operation.CaseFilter{State: operation.Open}, 10, 0); err != nil || n > 0 {
					t.Errorf("%d cases, %v", n, err)
				}
			})
		})
	}
}

// A reply says that the provider has carried out the operation. Before it is written, another reply says so too, and a third one that the money
// came back. The first reply is older than the reversal, and contradicts nothing.
func TestASuccessThatIsOlderThanItsReversalIsNoContradiction(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		after, err := p.Run(t.Context(), o, func(context.Context) provider.Answer {
			for _, said := range []provider.Answer{confirmed, {Outcome: provider.Rejected, Code: "reversed", Reversed: true}} {
				_, err := p.Notified(t.Context(), o.Company, o.ID, said)
				p.must(err)
			}
			return confirmed
		}, nil)
		p.must(err)
		if after.State != operation.Reversed {
			t.Errorf("it is %s", after.State)
		}
		p.stands(o, operation.Reversed)
		if open := p.open(); len(open) > 0 {
			t.Errorf("cases: %+v", open)
		}
	})
}
