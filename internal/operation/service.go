package operation

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Kind describes one kind of operation: how its operations work, and which cases it resolves.
type Kind struct {
	// Route names the ledger accounts of the operation's money.
	Route func(o Operation) Route
	// Requery asks the operation's provider for the outcome.
	Requery func(ctx context.Context, o Operation) provider.Answer
	// Effects adds further changes of this kind, such as an event, to the unit that sets the
	// operation's final state.
	Effects func(ctx context.Context, o Operation, u *ledger.Unit) error
	// Returns is true if the provider may return the money of a successful operation.
	Returns bool
	// Cases contains the handlers of cases that are not about an operation.
	Cases map[Decision]CaseHandler
}

// Service runs the operations of all kinds.
type Service struct {
	// Calls keeps the outcomes of the calls to providers for operators. It may be nil.
	Calls *provider.Figures
	// Simulated is true in sandbox mode. A move of the sandbox's clock then shows the end of each story:
	// missed requeries follow each other immediately, also if the provider does not know the reference.
	Simulated bool
	// Restored reports whether the database was restored, and operators have not ended the hold of moves. A
	// request may then repeat one of the lost time. It may be nil.
	Restored func() bool
	// RestoredUntil returns when operators last ended such a hold, or the zero time. It may be nil.
	RestoredUntil func() time.Time

	db     *db.DB
	book   *ledger.Book
	clock  clock.Clock
	steady *clock.Steady // a program that has just started does not know whether the clock has jumped
	log    *slog.Logger
	window time.Duration
	kinds  map[string]Kind
	cases  map[Decision]CaseHandler

	replies, moves *prometheus.CounterVec

	mayPropose MayPropose
}

// Draft is what an operator has proposed for the approval of a second operator.
type Draft struct {
	Company, Action, Subject string // of the line in the audit log that records it
	By                       string
	At                       time.Time
	Details                  map[string]string // details that the line must have
}

// MayPropose reports whether an operator who has proposed something may still propose it
// (operator.Service.MayStillPropose).
type MayPropose func(ctx context.Context, p Draft) (bool, error)

// NewService returns a service without kinds. The service accepts every proposer.
// Parameter window limits the time from the commit of step one to the end of the first call to the
// provider. The timeouts in the providers' adapters must be shorter.
func NewService(d *db.DB, book *ledger.Book, c clock.Clock, log *slog.Logger, window time.Duration) *Service {
	everyone := func(context.Context, Draft) (bool, error) { return true, nil }
	return WithOperators(d, book, c, log, window, everyone)
}

// WithOperators returns a service like NewService, which accepts a proposal only if mayPropose does.
func WithOperators(d *db.DB, book *ledger.Book, c clock.Clock, log *slog.Logger, window time.Duration, mayPropose MayPropose) *Service {
	return &Service{
		db: d, book: book, clock: c, steady: clock.NewSteady(c), log: log, window: window, mayPropose: mayPropose,
		kinds: map[string]Kind{}, cases: map[Decision]CaseHandler{}, replies: newReplies(), moves: newMoves(),
	}
}

// Handle registers a kind. It must be called before the first operation and the first case. A
// kind's code and this service use each other, so a kind cannot be an argument of NewService.
func (s *Service) Handle(kind string, k Kind) {
	s.kinds[kind] = k
	maps.Copy(s.cases, k.Cases)
}

// Start returns a new operation that begins now. It does not write the operation. If o has no ID,
// the ID is the Reference of the idempotency key. Without a key, the ID is random.
func (s *Service) Start(o Operation) Operation {
	s.steady.Since() // a jump back and a later jump forward would hide each other
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

// Unit returns the unit of step one for a started operation. The unit has the operation's row
// and labels, the transfer into clearing and the resolver's job. The job runs after the end of the call.
// Parameter leave is the amount that must stay in the settlement account.
func (s *Service) Unit(o Operation, leave money.Kobo, narration string) ledger.Unit {
	u := ledger.For(o.Company)
	s.Add(&u, o, leave, narration)
	return u
}

// Add adds step one of a started operation to a unit of its company, as Unit describes it.
func (s *Service) Add(u *ledger.Unit, o Operation, leave money.Kobo, narration string) {
	r := s.kinds[o.Kind].Route(o)
	first := o.transfer(hold, r.Settlement, r.Clearing, o.Amount+o.Fee, narration)
	first.Leave = leave
	// The clearing account has a floor of 0, so it cannot pay out more money than came in.
	u.OpenAccounts(ledger.Account{ID: r.Clearing}, ledger.Account{ID: r.Provider, Floor: money.NoFloor})
	if o.Fee > 0 {
		// The fintech may withdraw a fee before the fee is returned to the company. So this account
		// may go below zero.
		u.OpenAccounts(ledger.Account{ID: r.Fee, Floor: money.NoFloor})
	}
	u.Insert(operations.Record(o))
	o.Labels.write(u, o)
	u.Transfer(first)
	u.Append(o.resolveJob().For(u.Company))
}

// Extra is a function that adds changes to the unit that writes an outcome. Only the request knows
// these changes, such as its stored response. An Extra may be nil.
type Extra = func(after Operation, u *ledger.Unit)

// Run carries out steps two and three of an operation: it calls the provider and writes the
// outcome. The call continues if the caller disconnects.
//
// Run returns the current operation, even if the resolver or a notification was faster. If the
// database is unavailable, Run returns the PENDING operation and the error, and the resolver asks
// later.
func (s *Service) Run(ctx context.Context, o Operation, call func(ctx context.Context) provider.Answer, extra Extra) (Operation, error) {
	return s.RunOver(ctx, o, call, nil, extra)
}

// RunOver does the same as Run. If the provider definitely never started the operation, RunOver moves
// it to the provider that next returns. Parameter next may be nil.
func (s *Service) RunOver(ctx context.Context, o Operation, call func(ctx context.Context) provider.Answer, next Next, extra Extra) (Operation, error) {
	ctx = context.WithoutCancel(ctx)
	o, answer := s.try(ctx, o, call, next)
	answer, err := s.held(ctx, o, o.ordered(answer))
	if err != nil { // the answer has no outcome, and the resolver asks again
		s.log.Warn("the cases about an operation could not be read", "company", o.Company, "operation", o.ID, "error", err)
	}
	// The caller waits only until its time limit. After that, the reply is still written, because
	// the provider's next reply may contain less information.
	type written struct {
		o   Operation
		err error
	}
	done, wait := make(chan written, 1), db.Await(ctx)
	defer wait.End()
	go func() {
		defer func() {
			if p := recover(); p != nil { // the program continues, as after a panic in a request handler
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

// notSent is the reply in place of a call for which too little of the window is left.
var notSent = provider.Answer{Outcome: provider.Rejected, Unstarted: true, Code: provider.CodeNotSent, Message: "The request was not sent in time"}

// first makes the only call of an attempt that may move money. It makes no call after the operation's window, for
// example in a program that was frozen for an hour. By then the resolver may have got the reply "no
// such reference", and returned the money.
func (s *Service) first(ctx context.Context, o Operation, call func(ctx context.Context) provider.Answer) provider.Answer {
	left, held := s.left(o), s.holdsMoves()
	if left <= 0 {
		return s.believed(notSent, held)
	}
	return s.believed(s.counted(o, "first", s.Calls.Start(), s.call(ctx, o, min(left, s.window), call)), held)
}

// call calls a provider with a time limit. If the provider's adapter panics, the outcome is
// unknown.
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

// belated writes the extra effects of a request, after the resolver or a notification has written
// the outcome. Otherwise the request's Idempotency-Key would have no stored response. If a retry
// has written these effects, they stay.
func (s *Service) belated(ctx context.Context, o Operation, extra Extra) error {
	u := ledger.For(o.Company)
	if extra(o, &u); u.IsEmpty() {
		return nil
	}
	return ledger.Except(s.book.Commit(ctx, u), ledger.Moved)
}

// overtaken processes our reply after a different reply has written the outcome. A contradiction
// moves no money and opens a case for operators. If both outcomes are a success, overtaken books
// the charge in our reply, unless a charge is booked already. If our reply states that the provider
// returned the money, overtaken reverses a successful operation.
func (s *Service) overtaken(ctx context.Context, o, ours Operation) (Operation, error) {
	now, err := s.Find(ctx, o.Company, o.ID)
	if err != nil {
		return o, err
	}
	switch {
	case ours.Attempt != now.Attempt: // our reply is about an attempt that has ended
		if ours.State == Success {
			err = s.Late(ctx, ours.attempt(), provider.Answer{Outcome: provider.Confirmed, Code: ours.Code})
		}
	case ours.State == Success && now.State == Success:
		now.Charge = max(ours.Charge, 0)
		err = s.bookLateCharge(ctx, now)
	case ours.Returned && now.State == Success:
		return s.reverse(ctx, now, ours)
	case (ours.Returned || ours.State == Success) && now.State == Reversed: // a success comes before its reversal
	case ours.State != Pending && ours.State != now.State:
		detail := fmt.Sprintf("the operation is %s; a later answer (%s) says %s", now.State, ours.Code, ours.Outcome)
		err = s.OpenCase(ctx, now.Company, now.ID, Contradiction, detail)
	}
	return now, err
}

// Earlier returns the existing operation if the ledger refused a new operation with the same
// idempotency key. For an error with a different reason, it returns false.
func Earlier(err error) (o Operation, ok bool) {
	if r := ledger.Refused(err); r != nil {
		if row, exists := r.Existing(operations.Table); exists {
			o, err := operations.Value(row)
			return o, err == nil
		}
	}
	return Operation{}, false
}
