package ledger

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// Report is the result of Verify for one company.
type Report struct {
	Company   string
	Sequence  int64 // the number of the company's last event when the reading began
	Accounts  []AccountSum
	Transfers int64
	Entries   int64
	Wrongs    []string // one sentence for each error found
	Breaks    []Break  // the errors whose account is known; only VerifyAfter and Walk find them
}

// These findings come from Verify and from VerifyAfter.
const (
	brokenChain = "entry %d of account %s begins at %d kobo, where the one before it ended at %d"
	// An account has another balance than its last entry.
	endsElsewhere = "account %s held %d kobo after entry %d, where its entries end at %d with entry %d"

	notTwice  = "%d transfers have %d entries, not two each"
	notPaired = "transfer %s does not have exactly its debit and its credit entry"
)

func (r *Report) wrong(format string, args ...any) {
	r.Wrongs = append(r.Wrongs, r.Company+": "+fmt.Sprintf(format, args...))
}

// AccountSum is an account with the sums of its entries.
type AccountSum struct {
	ID             string
	Floor, Balance money.Kobo
	Sum            money.Kobo // the sum of the entries
	Entries        int64

	last                money.Kobo // the balance after the last entry
	sequence, lastEntry int64
}

// add adds the next entry. It returns the balance that the entry should begin with.
func (a *AccountSum) add(e line) (before int64) {
	if e.sequence == a.lastEntry+1 {
		before = int64(a.last)
	}
	a.Sum += money.Kobo(e.current - e.previous)
	a.Entries++
	a.last, a.lastEntry = money.Kobo(e.current), e.sequence
	return before
}

// Clearing reports whether the account is a clearing account.
func (a AccountSum) Clearing() bool { return strings.HasPrefix(a.ID, "clearing/") }

// Verify recomputes a company's balances from its entries, and checks that
//
//   - each account's entries are numbered 1 … n, each begins with the balance after the
//     one before it, and the last one ends with the account's balance;
//   - no balance is below its floor;
//   - each transfer has exactly its debit and its credit entry;
//   - all balances add up to zero.
//
// Verify reads each entry and each transfer only once. Both contain the account, the number of the
// entry, the reference, the step and the amount. Verify hashes these values and adds up the hashes
// of the entries and of the transfers. Only if the two sums differ, further SQL statements find the
// wrong rows.
//
// The querier q must read a snapshot (db.DB.Snapshot). Otherwise concurrent commits look like
// errors.
func Verify(ctx context.Context, q db.Querier, company string) (Report, error) {
	return VerifyBeside(ctx, q, company, func(Transfer, []string) {})
}

// VerifyBeside does the same as Verify, and also calls seen with each transfer and its row in
// TransferTable.
func VerifyBeside(ctx context.Context, q db.Querier, company string, seen func(t Transfer, row []string)) (Report, error) {
	r := Report{Company: company}
	err := r.read(ctx, q, seen)
	return r, err
}

func (r *Report) read(ctx context.Context, q db.Querier, seen func(Transfer, []string)) error {
	if err := r.readHead(ctx, q); err != nil {
		return err
	}
	ctx = db.WithLongTimeout(ctx)
	entries := sides{seed: maphash.MakeSeed()}
	transfers := sides{seed: entries.seed}
	links, err := r.readEntries(ctx, q, &entries)
	if err != nil {
		return err
	}
	r.addAccounts()
	for _, l := range links {
		r.wrong("%s", l)
	}
	if err := r.readTransfers(ctx, q, &transfers, seen); err != nil || entries.sum == transfers.sum {
		return err
	}
	return r.nameUnpaired(ctx, q)
}

// readHead reads the number of the company's last event.
func (r *Report) readHead(ctx context.Context, q db.Querier) error {
	heads, err := db.All(ctx, q, db.Value[int64],
		`SELECT event_sequence FROM ledger_head WHERE company_id = $1`, r.Company)
	if len(heads) > 0 {
		r.Sequence = heads[0]
	} else if err == nil {
		r.wrong("has no company lock row")
	}
	return err
}

// sides is the sum of the entries' hashes. Equal sums mean the same entries, in any order. The seed
// is random, so an attacker cannot forge a sum.
type sides struct {
	seed maphash.Seed
	sum  uint64
	fact []byte
}

// add hashes an entry and adds the hash to the running sum. The hash does not cover the balances
// before and after the entry.
func (s *sides) add(account string, sequence int64, reference, step string, amount int64, at string) {
	s.fact = append(append(s.fact[:0], account...), 0)
	s.fact = binary.LittleEndian.AppendUint64(s.fact, uint64(sequence))
	s.fact = append(append(s.fact, reference...), 0)
	s.fact = append(append(s.fact, step...), 0)
	s.fact = append(binary.LittleEndian.AppendUint64(s.fact, uint64(amount)), at...)
	s.sum += maphash.Bytes(s.seed, s.fact)
}

// readEntries reads the accounts and adds up their entries. It returns one sentence for each entry
// that does not begin with the balance after the previous entry. It returns at most 20 sentences.
func (r *Report) readEntries(ctx context.Context, q db.Querier, entries *sides) (broken []string, err error) {
	if r.Accounts, err = accountSums(ctx, q, r.Company); err != nil {
		return nil, err
	}
	a := &AccountSum{}
	err = eachEntry(ctx, q, r.Company, func(e line) {
		if e.account != a.ID || a.Entries == 0 {
			a = r.account(e.account)
		}
		entries.add(e.account, e.sequence, e.reference, e.step, e.current-e.previous, e.at)
		if before := a.add(e); before != e.previous && len(broken) < 20 {
			broken = append(broken, fmt.Sprintf(brokenChain, e.sequence, e.account, e.previous, before))
		}
	})
	return broken, err
}

// account returns the account with the given ID. If the ledger does not have it, account returns a
// new, empty account.
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

// readTransfers counts the transfers, and adds up the hashes of the entries that they name.
func (r *Report) readTransfers(ctx context.Context, q db.Querier, transfers *sides, seen func(Transfer, []string)) error {
	err := eachTransfer(ctx, q, r.Company, func(t Transfer, debitEntry, creditEntry int64, row []string) {
		r.Transfers++
		at := row[createdAt]
		transfers.add(t.Debit, debitEntry, t.Reference, t.Step, -int64(t.Amount), at)
		transfers.add(t.Credit, creditEntry, t.Reference, t.Step, int64(t.Amount), at)
		seen(t, row)
	})
	if r.Entries != 2*r.Transfers {
		r.wrong(notTwice, r.Transfers, r.Entries)
	}
	return err
}

func (r *Report) nameUnpaired(ctx context.Context, q db.Querier) error {
	unpaired, err := unpairedTransfers(ctx, q, r.Company, r.Entries == 2*r.Transfers)
	for _, id := range unpaired {
		r.wrong(notPaired, id)
	}
	return err
}
