package ledger

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// Place is how far the entries of an account are verified: the number of the last verified entry,
// and the balance after it.
type Place struct {
	Sequence int64
	Balance  int64 // in kobo; a money.Kobo above money.Max could not be read from JSON
}

// VerifyAfter does the same as Verify, but reads only the entries after the given places. It trusts
// the earlier entries. Two things are not checked: whether a transfer has no entry at all, and
// whether an earlier row has changed while its account's balance has not.
//
// VerifyAfter moves the places forward. It stops when more returns false. In that case whole is
// false, and the report covers only the entries up to the new places.
func VerifyAfter(
	ctx context.Context, q db.Querier, company string, places map[string]Place, genuine Genuine, more func() bool,
) (r Report, whole bool, err error) {
	r = Report{Company: company}
	if err = r.readHead(ctx, q); err != nil {
		return r, false, err
	}
	if r.Accounts, err = accountSums(ctx, q, company); err != nil {
		return r, false, err
	}
	ctx = db.WithLongTimeout(ctx)
	time := more
	more = func() bool { return len(r.Wrongs) > 0 || time() } // a difference must be reported, however long it takes
	missing := maps.Clone(places)
	for i := range r.Accounts {
		a := &r.Accounts[i]
		delete(missing, a.ID)
		a.begin(places[a.ID])
		whole, err = r.verifyEntries(ctx, q, a, math.MaxInt64, genuine, more)
		if places[a.ID] = a.place(); err != nil || !whole {
			return r, false, err
		}
		r.ends(a.ID, a.place(), Place{a.sequence, int64(a.Balance)}, endsElsewhere, a.ID, a.Balance, a.sequence, a.last, a.lastEntry)
	}
	r.addAccounts()
	for _, id := range slices.Sorted(maps.Keys(missing)) {
		r.breakAt(id, "account", "missing", "account %s is missing, where %d of its entries were verified", id, missing[id].Sequence)
	}
	return r, true, nil
}

// begin makes the account continue after a place.
func (a *AccountSum) begin(at Place) {
	balance := money.Kobo(at.Balance)
	a.Sum, a.Entries, a.last, a.lastEntry = balance, at.Sequence, balance, at.Sequence
}

func (a *AccountSum) place() Place { return Place{a.lastEntry, int64(a.last)} }

// verifyEntries adds up the entries of an account up to a number, page by page. It checks that each
// entry follows the one before it, that a transfer names exactly this entry and the entry on the
// other side, and that the transfer is genuine. It reports whether it has read all of them before more
// returned false, or before there were too many breaks.
func (r *Report) verifyEntries(
	ctx context.Context, q db.Querier, a *AccountSum, upTo int64, genuine Genuine, more func() bool,
) (bool, error) {
	first := a.lastEntry + 1
	err := db.Pages(ctx, q, pairedFrom, pairedFields,
		func() []any { return []any{r.Company, a.ID, max(first, a.lastEntry), upTo} },
		func(row []string) error {
			if !more() || len(r.Breaks) >= MostBreaks {
				return errEnough
			}
			return r.verifyEntry(a, row, genuine)
		})
	return ended(err)
}

// Walk is a verification of a company's whole ledger in small steps. It needs no snapshot, because
// entries and transfers never change: it reads the rows that existed when it began, whenever it
// comes to them. A Walk can be stored as JSON between two steps.
type Walk struct {
	Report
	Targets map[string]Place // what each account held when the walk began
	Places  map[string]Place // how far the walk has come
	// Reference and Step name the last transfer that was counted. Counted becomes true after the
	// last transfer.
	Reference, Step string
	Counted         bool
}

// BeginWalk returns a walk through the ledger as it is now.
func BeginWalk(ctx context.Context, q db.Querier, company string) (*Walk, error) {
	w := &Walk{Report: Report{Company: company}, Targets: map[string]Place{}, Places: map[string]Place{}}
	if err := w.readHead(ctx, q); err != nil {
		return nil, err
	}
	accounts, err := accountSums(ctx, q, company)
	for _, a := range accounts {
		w.Targets[a.ID] = Place{a.sequence, int64(a.Balance)}
	}
	return w, err
}

// Continue goes on until the end of the ledger, or until more returns false. It reports whether it
// has reached the end. The findings are in w.Wrongs. The caller removes the breaks from w.Breaks after
// each step.
func (w *Walk) Continue(ctx context.Context, q db.Querier, genuine Genuine, more func() bool) (bool, error) {
	for _, id := range slices.Sorted(maps.Keys(w.Targets)) {
		target, from := w.Targets[id], w.Places[id]
		if _, begun := w.Places[id]; begun && from.Sequence >= target.Sequence {
			continue
		}
		a := AccountSum{ID: id}
		a.begin(from)
		whole, err := w.verifyEntries(ctx, q, &a, target.Sequence, genuine, more)
		w.Entries += a.Entries - from.Sequence
		w.Places[id] = a.place()
		if err != nil || !whole {
			return false, err
		}
		w.ends(id, a.place(), target, endsElsewhere, id, target.Balance, target.Sequence, a.last, a.lastEntry)
		w.Places[id] = target // so that the walk does not come back to this account
	}
	if !w.Counted {
		var err error
		if w.Counted, err = w.countTransfers(ctx, q, more); err != nil || !w.Counted {
			return false, err
		}
		if w.Entries != 2*w.Transfers {
			w.wrong(notTwice, w.Transfers, w.Entries)
		}
	}
	return true, nil
}

// countTransfers counts the transfers that existed when the walk began. Each verified entry has
// exactly its transfer. So if the numbers fit, no transfer lacks its entries.
func (w *Walk) countTransfers(ctx context.Context, q db.Querier, more func() bool) (bool, error) {
	begun := w.Transfers > 0
	err := db.Pages(ctx, q, debitsFrom, 4,
		func() []any { return []any{w.Company, w.Reference, w.Step} },
		func(row []string) error {
			if !more() {
				return errEnough
			}
			if begun && row[0] == w.Reference && row[1] == w.Step {
				return nil // the last transfer of the step before
			}
			var entry int64
			err := db.Numbers(row[3:], &entry)
			if w.Reference, w.Step = row[0], row[1]; entry <= w.Targets[row[2]].Sequence {
				w.Transfers++
			}
			return err
		})
	return ended(err)
}

const (
	// pairedFrom selects entries with all columns of their transfers. It selects 1 as the column paired
	// if the transfer of the entry names this entry, and if the entry on the other side is there too.
	// All look-ups are by primary key.
	pairedFrom = `
		SELECT e.sequence, e.previous_kobo, e.current_kobo, CASE WHEN o.sequence IS NULL THEN 0 ELSE 1 END AS paired,
			e.reference, e.step, e.amount_kobo, e.created_at AS at, coalesce(t.company_id, '') AS company,
			coalesce(t.reference, '') AS of_reference, coalesce(t.step, '') AS of_step, coalesce(t.debit_account, '') AS debit,
			coalesce(t.credit_account, '') AS credit, coalesce(t.amount_kobo, 0) AS amount, coalesce(t.kind, '') AS kind,
			coalesce(t.narration, '') AS narration, coalesce(t.debit_entry, 0) AS debit_entry, coalesce(t.credit_entry, 0) AS credit_entry,
			coalesce(t.stamp, 0) AS stamp, coalesce(t.created_at, 0) AS created, coalesce(t.leaf, 0) AS leaf, coalesce(t.mac, '') AS mac
		FROM ledger_entry AS e
		LEFT JOIN ledger_transfer AS t ON t.company_id = e.company_id AND t.reference = e.reference AND t.step = e.step
		LEFT JOIN ledger_entry AS o ON o.company_id = t.company_id
			AND o.account_id = CASE WHEN e.amount_kobo < 0 THEN t.credit_account ELSE t.debit_account END
			AND o.sequence = CASE WHEN e.amount_kobo < 0 THEN t.credit_entry ELSE t.debit_entry END
			AND o.reference = t.reference AND o.step = t.step AND o.amount_kobo = -e.amount_kobo
			AND t.amount_kobo = abs(e.amount_kobo)
			AND e.account_id = CASE WHEN e.amount_kobo < 0 THEN t.debit_account ELSE t.credit_account END
			AND e.sequence = CASE WHEN e.amount_kobo < 0 THEN t.debit_entry ELSE t.credit_entry END
		WHERE e.company_id = $1 AND e.account_id = $2 AND e.sequence >= $3 AND e.sequence <= $4 ORDER BY e.sequence`
	debitsFrom = `
		SELECT reference, step, debit_account, debit_entry
		FROM ledger_transfer WHERE company_id = $1 AND (reference, step) >= ($2, $3) ORDER BY reference, step`
)

// errEnough ends the reading of pages before their end.
var errEnough = errors.New("ledger: enough")

// ended reports whether pages were read to their end.
func ended(err error) (bool, error) {
	if errors.Is(err, errEnough) {
		return false, nil
	}
	return err == nil, err
}

// mostRows is the largest number of findings after which a wrong row is not named any more.
const mostRows = 40

// wrongRow adds a finding about one row. Both entries of a transfer may give the same finding.
func (r *Report) wrongRow(format string, args ...any) {
	if len(r.Wrongs) >= mostRows {
		return
	}
	if r.wrong(format, args...); slices.Contains(r.Wrongs[:len(r.Wrongs)-1], r.Wrongs[len(r.Wrongs)-1]) {
		r.Wrongs = r.Wrongs[:len(r.Wrongs)-1]
	}
}
