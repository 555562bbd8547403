package ledger

import (
	"context"
	"fmt"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// Report is what re-adding a company's book came to.
type Report struct {
	Company   string
	Sequence  int64 // the company's last event when the reading began
	Accounts  int64
	Transfers int64
	Entries   int64
	Balances  map[string]money.Kobo // by account, re-added from the entries
	Wrongs    []string              // one sentence for each thing that does not add up
}

func (r *Report) wrong(format string, args ...any) {
	r.Wrongs = append(r.Wrongs, r.Company+": "+fmt.Sprintf(format, args...))
}

// accountSum is an account beside what its entries say.
type accountSum struct {
	id                        string
	floor, balance, sum, last money.Kobo
	sequence, entries, lastSq int64
}

// Verify re-adds a company's book from its entries, in one reading:
//
//   - each account's entries are numbered 1 … n, each begins where the one
//     before it ended, and the last ends at the account's balance;
//   - no balance is below its floor;
//   - each transfer has exactly its debit and its credit entry;
//   - all balances add up to zero.
func (b *Book) Verify(ctx context.Context, company string) (Report, error) {
	r := Report{Company: company, Balances: map[string]money.Kobo{}}
	err := b.db.Snapshot(ctx, func(q db.Querier) error {
		r = Report{Company: company, Balances: map[string]money.Kobo{}}
		return r.read(ctx, q)
	})
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
		return nil
	}
	r.Sequence = heads[0]
	if err := r.readAccounts(ctx, q); err != nil {
		return err
	}
	if err := r.readChains(ctx, q); err != nil {
		return err
	}
	return r.readTransfers(ctx, q)
}

func (r *Report) readAccounts(ctx context.Context, q db.Querier) error {
	accounts, err := accountSums(ctx, q, r.Company)
	if err != nil {
		return err
	}
	var total money.Kobo
	for _, a := range accounts {
		r.Accounts++
		r.Entries += a.entries
		r.Balances[a.id] = a.sum
		total += a.sum
		if a.sum != a.balance || a.last != a.balance {
			r.wrong("account %s holds %d kobo, its entries add up to %d and the last one says %d", a.id, a.balance, a.sum, a.last)
		}
		if a.entries != a.sequence || a.lastSq != a.sequence {
			r.wrong("account %s has %d entries, the last numbered %d, where it says %d", a.id, a.entries, a.lastSq, a.sequence)
		}
		if a.balance < a.floor {
			r.wrong("account %s holds %d kobo, below its floor of %d", a.id, a.balance, a.floor)
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
	unpaired, err := unpairedTransfers(ctx, q, r.Company)
	for _, id := range unpaired {
		r.wrong("transfer %s does not have exactly its debit and its credit entry", id)
	}
	return err
}

// Companies are all that have a book, in order.
func (b *Book) Companies(ctx context.Context) ([]string, error) {
	return db.All(ctx, b.db, db.Value[string], `SELECT company_id FROM ledger_head ORDER BY company_id`)
}
