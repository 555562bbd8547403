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
	"github.com/kobo-waas/kobo/internal/settlement"
)

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

// These texts select an entry with its transfer, and the operation, the customer's transaction or the
// bank's credit, if there is one.
const (
	entryFields = `SELECT e.account_id, e.sequence, e.step, e.amount_kobo, e.previous_kobo, e.current_kobo, e.created_at,
		t.kind, t.reference, t.narration, coalesce(o.state, ''), coalesce(o.fee_kobo, 0), coalesce(c.customer_id, ''),
		coalesce(paid.sender_name, ''), coalesce(paid.sender_bank, ''), coalesce(paid.sender_account, ''), coalesce(paid.session_id, ''), ` + operation.LabelColumns
	entryCauses = `
		LEFT JOIN operation AS o ON o.company_id = e.company_id AND o.id = t.reference
		LEFT JOIN customer_transaction AS c ON c.company_id = e.company_id AND c.id = t.reference
		LEFT JOIN settlement_credit AS paid ON paid.company_id = e.company_id AND paid.id = t.reference
		LEFT JOIN operation_label AS label ON label.company_id = e.company_id AND label.id = t.reference `
	entryColumns = entryFields + ` FROM ledger_entry AS e
		JOIN ledger_transfer AS t ON t.company_id = e.company_id AND t.reference = e.reference AND t.step = e.step` + entryCauses
)

// firstEntry returns the first entry of a reference in a settlement account. The CROSS JOIN makes
// SQLite begin with the transfer, and the two conditions with OR find its entries by the primary key.
func firstEntry(ctx context.Context, q db.Querier, company, reference string) (Entry, error) {
	return db.One(ctx, q, scanEntry, entryFields+` FROM ledger_transfer AS t CROSS JOIN ledger_entry AS e`+entryCauses+`
		WHERE t.company_id = $1 AND t.reference = $2 AND e.reference = t.reference AND e.step = t.step
			AND (e.company_id = $1 AND e.account_id = t.debit_account AND e.sequence = t.debit_entry
				OR e.company_id = $1 AND e.account_id = t.credit_account AND e.sequence = t.credit_entry)
			AND e.account_id LIKE 'settlement/%'
		ORDER BY t.created_at, t.step, e.amount_kobo LIMIT 1`, company, reference)
}

func scanEntry(s db.Scanner) (Entry, error) {
	var e Entry
	var account, step, state string
	var at int64
	var moved, fee money.Kobo
	err := s.Scan(append([]any{
		&account, &e.sequence, &step, &moved, &e.Previous, &e.Current, &at,
		&e.Source, &e.Reference, &e.Narration, &state, &fee, &e.Customer,
		&e.Sender.Name, &e.Sender.Bank, &e.Sender.Account, &e.SessionID,
	}, e.Labels.Targets()...)...)
	if err != nil {
		return e, err
	}
	e.ID = e.Reference
	if step != "" {
		e.ID += "/" + step
	}
	if e.Source == settlement.TransferKind && moved > 0 {
		e.ID += "/credit" // the debit is an entry of the same transfer
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

// totalsByDay returns the sums of a span's entries for each day in Lagos that has entries. Lagos is
// one hour ahead of UTC all year. The fees are those of scanEntry.
func totalsByDay(ctx context.Context, q db.Querier, company string, p span) ([]dayTotals, error) {
	return db.All(ctx, q, db.Fields[dayTotals], `
		SELECT (e.created_at + 3600000000) / 86400000000,
			CAST(sum(CASE WHEN e.amount_kobo > 0 THEN e.amount_kobo ELSE 0 END) AS BIGINT),
			CAST(sum(CASE WHEN e.amount_kobo < 0 THEN -e.amount_kobo ELSE 0 END) AS BIGINT),
			CAST(sum(CASE WHEN e.amount_kobo < 0 THEN coalesce(o.fee_kobo, 0)
				WHEN e.step IN ('refund', 'reverse-fee') THEN -coalesce(o.fee_kobo, 0) ELSE 0 END) AS BIGINT)
		FROM ledger_entry AS e LEFT JOIN operation AS o ON o.company_id = e.company_id AND o.id = e.reference`+inSpan+`
		GROUP BY 1`, company, p.account, p.first, p.end)
}

// flowWithin returns the sums of a span's entries: of the credits, and of the debits.
func flowWithin(ctx context.Context, q db.Querier, company string, p span) (flow, error) {
	return db.One(ctx, q, func(r db.Scanner) (f flow, err error) {
		return f, r.Scan(&f.in, &f.out)
	}, `SELECT CAST(coalesce(sum(CASE WHEN e.amount_kobo > 0 THEN e.amount_kobo ELSE 0 END), 0) AS BIGINT),
			CAST(coalesce(sum(CASE WHEN e.amount_kobo < 0 THEN -e.amount_kobo ELSE 0 END), 0) AS BIGINT)
		FROM ledger_entry AS e`+inSpan, company, p.account, p.first, p.end)
}
