package settlement

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
)

// adjustmentAccount is the ledger account across which balances are corrected.
const adjustmentAccount = "adjustment"

// Direction is which way a correction goes, as the settlement account sees it.
type Direction string

// The two directions.
const (
	DirectionCredit Direction = "credit"
	DirectionDebit  Direction = "debit"
)

// AdjustmentState is how far a correction has come.
type AdjustmentState string

// The states of a correction. It leaves PENDING once.
const (
	Pending  AdjustmentState = "PENDING"
	Approved AdjustmentState = "APPROVED"
	Rejected AdjustmentState = "REJECTED"
)

// Adjustment is a correction of a balance by hand. One operator asks for it;
// nothing moves until another approves. It is kept for good, whatever was
// decided.
type Adjustment struct {
	ID           string
	Company      string
	SettlementID int64
	Amount       money.Kobo
	Direction    Direction
	Reason       string
	State        AdjustmentState
	CreatedBy    string
	DecidedBy    string // who approved or rejected it; "" while pending
	Note         string // why it was rejected
	CreatedAt    time.Time
	DecidedAt    time.Time // zero while pending
}

// Adjust asks for a correction.
func (s *Service) Adjust(ctx context.Context, by operator.Operator, a Adjustment) (Adjustment, error) {
	a.Reason = strings.TrimSpace(a.Reason)
	switch n := utf8.RuneCountInString(a.Reason); {
	case a.Amount <= 0 || a.Amount > money.Max:
		return Adjustment{}, fault.New(fault.Invalid, `"amount" must be greater than 0`)
	case a.Direction != DirectionCredit && a.Direction != DirectionDebit:
		return Adjustment{}, fault.New(fault.Invalid, `"direction" must be one of [credit, debit]`)
	case n < 4 || n > 500:
		return Adjustment{}, fault.New(fault.Invalid, `"reason" must have 4 to 500 characters`)
	}
	if _, err := s.Find(ctx, a.Company, a.SettlementID); err != nil {
		return Adjustment{}, err
	}
	a.ID, a.State, a.CreatedBy, a.CreatedAt = id.New(), Pending, by.Name, s.clock.Now()
	a.DecidedBy, a.Note, a.DecidedAt = "", "", time.Time{}
	err := s.book.Commit(ctx, ledger.Unit{
		Company: a.Company,
		Claims:  []db.Record{a.record()},
		Notes:   []db.Record{by.Note(a.Company, "adjustment.create", a.ID, a.details(), a.CreatedAt)},
	})
	if err != nil {
		return Adjustment{}, explain(err)
	}
	return a, nil
}

// Approve makes a correction happen, on the word of someone else than who asked
// for it. The state and the money change in one commit, so it is made once; a
// debit that the account cannot bear is refused and stays pending.
func (s *Service) Approve(ctx context.Context, by operator.Operator, adjustmentID string) (Adjustment, error) {
	a, err := s.Adjustment(ctx, adjustmentID)
	if err != nil {
		return Adjustment{}, err
	}
	if err := s.operations.Two(ctx, "An adjustment must be approved", a.CreatedBy, by.Name); err != nil {
		return Adjustment{}, err
	}
	transfer := ledger.Transfer{
		Reference: a.ID, Debit: adjustmentAccount, Credit: LedgerAccount(a.SettlementID), Amount: a.Amount,
		Kind: "adjustment", Narration: a.Reason,
	}
	if a.Direction == DirectionDebit {
		transfer.Debit, transfer.Credit = transfer.Credit, transfer.Debit
	}
	return s.decideOn(ctx, by, a, Approved, "", ledger.Unit{
		Open:      []ledger.Account{{ID: adjustmentAccount, Floor: money.NoFloor}},
		Transfers: []ledger.Transfer{transfer},
	})
}

// Reject turns a correction down; nothing moves. Who asked for it may do so too:
// then it is taken back.
func (s *Service) Reject(ctx context.Context, by operator.Operator, adjustmentID, note string) (Adjustment, error) {
	note = strings.TrimSpace(note)
	if n := utf8.RuneCountInString(note); n < 4 || n > 500 {
		return Adjustment{}, fault.New(fault.Invalid, `"note" must have 4 to 500 characters`)
	}
	a, err := s.Adjustment(ctx, adjustmentID)
	if err != nil {
		return Adjustment{}, err
	}
	return s.decideOn(ctx, by, a, Rejected, note, ledger.Unit{})
}

// decideOn moves a correction that waits to its end, with whatever else is in the
// unit: of two operators who decide at once the first is right.
func (s *Service) decideOn(ctx context.Context, by operator.Operator, a Adjustment, to AdjustmentState, note string, u ledger.Unit) (Adjustment, error) {
	a.State, a.DecidedBy, a.Note, a.DecidedAt = to, by.Name, note, s.clock.Now()
	u.Company = a.Company
	u.Moves = []ledger.Move{{
		Table: adjustmentTable, Key: []any{a.Company, a.ID}, From: []string{string(Pending)}, To: string(to),
		Set: []ledger.Change{
			{Column: "decided_by", Value: a.DecidedBy},
			{Column: "note", Value: note},
			{Column: "decided_at", Value: clock.Micros(a.DecidedAt)},
		},
	}}
	action := "adjustment.approve"
	if to == Rejected {
		action = "adjustment.reject"
	}
	u.Notes = []db.Record{by.Note(a.Company, action, a.ID, a.details(), a.DecidedAt)}
	err := s.book.Commit(ctx, u)
	if r := ledger.Refused(err); r != nil && r.Reason == ledger.Moved {
		return Adjustment{}, fault.Newf(fault.Refused, "The adjustment is %s already", strings.ToLower(r.State))
	}
	if err != nil {
		return Adjustment{}, explain(err)
	}
	return a, nil
}

// Adjustment is one correction of any company.
func (s *Service) Adjustment(ctx context.Context, adjustmentID string) (Adjustment, error) {
	a, err := s.findAdjustment(ctx, adjustmentID)
	if errors.Is(err, db.ErrNone) {
		err = fault.New(fault.Missing, "Adjustment not found")
	}
	return a, err
}

// Adjustments is limit corrections after the first offset, of all companies, the
// newest first, and how many there are in all: those in a state, or any for "".
func (s *Service) Adjustments(ctx context.Context, state AdjustmentState, limit, offset int) ([]Adjustment, int64, error) {
	total, err := s.countAdjustments(ctx, state)
	if err != nil {
		return nil, 0, err
	}
	list, err := s.adjustments(ctx, state, limit, offset)
	return list, total, err
}

// details are a correction for the audit log.
func (a Adjustment) details() map[string]string {
	d := map[string]string{
		"account": LedgerAccount(a.SettlementID), "amount": a.Amount.Decimal(),
		"direction": string(a.Direction), "reason": a.Reason, "createdBy": a.CreatedBy,
	}
	if a.Note != "" {
		d["note"] = a.Note
	}
	return d
}
