package report

import (
	"context"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Entry is one line of a settlement account.
type Entry struct {
	ID           string // the id of the entry's transfer
	Reference    string // the id of what the money was for: a verify_id or a transactionId
	SettlementID int64
	Credit       bool
	// Amount is the amount of the credit, or of the debit without its fee. A debit lowers the
	// balance by amount and fee. The fee of a refund is negative, because a part of the amount
	// is a returned fee.
	Amount, Fee       money.Kobo
	Stands            bool // false for a debit whose operation is open, failed or reversed
	Previous, Current money.Kobo
	Source            string // the kind of transfer: payout, vtu, credit, adjustment …
	Narration         string
	Customer          string // the id of the customer with the credited account; "" for none
	CreatedAt         time.Time
	Labels            operation.Labels // of the operation, or of the virtual account that the credit pays

	Sender    settlement.Sender // of a credit that the bank reported
	SessionID string            // the bank's session ID of such a credit

	sequence int64
}

// Moved returns the change of the balance that the entry made.
func (e Entry) Moved() money.Kobo { return e.Current - e.Previous }

// EntryFilter narrows a list of entries. A field that is zero does not filter.
type EntryFilter struct {
	SettlementID int64
	Type         string // credit or debit
	From, To     time.Time
}

// span is the range of an account's entries with the numbers from first up to, but not including,
// end. Entries are numbered by time without a gap. So the length of a span needs no SQL query.
type span struct {
	account    string
	first, end int64
}

func (s span) len() int64 { return max(s.end-s.first, 0) }

// Entry returns the first entry of a reference in a settlement account of the company. For a
// payout or a purchase, that entry is the debit.
func (s *Service) Entry(ctx context.Context, company, reference string) (Entry, error) {
	e, err := firstEntry(ctx, s.db, company, reference)
	return e, db.Missing(err, "Transaction not found")
}

// settlementPrefix is the beginning of the ids that settlement accounts have in the ledger.
var settlementPrefix = strings.TrimSuffix(settlement.LedgerAccount(0), "0")

// spansOf returns the ranges of entries that match the account and the period of the filter.
func spansOf(ctx context.Context, q db.Querier, company string, f EntryFilter) ([]span, error) {
	account := ""
	if f.SettlementID != 0 {
		account = settlement.LedgerAccount(f.SettlementID)
	}
	all, err := wholeSpans(ctx, q, company, account)
	for i := range all {
		if err == nil && !f.To.IsZero() {
			all[i].end, err = entryAt(ctx, q, company, all[i], f.To)
		}
		if err == nil && !f.From.IsZero() {
			all[i].first, err = entryAt(ctx, q, company, all[i], f.From)
		}
	}
	return all, err
}

// entryAt returns the number of the first entry at or after an instant. Two adjacent periods are
// divided at the same number, so each entry is in exactly one period.
func entryAt(ctx context.Context, q db.Querier, company string, p span, at time.Time) (int64, error) {
	return firstAt(p.first, p.end, at, func(n int64) (time.Time, error) { return entryTime(ctx, q, company, p.account, n) })
}

// firstAt returns the first number in the range from low up to high whose time is not before an
// instant. It returns high if all times are before the instant. The search is binary, so the times
// must ascend with the numbers.
func firstAt(low, high int64, at time.Time, timeOf func(n int64) (time.Time, error)) (int64, error) {
	for low < high {
		middle := low + (high-low)/2
		t, err := timeOf(middle)
		if err != nil {
			return 0, err
		}
		if t.Before(at) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}
