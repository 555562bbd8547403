package operation

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
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
	// The subject is the bank and its session: "safehaven/0902…".
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
	Assigned       = "assigned"  // money of an unknown account: it is a company's
)

// Finding is what an operator says is to become of a case.
type Finding struct {
	Outcome  string
	Target   string // assigned: the company whose the money is
	TargetID int64  // assigned: its settlement account
}

// Case is something a human must decide.
type Case struct {
	Company    string
	ID         string
	Subject    string // the operation's id, or what the reason says
	Reason     Reason
	Detail     string
	State      CaseState
	Finding           // proposed while open; what was done once resolved
	Note       string // the proposer's
	ProposedBy string // "" while there is no proposal
	ProposedAt time.Time
	ResolvedBy string // "" while open; never the proposer
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

// Audit makes a line of the audit log for an operator (operator.Operator.Note).
type Audit func(company, action, subject string, details map[string]string, at time.Time) db.Record

// Desk is what a business knows of cases that are not about an operation: the
// unit that makes a finding true, without the case itself.
type Desk func(ctx context.Context, c Case, f Finding) (ledger.Unit, error)

// Settle has a business settle the cases of a reason. Call it before the first
// case.
func (s *Service) Settle(r Reason, d Desk) { s.desks[r] = d }

// ResolveCase takes an operator's finding. It takes two: the first to say it
// proposes, and nothing moves; when a second operator says the same, it is done,
// with the case, in one unit. A finding that differs from the one that stands
// takes its place, whoever says it: two must agree.
func (s *Service) ResolveCase(ctx context.Context, caseID string, f Finding, note, by string, audit Audit) (Case, error) {
	c, err := s.FindCase(ctx, caseID)
	if err != nil {
		return Case{}, err
	}
	if c.State == Resolved {
		return Case{}, errResolved
	}
	note = strings.TrimSpace(note)
	if note == "" {
		return Case{}, fault.New(fault.Refused, "A note is required")
	}
	u, err := s.finding(ctx, c, f)
	if err != nil {
		return Case{}, err
	}
	agreed, err := s.agreed(ctx, c, f, by)
	if err != nil {
		return Case{}, err
	}
	seen, now, action := c, s.clock.Now(), "case.resolve"
	if !agreed {
		u, action = ledger.Unit{Company: c.Company}, "case.propose"
		c.Finding, c.Note, c.ProposedBy, c.ProposedAt = f, note, by, now
	} else {
		c.State, c.ResolvedBy = Resolved, by
	}
	c.UpdatedAt = now
	u.Moves = append(u.Moves, seen.move(c))
	u.Notes = append(u.Notes, audit(c.Company, action, c.ID, f.details(note), now))
	err = s.book.Commit(ctx, u)
	if r := ledger.Refused(err); r != nil && r.Reason == ledger.Moved {
		return Case{}, tooLate(r)
	}
	return c, err
}

// agreed tells whether an operator says what another one has proposed.
func (s *Service) agreed(ctx context.Context, c Case, f Finding, by string) (bool, error) {
	if c.ProposedBy == "" || c.Finding != f {
		return false, nil
	}
	err := s.Two(ctx, resolving, c.ProposedBy, by)
	if fault.Is(err, fault.Refused) {
		return false, nil // it is the same one again, or the first of two
	}
	return err == nil, err
}

// tooLate says why a finding came too late: somebody else has settled the case or
// said something else, or the provider's answer did what it is about.
func tooLate(r *ledger.Refusal) error {
	switch {
	case r.Table != caseTable:
		return fault.New(fault.Conflict, "The operation has just got its outcome: look at the case again")
	case r.State == string(Open):
		return fault.New(fault.Conflict, "Somebody else has just said something: look at the case again")
	}
	return errResolved
}

// ApproveCase is the second operator agreeing with the finding that they have
// seen. If another one has taken its place since, nothing happens.
func (s *Service) ApproveCase(ctx context.Context, caseID string, seen Finding, by string, audit Audit) (Case, error) {
	c, err := s.FindCase(ctx, caseID)
	switch {
	case err != nil:
		return Case{}, err
	case c.State == Resolved:
		return Case{}, errResolved
	case c.ProposedBy == "":
		return Case{}, fault.New(fault.Refused, "Nothing has been proposed for this case")
	case c.Finding != seen:
		return Case{}, fault.New(fault.Refused, "Another outcome is proposed by now")
	}
	if err := s.Two(ctx, resolving, c.ProposedBy, by); err != nil {
		return Case{}, err
	}
	return s.ResolveCase(ctx, caseID, seen, c.Note, by, audit)
}

const resolving = "A case must be resolved"

var errResolved = fault.New(fault.Refused, "The case is resolved already")

// details are a finding for the audit log.
func (f Finding) details(note string) map[string]string {
	d := map[string]string{"outcome": f.Outcome, "note": note}
	if f.Target != "" {
		d["company"], d["settlementId"] = f.Target, strconv.FormatInt(f.TargetID, 10)
	}
	return d
}

// finding is the unit that makes an operator's finding true.
func (s *Service) finding(ctx context.Context, c Case, f Finding) (ledger.Unit, error) {
	if f.Outcome != Assigned && (f.Target != "" || f.TargetID != 0) {
		return ledger.Unit{}, fault.New(fault.Refused, "A company and an account go with assigned only")
	}
	o, err := s.Find(ctx, c.Company, c.Subject)
	if err != nil && !fault.Is(err, fault.Missing) {
		return ledger.Unit{}, err
	}
	answer := provider.Answer{Code: "operator", Message: "Settled by an operator"}
	switch f.Outcome {
	case Dismissed:
		if o.State == Pending {
			return ledger.Unit{}, fault.New(fault.Refused, "The operation is pending: its outcome must be confirmed or rejected")
		}
		return ledger.Unit{Company: c.Company}, nil
	case Assigned:
		desk := s.desks[c.Reason]
		if desk == nil {
			return ledger.Unit{}, fault.New(fault.Refused, "Only money of an unknown account can be assigned")
		}
		return desk(ctx, c, f)
	case FoundConfirmed:
		answer.Outcome = provider.Confirmed
	case FoundRejected:
		answer.Outcome = provider.Rejected
	default:
		return ledger.Unit{}, fault.New(fault.Refused, "The outcome must be confirmed, rejected, assigned or dismissed")
	}
	if o.State != Pending {
		return ledger.Unit{}, fault.New(fault.Refused, "There is no open operation to decide: only dismissed is possible")
	}
	return s.outcomeUnit(ctx, o.concluded(answer, s.clock.Now()))
}

// move is the guarded change of an open case to its new self: what is proposed
// must still be what was read, or an operator would agree with what another one
// has taken back.
func (c Case) move(to Case) ledger.Move {
	return ledger.Move{
		Table: caseTable, Key: []any{c.Company, c.ID}, From: []string{string(Open)}, Still: c.proposal(), To: string(to.State),
		Set: append(to.proposal(),
			ledger.Change{Column: "note", Value: to.Note},
			ledger.Change{Column: "proposed_at", Value: clock.Micros(to.ProposedAt)},
			ledger.Change{Column: "resolved_by", Value: to.ResolvedBy},
			ledger.Change{Column: "updated_at", Value: clock.Micros(to.UpdatedAt)},
		),
	}
}

// proposal is what somebody says is to become of the case, and who.
func (c Case) proposal() []ledger.Change {
	return []ledger.Change{
		{Column: "outcome", Value: c.Outcome},
		{Column: "target_company", Value: c.Target},
		{Column: "target_settlement", Value: c.TargetID},
		{Column: "proposed_by", Value: c.ProposedBy},
	}
}
