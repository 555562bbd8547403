package sandbox

import (
	"context"
	"errors"
	"slices"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// openingFloat is what the client's account at the pretend bank begins with:
// ten billion naira.
const openingFloat = 10_000_000_000 * money.Naira

// The books are SQLite only and no part of Kobo's schema, so they are made here
// and not by a migration.
var tables = []string{
	`CREATE TABLE IF NOT EXISTS sandbox_setting (
		name  TEXT NOT NULL PRIMARY KEY,
		value TEXT NOT NULL
	)`,
	`CREATE TABLE IF NOT EXISTS sandbox_sale (
		reference    TEXT   NOT NULL PRIMARY KEY,
		id           TEXT   NOT NULL UNIQUE,
		kind         TEXT   NOT NULL,
		category     TEXT   NOT NULL,
		product      TEXT   NOT NULL,
		product_name TEXT   NOT NULL,
		number       TEXT   NOT NULL,
		amount_kobo  BIGINT NOT NULL CHECK (amount_kobo > 0),
		ending       TEXT   NOT NULL,
		status       TEXT   NOT NULL CHECK (status IN ('pending', 'successful', 'failed')),
		token        TEXT   NOT NULL,
		executions   BIGINT NOT NULL CHECK (executions IN (0, 1)),
		requests     BIGINT NOT NULL,
		polls        BIGINT NOT NULL,
		created_at   BIGINT NOT NULL,
		updated_at   BIGINT NOT NULL
	)`,
	`CREATE TABLE IF NOT EXISTS sandbox_account (
		number       TEXT   NOT NULL PRIMARY KEY,
		balance_kobo BIGINT NOT NULL CHECK (balance_kobo >= 0)
	)`,
	// The statement of the client's account. The key keeps a request from being
	// debited or returned twice; a line that a test planted has a number of its own.
	`CREATE TABLE IF NOT EXISTS sandbox_line (
		reference    TEXT   NOT NULL,
		kind         TEXT   NOT NULL CHECK (kind IN ('debit', 'reversal', 'credit')),
		planted      BIGINT NOT NULL,
		payment      TEXT   NOT NULL,
		narration    TEXT   NOT NULL,
		amount_kobo  BIGINT NOT NULL,
		balance_kobo BIGINT NOT NULL,
		created_at   BIGINT NOT NULL,
		PRIMARY KEY (reference, kind, planted)
	)`,
}

func (s *Sandbox) createTables(ctx context.Context) error {
	for _, t := range slices.Concat(tables, bankTables, vtpassTables, tatumTables, sudoTables, lateTables) {
		if _, err := s.books.Exec(ctx, t); err != nil {
			return err
		}
	}
	_, err := s.books.Exec(ctx,
		`INSERT INTO sandbox_account (number, balance_kobo) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
		debitAccount, int64(openingFloat))
	if err != nil {
		return err
	}
	_, err = addHolder(ctx, s.books, holder{number: debitAccount, id: mainAccountID, kind: "main", name: clientName + " SETTLEMENT"})
	return err
}

// setting is a remembered value, or "" if there is none.
func (s *Sandbox) setting(ctx context.Context, name string) (string, error) {
	v, err := db.One(ctx, s.books, db.Value[string], `SELECT value FROM sandbox_setting WHERE name = $1`, name)
	if errors.Is(err, db.ErrNone) {
		return "", nil
	}
	return v, err
}

func (s *Sandbox) set(ctx context.Context, name, value string) error {
	_, err := s.books.Exec(ctx,
		`INSERT INTO sandbox_setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2`,
		name, value)
	return err
}

// setFirst sets a value that is not set yet, and leaves one that is.
func (s *Sandbox) setFirst(ctx context.Context, name, value string) error {
	_, err := s.books.Exec(ctx,
		`INSERT INTO sandbox_setting (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`, name, value)
	return err
}

var (
	errRepeated = errors.New("this reference was used before")
	errPoor     = errors.New("the account has not enough money")
)

// accept writes a sale into the books and, unless it failed at once, takes its
// price: all of it, or none. A reference is accepted once and never again.
func (s *Sandbox) accept(ctx context.Context, v sale) error {
	now := clock.Micros(s.clock.Now())
	refused := error(nil)
	err := s.books.Tx(ctx, func(q db.Querier) error {
		refused = nil
		n, err := q.Exec(ctx, `INSERT INTO sandbox_sale (reference, id, kind, category, product, product_name, number,
			amount_kobo, ending, status, token, executions, requests, polls, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 1, 0, $13, $13) ON CONFLICT (reference) DO NOTHING`,
			v.reference, v.id, v.kind, v.category, v.product, v.productName, v.number,
			int64(v.amount), v.ending, v.status, v.token, v.executions, now)
		if err != nil {
			return err
		}
		if n == 0 {
			refused = errRepeated
			_, err = q.Exec(ctx, `UPDATE sandbox_sale SET requests = requests + 1 WHERE reference = $1`, v.reference)
			return err
		}
		if v.status == failed {
			return nil
		}
		return enter(ctx, q, v.line("debit", -v.amount), now)
	})
	return errors.Join(err, refused)
}

// line is one line of the statement of the client's account.
type line struct {
	reference string // whose request it belongs to
	kind      string // debit, reversal or credit
	planted   int64
	payment   string // the payment reference, as the statement shows it
	narration string
	amount    money.Kobo // negative: out of the account
	balance   money.Kobo // after it
	createdAt int64
}

func (v *sale) line(kind string, amount money.Kobo) line {
	payment := "dbt-" + v.id
	if kind == "reversal" {
		payment = "rev-" + v.id
	}
	return line{reference: v.reference, kind: kind, payment: payment, narration: "VAS " + v.kind + " " + v.reference, amount: amount}
}

// enter moves the account's balance and writes why.
func enter(ctx context.Context, q db.Querier, l line, now int64) error {
	balance, err := db.One(ctx, q, db.Value[int64], `SELECT balance_kobo FROM sandbox_account WHERE number = $1`, debitAccount)
	if err != nil {
		return err
	}
	if balance += int64(l.amount); balance < 0 {
		return errPoor
	}
	if _, err = q.Exec(ctx, `UPDATE sandbox_account SET balance_kobo = $1 WHERE number = $2`, balance, debitAccount); err != nil {
		return err
	}
	_, err = q.Exec(ctx, `INSERT INTO sandbox_line (reference, kind, planted, payment, narration, amount_kobo, balance_kobo, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, l.reference, l.kind, l.planted, l.payment, l.narration, int64(l.amount), balance, now)
	return err
}

const saleColumns = `reference, id, kind, category, product, product_name, number, amount_kobo, ending, status,
	token, executions, requests, polls, created_at, updated_at`

func scanSale(r db.Scanner) (v sale, err error) {
	err = r.Scan(&v.reference, &v.id, &v.kind, &v.category, &v.product, &v.productName, &v.number, &v.amount, &v.ending,
		&v.status, &v.token, &v.executions, &v.requests, &v.polls, &v.createdAt, &v.updatedAt)
	return v, err
}

// requery is a sale by our id or the caller's reference. Asking is what makes
// time pass for a sale that is pending: the second time it is settled.
func (s *Sandbox) requery(ctx context.Context, reference string) (sale, error) {
	var v sale
	err := s.books.Tx(ctx, func(q db.Querier) error {
		var err error
		v, err = db.One(ctx, q, scanSale,
			`SELECT `+saleColumns+` FROM sandbox_sale WHERE reference = $1 OR id = $1`, reference)
		if err != nil || v.status != pending {
			return err
		}
		v.poll()
		v.updatedAt = clock.Micros(s.clock.Now())
		_, err = q.Exec(ctx, `UPDATE sandbox_sale SET polls = $1, status = $2, executions = $3, updated_at = $4 WHERE reference = $5`,
			v.polls, v.status, v.executions, v.updatedAt, v.reference)
		if err != nil || v.status != failed {
			return err
		}
		return enter(ctx, q, v.line("reversal", v.amount), v.updatedAt)
	})
	return v, err
}

// executed are the sales that were really made, oldest first: all, or the one
// with a reference.
func (s *Sandbox) executed(ctx context.Context, reference string) ([]sale, error) {
	return db.All(ctx, s.books, scanSale, `SELECT `+saleColumns+` FROM sandbox_sale
		WHERE executions > 0 AND ($1 = '' OR reference = $1) ORDER BY created_at, reference`, reference)
}

// balance is what is left on the client's account.
func (s *Sandbox) balance(ctx context.Context) (money.Kobo, error) {
	n, err := db.One(ctx, s.books, db.Value[int64], `SELECT balance_kobo FROM sandbox_account WHERE number = $1`, debitAccount)
	return money.Kobo(n), err
}
