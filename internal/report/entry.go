package report

import (
	"context"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Entry is one line of a settlement account.
type Entry struct {
	ID           string // of its transfer
	Reference    string // of its owner: a payout's verify_id, a purchase's transactionId
	SettlementID int64
	Credit       bool
	// Amount is the credit, or the debit without its fee. A debit changes the balance by
	// amount and fee. The fee of a refund is negative: the part of the amount that is a
	// returned fee.
	Amount, Fee       money.Kobo
	Stands            bool // false for a debit whose operation is open or was reversed
	Previous, Current money.Kobo
	Source            string // the kind of transfer: payout, vtu, credit, adjustment …
	Narration         string
	Customer          string // the id of the customer with the credited account; "" for none
	CreatedAt         time.Time

	sequence int64
}

// Moved returns the entry's change of the balance.
func (e Entry) Moved() money.Kobo { return e.Current - e.Previous }

// EntryFilter narrows a list of entries. A zero field filters nothing.
type EntryFilter struct {
	SettlementID int64
	Type         string // credit or debit
	From, To     time.Time
}

// span is a range of an account's entries by number, without end itself. Entries are
// numbered in the order of time without a gap. So the length of a span needs no query.
type span struct {
	account    string
	first, end int64
}

func (s span) len() int64 { return max(s.end-s.first, 0) }

// Entry returns the first entry of a reference in a settlement account of the company:
// for a payout or a purchase, its debit.
func (s *Service) Entry(ctx context.Context, company, reference string) (Entry, error) {
	sides, err := transferSides(ctx, s.db, company, reference)
	if err != nil {
		return Entry{}, err
	}
	for _, side := range sides {
		if strings.HasPrefix(side.account, settlementPrefix) {
			list, err := lastEntries(ctx, s.db, company, side, "", 1)
			if err != nil {
				return Entry{}, err
			}
			if len(list) > 0 {
				return list[0], nil
			}
			break
		}
	}
	return Entry{}, fault.New(fault.Missing, "Transaction not found")
}

// settlementPrefix begins the ids of settlement accounts in the ledger.
var settlementPrefix = strings.TrimSuffix(settlement.LedgerAccount(0), "0")

// spans returns the entries that pass a filter, account by account.
func (s *Service) spans(ctx context.Context, company string, f EntryFilter) ([]span, error) {
	account := ""
	if f.SettlementID != 0 {
		account = settlement.LedgerAccount(f.SettlementID)
	}
	all, err := wholeSpans(ctx, s.db, company, account)
	for i := range all {
		if err == nil && !f.To.IsZero() {
			all[i].end, err = s.firstAt(ctx, company, all[i], f.To)
		}
		if err == nil && !f.From.IsZero() {
			all[i].first, err = s.firstAt(ctx, company, all[i], f.From)
		}
	}
	return all, err
}

// firstAt finds the number of the first entry at an instant or later. Two adjacent periods
// are cut at the same number, so each entry is in one of them.
func (s *Service) firstAt(ctx context.Context, company string, p span, at time.Time) (int64, error) {
	return firstAt(p.first, p.end, at, func(n int64) (time.Time, error) { return entryTime(ctx, s.db, company, p.account, n) })
}

// firstAt finds the first number from low up to high that is not before an instant, by
// binary search. It is high if all are before. The times of the numbers must ascend.
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
