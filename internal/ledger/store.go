package ledger

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// datedAt is the position of the instant in a lock row.
const datedAt = 2

var (
	lockTable = &db.Table{
		Name: "ledger_head", Key: 1,
		Columns: slices.Concat(db.Texts("company_id"), db.Ints("event_sequence", "dated_at", "leaf"), db.Texts("rights")),
	}
	counterTable = (&db.Table{
		Name: "ledger_counter", Key: 2,
		Columns: append(db.Texts("company_id", "name"), db.Ints("value")...),
	}).With(db.Rights("value"))
	accountTable = (&db.Table{
		Name: "ledger_account", Key: 2,
		Columns: append(db.Texts("company_id", "id"),
			db.Ints("floor_kobo", "alert_kobo", "balance_kobo", "entry_sequence", "created_at", "closed_at")...),
	}).With(db.Rights("floor_kobo", "closed_at"))
	// TransferTable describes the table of the transfers, which are evidence.
	TransferTable = (&db.Table{
		Name: "ledger_transfer", Key: 3,
		Columns: slices.Concat(
			db.Texts("company_id", "reference", "step", "debit_account", "credit_account"), db.Ints("amount_kobo"),
			db.Texts("kind", "narration"), db.Ints("debit_entry", "credit_entry", "stamp", "created_at", "leaf"), db.Texts("mac")),
	}).With(db.Evidence())
	entryTable = &db.Table{
		Name: "ledger_entry", Key: 3,
		Columns: slices.Concat(db.Texts("company_id", "account_id"), db.Ints("sequence"),
			db.Texts("reference", "step"), db.Ints("amount_kobo", "previous_kobo", "current_kobo", "created_at")),
	}
)

// Balance returns the balance of an account, or 0 if the account does not exist.
func (b *Book) Balance(ctx context.Context, company, account string) (money.Kobo, error) {
	return db.OrZero(db.One(ctx, b.db, db.Value[money.Kobo],
		`SELECT balance_kobo FROM ledger_account WHERE company_id = $1 AND id = $2`, company, account))
}

// Passed reports whether a transfer with a reference debited or credited an account.
func (b *Book) Passed(ctx context.Context, company, reference, account string) (bool, error) {
	n, err := db.One(ctx, b.db, db.Value[int64], `SELECT count(*) FROM ledger_transfer
		WHERE company_id = $1 AND reference = $2 AND (debit_account = $3 OR credit_account = $3)`, company, reference, account)
	return n > 0, err
}

// Taken reports whether the ledger has a transfer with this reference and step.
func (b *Book) Taken(ctx context.Context, company, reference, step string) (bool, error) {
	n, err := db.One(ctx, b.db, db.Value[int64], `SELECT count(*) FROM ledger_transfer
		WHERE company_id = $1 AND reference = $2 AND step = $3`, company, reference, step)
	return n > 0, err
}

// Balances returns the balances of all of a company's accounts, by account ID.
func (b *Book) Balances(ctx context.Context, company string) (map[string]money.Kobo, error) {
	return db.Map[string, money.Kobo](ctx, b.db, `SELECT id, balance_kobo FROM ledger_account WHERE company_id = $1`, company)
}

// Clearing returns the companies whose clearing accounts hold money.
func (b *Book) Clearing(ctx context.Context) ([]string, error) {
	return db.All(ctx, b.db, db.Value[string], `SELECT DISTINCT company_id FROM ledger_account
		WHERE id LIKE 'clearing/%' AND balance_kobo <> 0 ORDER BY company_id`)
}

// InClearing returns the money that a company's clearing accounts hold.
func InClearing(ctx context.Context, q db.Querier, company string) (money.Kobo, error) {
	return db.One(ctx, q, db.Value[money.Kobo], `SELECT CAST(coalesce(sum(balance_kobo), 0) AS BIGINT) FROM ledger_account
		WHERE company_id = $1 AND id LIKE 'clearing/%'`, company)
}

// ClosedAt returns the instant at which an account was closed to debits, or the zero instant for an open
// account. It returns db.ErrNone if the account does not exist.
func (b *Book) ClosedAt(ctx context.Context, company, account string) (time.Time, error) {
	at, err := db.One(ctx, b.db, db.Value[int64], `SELECT closed_at FROM ledger_account WHERE company_id = $1 AND id = $2`, company, account)
	return clock.Time(at), err
}

// Alerts returns the alert amounts of a company's accounts, by account ID. Accounts without an
// alert are left out.
func (b *Book) Alerts(ctx context.Context, company string) (map[string]money.Kobo, error) {
	return db.Map[string, money.Kobo](ctx, b.db,
		`SELECT id, alert_kobo FROM ledger_account WHERE company_id = $1 AND alert_kobo > 0`, company)
}

// LastEvent returns the number of the company's last event, or 0 if the company does not exist.
func (b *Book) LastEvent(ctx context.Context, company string) (int64, error) {
	return db.OrZero(db.One(ctx, b.db, db.Value[int64],
		`SELECT event_sequence FROM ledger_head WHERE company_id = $1`, company))
}

// LastEvents returns the numbers of the last events of several companies.
func (b *Book) LastEvents(ctx context.Context, companies []string) (map[string]int64, error) {
	return db.Map[string, int64](ctx, b.db,
		`SELECT company_id, event_sequence FROM ledger_head WHERE company_id = ANY($1)`, companies)
}

// Exists reports whether a company has a lock row, and therefore a ledger.
func (b *Book) Exists(ctx context.Context, company string) (bool, error) {
	n, err := db.One(ctx, b.db, db.Value[int64], `SELECT count(*) FROM ledger_head WHERE company_id = $1`, company)
	return n == 1, err
}

// Last returns the last number of a dense sequence of the company, or the sum of a limit counter.
// It returns 0 before the first number. The events' last number comes from LastEvent.
func (b *Book) Last(ctx context.Context, company string, name Next) (int64, error) {
	return Last(ctx, b.db, company, name)
}

// Last does the same as Book.Last in a snapshot.
func Last(ctx context.Context, q db.Querier, company string, name Next) (int64, error) {
	return db.OrZero(db.One(ctx, q, db.Value[int64],
		`SELECT value FROM ledger_counter WHERE company_id = $1 AND name = $2`, company, string(name)))
}

// Lasts returns Last of several names. A name without a number is missing in the result.
func (b *Book) Lasts(ctx context.Context, company string, names []string) (map[string]int64, error) {
	return db.Map[string, int64](ctx, b.db,
		`SELECT name, value FROM ledger_counter WHERE company_id = $1 AND name = ANY($2)`, company, names)
}

// Size returns the number of entries in a company's ledger, according to its accounts.
func Size(ctx context.Context, q db.Querier, company string) (int64, error) {
	return db.One(ctx, q, db.Value[int64],
		`SELECT CAST(coalesce(sum(entry_sequence), 0) AS BIGINT) FROM ledger_account WHERE company_id = $1`, company)
}

// accountSums returns the accounts of a company without the sums of their entries.
func accountSums(ctx context.Context, q db.Querier, company string) ([]AccountSum, error) {
	return db.All(ctx, q, func(s db.Scanner) (AccountSum, error) {
		var a AccountSum
		err := s.Scan(&a.ID, &a.Floor, &a.Balance, &a.sequence)
		return a, err
	}, `SELECT id, floor_kobo, balance_kobo, entry_sequence FROM ledger_account WHERE company_id = $1 ORDER BY id`, company)
}

// A transfer names its two entries by primary key, and an entry names its transfer by primary key.
// These SQL statements use only these keys. No index leads from a reference to its entries, and
// scanning all entries for each transfer would take a night for a year's ledger.
const (
	withoutEntries = `
		SELECT t.reference || ' ' || t.step FROM ledger_transfer AS t
		LEFT JOIN ledger_entry AS d ON d.company_id = t.company_id AND d.account_id = t.debit_account AND d.sequence = t.debit_entry
			AND d.reference = t.reference AND d.step = t.step AND d.amount_kobo = -t.amount_kobo AND d.created_at = t.created_at
		LEFT JOIN ledger_entry AS c ON c.company_id = t.company_id AND c.account_id = t.credit_account AND c.sequence = t.credit_entry
			AND c.reference = t.reference AND c.step = t.step AND c.amount_kobo = t.amount_kobo AND c.created_at = t.created_at
		WHERE t.company_id = $1 AND (d.reference IS NULL OR c.reference IS NULL) LIMIT 20`
	withoutTransfer = `
		SELECT e.reference || ' ' || e.step FROM ledger_entry AS e
		LEFT JOIN ledger_transfer AS t ON t.company_id = e.company_id AND t.reference = e.reference AND t.step = e.step
			AND (t.debit_account = e.account_id AND t.debit_entry = e.sequence OR t.credit_account = e.account_id AND t.credit_entry = e.sequence)
		WHERE e.company_id = $1 AND t.reference IS NULL LIMIT 20`
)

// unpairedTransfers returns transfers without the two entries that they name, and entries that no
// transfer names. It returns at most 20 of each. Twice is true if there are exactly twice as many
// entries as transfers. In that case, if each transfer has its two entries, no entry is left over.
func unpairedTransfers(ctx context.Context, q db.Querier, company string, twice bool) ([]string, error) {
	unpaired, err := db.All(ctx, q, db.Value[string], withoutEntries, company)
	if err != nil || twice && len(unpaired) == 0 {
		return nil, err
	}
	orphans, err := db.All(ctx, q, db.Value[string], withoutTransfer, company)
	unpaired = append(unpaired, orphans...)
	slices.Sort(unpaired)
	return slices.Compact(unpaired), err
}

// line is an entry as Verify reads it. A CHECK of the schema ensures that its amount is the
// difference of its balances.
type line struct {
	account             string
	sequence            int64
	reference, step, at string // at is the instant in microseconds
	previous, current   int64
}

// createdAt is the position of the instant in the row of a transfer.
const createdAt = 11

// Entries and transfers are read page by page, in the order of their primary keys.
const (
	entriesFrom = `
		SELECT account_id, reference, step, created_at, sequence, previous_kobo, current_kobo
		FROM ledger_entry WHERE company_id = $1 AND (account_id, sequence) >= ($2, $3) ORDER BY account_id, sequence`
	transfersFrom = `
		SELECT company_id, reference, step, debit_account, credit_account, amount_kobo, kind, narration, debit_entry, credit_entry, stamp, created_at, leaf, mac
		FROM ledger_transfer WHERE company_id = $1 AND (reference, step) >= ($2, $3) ORDER BY reference, step`
)

// eachEntry calls the function use with each entry of a company, in the order of account ID and
// entry number.
func eachEntry(ctx context.Context, q db.Querier, company string, use func(line)) error {
	e := line{sequence: math.MinInt64}
	return db.Pages(ctx, q, entriesFrom, 7,
		func() []any { return []any{company, e.account, e.sequence} },
		func(row []string) error {
			e.account, e.reference, e.step, e.at = row[0], row[1], row[2], row[3]
			err := db.Numbers(row[4:], &e.sequence, &e.previous, &e.current)
			use(e)
			return err
		})
}

// eachTransfer calls the function use with each transfer of a company, in the order of reference
// and step. It also passes the numbers of the two entries of the transfer, and its row.
func eachTransfer(ctx context.Context, q db.Querier, company string, use func(t Transfer, debitEntry, creditEntry int64, row []string)) error {
	var t Transfer
	return db.Pages(ctx, q, transfersFrom, 14,
		func() []any { return []any{company, t.Reference, t.Step} },
		func(row []string) error {
			t = Transfer{Reference: row[1], Step: row[2], Debit: row[3], Credit: row[4], Kind: row[6], Narration: row[7]}
			var amount, debitEntry, creditEntry int64
			err := errors.Join(db.Numbers(row[5:], &amount), db.Numbers(row[8:], &debitEntry, &creditEntry))
			t.Amount = money.Kobo(amount)
			use(t, debitEntry, creditEntry, row)
			return err
		})
}
