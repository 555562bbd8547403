package payout

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/wire"
)

// BulkState is the state of a bulk payout.
type BulkState string

// The states of a bulk payout.
const (
	BulkChecking  BulkState = "CHECKING"  // Kobo asks the bank for the names of the accounts
	BulkChecked   BulkState = "CHECKED"   // each line has its verdict, and the company may confirm
	BulkConfirmed BulkState = "CONFIRMED" // each good line is a payout, and at least one has no outcome yet
	BulkCompleted BulkState = "COMPLETED" // each payout has its outcome
	BulkCancelled BulkState = "CANCELLED" // nothing was sent, and nothing will be
)

// Verdict states whether a line of a bulk payout can be sent.
type Verdict string

// The verdicts of a line.
const (
	Unchecked Verdict = "CHECKING"
	Good      Verdict = "GOOD"
	Bad       Verdict = "BAD"
)

// Bulk is a bulk payout in the form of the API and the events.
type Bulk struct {
	ID           string        `json:"bulkId"`
	State        BulkState     `json:"state"`
	SettlementID int64         `json:"fromSettlementId"`
	Lines        int           `json:"lineCount"`
	Checking     int           `json:"checking"`
	Good         int           `json:"good"`
	Bad          int           `json:"bad"`
	Amount       money.Kobo    `json:"amount"` // of the good lines
	Fee          money.Kobo    `json:"fee"`    // of the good lines
	Pending      int           `json:"pending"`
	Succeeded    int           `json:"succeeded"`
	Failed       int           `json:"failed"` // FAILED or REVERSED, which are refunded
	CreatedAt    clock.Instant `json:"createdAt"`
	ExpiresAt    clock.Instant `json:"expiresAt"` // when an unconfirmed bulk payout is cancelled
	CheckedAt    clock.Instant `json:"checkedAt"`
	ConfirmedAt  clock.Instant `json:"confirmedAt"`
	EndedAt      clock.Instant `json:"endedAt"`
}

// BulkLine is a line of a bulk payout in the form of the API.
type BulkLine struct {
	Line          int64      `json:"line"` // 1 for the first line
	BankCode      string     `json:"bank_code"`
	AccountNumber string     `json:"account_number"`
	Amount        money.Kobo `json:"amount"`
	Narration     wire.Text  `json:"narration"`
	Verdict       Verdict    `json:"verdict"`
	BankName      wire.Text  `json:"bank_name"`
	AccountName   wire.Text  `json:"account_name"` // "" until the bank has given the name
	Fee           money.Kobo `json:"fee"`
	Reason        wire.Text  `json:"reason"`    // why the line is bad, or why its payout failed
	Reference     wire.Text  `json:"reference"` // of the payout; "" before the confirmation
	Status        wire.Text  `json:"status"`    // of the payout; "" before the confirmation
	// DoubleOf is a payout of the last seven days to the same account with the same amount (markDoubles), as of now
	// until the confirmation. DoubleOfLine is the first line of this bulk payout with both. "" and 0 stand for none.
	DoubleOf     wire.Text   `json:"doubleOf"`
	DoubleOfLine wire.Number `json:"doubleOfLine"`
	operation.Labels
	FileLine int64 `json:"fileLine,omitempty"` // the number of the line in the company's file
}

// BulkPage is a bulk payout with some of its lines.
type BulkPage struct {
	Bulk
	Page      []BulkLine  `json:"lines"`
	NextAfter wire.Number `json:"nextAfter"` // the last line of the page if more lines follow; otherwise 0
}

var errNoBulk = fault.New(fault.Missing, "Bulk payout not found")

// bulkState is a bulk payout with everything that belongs to it.
type bulkState struct {
	bulk       bulkRow
	lines      []lineRow
	fees       Schedule                       // the schedule that is now in force
	operations map[string]operation.Operation // the payouts of confirmed bulk payouts, by ID
}

// readBulk reads a bulk payout of the company. It returns errNoBulk if there is none.
func (s *Service) readBulk(ctx context.Context, company, bulkID string) (b bulkState, err error) {
	if b.bulk, err = s.findBulk(ctx, company, bulkID); err != nil {
		if errors.Is(err, db.ErrNone) {
			err = errNoBulk
		}
		return b, err
	}
	if b.lines, err = s.bulkLines(ctx, company, bulkID); err != nil {
		return b, err
	}
	one := []bulkState{b}
	err = s.fill(ctx, company, one)
	return one[0], err
}

// fill reads the payouts of the confirmed bulk payouts, and the fees for the others.
func (s *Service) fill(ctx context.Context, company string, list []bulkState) error {
	fees, err := s.Fees(ctx, company)
	if err != nil {
		return err
	}
	var ids []string
	for i, b := range list {
		list[i].fees = fees
		if b.bulk.ConfirmedAt.IsZero() {
			continue
		}
		for _, l := range b.good() {
			ids = append(ids, l.Reference)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	all, err := s.Operations.FindAll(ctx, company, ids)
	operations := make(map[string]operation.Operation, len(all))
	for _, o := range all {
		operations[o.ID] = o
	}
	for i := range list {
		list[i].operations = operations
	}
	return err
}

// good returns the lines that can be sent.
func (b bulkState) good() []lineRow {
	return slices.DeleteFunc(slices.Clone(b.lines), func(l lineRow) bool { return l.Verdict != Good })
}

// shown returns a bulk payout in the form of the API.
func (b bulkState) shown() Bulk {
	r := b.bulk
	out := Bulk{
		ID: r.ID, State: r.State, SettlementID: r.SettlementID, Lines: len(b.lines),
		CreatedAt: clock.Instant{Time: r.CreatedAt}, ExpiresAt: clock.Instant{Time: r.ExpiresAt},
		CheckedAt: clock.Instant{Time: r.CheckedAt}, ConfirmedAt: clock.Instant{Time: r.ConfirmedAt}, EndedAt: clock.Instant{Time: r.EndedAt},
	}
	for _, l := range b.lines {
		switch l.Verdict {
		case Unchecked:
			out.Checking++
			continue
		case Bad:
			out.Bad++
			continue
		}
		out.Good++
		out.Amount += l.Amount
		o, sent := b.operations[l.Reference]
		if !sent {
			out.Fee += b.fees.Fee(l.Amount)
			continue
		}
		out.Fee += o.Fee
		switch {
		case o.State == Pending:
			out.Pending++
		case o.Refunded():
			out.Failed++
		default:
			out.Succeeded++
		}
	}
	return out
}

// line returns a line in the form of the API.
func (b bulkState) line(l lineRow) BulkLine {
	out := BulkLine{
		Line: l.Line, BankCode: l.BankCode, AccountNumber: l.AccountNumber, Amount: l.Amount, Narration: wire.Text(l.Narration),
		Verdict: l.Verdict, BankName: wire.Text(l.BankName), AccountName: wire.Text(l.AccountName), Reason: wire.Text(l.Reason), DoubleOf: wire.Text(l.DoubleOf), Labels: l.Labels,
		FileLine: l.FileLine,
	}
	if l.Verdict != Good {
		return out
	}
	o, sent := b.operations[l.Reference]
	if !sent {
		out.Fee = b.fees.Fee(l.Amount)
		return out
	}
	out.Fee, out.Reference, out.Status = o.Fee, wire.Text(o.ID), wire.Text(o.State)
	if o.Refunded() {
		out.Reason = wire.Text(o.Message)
	}
	return out
}

// Bulk returns a bulk payout of the company with at most limit of the lines that follow after the
// line with number after. It returns a fault of kind Missing if there is no such bulk payout.
func (s *Service) Bulk(ctx context.Context, company, bulkID string, after int64, limit int) (BulkPage, error) {
	b, err := s.readBulk(ctx, company, bulkID)
	if err != nil {
		return BulkPage{}, err
	}
	page, first := BulkPage{Bulk: b.shown(), Page: []BulkLine{}}, firstLines(b.lines)
	rest := slices.DeleteFunc(slices.Clone(b.lines), func(l lineRow) bool { return l.Line <= after })
	lines := rest[:min(len(rest), limit)]
	if b.bulk.State == BulkChecked {
		// It may have waited for hours since the check.
		if err := s.markDoubles(ctx, company, lines); err != nil {
			return BulkPage{}, err
		}
	}
	for _, l := range lines {
		shown := b.line(l)
		if n := first[l.beneficiary()]; n < l.Line {
			shown.DoubleOfLine = wire.Number(n)
		}
		page.Page = append(page.Page, shown)
	}
	if len(lines) < len(rest) {
		page.NextAfter = wire.Number(lines[limit-1].Line)
	}
	return page, nil
}

// Bulks returns up to limit bulk payouts of the company, the newest first. It begins below the bulk payout
// with the ID before, or with the newest if before is "". An empty state selects any state. The result next
// is the value of before for the following page, or "" after the last bulk payout.
func (s *Service) Bulks(ctx context.Context, company string, state BulkState, before string, limit int) (list []Bulk, next string, err error) {
	rows, err := s.bulkRows(ctx, company, state, before, limit+1)
	if err != nil {
		return nil, "", err
	}
	if len(rows) > limit {
		rows = rows[:limit]
		next = rows[limit-1].ID
	}
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	lines, err := s.lineAmounts(ctx, company, ids)
	if err != nil {
		return nil, "", err
	}
	all := make([]bulkState, len(rows))
	for i, r := range rows {
		all[i] = bulkState{bulk: r, lines: lines[r.ID]}
	}
	if err := s.fill(ctx, company, all); err != nil {
		return nil, "", err
	}
	list = make([]Bulk, len(all))
	for i, b := range all {
		list[i] = b.shown()
	}
	return list, next, nil
}

// bulkRow is the database row of a bulk payout.
type bulkRow struct {
	Company      string    `db:"company_id,key"`
	ID           string    `db:"id,key"`
	State        BulkState `db:"state,state"`
	SettlementID int64     `db:"settlement_id"`
	Provider     string    `db:"provider"`
	Credentials  int64     `db:"credentials"` // the version of the company's credentials when the PIN was checked
	CreatedAt    time.Time `db:"created_at"`
	ExpiresAt    time.Time `db:"expires_at"`
	CheckedAt    time.Time `db:"checked_at,changes"`
	ConfirmedAt  time.Time `db:"confirmed_at,changes"`
	SendUntil    time.Time `db:"send_until,changes"` // the payouts are in the queue until this time
	EndedAt      time.Time `db:"ended_at,changes"`
}

// lineRow is the database row of a line.
type lineRow struct {
	Company       string     `db:"company_id,key"`
	BulkID        string     `db:"bulk_id,key"`
	Line          int64      `db:"line,key"`
	Verdict       Verdict    `db:"verdict,state"`
	Reference     string     `db:"reference"` // the ID of the line's payout
	BankCode      string     `db:"bank_code"`
	AccountNumber string     `db:"account_number"`
	Amount        money.Kobo `db:"amount_kobo"`
	Narration     string     `db:"narration"`
	operation.Labels
	BankName    string    `db:"bank_name,changes"`
	AccountName string    `db:"account_name,changes"`
	Session     string    `db:"session,changes"`  // of the name enquiry
	NamedAt     time.Time `db:"named_at,changes"` // when the bank gave the name
	Attempts    int64     `db:"attempts,changes"` // the number of name enquiries without an answer
	Reason      string    `db:"reason,changes"`   // why the line is bad
	DoubleOf    string    `db:"double_of,changes"`
	FileLine    int64     `db:"file_line"` // the number of the line in the company's file; 0 if the line comes from no file
}

const (
	bulkColumns = `company_id, id, state, settlement_id, provider, credentials, created_at, expires_at, checked_at, confirmed_at, send_until, ended_at`
	lineColumns = `company_id, bulk_id, line, verdict, reference, bank_code, account_number, amount_kobo, narration, external_reference, metadata,
	bank_name, account_name, session, named_at, attempts, reason, double_of, file_line`
)

var (
	bulks     = db.Declare[bulkRow]("payout_bulk", db.Reads(bulkColumns))
	bulkLines = db.Declare[lineRow]("payout_bulk_line", db.Reads(lineColumns))
)
