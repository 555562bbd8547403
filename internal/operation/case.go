package operation

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Reason is why a human must look at an operation.
type Reason string

// The reasons.
const (
	Unresolved    Reason = "UNRESOLVED"    // no outcome after 72 hours
	Contradiction Reason = "CONTRADICTION" // a definite answer that differs from the outcome in the book
	// UnknownAccount: money came in for an account that belongs to no company.
	// The subject is the bank's session.
	UnknownAccount Reason = "UNKNOWN_ACCOUNT"
	// Unreadable: a notification that cannot be worked. The subject is its id.
	Unreadable Reason = "UNREADABLE_NOTIFICATION"
)

// CaseState is where a case stands.
type CaseState string

// The two states of a case.
const (
	Open     CaseState = "OPEN"
	Resolved CaseState = "RESOLVED"
)

// What an operator may find.
const (
	FoundConfirmed = "confirmed" // the provider did it: the money moves on
	FoundRejected  = "rejected"  // the provider did not: the money goes back
	Dismissed      = "dismissed" // nothing is to be moved
)

// Case is something a human must decide.
type Case struct {
	Company    string
	ID         string
	Subject    string // the operation's id, or what the reason says
	Reason     Reason
	Detail     string
	State      CaseState
	Outcome    string // what the operator found; "" while open
	Note       string
	ResolvedBy string
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// OpenCase asks for a human's decision, once for each subject and reason.
// Detail is for operators and holds nothing secret.
func (s *Service) OpenCase(ctx context.Context, company, subject string, reason Reason, detail string) error {
	now := s.clock.Now()
	c := Case{
		Company: company, ID: id.New(), Subject: subject, Reason: reason, Detail: detail,
		State: Open, CreatedAt: now, UpdatedAt: now,
	}
	err := s.book.Commit(ctx, ledger.Unit{Company: company, Claims: []db.Record{c.record()}})
	if r := ledger.Refused(err); r != nil && r.Reason == ledger.Exists {
		return nil
	}
	if err == nil {
		s.log.Warn("a case is open", "company", company, "subject", subject, "reason", reason, "detail", detail)
	}
	return err
}

// Cases is a page of the cases in a state, of all companies, newest first, and
// how many there are.
func (s *Service) Cases(ctx context.Context, state CaseState, limit, offset int) ([]Case, int64, error) {
	total, err := s.caseCount(ctx, state)
	if err != nil {
		return nil, 0, err
	}
	list, err := s.cases(ctx, state, limit, offset)
	return list, total, err
}

// FindCase is one case of any company.
func (s *Service) FindCase(ctx context.Context, caseID string) (Case, error) {
	c, err := s.findCase(ctx, caseID)
	if errors.Is(err, db.ErrNone) {
		return Case{}, fault.New(fault.Missing, "Case not found")
	}
	return c, err
}

// ResolveCase ends a case with what the operator found out. Confirmed and
// rejected give a PENDING operation its outcome, in the same unit; dismissed
// only closes the case. Audit is the operator's own note for the same unit.
func (s *Service) ResolveCase(ctx context.Context, caseID, outcome, note, by string, audit ...db.Record) (Case, error) {
	c, err := s.FindCase(ctx, caseID)
	if err != nil {
		return Case{}, err
	}
	note = strings.TrimSpace(note)
	if note == "" {
		return Case{}, fault.New(fault.Refused, "A note is required")
	}
	c.State, c.Outcome, c.Note, c.ResolvedBy, c.UpdatedAt = Resolved, outcome, note, by, s.clock.Now()
	u, err := s.finding(ctx, c)
	if err != nil {
		return Case{}, err
	}
	u.Moves = append(u.Moves, c.move())
	u.Notes = append(u.Notes, audit...)
	err = s.book.Commit(ctx, u)
	if r := ledger.Refused(err); r != nil && r.Reason == ledger.Moved {
		return Case{}, fault.New(fault.Refused, "The case is resolved already")
	}
	return c, err
}

// finding is the unit that makes the operator's finding true.
func (s *Service) finding(ctx context.Context, c Case) (ledger.Unit, error) {
	o, err := s.Find(ctx, c.Company, c.Subject)
	if err != nil && !fault.Is(err, fault.Missing) {
		return ledger.Unit{}, err
	}
	answer := provider.Answer{Code: "operator", Message: "Settled by an operator"}
	switch c.Outcome {
	case Dismissed:
		if o.State == Pending {
			return ledger.Unit{}, fault.New(fault.Refused, "The operation is pending: its outcome must be confirmed or rejected")
		}
		return ledger.Unit{Company: c.Company}, nil
	case FoundConfirmed:
		answer.Outcome = provider.Confirmed
	case FoundRejected:
		answer.Outcome = provider.Rejected
	default:
		return ledger.Unit{}, fault.New(fault.Refused, "The outcome must be confirmed, rejected or dismissed")
	}
	if o.State != Pending {
		return ledger.Unit{}, fault.New(fault.Refused, "There is no open operation to decide: only dismissed is possible")
	}
	return s.outcomeUnit(ctx, o.concluded(answer, s.clock.Now()))
}

func (c Case) move() ledger.Move {
	return ledger.Move{
		Table: caseTable, Key: []any{c.Company, c.ID}, From: []string{string(Open)}, To: string(Resolved),
		Set: []ledger.Change{
			{Column: "outcome", Value: c.Outcome},
			{Column: "note", Value: c.Note},
			{Column: "resolved_by", Value: c.ResolvedBy},
			{Column: "updated_at", Value: micros(c.UpdatedAt)},
		},
	}
}
