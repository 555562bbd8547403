package report

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
)

// transferSides returns both entries of each transfer with a reference, the earliest transfer
// first.
func transferSides(ctx context.Context, q db.Querier, company, reference string) ([]span, error) {
	type transfer struct {
		debit       string
		debitEntry  int64
		credit      string
		creditEntry int64
	}
	transfers, err := db.All(ctx, q, db.Fields[transfer], `SELECT debit_account, debit_entry, credit_account, credit_entry
		FROM ledger_transfer WHERE company_id = $1 AND reference = $2 ORDER BY created_at, step`, company, reference)
	var out []span
	for _, t := range transfers {
		out = append(out, span{t.debit, t.debitEntry, t.debitEntry + 1}, span{t.credit, t.creditEntry, t.creditEntry + 1})
	}
	return out, err
}

// wholeSpans returns spans that contain all entries of the company's settlement accounts, or of
// only one account.
func wholeSpans(ctx context.Context, q db.Querier, company, account string) ([]span, error) {
	return db.All(ctx, q, db.Fields[span], `SELECT id, 1, entry_sequence + 1 FROM ledger_account
		WHERE company_id = $1 AND id LIKE 'settlement/%' AND (id = $2 OR $2 = '') ORDER BY id`, company, account)
}

func entryTime(ctx context.Context, q db.Querier, company, account string, sequence int64) (time.Time, error) {
	at, err := db.One(ctx, q, db.Value[int64],
		`SELECT created_at FROM ledger_entry WHERE company_id = $1 AND account_id = $2 AND sequence = $3`,
		company, account, sequence)
	return clock.Time(at), err
}

// entryColumns selects an entry with its transfer. It also selects the operation or the
// customer's transaction, if there is one.
const entryColumns = `SELECT e.account_id, e.sequence, e.step, e.amount_kobo, e.previous_kobo, e.current_kobo, e.created_at,
		t.kind, t.reference, t.narration, coalesce(o.state, ''), coalesce(o.fee_kobo, 0), coalesce(c.customer_id, '')
	FROM ledger_entry AS e
	JOIN ledger_transfer AS t ON t.company_id = e.company_id AND t.reference = e.reference AND t.step = e.step
	LEFT JOIN operation AS o ON o.company_id = e.company_id AND o.id = t.reference
	LEFT JOIN customer_transaction AS c ON c.company_id = e.company_id AND c.id = t.reference `

func scanEntry(s db.Scanner) (Entry, error) {
	var e Entry
	var account, step, state string
	var at int64
	var moved, fee money.Kobo
	err := s.Scan(&account, &e.sequence, &step, &moved, &e.Previous, &e.Current, &at,
		&e.Source, &e.Reference, &e.Narration, &state, &fee, &e.Customer)
	if err != nil {
		return e, err
	}
	e.ID = e.Reference
	if step != "" {
		e.ID += "/" + step
	}
	e.CreatedAt = clock.Time(at)
	e.Amount, e.Credit, e.Stands = moved, moved > 0, true
	if !e.Credit {
		// The debit of an operation includes its fee.
		e.Amount, e.Fee = -moved-fee, fee
		e.Stands = state == "" || state == "SUCCESS"
	} else if operation.ReturnsFee(step) {
		e.Fee = -fee
	}
	e.SettlementID, err = strconv.ParseInt(strings.TrimPrefix(account, settlementPrefix), 10, 64)
	return e, err
}

// These conditions select entries by their type. The one for credits is that of the index
// ledger_entry_credit.
const (
	creditsOnly = ` AND e.amount_kobo > 0 AND substr(e.account_id, 1, 11) = 'settlement/'`
	debitsOnly  = ` AND e.amount_kobo < 0`
	inSpan      = ` WHERE e.company_id = $1 AND e.account_id = $2 AND e.sequence >= $3 AND e.sequence < $4`
	lastFirst   = ` ORDER BY e.sequence DESC LIMIT $5`
)

// lastEntries returns the last entries of a span of a settlement account, the newest first. The
// argument kind is credit or debit, or "" for both.
func lastEntries(ctx context.Context, q db.Querier, company string, p span, kind string, limit int) ([]Entry, error) {
	query := entryColumns + inSpan + lastFirst
	switch kind {
	case "credit":
		query = entryColumns + inSpan + creditsOnly + lastFirst
	case "debit":
		query = entryColumns + inSpan + debitsOnly + lastFirst
	}
	return db.All(ctx, q, scanEntry, query, company, p.account, p.first, p.end, limit)
}

// creditCount returns the number of credits in a span of a settlement account.
func creditCount(ctx context.Context, q db.Querier, company string, p span) (int64, error) {
	return db.One(ctx, q, db.Value[int64], `SELECT count(*) FROM ledger_entry AS e`+inSpan+creditsOnly,
		company, p.account, p.first, p.end)
}

// balanceBefore returns an account's balance before the entry with this number. For the balance
// after the last entry, the number may be one more than that entry's number.
func balanceBefore(ctx context.Context, q db.Querier, company, account string, sequence int64) (money.Kobo, error) {
	if sequence <= 1 {
		return 0, nil
	}
	return db.One(ctx, q, db.Value[money.Kobo],
		`SELECT current_kobo FROM ledger_entry WHERE company_id = $1 AND account_id = $2 AND sequence = $3`,
		company, account, sequence-1)
}
