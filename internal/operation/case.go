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
)

// Reason is the reason why operators must decide a case.
type Reason string

// The reasons of cases. The reasons of breaks are in breaks.go.
const (
	Unresolved    Reason = "UNRESOLVED"    // there is no outcome after 72 hours
	Contradiction Reason = "CONTRADICTION" // a definite reply differs from the outcome in the ledger
	// OrderAmount means that the provider reports a different amount than the order's. The operation
	// is PENDING until operators decide.
	OrderAmount Reason = "ORDER_AMOUNT"
	// UnknownAccount means that a credit went to a bank account that belongs to no company. The
	// subject is the bank and the session ID: "safehaven/0902…".
	UnknownAccount Reason = "UNKNOWN_ACCOUNT"
	// Unreadable means that a notification cannot be processed. The subject is the notification's
	// ID.
	Unreadable Reason = "UNREADABLE_NOTIFICATION"
	// LateAttempt means that a provider reports an attempt which had definitely never started there. The
	// operation went on at a different provider.
	LateAttempt Reason = "LATE_ATTEMPT"
	// CardBalance means that money was left on a terminated card, and that nothing proves its way back to
	// the fintech. The subject is the card's ID.
	CardBalance Reason = "CARD_BALANCE"
	// BrokenChain means that rows of the ledger were altered or added outside Kobo. The subject is the
	// ledger account of the rows, or BrokenRows.
	BrokenChain Reason = "BROKEN_CHAIN"
)

// BrokenRows is the subject of a case about altered events and audit lines, which belong to no account.
const BrokenRows = "events and audit lines"

// CaseState is the state of a case.
type CaseState string

// The two states of a case.
const (
	Open     CaseState = "OPEN"
	Resolved CaseState = "RESOLVED"
)

// The outcomes of a finding.
const (
	FoundConfirmed = "confirmed" // the provider carried out the operation: the money goes to the provider's account
	FoundRejected  = "rejected"  // the provider did not carry out the operation: the money goes back to the settlement account
	Dismissed      = "dismissed" // the case is closed without a transfer
	Assigned       = "assigned"  // a credit whose owner was unknown goes to a company
	Booked         = "booked"    // the bank's charges of a day are correct, and the ledger books them
	Accepted       = "accepted"  // the altered rows stay as they are, and their account is open to debits again
)

// Finding is an operator's decision about a case.
type Finding struct {
	Outcome  string `db:"outcome,changes"`
	Target   string `db:"target_company,changes"`    // the company that gets the money; only for Assigned
	TargetID int64  `db:"target_settlement,changes"` // the settlement account of that company; only for Assigned
}

// Case is a question that two operators must decide.
type Case struct {
	Company    string     `db:"company_id,key"`
	ID         string     `db:"id,key"`
	Subject    string     `db:"subject"` // the operation's ID, or what the comment of the reason describes
	Reason     Reason     `db:"reason"`
	Turn       int64      `db:"turn"` // numbers the cases with the same subject and reason, from 0
	Detail     string     `db:"detail"`
	Amount     money.Kobo `db:"amount_kobo"` // the amount that the bank has and our ledger lacks, or 0
	State      CaseState  `db:"state,state"`
	Finding               // a proposal while the case is open; final once it is resolved
	Note       string     `db:"note,changes"`        // the proposer's note
	ProposedBy string     `db:"proposed_by,changes"` // "" while there is no proposal
	ProposedAt time.Time  `db:"proposed_at,changes"`
	ResolvedBy string     `db:"resolved_by,changes"` // "" while open; never the proposer
	HappenedAt time.Time  `db:"happened_at"`         // when it happened, according to the bank's statement; zero if unknown
	CreatedAt  time.Time  `db:"created_at"`
	UpdatedAt  time.Time  `db:"updated_at,changes"`
}

// OpenCase opens a case. If a case with the same subject and reason exists, OpenCase changes
// nothing. The detail is for operators and must not contain a secret.
func (s *Service) OpenCase(ctx context.Context, company, subject string, reason Reason, detail string) error {
	return s.Open(ctx, Case{Company: company, Subject: subject, Reason: reason, Detail: detail})
}

// OpenCaseSince opens a case about something that began at an instant. If the last case with the same subject and reason is open, or is
// not older than that, OpenCaseSince changes nothing, whatever operators have decided about it. An older case was about something else.
func (s *Service) OpenCaseSince(ctx context.Context, company, subject string, reason Reason, began time.Time, detail string) error {
	c := Case{Company: company, Subject: subject, Reason: reason, Detail: detail}
	_, err := s.askAgain(ctx, c, ledger.For(company), func(last Case) bool { return !last.CreatedAt.Before(began) })
	return err
}

// Open opens a case. If a case with the same subject and reason exists, Open changes nothing. The caller
// sets the company, subject, reason, detail and amount in c.
func (s *Service) Open(ctx context.Context, c Case) error {
	_, err := s.ask(ctx, c, ledger.For(c.Company))
	return err
}

// ask opens a case, or returns the existing case with the same subject, reason and turn. It
// commits the new case together with the unit u, which may be empty.
func (s *Service) ask(ctx context.Context, c Case, u ledger.Unit) (Case, error) {
	now := s.clock.Now()
	c.ID, c.State, c.CreatedAt, c.UpdatedAt = id.New(), Open, now, now
	u.Insert(cases.Record(c))
	err := s.book.Commit(ctx, u)
	if r := ledger.Refused(err); r != nil && r.Reason == ledger.Exists {
		return cases.Value(r.Rows[0])
	}
	if err == nil {
		s.logOpen(c)
	}
	return c, err
}

func (s *Service) logOpen(c Case) {
	s.log.Warn("a case is open", "company", c.Company, "subject", c.Subject, "reason", c.Reason, "detail", c.Detail)
}

// askAgain opens a new case, even if an earlier case with the same subject and reason is resolved.
// The new case then has the next turn. If the last case is open, or if covers returns true for the
// last case, askAgain returns the last case and opens no new case.
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

// AddCase makes the unit u open a case, unless the last case with the same subject and reason is open.
// An open case loses its proposal, because its proposer did not know what the unit is about. AddCase
// returns the open case. The ledger refuses the unit (Exists, Moved) if the last case has changed
// meanwhile.
func (s *Service) AddCase(ctx context.Context, u *ledger.Unit, c Case) (Case, error) {
	now := s.clock.Now()
	last, err := s.lastCase(ctx, c.Company, c.Subject, c.Reason)
	switch {
	case err == nil && last.State == Open:
		last.Finding, last.Note, last.ProposedBy, last.ProposedAt, last.UpdatedAt = Finding{}, "", "", time.Time{}, now
		u.Transition(cases.Record(last), string(Open))
		return last, nil
	case err == nil:
		c.Turn = last.Turn + 1
	case !errors.Is(err, db.ErrNone):
		return c, err
	}
	c.ID, c.State, c.CreatedAt, c.UpdatedAt = id.New(), Open, now, now
	u.Insert(cases.Record(c))
	u.Then(func() { s.logOpen(c) })
	return c, nil
}

// HasOpen reports whether the last case with this subject and reason is open.
func (s *Service) HasOpen(ctx context.Context, company, subject string, reason Reason) (bool, error) {
	last, err := db.OrZero(s.lastCase(ctx, company, subject, reason))
	return last.State == Open, err
}

// CaseFilter selects cases. State is required; each other field may be empty to select every
// value.
type CaseFilter struct {
	State   CaseState
	Company string
	Reason  Reason
	Subject string
	// Proposed selects only the cases with a proposal that waits for a second operator.
	Proposed bool
}

// Audit returns a row of the audit log about an operator's action (operator.Operator.Note).
type Audit func(company, action, subject string, details map[string]string, at time.Time) db.Record

// CaseHandler checks a finding about a case that has no operation, and returns a unit with the
// finding's effects. The caller adds the case's row to the unit. If agreed is true, two operators
// agree and the unit is committed next. Otherwise an operator only proposes the finding, and the
// handler must not change anything.
type CaseHandler func(ctx context.Context, c Case, f Finding, agreed bool) (ledger.Unit, error)

// Decision selects a handler in Kind.Cases. It combines the reason of a case with the outcome that
// operators decide. The outcome is Assigned, Booked or Accepted.
type Decision struct {
	Reason  Reason
	Outcome string
}

// ResolveCase records an operator's finding about a case. Two operators must agree. The first
// finding is only a proposal, and moves no money. When a second operator submits the same
// finding, one unit writes the finding's effects and resolves the case. A different finding
// replaces the proposal.
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
		u, action = ledger.For(c.Company), proposing
		c.Finding, c.Note, c.ProposedBy, c.ProposedAt = f, note, by, now
	} else {
		c.State, c.ResolvedBy = Resolved, by
	}
	c.UpdatedAt = now
	// The proposal must not have changed since it was read. Otherwise an operator could
	// agree with a proposal that has been replaced.
	u.Transition(cases.Record(c), string(Open)).Expect("proposed_by", seen.ProposedBy).Expect("note", seen.Note).
		Expect("outcome", seen.Outcome).Expect("target_company", seen.Target).Expect("target_settlement", seen.TargetID)
	u.Append(audit(c.Company, action, c.ID, c.details(note), now))
	err = s.book.Commit(ctx, u)
	if r := ledger.Refused(err); r != nil && (r.Reason == ledger.Moved || r.Reason == ledger.Exists) {
		return Case{}, tooLate(r)
	}
	return c, err
}

// agreed reports whether a different operator has proposed the same finding.
func (s *Service) agreed(ctx context.Context, c Case, f Finding, by string) (bool, error) {
	if c.ProposedBy == "" || c.Finding != f {
		return false, nil
	}
	err := s.FourEyes(ctx, resolving, c.proposed(), by)
	if fault.Is(err, fault.Refused) {
		return false, nil // the same operator submits the finding again, or the proposer is no longer an operator
	}
	return err == nil, err
}

// tooLate returns an error that explains why an operator's finding came too late. Either another
// operator has resolved the case or proposed a different finding, or the operation has its outcome,
// or the ledger has recorded the credit or the charge of the case.
func tooLate(r *ledger.Refusal) error {
	switch {
	case r.Reason == ledger.Exists:
		return fault.New(fault.Conflict, "The ledger has just recorded what the case is about: look at the case again")
	case r.Table != cases.Table && r.State == string(Pending):
		return fault.New(fault.Conflict, "The provider has just said something new about the operation: look at the case again")
	case r.Table != cases.Table:
		return fault.New(fault.Conflict, "The operation has just got its outcome: look at the case again")
	case r.State == string(Open):
		return fault.New(fault.Conflict, "Somebody else has just said something: look at the case again")
	}
	return errResolved
}

// ApproveCase records that a second operator agrees with a proposal. Parameter seen is the
// proposal that this operator has seen, and note its note, or "" if the operator names no note. If the
// current proposal differs, ApproveCase changes nothing and returns an error.
func (s *Service) ApproveCase(ctx context.Context, caseID string, seen Finding, note, by string, audit Audit) (Case, error) {
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
	case note != "" && note != c.Note:
		return Case{}, fault.New(fault.Refused, "The outcome is proposed with another note by now: look at the case again")
	}
	if err := s.FourEyes(ctx, resolving, c.proposed(), by); err != nil {
		return Case{}, err
	}
	return s.ResolveCase(ctx, caseID, seen, c.Note, by, audit)
}

const (
	resolving = "A case must be resolved"
	proposing = "case.propose" // the action of the audit line about a proposal
)

var errResolved = fault.New(fault.Refused, "The case is resolved already")

// ByOperator is the code of an answer that operators give in place of a provider.
const ByOperator = "operator"

// details returns the fields of the audit log that describe a case's finding.
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

// Person returns an operator's name without the prefix "local:". An operator who uses a key and
// also runs commands on the machine, as local:<name>, counts as one person.
func Person(by string) string { return strings.TrimPrefix(by, "local:") }

// proposed returns what the audit log must record about the proposal of a case.
func (c Case) proposed() Draft {
	return Draft{
		Company: c.Company, Action: proposing, Subject: c.ID, By: c.ProposedBy, At: c.ProposedAt, Details: c.details(c.Note),
	}
}

// FourEyes returns an error unless the operator second may approve what a first operator has proposed.
// The two must be different persons, and the first must still be allowed to propose it. Parameter what
// is the beginning of the error message, such as "A case must be resolved".
func (s *Service) FourEyes(ctx context.Context, what string, first Draft, second string) error {
	if Person(first.By) == Person(second) {
		return fault.New(fault.Refused, what+" by a second operator")
	}
	may, err := s.mayPropose(ctx, first)
	if err == nil && !may {
		err = fault.Newf(fault.Refused, "%s by two operators, and %s is none any more", what, first.By)
	}
	return err
}
