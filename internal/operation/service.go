package operation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// Kind is what the machine must know of a business to follow its operations.
type Kind struct {
	// Route names the accounts the operation's money passes through.
	Route func(o Operation) Route
	// Requery asks the operation's provider what became of it.
	Requery func(ctx context.Context, o Operation) provider.Answer
	// Effects adds to the unit that gives the operation its new state what the
	// business changes with it: the event, for one.
	Effects func(ctx context.Context, o Operation, u *ledger.Unit) error
	// Returns is true when its money may come back after a success.
	Returns bool
}

// Service runs the machine.
type Service struct {
	db     *db.DB
	book   *ledger.Book
	clock  clock.Clock
	log    *slog.Logger
	window time.Duration
	kinds  map[string]Kind
	cases  map[caseKind]CaseHandler

	isOperator func(ctx context.Context, name string) (bool, error)
}

// NewService is a machine that knows no kinds yet. Window is how long a call to
// a provider may take, from the first unit on; the plugs' own deadlines must be
// shorter.
func NewService(d *db.DB, book *ledger.Book, c clock.Clock, log *slog.Logger, window time.Duration) *Service {
	return &Service{db: d, book: book, clock: c, log: log, window: window, kinds: map[string]Kind{}, cases: map[caseKind]CaseHandler{}}
}

// Handle teaches the machine a kind. Call it before the first operation.
func (s *Service) Handle(kind string, k Kind) { s.kinds[kind] = k }

// Start is a new operation, dated now and not yet written. It gets an id, unless
// the business has one that is as new and as permanent: the Reference of its key,
// or a random one if it has no key.
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

// Unit is step one for a started operation: its row, the money into clearing,
// and the resolver's job, which runs after the call is certainly over. Leave is
// what the settlement account must keep.
func (s *Service) Unit(o Operation, leave money.Kobo, narration string) ledger.Unit {
	r := s.kinds[o.Kind].Route(o)
	first := o.transfer(hold, r.Settlement, r.Clearing, o.Amount+o.Fee, narration)
	first.Leave = leave
	u := ledger.For(o.Company)
	// Clearing may not be overdrawn: what leaves it came in first.
	u.OpenAccounts(ledger.Account{ID: r.Clearing}, ledger.Account{ID: r.Provider, Floor: money.NoFloor})
	if o.Fee > 0 {
		// A fee may be given back after it has been taken out, so no floor.
		u.OpenAccounts(ledger.Account{ID: r.Fee, Floor: money.NoFloor})
	}
	u.Insert(operations.Record(o))
	u.Transfer(first)
	u.Append(o.resolveJob().For(u.Company))
	return u
}

// Run is steps two and three of a written operation: the call, and the unit
// that writes what came of it. Extra, which may be nil, adds the effects that only
// the request knows of. The call goes on when the caller hangs up.
//
// The operation that comes back is as it stands now, even if somebody else (the
// resolver, a notification) was faster. While the database stays away the outcome
// is not written and the resolver will ask; the operation then comes back PENDING,
// together with the error.
func (s *Service) Run(ctx context.Context, o Operation, call func(ctx context.Context) provider.Answer, extra func(after Operation, u *ledger.Unit)) (Operation, error) {
	ctx = context.WithoutCancel(ctx)
	answer := s.first(ctx, o, call)
	// A caller waits no longer than its budget. What the provider said is written
	// all the same, for the next question may hear less.
	type written struct {
		o   Operation
		err error
	}
	done, wait := make(chan written, 1), db.Await(ctx)
	defer wait.End()
	go func() {
		defer func() {
			if p := recover(); p != nil { // as in a request: the program goes on
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

// heardFirst writes what the first call came to.
func (s *Service) heardFirst(ctx context.Context, o Operation, answer provider.Answer, extra func(after Operation, u *ledger.Unit)) (Operation, error) {
	if answer.Outcome != provider.Unknown {
		return s.heardDefinite(ctx, o, answer, extra)
	}
	after := o.noted(answer, s.clock.Now())
	after.CalledUntil = after.UpdatedAt
	after.NextAt = after.pollAt(0)
	written, err := s.write(ctx, o, after, extra)
	if err == nil {
		err = job.Reschedule(ctx, s.db, o.Company, ResolveJob, o.ID, after.NextAt)
	}
	return written, err
}

// persistence is how long a definite answer is written again.
const persistence = 3 * time.Second

// heardDefinite writes a definite answer, and again when the connection breaks: a
// requery may hear less than this answer. The operation's state guards each attempt.
// An outcome that was committed without our knowledge is found, and stays.
func (s *Service) heardDefinite(ctx context.Context, o Operation, answer provider.Answer, extra func(after Operation, u *ledger.Unit)) (Operation, error) {
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

// first is the one call that may move money. It is not made when the window has
// closed, as it has in a program that was frozen for an hour and woke up: by
// now the resolver may have heard "no such reference" and given the money back.
func (s *Service) first(ctx context.Context, o Operation, call func(ctx context.Context) provider.Answer) provider.Answer {
	left := o.CalledUntil.Sub(s.clock.Now())
	if left <= 0 {
		return provider.Answer{Outcome: provider.Rejected, Code: provider.CodeNotSent, Message: "The request was not sent in time"}
	}
	return s.call(ctx, o, min(left, s.window), call)
}

// call gives the provider a time, and survives a plug that panics: what it did
// then is unknown.
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
func (s *Service) conclude(ctx context.Context, o Operation, a provider.Answer, extra func(after Operation, u *ledger.Unit)) (Operation, error) {
	return s.write(ctx, o, o.concluded(a, s.clock.Now()), extra)
}

// write commits the operation's new self over its PENDING one.
func (s *Service) write(ctx context.Context, o, after Operation, extra func(after Operation, u *ledger.Unit)) (Operation, error) {
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
		// What the request wanted to add has been done by a retry of it. The
		// outcome must be written all the same.
		return s.write(ctx, o, after, nil)
	}
	return o, err
}

// outcomeUnit is step three for an operation as it shall be: the transition, and for
// a final state the money out of clearing and the business's effects.
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

// settle are the transfers that end an operation's time in clearing.
func (s *Service) settle(o Operation) []ledger.Transfer {
	r := s.kinds[o.Kind].Route(o)
	if o.State == Failed {
		return []ledger.Transfer{o.transfer(refund, r.Clearing, r.Settlement, o.Amount+o.Fee, "Refund")}
	}
	out := []ledger.Transfer{o.transfer(settle, r.Clearing, r.Provider, o.Amount, "settled")}
	if o.Fee > 0 {
		out = append(out, o.transfer(settleFee, r.Clearing, r.Fee, o.Fee, "fee"))
	}
	return out
}

// belated writes what the request wanted to add to an outcome that somebody
// else has written: the answer under its Idempotency-Key, say, which would stay
// open otherwise. What a retry has added meanwhile stays.
func (s *Service) belated(ctx context.Context, o Operation, extra func(after Operation, u *ledger.Unit)) error {
	u := ledger.For(o.Company)
	if extra(o, &u); u.IsEmpty() {
		return nil
	}
	err := s.book.Commit(ctx, u)
	if ledger.Is(err, ledger.Moved) {
		return nil
	}
	return err
}

// overtaken: the operation has been given its outcome by somebody else. If that
// contradicts ours no money moves by itself: a human decides. If it is the same,
// ours may be the first to name a charge. That the money came back contradicts no
// success: it is what happened to it afterwards.
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

// Find is one operation of the company, in any state.
func (s *Service) Find(ctx context.Context, company, operationID string) (Operation, error) {
	o, err := s.find(ctx, company, operationID)
	if errors.Is(err, db.ErrNone) {
		return Operation{}, fault.New(fault.Missing, "Operation not found")
	}
	return o, err
}

// FindByKey is the operation of a kind that the caller gave this key.
func (s *Service) FindByKey(ctx context.Context, company, kind, key string) (Operation, error) {
	o, err := s.findByKey(ctx, company, kind, key)
	if errors.Is(err, db.ErrNone) {
		return Operation{}, fault.New(fault.Missing, "Operation not found")
	}
	return o, err
}

// Earlier is the operation that a unit was refused for, when the refusal says
// that its claim was not new; ok tells whether it was that.
func Earlier(err error) (o Operation, ok bool) {
	if r := ledger.Refused(err); r != nil {
		if row, exists := r.Existing(operations.Table); exists {
			o, err := operations.Value(row)
			return o, err == nil
		}
	}
	return Operation{}, false
}
