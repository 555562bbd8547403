package report

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Entry is one line of a settlement account.
type Entry struct {
	ID           string // of its transfer
	Reference    string // of what it belongs to: a payout's verify_id, a purchase's transactionId
	SettlementID int64
	Credit       bool
	// Amount is what was credited, or debited without the fee: a debit moves the
	// balance by both together. The fee of a refund is negative. It is the part of
	// the amount that is a fee given back.
	Amount, Fee       money.Kobo
	Stands            bool // false for a debit whose operation is open, or was given back
	Previous, Current money.Kobo
	Source            string // what moved the money: payout, vtu, credit, adjustment …
	Narration         string
	Customer          string // the id of the customer whose account was credited; "" for none
	CreatedAt         time.Time

	sequence int64
}

// Moved is how far the entry moved the balance.
func (e Entry) Moved() money.Kobo { return e.Current - e.Previous }

// EntryFilter narrows a list of entries; a zero field does not.
type EntryFilter struct {
	SettlementID int64
	Type         string // credit or debit
	From, To     time.Time
}

// span is a run of an account's entries: from the number first up to before the
// number end. Entries are numbered without a gap, in the order in which they
// came, so a part of the chain is found by numbers and never by counting.
type span struct {
	account    string
	first, end int64
}

func (s span) len() int64 { return max(s.end-s.first, 0) }

// Entry is the first entry of a reference in a settlement account of the company:
// for a payout or a purchase, its debit.
func (s *Service) Entry(ctx context.Context, company, reference string) (Entry, error) {
	sides, err := transferSides(ctx, s.db, company, reference)
	if err != nil {
		return Entry{}, err
	}
	for _, side := range sides {
		if strings.HasPrefix(side.account, settlementPrefix) {
			e, err := oneEntry(ctx, s.db, company, side)
			if errors.Is(err, db.ErrNone) {
				break
			}
			return e, err
		}
	}
	return Entry{}, fault.New(fault.Missing, "Transaction not found")
}

// settlementPrefix begins the names of the ledger accounts that are settlement
// accounts.
var settlementPrefix = strings.TrimSuffix(settlement.LedgerAccount(0), "0")

// spans are the entries that a filter asks for, account by account.
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

// firstAt is the number of the first entry at or after an instant, by halving:
// entries are numbered in the order of time. Two periods that meet at an instant
// are cut at the same number, so no entry is in both or in neither.
func (s *Service) firstAt(ctx context.Context, company string, p span, at time.Time) (int64, error) {
	low, high := p.first, p.end
	for low < high {
		middle := low + (high-low)/2
		t, err := entryTime(ctx, s.db, company, p.account, middle)
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
