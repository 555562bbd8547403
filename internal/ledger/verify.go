package ledger

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"strconv"
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

// add adds the next entry. It returns the balance that the entry must begin at.
func (a *AccountSum) add(e line) (before int64) {
	if e.sequence == a.lastEntry+1 {
		before = int64(a.last)
	}
	a.Sum += money.Kobo(e.current - e.previous)
	a.Entries++
	a.last, a.lastEntry = money.Kobo(e.current), e.sequence
	return before
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
// Entries and transfers are each read once. Both say which account was changed,
// as its which entry, by what and for what: these facts are summed as hashes, and
// only if the sums differ the statements are asked that name the rows.
//
// Give it a snapshot (db.Snapshot), or commits made meanwhile look like
// mistakes.
func Verify(ctx context.Context, q db.Querier, company string) (Report, error) {
	return VerifyBeside(ctx, q, company, func(Transfer) {})
}

// VerifyBeside is Verify, and shows each transfer to seen.
func VerifyBeside(ctx context.Context, q db.Querier, company string, seen func(Transfer)) (Report, error) {
	r := Report{Company: company}
	err := r.read(ctx, q, seen)
	return r, err
}

func (r *Report) read(ctx context.Context, q db.Querier, seen func(Transfer)) error {
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
	said := sides{seed: maphash.MakeSeed()}
	due := sides{seed: said.seed}
	links, err := r.readEntries(ctx, q, &said)
	if err != nil {
		return err
	}
	r.addAccounts()
	for _, l := range links {
		r.wrong("%s", l)
	}
	if err := r.readTransfers(ctx, q, &due, seen); err != nil || said.sum == due.sum {
		return err
	}
	return r.nameUnpaired(ctx, q)
}

// sides adds up entries as hashes: equal sums mean the same entries, in whatever
// order they were added. The seed is new each time, so that nobody can forge a sum.
type sides struct {
	seed maphash.Seed
	sum  uint64
	fact []byte
}

// add adds an entry, without the balances before and after it.
func (s *sides) add(account string, sequence int64, reference, step, sign, amount string) {
	s.fact = append(append(s.fact[:0], account...), 0)
	s.fact = binary.LittleEndian.AppendUint64(s.fact, uint64(sequence))
	s.fact = append(append(s.fact, reference...), 0)
	s.fact = append(append(s.fact, step...), 0)
	s.fact = append(append(s.fact, sign...), amount...)
	s.sum += maphash.Bytes(s.seed, s.fact)
}

// readEntries reads the accounts and adds up their entries. It returns the entries
// that do not begin where the one before them ended, at most 20 of them.
func (r *Report) readEntries(ctx context.Context, q db.Querier, said *sides) (broken []string, err error) {
	if r.Accounts, err = accountSums(ctx, q, r.Company); err != nil {
		return nil, err
	}
	a := &AccountSum{}
	err = eachEntry(ctx, q, r.Company, func(e line) {
		if e.account != a.ID || a.Entries == 0 {
			a = r.account(e.account)
		}
		said.add(e.account, e.sequence, e.reference, e.step, "", e.amount)
		if before := a.add(e); before != e.previous && len(broken) < 20 {
			broken = append(broken, fmt.Sprintf("entry %d of account %s begins at %d kobo, where the one before it ended at %d",
				e.sequence, e.account, e.previous, before))
		}
	})
	return broken, err
}

// account is the account of this id, or one of its own that the book does not have.
func (r *Report) account(id string) *AccountSum {
	for i := range r.Accounts {
		if r.Accounts[i].ID == id {
			return &r.Accounts[i]
		}
	}
	return &AccountSum{ID: id}
}

func (r *Report) addAccounts() {
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
}

// readTransfers counts the transfers and adds up the entries that they must have.
func (r *Report) readTransfers(ctx context.Context, q db.Querier, due *sides, seen func(Transfer)) error {
	err := eachTransfer(ctx, q, r.Company, func(t Transfer, debitEntry, creditEntry int64) {
		r.Transfers++
		amount := strconv.FormatInt(int64(t.Amount), 10)
		due.add(t.Debit, debitEntry, t.Reference, t.Step, "-", amount)
		due.add(t.Credit, creditEntry, t.Reference, t.Step, "", amount)
		seen(t)
	})
	if r.Entries != 2*r.Transfers {
		r.wrong("%d transfers have %d entries, not two each", r.Transfers, r.Entries)
	}
	return err
}

func (r *Report) nameUnpaired(ctx context.Context, q db.Querier) error {
	unpaired, err := unpairedTransfers(ctx, q, r.Company, r.Entries == 2*r.Transfers)
	for _, id := range unpaired {
		r.wrong("transfer %s does not have exactly its debit and its credit entry", id)
	}
	return err
}
