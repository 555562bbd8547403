package operation

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Kind is a business: how its operations work, and the cases that it resolves.
type Kind struct {
	// Route names the ledger accounts of the operation's money.
	Route func(o Operation) Route
	// Requery asks the operation's provider for the outcome.
	Requery func(ctx context.Context, o Operation) provider.Answer
	// Effects adds the business's own changes, such as an event, to the unit that gives
	// the operation its new state.
	Effects func(ctx context.Context, o Operation, u *ledger.Unit) error
	// Returns is true if the money may come back after a success.
	Returns bool
	// Cases resolve cases that are not about an operation.
	Cases map[Decision]CaseHandler
}

// Service runs the operations of all kinds.
type Service struct {
	db     *db.DB
	book   *ledger.Book
	clock  clock.Clock
	log    *slog.Logger
	window time.Duration
	kinds  map[string]Kind
	cases  map[Decision]CaseHandler

	isOperator func(ctx context.Context, name string) (bool, error)
}

// NewService returns a service without kinds. It takes every name for an operator's. Window is
// the longest time of a call to a provider, from the first unit on. The providers' own
// timeouts must be shorter.
func NewService(d *db.DB, book *ledger.Book, c clock.Clock, log *slog.Logger, window time.Duration) *Service {
	everyone := func(context.Context, string) (bool, error) { return true, nil }
	return WithOperators(d, book, c, log, window, everyone)
}

// WithOperators is NewService with a function that reports whether a name is an operator's.
func WithOperators(d *db.DB, book *ledger.Book, c clock.Clock, log *slog.Logger, window time.Duration, isOperator func(ctx context.Context, name string) (bool, error)) *Service {
	return &Service{
		db: d, book: book, clock: c, log: log, window: window, isOperator: isOperator,
		kinds: map[string]Kind{}, cases: map[Decision]CaseHandler{},
	}
}

// Handle registers a kind, before the first operation and the first case. A business and
// the service use each other, so a kind cannot be an argument of NewService.
func (s *Service) Handle(kind string, k Kind) {
	s.kinds[kind] = k
	maps.Copy(s.cases, k.Cases)
}

// Start returns a new operation with the time now, not yet written. Without an id of the
// business, its id is the Reference of its key, or random if there is no key.
func (s *Service) Start(o Operation) Operation {
	now := s.clock.Now()
	switch {
	case o.ID != "":
	case o.IdempotencyKey != "":
		o.ID = Reference(o.Company, o.Kind, o.IdempotencyKey)
	default:
		o.ID = id.New()
	}
	o.State = Pending
	o.CreatedAt, o.UpdatedAt = now, now
	o.CalledUntil = now.Add(s.window)
	o.NextAt = o.pollAt(0)
	return o
}

// Unit returns step one for a started operation: its row, the transfer into clearing, and the
// resolver's job, which runs after the end of the call. Leave is the amount that must
// stay in the settlement account.
func (s *Service) Unit(o Operation, leave money.Kobo, narration string) ledger.Unit {
	r := s.kinds[o.Kind].Route(o)
	first := o.transfer(hold, r.Settlement, r.Clearing, o.Amount+o.Fee, narration)
	first.Leave = leave
	u := ledger.For(o.Company)
	// Clearing has a floor of 0: only money that came in goes out.
	u.OpenAccounts(ledger.Account{ID: r.Clearing}, ledger.Account{ID: r.Provider, Floor: money.NoFloor})
	if o.Fee > 0 {
		// A fee may be returned after the fintech has withdrawn it, so there is no floor.
		u.OpenAccounts(ledger.Account{ID: r.Fee, Floor: money.NoFloor})
	}
	u.Insert(operations.Record(o))
	u.Transfer(first)
	u.Append(o.resolveJob().For(u.Company))
	return u
}

// Extra adds the effects that only the request knows to the unit of an outcome. It may be
// nil.
type Extra = func(after Operation, u *ledger.Unit)

// Run returns steps two and three of a written operation: the call, and the unit of its
// outcome. The call continues when the caller hangs up.
//
// Run returns the present operation, also if the resolver or a notification was faster.
// If the database is away, Run returns the PENDING operation with the error, and the
// resolver asks later.
func (s *Service) Run(ctx context.Context, o Operation, call func(ctx context.Context) provider.Answer, extra Extra) (Operation, error) {
	ctx = context.WithoutCancel(ctx)
	answer := s.first(ctx, o, call)
	// A caller waits no longer than its budget. The answer is written all the same, since
	// the provider may say less next time.
	type written struct {
		o   Operation
		err error
	}
	done, wait := make(chan written, 1), db.Await(ctx)
	defer wait.End()
	go func() {
		defer func() {
			if p := recover(); p != nil { // as in a request, the program continues
				done <- written{o, fmt.Errorf("operation: panic: %v", p)}
			}
		}()
		after, err := s.heardFirst(db.Unbounded(ctx), o, answer, extra)
		done <- written{after, err}
	}()
	select {
	case w := <-done:
		return w.o, w.err
	case <-wait.Over:
		return o, fault.New(fault.Unavailable, "Service temporarily unavailable")
	}
}

// heardFirst writes the answer of the first call.
func (s *Service) heardFirst(ctx context.Context, o Operation, answer provider.Answer, extra Extra) (Operation, error) {
	if answer.Outcome != provider.Unknown {
		return s.heardDefinite(ctx, o, answer, extra)
	}
	after := o.answered(answer, s.clock.Now())
	after.CalledUntil = after.UpdatedAt
	after.NextAt = after.pollAt(0)
	written, err := s.write(ctx, o, after, extra)
	if err == nil {
		err = job.Reschedule(ctx, s.db, o.Company, ResolveJob, o.ID, after.NextAt)
	}
	return written, err
}

// persistence is the longest time of retries to write a definite answer.
const persistence = 3 * time.Second

// heardDefinite writes a definite answer, and tries again when the connection breaks,
// since a requery may say less. The operation's state guards each attempt: an outcome
// that an earlier attempt has committed stays.
func (s *Service) heardDefinite(ctx context.Context, o Operation, answer provider.Answer, extra Extra) (Operation, error) {
	after, err := s.conclude(ctx, o, answer, extra)
	limit, cancel := context.WithTimeout(ctx, persistence)
	defer cancel()
	for pause := 50 * time.Millisecond; fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Unknown); pause *= 2 {
		select {
		case <-limit.Done():
			return after, err
		case <-time.After(pause):
		}
		after, err = s.conclude(ctx, o, answer, extra)
	}
	return after, err
}

// first returns the only call that may move money. After the window it is not made, for
// example in a program that was frozen for an hour: the resolver may have heard "no such
// reference" by then, and returned the money.
func (s *Service) first(ctx context.Context, o Operation, call func(ctx context.Context) provider.Answer) provider.Answer {
	left := o.CalledUntil.Sub(s.clock.Now())
	if left <= 0 {
		return provider.Answer{Outcome: provider.Rejected, Code: provider.CodeNotSent, Message: "The request was not sent in time"}
	}
	return s.call(ctx, o, min(left, s.window), call)
}

// call limits the time of a provider's call. A panic of the provider's code is an unknown
// outcome.
func (s *Service) call(ctx context.Context, o Operation, limit time.Duration, call func(ctx context.Context) provider.Answer) (a provider.Answer) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a plug panicked", "provider", o.Provider, "operation", o.ID, "panic", fmt.Sprint(p))
			a = provider.Answer{Code: "panic"}
		}
	}()
	return call(ctx)
}

// conclude writes a definite outcome.
func (s *Service) conclude(ctx context.Context, o Operation, a provider.Answer, extra Extra) (Operation, error) {
	return s.write(ctx, o, o.concluded(a, s.clock.Now()), extra)
}

// write commits an operation over its PENDING row.
func (s *Service) write(ctx context.Context, o, after Operation, extra Extra) (Operation, error) {
	u, err := s.outcomeUnit(ctx, after)
	if err != nil {
		return o, err
	}
	if after.State == Pending || o.Outcome != "" {
		u.Append(after.lastAnswer())
	}
	if extra != nil {
		extra(after, &u)
	}
	err = s.book.Commit(ctx, u)
	r := ledger.Refused(err)
	switch {
	case err == nil:
		return after, nil
	case r == nil || r.Reason != ledger.Moved:
		return o, err
	case r.Table == operations.Table:
		now, err := s.overtaken(ctx, o, after)
		if err == nil && extra != nil {
			err = s.belated(ctx, now, extra)
		}
		return now, err
	case extra != nil:
		// A retry of the request has written its extra effects. The outcome must be
		// written all the same.
		return s.write(ctx, o, after, nil)
	}
	return o, err
}

// outcomeUnit returns step three: the transition, and for a final state the transfers out of
// clearing and the business's effects.
func (s *Service) outcomeUnit(ctx context.Context, after Operation) (ledger.Unit, error) {
	u := ledger.For(after.Company)
	u.Transition(operations.Record(after), string(Pending))
	if after.State == Pending {
		return u, nil
	}
	if err := s.kinds[after.Kind].Effects(ctx, after, &u); err != nil {
		return u, err
	}
	if !after.NextAt.IsZero() { // it FAILED by absence
		u.Append(job.Job{Kind: RecheckJob, Subject: after.ID, Provider: after.Provider, RunAt: after.NextAt}.For(u.Company))
	}
	u.Transfer(s.settle(after)...)
	s.bookCharge(&u, after)
	return u, nil
}

// belated writes the extra effects of a request whose outcome another writer has written.
// Otherwise the request's Idempotency-Key would have no answer. Effects that a retry has
// written stay.
func (s *Service) belated(ctx context.Context, o Operation, extra Extra) error {
	u := ledger.For(o.Company)
	if extra(o, &u); u.IsEmpty() {
		return nil
	}
	return ledger.Except(s.book.Commit(ctx, u), ledger.Moved)
}

// overtaken compares our answer with an outcome that another writer has written. A
// contradiction moves no money and opens a case for an operator. An equal answer may be
// the first that names a charge. An answer that the money came back reverses a success.
func (s *Service) overtaken(ctx context.Context, o, ours Operation) (Operation, error) {
	now, err := s.Find(ctx, o.Company, o.ID)
	if err != nil {
		return o, err
	}
	switch {
	case ours.State == Success && now.State == Success:
		now.Charge = ours.Charge
		err = s.bookLateCharge(ctx, now)
	case ours.Returned && now.State == Success:
		return s.reverse(ctx, now, ours)
	case ours.Returned && now.State == Reversed:
	case ours.State != Pending && ours.State != now.State:
		detail := fmt.Sprintf("the operation is %s; a later answer (%s) says %s", now.State, ours.Code, ours.Outcome)
		err = s.OpenCase(ctx, now.Company, now.ID, Contradiction, detail)
	}
	return now, err
}

// Earlier returns the existing operation with the key of a refused unit. Ok is false if the
// unit was refused for another reason.
func Earlier(err error) (o Operation, ok bool) {
	if r := ledger.Refused(err); r != nil {
		if row, exists := r.Existing(operations.Table); exists {
			o, err := operations.Value(row)
			return o, err == nil
		}
	}
	return Operation{}, false
}
