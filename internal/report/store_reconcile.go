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

// Recent movements at a bank are read from the end of some ledger accounts: the account of each
// company for the bank, and each company's clearing accounts. Every payment, credit and refund at
// the bank has an entry in one of these accounts, and the entries are roughly ordered by time. So the
// ledger needs no database index by date.

// movements is the number of entries that one SQL query reads, and glance is that of the first query about an account.
const movements, glance = 5000, 100

// movedSince returns the record of all movements at a bank since an instant.
func movedSince(ctx context.Context, q db.Querier, bank string, from time.Time) (b record, err error) {
	err = b.read(ctx, q, bank, receiptsByID, func(company string) ([]string, error) {
		return touchedSince(ctx, q, company, settlement.ProviderAccount(bank), from)
	})
	return b, err
}

// find adds the payments and receipts that have these names, whatever their age. It also reads
// which company owns each session ID that has no receipt.
func (b *record) find(ctx context.Context, q db.Querier, bank string, names []string) error {
	err := b.read(ctx, q, bank, receiptsBySession, func(string) ([]string, error) { return names, nil })
	if err != nil {
		return err
	}
	b.owners, err = db.Map[string, string](ctx, q,
		`SELECT session_id, company_id FROM settlement_session WHERE provider = $1 AND session_id = ANY($2)`, bank, names)
	return err
}

// read adds payments and receipts of all companies that have an account for the bank. For each
// company, the function names returns the ids or session IDs to read.
func (b *record) read(ctx context.Context, q db.Querier, bank, receipts string, names func(company string) ([]string, error)) error {
	account := settlement.ProviderAccount(bank)
	companies, err := db.All(ctx, q, db.Value[string], `SELECT company_id FROM ledger_account WHERE id = $1 ORDER BY company_id`, account)
	if err != nil {
		return err
	}
	for _, company := range companies {
		named, err := names(company)
		if err != nil {
			return err
		}
		if len(named) == 0 {
			continue
		}
		moved, err := sentUnder(ctx, q, company, bank, named)
		if err != nil {
			return err
		}
		paid, err := payments(ctx, q, company, bank, append(moved, named...))
		if err != nil {
			return err
		}
		received, err := db.All(ctx, q, db.Fields[Receipt], receipts, company, bank, named, account)
		if err != nil {
			return err
		}
		late, err := refused(ctx, q, company, bank, named)
		if err != nil {
			return err
		}
		if b.late == nil {
			b.late = map[string]string{}
		}
		maps.Copy(b.late, late)
		b.paid, b.received = append(b.paid, paid...), append(b.received, received...)
	}
	return nil
}

// touchedSince returns the references of recent entries in a company's account for a bank, and
// in the company's clearing accounts.
func touchedSince(ctx context.Context, q db.Querier, company, account string, from time.Time) ([]string, error) {
	accounts, err := db.Map[string, int64](ctx, q,
		`SELECT id, entry_sequence FROM ledger_account WHERE company_id = $1 AND (id = $2 OR id LIKE 'clearing/%')`, company, account)
	if err != nil {
		return nil, err
	}
	touched := map[string]bool{}
	for id, last := range accounts {
		if err := addReferences(ctx, q, company, id, last, from, touched); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(touched)), nil
}

// addReferences adds the references of an account's entries since an instant. Entries are ordered
// by time, except those of a program whose clock was behind. So it ends after a page without a recent entry.
// The first SQL query reads only a few entries, since the accounts of most companies have no recent entry.
func addReferences(ctx context.Context, q db.Querier, company, account string, last int64, from time.Time, touched map[string]bool) error {
	type entry struct {
		reference string
		at        time.Time
	}
	for size, recent := int64(glance), true; last > 0 && recent; size = movements {
		entries, err := db.All(ctx, q, db.Fields[entry], `SELECT reference, created_at FROM ledger_entry
			WHERE company_id = $1 AND account_id = $2 AND sequence <= $3 AND sequence > $4 ORDER BY sequence DESC`,
			company, account, last, last-size)
		if err != nil {
			return err
		}
		recent = false
		for _, e := range entries {
			if !e.at.Before(from) {
				recent, touched[e.reference] = true, true
			}
		}
		last -= size
	}
	return nil
}

// sentUnder returns the ids of the operations that were sent to a bank under one of these references,
// after they had moved there from a different provider.
func sentUnder(ctx context.Context, q db.Querier, company, bank string, references []string) ([]string, error) {
	return db.All(ctx, q, db.Value[string], `SELECT operation_id FROM operation_attempt
		WHERE company_id = $1 AND reference = ANY($2) AND provider = $3 ORDER BY operation_id`, company, references, bank)
}

// refused returns, by their references, what operators must know about attempts that had definitely never
// started at a bank. If the bank takes money for such an attempt, it has carried it out late.
func refused(ctx context.Context, q db.Querier, company, bank string, references []string) (map[string]string, error) {
	return db.Map[string, string](ctx, q, `SELECT a.reference, 'attempt ' || CAST(a.attempt AS TEXT) || ' of the operation ' || a.operation_id || ' of ' || a.company_id
			|| ', which had definitely never started here and went on at ' || o.provider
		FROM operation_attempt AS a JOIN operation AS o ON o.company_id = a.company_id AND o.id = a.operation_id
		WHERE a.company_id = $1 AND a.reference = ANY($2) AND a.provider = $3 AND a.state = 'UNSTARTED'`, company, references, bank)
}

// payments returns the operations with these ids that a company has made at a provider.
func payments(ctx context.Context, q db.Querier, company, bank string, ids []string) ([]Payment, error) {
	return db.All(ctx, q, func(sc db.Scanner) (Payment, error) {
		var p Payment
		err := sc.Scan(append(p.Targets(), &p.Booked, &p.Charged, &p.Sent)...)
		if p.Charged < 0 { // the bank was not the first provider, and takes less than the company pays
			p.Amount, p.Booked, p.Charged = p.Amount+p.Charged, p.Booked+p.Charged, 0
		}
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
		), coalesce((
			SELECT a.reference FROM operation_attempt AS a
			WHERE a.company_id = operation.company_id AND a.operation_id = operation.id AND a.attempt = operation.attempt
		), operation.id)
		FROM operation
		WHERE operation.company_id = $1 AND operation.id = ANY($3) AND operation.provider = $2
		ORDER BY operation.id`,
		company, bank, ids, settlement.ProviderAccount(bank), operation.ChargeKind)
}

// These SQL queries read a company's credits at a bank, by id or by session ID.
const (
	receiptsByID      = receiptsOf + `c.id = ANY($3)` + byCredit
	receiptsBySession = receiptsOf + `c.session_id = ANY($3)` + byCredit

	receiptsOf = `SELECT c.company_id, c.session_id, c.amount_kobo, c.told_at,
			CAST(coalesce(sum(CASE WHEN t.debit_account = $4 THEN t.amount_kobo WHEN t.credit_account = $4 THEN -t.amount_kobo ELSE 0 END), 0) AS BIGINT),
			coalesce(max(t.created_at), c.created_at)
		FROM settlement_credit AS c
		LEFT JOIN ledger_transfer AS t ON t.company_id = c.company_id AND t.reference = c.id
		WHERE c.company_id = $1 AND c.provider = $2 AND `
	byCredit = `
		GROUP BY c.company_id, c.id, c.session_id, c.amount_kobo, c.told_at, c.created_at ORDER BY c.id`
)

// corrections returns, for each day of a window, the charges of a bank that operators have booked
// for that day. The operators may have booked them at any time.
func corrections(ctx context.Context, q db.Querier, bank string, w window) (map[time.Time]money.Kobo, error) {
	days, names := w.days(bank)
	booked, err := db.Map[string, money.Kobo](ctx, q, `SELECT t.reference, CAST(sum(CASE WHEN t.debit_account = $3 THEN t.amount_kobo ELSE -t.amount_kobo END) AS BIGINT)
		FROM ledger_transfer AS t WHERE t.company_id = $1 AND t.reference = ANY($2) AND t.kind = $4 GROUP BY t.reference`,
		settlement.House, names, settlement.ChargeAccount(bank), operation.ChargeKind)
	sums := map[time.Time]money.Kobo{}
	for name, sum := range booked {
		sums[days[name]] = sum
	}
	return sums, err
}

// days returns the names of a window's days in the ledger, the oldest first, and the midnight of each.
func (w window) days(bank string) (days map[string]time.Time, names []string) {
	days = map[string]time.Time{}
	for day := w.from; day.Before(w.to); day = day.AddDate(0, 0, 1) {
		name := inbox.Subject(bank, day.Format(time.DateOnly))
		days[name], names = day, append(names, name)
	}
	return days, names
}

// BookedFor returns the oldest day, at or after from, for which operators have booked charges of a bank since an instant. It returns the
// zero time if there is none. The bank may have added charges to that day since the case was opened.
func (s *Service) BookedFor(ctx context.Context, bank string, from, since time.Time) (time.Time, error) {
	days, names := window{from: midnight(from), to: s.clock.Now()}.days(bank)
	booked, err := db.All(ctx, s.db, db.Value[string], `SELECT DISTINCT reference FROM ledger_transfer
		WHERE company_id = $1 AND reference = ANY($2) AND kind = $3 AND created_at >= $4`,
		settlement.House, names, operation.ChargeKind, clock.Micros(since))
	i := slices.IndexFunc(names, func(name string) bool { return slices.Contains(booked, name) })
	if err != nil || i < 0 {
		return time.Time{}, err
	}
	return days[names[i]], nil
}
