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

// Reason is why an operator must look at a case.
type Reason string

// The reasons.
const (
	Unresolved    Reason = "UNRESOLVED"    // no outcome after 72 hours
	Contradiction Reason = "CONTRADICTION" // a definite answer that differs from the outcome in the ledger
	// UnknownAccount: a credit of a bank account that belongs to no company. The subject is
	// the bank and its session: "safehaven/0902…".
	UnknownAccount Reason = "UNKNOWN_ACCOUNT"
	// Unreadable: a notification that cannot be processed. The subject is its id.
	Unreadable Reason = "UNREADABLE_NOTIFICATION"
)

// CaseState is the state of a case.
type CaseState string

// The two states of a case.
const (
	Open     CaseState = "OPEN"
	Resolved CaseState = "RESOLVED"
)

// The outcomes of a finding.
const (
	FoundConfirmed = "confirmed" // the provider did it: the money goes to the provider's account
	FoundRejected  = "rejected"  // the provider did not: the money goes back
	Dismissed      = "dismissed" // no money moves
	Assigned       = "assigned"  // a credit without an owner goes to a company
	Booked         = "booked"    // the bank is right about a day's charges, and the ledger books them
)

// Finding is an operator's decision about a case.
type Finding struct {
	Outcome  string `db:"outcome,changes"`
	Target   string `db:"target_company,changes"`    // assigned: the company that gets the money
	TargetID int64  `db:"target_settlement,changes"` // assigned: the company's settlement account
}

// Case is a question that an operator must decide.
type Case struct {
	Company    string     `db:"company_id,key"`
	ID         string     `db:"id,key"`
	Subject    string     `db:"subject"` // the operation's id, or what the reason says
	Reason     Reason     `db:"reason"`
	Turn       int64      `db:"turn"` // counts the cases of a subject and reason; 0 for the first
	Detail     string     `db:"detail"`
	Amount     money.Kobo `db:"amount_kobo"` // the amount that the bank has and our ledger has not; else 0
	State      CaseState  `db:"state,state"`
	Finding               // proposed while open; final once resolved
	Note       string     `db:"note,changes"`        // by the proposer
	ProposedBy string     `db:"proposed_by,changes"` // "" while there is no proposal
	ProposedAt time.Time  `db:"proposed_at,changes"`
	ResolvedBy string     `db:"resolved_by,changes"` // "" while open; never the proposer
	HappenedAt time.Time  `db:"happened_at"`         // at the bank, by its statement; zero if unknown
	CreatedAt  time.Time  `db:"created_at"`
	UpdatedAt  time.Time  `db:"updated_at,changes"`
}

// OpenCase opens a case, once for each subject and reason. Detail is for operators and
// contains no secret.
func (s *Service) OpenCase(ctx context.Context, company, subject string, reason Reason, detail string) error {
	_, err := s.ask(ctx, Case{Company: company, Subject: subject, Reason: reason, Detail: detail}, ledger.For(company))
	return err
}

// ask opens a case, or returns the existing one of the same subject, reason and turn. The
// unit, which may be empty, is committed with the new case.
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

// askAgain opens a case after a resolved one, with the next turn. It returns the last case
// if that is open, or if it covers the new one.
func (s *Service) askAgain(ctx context.Context, c Case, u ledger.Unit, covers func(last Case) bool) (Case, error) {
	last, err := s.lastCase(ctx, c.Company, c.Subject, c.Reason)
	switch {
	case errors.Is(err, db.ErrNone):
	case err != nil || last.State == Open || covers(last):
		return last, err
	default:
		c.Turn = last.Turn + 1
	}
	return s.ask(ctx, c, u)
}

// CaseFilter selects cases. An empty field selects all, except State, which is required.
type CaseFilter struct {
	State   CaseState
	Company string
	Reason  Reason
	Subject string
}

// Audit makes a row of the audit log for an operator (operator.Operator.Note).
type Audit func(company, action, subject string, details map[string]string, at time.Time) db.Record

// CaseHandler checks a finding about a case without an operation, and returns the unit of
// its effects, without the case's own row. If agreed is true, two operators agree and the
// unit is committed next. Otherwise an operator proposes the finding, and the handler may
// change nothing.
type CaseHandler func(ctx context.Context, c Case, f Finding, agreed bool) (ledger.Unit, error)

// Decision is a finding's outcome, Assigned or Booked, for the cases of a reason.
type Decision struct {
	Reason  Reason
	Outcome string
}

// ResolveCase takes an operator's finding. Two operators must agree. The first operator
// proposes, and nothing changes. When a second operator has the same finding, one unit
// writes its effects and resolves the case. Another finding replaces the proposal.
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
	// The proposal must not have changed since it was read. Otherwise an operator could
	// agree with a proposal that has been replaced.
	u.Transition(cases.Record(c), string(Open)).Expect("proposed_by", seen.ProposedBy).
		Expect("outcome", seen.Outcome).Expect("target_company", seen.Target).Expect("target_settlement", seen.TargetID)
	u.Append(audit(c.Company, action, c.ID, c.details(note), now))
	err = s.book.Commit(ctx, u)
	if r := ledger.Refused(err); r != nil && (r.Reason == ledger.Moved || r.Reason == ledger.Exists) {
		return Case{}, tooLate(r)
	}
	return c, err
}

// agreed reports whether another operator has proposed the same finding.
func (s *Service) agreed(ctx context.Context, c Case, f Finding, by string) (bool, error) {
	if c.ProposedBy == "" || c.Finding != f {
		return false, nil
	}
	err := s.FourEyes(ctx, resolving, c.ProposedBy, by)
	if fault.Is(err, fault.Refused) {
		return false, nil // the same operator again, or the proposer is removed
	}
	return err == nil, err
}

// tooLate says why a finding came too late: another operator has resolved the case or
// proposed another finding, the provider has answered, or the credit has arrived.
func tooLate(r *ledger.Refusal) error {
	switch {
	case r.Reason == ledger.Exists:
		return fault.New(fault.Conflict, "The ledger has just recorded what the case is about: look at the case again")
	case r.Table != cases.Table:
		return fault.New(fault.Conflict, "The operation has just got its outcome: look at the case again")
	case r.State == string(Open):
		return fault.New(fault.Conflict, "Somebody else has just said something: look at the case again")
	}
	return errResolved
}

// ApproveCase has a second operator agree with the proposal that the operator has seen. If
// another proposal has replaced it, nothing happens.
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

// details returns a case's finding for the audit log.
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

// finding returns the unit of a finding's effects.
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
		handle := s.cases[Decision{c.Reason, f.Outcome}]
		switch {
		case handle != nil:
			return handle(ctx, c, f, agreed)
		case f.Outcome == Booked:
			return ledger.Unit{}, fault.New(fault.Refused, "Only a bank's charges of a day can be booked")
		}
		return ledger.Unit{}, fault.New(fault.Refused, "Only money of an unknown account, or a credit that is in no ledger, can be assigned")
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

// mayReturn reports whether an operator may find that the money of a success came back. The
// case then reverses the operation, as the provider's own answer would. So that answer,
// if it comes later, returns nothing a second time.
func (s *Service) mayReturn(c Case, o Operation) bool {
	asked := c.Reason == Contradiction || c.Reason == FailedReversal || c.Reason == NotOnStatement
	return asked && o.State == Success && s.kinds[o.Kind].Returns
}

// Person returns the person behind an operator's name. An operator with a key who also runs
// commands on the machine, as local:<name>, is one person.
func Person(by string) string { return strings.TrimPrefix(by, "local:") }

// FourEyes is nil if one operator may approve the proposal of another: they are two
// persons, and the first is still an operator. The refusal begins with what: "A case must
// be resolved".
func (s *Service) FourEyes(ctx context.Context, what, first, second string) error {
	if Person(first) == Person(second) {
		return fault.New(fault.Refused, what+" by a second operator")
	}
	is, err := s.isOperator(ctx, first)
	if err == nil && !is {
		err = fault.Newf(fault.Refused, "%s by two operators, and %s is none any more", what, first)
	}
	return err
}
