package ledger

import (
	"context"
	"fmt"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// Report is what re-adding a company's book came to.
type Report struct {
	Company   string
	Sequence  int64 // the company's last event when the reading began
	Accounts  []AccountSum
	Transfers int64
	Entries   int64
	Wrongs    []string // one sentence for each thing that does not add up
}

func (r *Report) wrong(format string, args ...any) {
	r.Wrongs = append(r.Wrongs, r.Company+": "+fmt.Sprintf(format, args...))
}

// AccountSum is an account beside what its entries say.
type AccountSum struct {
	ID             string
	Floor, Balance money.Kobo
	Sum            money.Kobo // the entries added up
	Entries        int64

	last                money.Kobo // the balance after the last entry
	sequence, lastEntry int64
}

// Clearing tells whether the account holds money on its way.
func (a AccountSum) Clearing() bool { return strings.HasPrefix(a.ID, "clearing/") }

// Verify re-adds a company's book from its entries:
//
//   - each account's entries are numbered 1 … n, each begins where the one
//     before it ended, and the last ends at the account's balance;
//   - no balance is below its floor;
//   - each transfer has exactly its debit and its credit entry;
//   - all balances add up to zero.
//
// Give it a snapshot (db.Snapshot), or commits made meanwhile look like
// mistakes.
func Verify(ctx context.Context, q db.Querier, company string) (Report, error) {
	r := Report{Company: company}
	err := r.read(ctx, q)
	return r, err
}

func (r *Report) read(ctx context.Context, q db.Querier) error {
	heads, err := db.All(ctx, q, db.Value[int64],
		`SELECT event_sequence FROM ledger_head WHERE company_id = $1`, r.Company)
	if err != nil {
		return err
	}
	if len(heads) == 0 {
		r.wrong("has no head row")
	} else {
		r.Sequence = heads[0]
	}
	ctx = db.Patient(ctx)
	if err := r.readAccounts(ctx, q); err != nil {
		return err
	}
	if err := r.readChains(ctx, q); err != nil {
		return err
	}
	return r.readTransfers(ctx, q)
}

func (r *Report) readAccounts(ctx context.Context, q db.Querier) (err error) {
	if r.Accounts, err = accountSums(ctx, q, r.Company); err != nil {
		return err
	}
	var total money.Kobo
	for _, a := range r.Accounts {
		r.Entries += a.Entries
		total += a.Sum
		if a.Sum != a.Balance || a.last != a.Balance {
			r.wrong("account %s holds %d kobo, its entries add up to %d and the last one says %d", a.ID, a.Balance, a.Sum, a.last)
		}
		if a.Entries != a.sequence || a.lastEntry != a.sequence {
			r.wrong("account %s has %d entries, the last numbered %d, where it says %d", a.ID, a.Entries, a.lastEntry, a.sequence)
		}
		if a.Balance < a.Floor {
			r.wrong("account %s holds %d kobo, below its floor of %d", a.ID, a.Balance, a.Floor)
		}
	}
	if total != 0 {
		r.wrong("the balances add up to %d kobo, not to zero", total)
	}
	return nil
}

func (r *Report) readChains(ctx context.Context, q db.Querier) error {
	broken, err := brokenLinks(ctx, q, r.Company)
	for _, b := range broken {
		r.wrong("%s", b)
	}
	return err
}

func (r *Report) readTransfers(ctx context.Context, q db.Querier) error {
	n, err := transferCount(ctx, q, r.Company)
	if err != nil {
		return err
	}
	r.Transfers = n
	if r.Entries != 2*n {
		r.wrong("%d transfers have %d entries, not two each", n, r.Entries)
	}
	unpaired, err := unpairedTransfers(ctx, q, r.Company, r.Entries == 2*n)
	for _, id := range unpaired {
		r.wrong("transfer %s does not have exactly its debit and its credit entry", id)
	}
	return err
}
