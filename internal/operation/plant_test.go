package operation_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

const (
	window  = 5 * time.Second
	opening = 10_000
	price   = 3_000
	fee     = 50
)

// plant is the fixture of these tests. It has a service with one kind of operation, and a company
// with money. The test sets the provider's replies and moves the clock.
type plant struct {
	*operation.Service
	t       *testing.T
	db      *db.DB
	book    *ledger.Book
	clock   *clock.Manual
	company string
	kind    operation.Kind
	asked   int                                       // the number of requeries to the provider
	answer  func(operation.Operation) provider.Answer // the provider's reply to a requery
	removed map[string]bool                           // the names of operators who were removed
	away    error                                     // the error of reading the list of operators
}

func each(t *testing.T, f func(t *testing.T, p *plant)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
		p := &plant{t: t, db: d, book: ledger.New(d, clk), clock: clk, company: id.Cuid(), removed: map[string]bool{}}
		p.Service = operation.WithOperators(d, p.book, clk, slog.New(slog.DiscardHandler), window,
			func(_ context.Context, by operation.Draft) (bool, error) { return !p.removed[by.By], p.away })
		p.kind = operation.Kind{
			Route: func(operation.Operation) operation.Route {
				return operation.Route{Settlement: "settlement/1", Clearing: "clearing/test", Provider: "provider/test", Fee: "fees", Charge: "charge/test"}
			},
			Requery: func(_ context.Context, o operation.Operation) provider.Answer {
				p.asked++
				return p.answer(o)
			},
			Effects: func(_ context.Context, o operation.Operation, u *ledger.Unit) error {
				event.Emit(u, "test."+string(o.State), o.ID)
				return nil
			},
		}
		p.Handle("test", p.kind)
		u := ledger.Found(p.company)
		u.OpenAccounts(ledger.Account{ID: "settlement/1"}, ledger.Account{ID: "capital", Floor: money.NoFloor})
		u.Transfer(ledger.Transfer{Reference: id.New(), Debit: "capital", Credit: "settlement/1", Amount: opening, Kind: "credit"})
		p.must(p.book.Commit(t.Context(), u))
		f(t, p)
	})
}

func (p *plant) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// begin commits a new operation (step one) and returns it.
func (p *plant) begin() operation.Operation {
	p.t.Helper()
	o := p.Start(operation.Operation{
		Company: p.company, Kind: "test", IdempotencyKey: id.New(), Provider: "bank", SettlementID: 1, Amount: price, Fee: fee,
	})
	p.must(p.book.Commit(p.t.Context(), p.Unit(o, 1, "a test")))
	return o
}

// run makes the first call of operation o; a is the provider's reply. It returns the operation with
// its outcome.
func (p *plant) run(o operation.Operation, a provider.Answer) operation.Operation {
	p.t.Helper()
	after, err := p.Run(p.t.Context(), o, func(context.Context) provider.Answer { return a }, nil)
	p.must(err)
	return after
}

// unknown returns an operation whose first call got no reply.
func (p *plant) unknown() operation.Operation {
	p.t.Helper()
	return p.run(p.begin(), provider.Answer{Code: provider.CodeTimeout})
}

// says sets the provider's reply to all requeries.
func (p *plant) says(a provider.Answer) {
	p.answer = func(operation.Operation) provider.Answer { return a }
}

// poll runs the resolver once, as the worker would, and returns the time of its next run.
func (p *plant) poll(o operation.Operation) time.Time {
	p.t.Helper()
	next, err := p.Resolve(p.t.Context(), job.Job{Company: o.Company, Kind: operation.ResolveJob, Subject: o.ID})
	p.must(err)
	return next
}

// stands fails the test unless the operation has the state want, and each ledger account has the
// balance that belongs to this state.
func (p *plant) stands(o operation.Operation, want operation.State) operation.Operation {
	p.t.Helper()
	now, err := p.Find(p.t.Context(), o.Company, o.ID)
	p.must(err)
	got, err := p.book.Balances(p.t.Context(), p.company)
	p.must(err)
	balances := fmt.Sprint(got["settlement/1"].Number(), " ", got["clearing/test"].Number(), " ", (got["provider/test"] + got["charge/test"]).Number(), " ", got["fees"].Number())
	places := map[operation.State]string{
		operation.Pending: "69.5 30.5 0 0", operation.Success: "69.5 0 30 0.5",
		operation.Failed: "100 0 0 0", operation.Reversed: "100 0 0 0",
	}
	if now.State != want || balances != places[want] {
		p.t.Errorf("the operation is %s with %s; want %s with %s", now.State, balances, want, places[want])
	}
	if now.Refunded() != (want == operation.Failed || want == operation.Reversed) {
		p.t.Errorf("%s, refunded: %v", now.State, now.Refunded())
	}
	report, err := ledger.Verify(p.t.Context(), p.db, p.company)
	p.must(err)
	if len(report.Wrongs) > 0 {
		p.t.Errorf("the book: %v", report.Wrongs)
	}
	return now
}

// told returns the kinds of the company's events, in the order of the events.
func (p *plant) told() []string {
	p.t.Helper()
	kinds, err := db.All(p.t.Context(), p.db, db.Value[string], `SELECT kind FROM event WHERE company_id = $1 ORDER BY sequence`, p.company)
	p.must(err)
	return kinds
}

// open returns the open cases.
func (p *plant) open() []operation.Case {
	p.t.Helper()
	cases, total, err := p.Cases(p.t.Context(), operation.CaseFilter{State: operation.Open}, 10, 0)
	p.must(err)
	if int(total) != len(cases) {
		p.t.Errorf("%d cases, said to be %d", len(cases), total)
	}
	return cases
}
