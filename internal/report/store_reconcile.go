package report

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Recent movements at a bank are read from the end of ledger accounts: each company's
// account for the bank and its clearing accounts. Every payment, credit and refund of
// the bank has an entry there, in the order of time. So no purchase pays for an index
// by date.

// movements is how many entries a statement reads.
const movements = 5000

// movedSince is the record of all movements at a bank since an instant.
func movedSince(ctx context.Context, q db.Querier, bank string, from time.Time) (b record, err error) {
	account := settlement.ProviderAccount(bank)
	companies, err := keepers(ctx, q, account)
	if err != nil {
		return b, err
	}
	for _, company := range companies {
		references, err := touchedSince(ctx, q, company, account, from)
		if err != nil {
			return b, err
		}
		if len(references) == 0 {
			continue
		}
		paid, err := payments(ctx, q, company, bank, references)
		if err != nil {
			return b, err
		}
		received, err := receipts(ctx, q, company, bank, references)
		if err != nil {
			return b, err
		}
		b.add(paid, received)
	}
	return b, nil
}

// find adds the payments and receipts with these names, however old they are. It also
// finds the owners of sessions without a receipt.
func (b *record) find(ctx context.Context, q db.Querier, bank string, names []string) error {
	companies, err := keepers(ctx, q, settlement.ProviderAccount(bank))
	if err != nil {
		return err
	}
	for _, company := range companies {
		paid, err := payments(ctx, q, company, bank, names)
		if err != nil {
			return err
		}
		received, err := receiptsOf(ctx, q, company, bank, names)
		if err != nil {
			return err
		}
		b.add(paid, received)
	}
	b.owners, err = sessionOwners(ctx, q, bank, names)
	return err
}

// keepers are the companies whose ledger has an account.
func keepers(ctx context.Context, q db.Querier, account string) ([]string, error) {
	return db.All(ctx, q, db.Value[string], `SELECT company_id FROM ledger_account WHERE id = $1 ORDER BY company_id`, account)
}

// touchedSince are the references of recent entries in a company's account for a bank
// and in its clearing accounts.
func touchedSince(ctx context.Context, q db.Querier, company, account string, from time.Time) ([]string, error) {
	accounts, err := db.All(ctx, q, db.Value[string],
		`SELECT id FROM ledger_account WHERE company_id = $1 AND (id = $2 OR id LIKE 'clearing/%')`, company, account)
	if err != nil {
		return nil, err
	}
	touched := map[string]bool{}
	for _, a := range accounts {
		references, err := referencesSince(ctx, q, company, a, from)
		if err != nil {
			return nil, err
		}
		for _, r := range references {
			touched[r] = true
		}
	}
	return slices.Sorted(maps.Keys(touched)), nil
}

// referencesSince are the references of an account's entries since an instant. Entries
// are in the order of time. The first statement reads the last entry alone, since most
// companies have no recent one.
func referencesSince(ctx context.Context, q db.Querier, company, account string, from time.Time) ([]string, error) {
	last, err := db.One(ctx, q, db.Value[int64],
		`SELECT entry_sequence FROM ledger_account WHERE company_id = $1 AND id = $2`, company, account)
	if err != nil {
		return nil, err
	}
	type entry struct {
		reference string
		at        time.Time
	}
	var out []string
	done := false
	for size := int64(1); last > 0 && !done; size = movements {
		entries, err := db.All(ctx, q, db.Fields[entry], `SELECT reference, created_at FROM ledger_entry
			WHERE company_id = $1 AND account_id = $2 AND sequence <= $3 AND sequence > $4 ORDER BY sequence DESC`,
			company, account, last, last-size)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if done = done || e.at.Before(from); !done {
				out = append(out, e.reference)
			}
		}
		last -= size
	}
	return out, nil
}

// payments are a company's operations of a provider among these ids.
func payments(ctx context.Context, q db.Querier, company, bank string, ids []string) ([]Payment, error) {
	return db.All(ctx, q, func(sc db.Scanner) (Payment, error) {
		var p Payment
		err := sc.Scan(append(p.Targets(), &p.Booked, &p.Charged)...)
		return p, err
	}, `SELECT `+operation.Columns+`, (
			SELECT CAST(coalesce(sum(CASE WHEN t.credit_account = $4 THEN t.amount_kobo ELSE -t.amount_kobo END), 0) AS BIGINT)
			FROM ledger_transfer AS t
			WHERE t.company_id = operation.company_id AND t.reference = operation.id
				AND (t.credit_account = $4 OR t.debit_account = $4) AND t.kind <> $5
		), (
			SELECT CAST(coalesce(sum(CASE WHEN t.credit_account = $4 THEN t.amount_kobo ELSE -t.amount_kobo END), 0) AS BIGINT)
			FROM ledger_transfer AS t
			WHERE t.company_id = operation.company_id AND t.reference = operation.id
				AND (t.credit_account = $4 OR t.debit_account = $4) AND t.kind = $5
		)
		FROM operation
		WHERE operation.company_id = $1 AND operation.id = ANY($3) AND operation.provider = $2
		ORDER BY operation.id`,
		company, bank, ids, settlement.ProviderAccount(bank), operation.ChargeKind)
}

// receipt is the first part of a statement for a company's credits of a bank, and
// byCredit is its last part.
const (
	receipt = `SELECT c.company_id, c.session_id, c.amount_kobo, c.told_at,
			CAST(coalesce(sum(CASE WHEN t.debit_account = $4 THEN t.amount_kobo WHEN t.credit_account = $4 THEN -t.amount_kobo ELSE 0 END), 0) AS BIGINT),
			coalesce(max(t.created_at), c.created_at)
		FROM settlement_credit AS c
		LEFT JOIN ledger_transfer AS t ON t.company_id = c.company_id AND t.reference = c.id
		WHERE c.company_id = $1 AND c.provider = $2 AND `
	byCredit = `
		GROUP BY c.company_id, c.id, c.session_id, c.amount_kobo, c.told_at, c.created_at ORDER BY c.id`
)

// receipts are a company's credits of a bank among these ids.
func receipts(ctx context.Context, q db.Querier, company, bank string, ids []string) ([]Receipt, error) {
	return db.All(ctx, q, db.Fields[Receipt], receipt+`c.id = ANY($3)`+byCredit, company, bank, ids, settlement.ProviderAccount(bank))
}

// receiptsOf are a company's credits of these sessions.
func receiptsOf(ctx context.Context, q db.Querier, company, bank string, sessions []string) ([]Receipt, error) {
	return db.All(ctx, q, db.Fields[Receipt], receipt+`c.session_id = ANY($3)`+byCredit, company, bank, sessions, settlement.ProviderAccount(bank))
}

// sessionOwners are the companies of a bank's sessions, where that is decided.
func sessionOwners(ctx context.Context, q db.Querier, bank string, sessions []string) (map[string]string, error) {
	return db.Map[string, string](ctx, q,
		`SELECT session_id, company_id FROM settlement_session WHERE provider = $1 AND session_id = ANY($2)`, bank, sessions)
}

// corrections are the charges of a bank that operators have booked for the days of a
// window, at whatever time.
func corrections(ctx context.Context, q db.Querier, bank string, w window) (map[time.Time]money.Kobo, error) {
	days, names := map[string]time.Time{}, []string{}
	for day := w.from; day.Before(w.to); day = day.AddDate(0, 0, 1) {
		name := inbox.Subject(bank, day.Format(time.DateOnly))
		days[name], names = day, append(names, name)
	}
	booked, err := db.Map[string, money.Kobo](ctx, q, `SELECT t.reference, CAST(sum(CASE WHEN t.debit_account = $3 THEN t.amount_kobo ELSE -t.amount_kobo END) AS BIGINT)
		FROM ledger_transfer AS t WHERE t.company_id = $1 AND t.reference = ANY($2) AND t.kind = $4 GROUP BY t.reference`,
		settlement.House, names, settlement.ChargeAccount(bank), operation.ChargeKind)
	sums := map[time.Time]money.Kobo{}
	for name, sum := range booked {
		sums[days[name]] = sum
	}
	return sums, err
}

// pendingSince are the open operations from before an instant, ordered by clearing
// account.
func pendingSince(ctx context.Context, q db.Querier, before time.Time) ([]operation.Operation, error) {
	return db.All(ctx, q, operation.Scan, `SELECT `+operation.Columns+` FROM operation
		WHERE operation.state = 'PENDING' AND operation.created_at < $1
		ORDER BY operation.company_id, operation.kind, operation.id`, clock.Micros(before))
}
