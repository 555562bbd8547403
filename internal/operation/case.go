package operation

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
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
	Assigned       = "assigned"  // money that came in and is nobody's yet: it is a company's
	Booked         = "booked"    // the bank is right about a day's charges: our book follows it
)

// Finding is what an operator says is to become of a case.
type Finding struct {
	Outcome  string `db:"outcome,changes"`
	Target   string `db:"target_company,changes"`    // assigned: the company whose the money is
	TargetID int64  `db:"target_settlement,changes"` // assigned: its settlement account
}

// Case is something a human must decide.
type Case struct {
	Company    string     `db:"company_id,key"`
	ID         string     `db:"id,key"`
	Subject    string     `db:"subject"` // the operation's id, or what the reason says
	Reason     Reason     `db:"reason"`
	Turn       int64      `db:"turn"` // which one of its subject and reason; 0 for the first
	Detail     string     `db:"detail"`
	Amount     money.Kobo `db:"amount_kobo"` // what the bank has and our ledger has not; 0 if the case is about something else
	State      CaseState  `db:"state,state"`
	Finding               // proposed while open; what was done once resolved
	Note       string     `db:"note,changes"`        // the proposer's
	ProposedBy string     `db:"proposed_by,changes"` // "" while there is no proposal
	ProposedAt time.Time  `db:"proposed_at,changes"`
	ResolvedBy string     `db:"resolved_by,changes"` // "" while open; never the proposer
	HappenedAt time.Time  `db:"happened_at"`         // at the bank, as its statement says; zero if that is not known
	CreatedAt  time.Time  `db:"created_at"`
	UpdatedAt  time.Time  `db:"updated_at,changes"`
}

// OpenCase asks for a human's decision, once for each subject and reason.
// Detail is for operators and holds nothing secret.
func (s *Service) OpenCase(ctx context.Context, company, subject string, reason Reason, detail string) error {
	_, err := s.ask(ctx, Case{Company: company, Subject: subject, Reason: reason, Detail: detail}, ledger.For(company))
	return err
}

// ask opens a case, unless there is one of its subject, reason and turn; what
// comes back is the one that is there. The unit, which may be empty, is committed
// with the case.
func (s *Service) ask(ctx context.Context, c Case, u ledger.Unit) (Case, error) {
	now := s.clock.Now()
	c.ID, c.State, c.CreatedAt, c.UpdatedAt = id.New(), Open, now, now
	u.Insert(cases.Record(c))
	err := s.book.Commit(ctx, u)
	if r := ledger.Refused(err); r != nil && r.Reason == ledger.Exists {
		return cases.Value(r.Rows[0])
	}
	if err == nil {
		s.log.Warn("a case is open", "company", c.Company, "subject", c.Subject, "reason", c.Reason, "detail", c.Detail)
	}
	return c, err
}

// CaseFilter says which cases. What is empty filters nothing but for the state,
// which is always said.
type CaseFilter struct {
	State   CaseState
	Company string
	Reason  Reason
	Subject string
}

// Cases is a page of the cases that a filter lets through, newest first, and how
// many there are.
func (s *Service) Cases(ctx context.Context, f CaseFilter, limit, offset int) ([]Case, int64, error) {
	total, err := s.caseCount(ctx, f)
	if err != nil {
		return nil, 0, err
	}
	list, err := s.caseList(ctx, f, limit, offset)
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

// CaseHandler is what a business knows of cases that are not about an operation: it
// makes the unit that makes a finding true, without the case itself. Agreed tells
// that two operators have said so, and the unit is committed next. Otherwise one
// operator proposes the finding, and nothing may change.
type CaseHandler func(ctx context.Context, c Case, f Finding, agreed bool) (ledger.Unit, error)

// caseKind names the cases of one handler.
type caseKind struct {
	reason  Reason
	outcome string
}

// HandleCases has a business settle the cases of a reason by an outcome, Assigned or
// Booked. Call it before the first case.
func (s *Service) HandleCases(r Reason, outcome string, h CaseHandler) {
	s.cases[caseKind{r, outcome}] = h
}

// ResolveCase takes an operator's finding. Two operators must agree. The first one
// proposes, and nothing moves. When a second one says the same, one unit makes the
// finding true and resolves the case. Another finding takes the place of the one
// that stands.
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
	agreed, err := s.agreed(ctx, c, f, by)
	if err != nil {
		return Case{}, err
	}
	u, err := s.finding(ctx, c, f, agreed)
	if err != nil {
		return Case{}, err
	}
	seen, now, action := c, s.clock.Now(), "case.resolve"
	if !agreed {
		u, action = ledger.For(c.Company), "case.propose"
		c.Finding, c.Note, c.ProposedBy, c.ProposedAt = f, note, by, now
	} else {
		c.State, c.ResolvedBy = Resolved, by
	}
	c.UpdatedAt = now
	// The proposal must still be the one that was read. Otherwise an operator could
	// agree with a proposal that another one has taken back.
	u.Transition(cases.Record(c), string(Open)).Expect("proposed_by", seen.ProposedBy).
		Expect("outcome", seen.Outcome).Expect("target_company", seen.Target).Expect("target_settlement", seen.TargetID)
	u.Append(audit(c.Company, action, c.ID, c.details(note), now))
	err = s.book.Commit(ctx, u)
	if r := ledger.Refused(err); r != nil && (r.Reason == ledger.Moved || r.Reason == ledger.Exists) {
		return Case{}, tooLate(r)
	}
	return c, err
}

// agreed tells whether an operator says the same as another one has proposed.
func (s *Service) agreed(ctx context.Context, c Case, f Finding, by string) (bool, error) {
	if c.ProposedBy == "" || c.Finding != f {
		return false, nil
	}
	err := s.FourEyes(ctx, resolving, c.ProposedBy, by)
	if fault.Is(err, fault.Refused) {
		return false, nil // it is the same one again, or the first of two
	}
	return err == nil, err
}

// tooLate says why a finding came too late. Another operator has settled the case or
// proposed something else, the provider has answered, or the bank has told of the
// credit.
func tooLate(r *ledger.Refusal) error {
	switch {
	case r.Reason == ledger.Exists:
		return fault.New(fault.Conflict, "What the case is about has just come into a book: look at the case again")
	case r.Table != cases.Table:
		return fault.New(fault.Conflict, "The operation has just got its outcome: look at the case again")
	case r.State == string(Open):
		return fault.New(fault.Conflict, "Somebody else has just said something: look at the case again")
	}
	return errResolved
}

// ApproveCase has a second operator agree with the finding that they have seen. If
// another finding has taken its place since, nothing happens.
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
	if err := s.FourEyes(ctx, resolving, c.ProposedBy, by); err != nil {
		return Case{}, err
	}
	return s.ResolveCase(ctx, caseID, seen, c.Note, by, audit)
}

const resolving = "A case must be resolved"

var errResolved = fault.New(fault.Refused, "The case is resolved already")

// details are a case's finding for the audit log.
func (c Case) details(note string) map[string]string {
	d := map[string]string{"outcome": c.Outcome, "note": note}
	if c.Target != "" {
		d["company"], d["settlementId"] = c.Target, strconv.FormatInt(c.TargetID, 10)
	}
	if c.Amount != 0 {
		d["amount"] = c.Amount.Decimal()
	}
	return d
}

// finding is the unit that makes an operator's finding true.
func (s *Service) finding(ctx context.Context, c Case, f Finding, agreed bool) (ledger.Unit, error) {
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
		return ledger.For(c.Company), nil
	case Assigned, Booked:
		handle := s.cases[caseKind{c.Reason, f.Outcome}]
		switch {
		case handle != nil:
			return handle(ctx, c, f, agreed)
		case f.Outcome == Booked:
			return ledger.Unit{}, fault.New(fault.Refused, "Only a bank's charges of a day can be booked")
		}
		return ledger.Unit{}, fault.New(fault.Refused, "Only money of an unknown account, or a credit that is in no book, can be assigned")
	case FoundConfirmed:
		answer.Outcome = provider.Confirmed
	case FoundRejected:
		answer.Outcome = provider.Rejected
	default:
		return ledger.Unit{}, fault.New(fault.Refused, "The outcome must be confirmed, rejected, assigned, booked or dismissed")
	}
	if answer.Outcome == provider.Rejected && s.mayReturn(c, o) {
		_, u, err := s.reversal(ctx, o, o.concluded(answer, s.clock.Now()))
		return u, err
	}
	if o.State != Pending {
		return ledger.Unit{}, fault.New(fault.Refused, "There is no open operation to decide: it can be neither confirmed nor rejected")
	}
	return s.outcomeUnit(ctx, o.concluded(answer, s.clock.Now()))
}

// mayReturn tells whether an operator may find that an operation's money came back, or
// never went. The money is then given back as by the provider's own answer. If that
// answer still comes, it gives nothing back a second time; an adjustment would.
func (s *Service) mayReturn(c Case, o Operation) bool {
	asked := c.Reason == Contradiction || c.Reason == FailedReversal || c.Reason == NotOnStatement
	return asked && o.State == Success && s.kinds[o.Kind].Returns
}
