package settlement

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
)

// adjustmentAccount is the ledger account that balances each adjustment of a settlement account.
const adjustmentAccount = "adjustment"

// creating is the action of the audit line about a new adjustment.
const creating = "adjustment.create"

// Direction is the direction of an adjustment: it credits or debits the settlement account.
type Direction string

// The directions of an adjustment.
const (
	DirectionCredit Direction = "credit"
	DirectionDebit  Direction = "debit"
)

// AdjustmentState is the state of an adjustment.
type AdjustmentState string

// The states of an adjustment. An adjustment leaves PENDING only once.
const (
	Pending  AdjustmentState = "PENDING"
	Approved AdjustmentState = "APPROVED"
	Rejected AdjustmentState = "REJECTED"
)

// Adjustment is a manual correction of a balance. One operator requests the adjustment, and a
// second operator approves it. Only the approval moves money. Kobo never deletes an adjustment.
type Adjustment struct {
	Company      string          `db:"company_id,key"`
	ID           string          `db:"id,key"`
	SettlementID int64           `db:"settlement_id"`
	Amount       money.Kobo      `db:"amount_kobo"`
	Direction    Direction       `db:"direction"`
	Reason       string          `db:"reason"`
	State        AdjustmentState `db:"state,state"`
	CreatedBy    string          `db:"created_by"`
	DecidedBy    string          `db:"decided_by,changes"` // the operator who approved or rejected the adjustment; "" while pending
	Note         string          `db:"note,changes"`       // the reason for a rejection
	CreatedAt    time.Time       `db:"created_at"`
	DecidedAt    time.Time       `db:"decided_at,changes"` // zero while pending
}

// adjusted is the data of the event that reports an adjustment. It does not name the operators.
type adjusted struct {
	ID           string     `json:"id"` // the reference of the transfer
	SettlementID int64      `json:"settlementId"`
	Amount       money.Kobo `json:"amount"`
	Direction    Direction  `json:"direction"`
	Reason       string     `json:"reason"`
}

// errAsked refuses a form that has asked for something else before.
var errAsked = fault.New(fault.Conflict, "This form has asked for another adjustment before. Load the page again")

// Adjust creates a pending adjustment, which another operator must approve. If the form of the operator has created it before, Adjust
// returns it as it is now (operator.Operator.Sending).
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
	a.ID, a.State, a.CreatedBy, a.CreatedAt = by.NewID("adjustment"), Pending, by.Name, s.Clock.Now()
	a.DecidedBy, a.Note, a.DecidedAt = "", "", time.Time{}
	u := ledger.For(a.Company)
	u.Insert(adjustments.Record(a))
	by.Audit(&u, creating, a.ID, a.details(), a.CreatedAt)
	err := s.Book.Commit(ctx, u)
	if ledger.Is(err, ledger.Exists, adjustments.Table) {
		return s.asked(ctx, a)
	}
	if err != nil {
		return Adjustment{}, explain(err)
	}
	return a, nil
}

// asked returns the stored adjustment with the ID of a, if it asks for the same.
func (s *Service) asked(ctx context.Context, a Adjustment) (Adjustment, error) {
	was, err := s.Adjustment(ctx, a.ID)
	if err != nil {
		return Adjustment{}, err
	}
	if was.Company != a.Company || was.SettlementID != a.SettlementID || was.Amount != a.Amount || was.Direction != a.Direction || was.Reason != a.Reason || was.CreatedBy != a.CreatedBy {
		return Adjustment{}, errAsked
	}
	return was, nil
}

// Approve carries out an adjustment. The approving operator must not be the operator who
// requested the adjustment (four eyes). The state and the balance change in one commit. A debit
// above the balance is refused, and the adjustment stays pending.
func (s *Service) Approve(ctx context.Context, by operator.Operator, adjustmentID string) (Adjustment, error) {
	a, err := s.Adjustment(ctx, adjustmentID)
	if err != nil {
		return Adjustment{}, err
	}
	if a.State != Pending {
		return Adjustment{}, decided(a.State)
	}
	err = s.Operations.FourEyes(ctx, "An adjustment must be approved", operation.Draft{
		Company: a.Company, Action: creating, Subject: a.ID, By: a.CreatedBy, At: a.CreatedAt, Details: a.details(),
	}, by.Name)
	if err != nil {
		return Adjustment{}, err
	}
	transfer := ledger.Transfer{
		Reference: a.ID, Debit: adjustmentAccount, Credit: LedgerAccount(a.SettlementID), Amount: a.Amount,
		Kind: "adjustment", Narration: a.Reason, Correction: true,
	}
	if a.Direction == DirectionDebit {
		transfer.Debit, transfer.Credit = transfer.Credit, transfer.Debit
	}
	u := ledger.For(a.Company)
	u.OpenAccounts(ledger.Account{ID: adjustmentAccount, Floor: money.NoFloor})
	u.Transfer(transfer)
	event.Emit(&u, event.SettlementAdjusted, adjusted{a.ID, a.SettlementID, a.Amount, a.Direction, a.Reason})
	return s.decideOn(ctx, by, a, u, Approved)
}

// Reject ends an adjustment without a transfer. The operator who requested the adjustment may
// also reject it.
func (s *Service) Reject(ctx context.Context, by operator.Operator, adjustmentID, note string) (Adjustment, error) {
	note = strings.TrimSpace(note)
	if n := utf8.RuneCountInString(note); n < 4 || n > 500 {
		return Adjustment{}, fault.New(fault.Invalid, `"note" must have 4 to 500 characters`)
	}
	a, err := s.Adjustment(ctx, adjustmentID)
	if err != nil {
		return Adjustment{}, err
	}
	a.Note = note
	return s.decideOn(ctx, by, a, ledger.For(a.Company), Rejected)
}

// decideOn approves or rejects a pending adjustment by committing the unit u. If two operators
// decide at the same time, the first decision counts.
func (s *Service) decideOn(ctx context.Context, by operator.Operator, a Adjustment, u ledger.Unit, to AdjustmentState) (Adjustment, error) {
	a.State, a.DecidedBy, a.DecidedAt = to, by.Name, s.Clock.Now()
	action := "adjustment.approve"
	if to == Rejected {
		action = "adjustment.reject"
	}
	u.Transition(adjustments.Record(a), string(Pending))
	by.Audit(&u, action, a.ID, a.details(), a.DecidedAt)
	err := s.Book.Commit(ctx, u)
	if r := ledger.Refused(err); r != nil && r.Reason == ledger.Moved {
		return Adjustment{}, decided(AdjustmentState(r.State))
	}
	if err != nil {
		return Adjustment{}, explain(err)
	}
	return a, nil
}

// Adjustment returns the adjustment with this ID, whichever company it belongs to.
func (s *Service) Adjustment(ctx context.Context, adjustmentID string) (Adjustment, error) {
	a, err := s.findAdjustment(ctx, adjustmentID)
	if errors.Is(err, db.ErrNone) {
		err = fault.New(fault.Missing, "Adjustment not found")
	}
	return a, err
}

// decided returns the refusal of a second decision about an adjustment.
func decided(state AdjustmentState) error {
	return fault.Newf(fault.Refused, "The adjustment is %s already", strings.ToLower(string(state)))
}

// details returns the description of an adjustment for the audit log.
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
