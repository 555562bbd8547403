package sandbox

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// The books of the bank: who proved an identity, whose account is whose, which
// names were asked for, what was paid in and out, and what is still to be told.
var bankTables = []string{
	`CREATE TABLE IF NOT EXISTS sandbox_identity (
		id         TEXT   NOT NULL PRIMARY KEY,
		person     TEXT   NOT NULL, -- a digest of the BVN, which is not kept
		state      TEXT   NOT NULL CHECK (state IN ('sent', 'verified', 'used')),
		created_at BIGINT NOT NULL
	)`,
	`CREATE INDEX IF NOT EXISTS sandbox_identity_person ON sandbox_identity (person)`,
	`CREATE TABLE IF NOT EXISTS sandbox_holder (
		number       TEXT   NOT NULL PRIMARY KEY,
		id           TEXT   NOT NULL UNIQUE,
		kind         TEXT   NOT NULL CHECK (kind IN ('main', 'person', 'company', 'adopted', 'virtual')),
		serial       BIGINT NOT NULL,
		reference    TEXT   NOT NULL,
		fingerprint  TEXT   NOT NULL, -- of the request that opened it
		registration TEXT   NOT NULL,
		name         TEXT   NOT NULL,
		callback     TEXT   NOT NULL,
		control      TEXT   NOT NULL,
		amount_kobo  BIGINT NOT NULL,
		valid_for    BIGINT NOT NULL,
		expires_at   BIGINT NOT NULL,
		created_at   BIGINT NOT NULL
	)`,
	`CREATE UNIQUE INDEX IF NOT EXISTS sandbox_holder_reference ON sandbox_holder (reference) WHERE reference <> ''`,
	`CREATE UNIQUE INDEX IF NOT EXISTS sandbox_holder_registration ON sandbox_holder (registration) WHERE registration <> ''`,
	`CREATE TABLE IF NOT EXISTS sandbox_enquiry (
		session    TEXT   NOT NULL PRIMARY KEY,
		bank       TEXT   NOT NULL,
		number     TEXT   NOT NULL,
		name       TEXT   NOT NULL,
		created_at BIGINT NOT NULL
	)`,
	`CREATE TABLE IF NOT EXISTS sandbox_transfer (
		id            TEXT   NOT NULL PRIMARY KEY,
		direction     TEXT   NOT NULL CHECK (direction IN ('Inwards', 'Outwards')),
		session       TEXT   NOT NULL UNIQUE,
		reference     TEXT   NOT NULL,
		external      TEXT   NOT NULL,
		account       TEXT   NOT NULL, -- the id of our holder
		virtual       BIGINT NOT NULL CHECK (virtual IN (0, 1)),
		enquiry       TEXT   NOT NULL,
		bank          TEXT   NOT NULL,
		credit_number TEXT   NOT NULL,
		credit_name   TEXT   NOT NULL,
		debit_number  TEXT   NOT NULL,
		debit_name    TEXT   NOT NULL,
		narration     TEXT   NOT NULL,
		amount_kobo   BIGINT NOT NULL CHECK (amount_kobo > 0),
		reversed      BIGINT NOT NULL CHECK (reversed IN (0, 1)),
		ending        TEXT   NOT NULL,
		status        TEXT   NOT NULL CHECK (status IN ('pending', 'successful', 'failed')),
		executions    BIGINT NOT NULL CHECK (executions IN (0, 1)),
		requests      BIGINT NOT NULL,
		polls         BIGINT NOT NULL,
		created_at    BIGINT NOT NULL,
		updated_at    BIGINT NOT NULL,
		UNIQUE (direction, reference)
	)`,
	`CREATE INDEX IF NOT EXISTS sandbox_transfer_newest ON sandbox_transfer (direction, created_at)`,
	`CREATE INDEX IF NOT EXISTS sandbox_transfer_account ON sandbox_transfer (account)`,
	`CREATE TABLE IF NOT EXISTS sandbox_notice (
		id          INTEGER PRIMARY KEY,
		url         TEXT   NOT NULL, -- empty: the client's default
		body        TEXT   NOT NULL,
		state       TEXT   NOT NULL CHECK (state IN ('waiting', 'delivered', 'given_up')),
		attempts    BIGINT NOT NULL,
		answer      TEXT   NOT NULL, -- the last one
		next_at     BIGINT NOT NULL,
		lease_until BIGINT NOT NULL,
		created_at  BIGINT NOT NULL
	)`,
	`CREATE INDEX IF NOT EXISTS sandbox_notice_due ON sandbox_notice (next_at) WHERE state = 'waiting'`,
	`CREATE INDEX IF NOT EXISTS sandbox_line_newest ON sandbox_line (created_at)`,
}

type identity struct {
	id, person, state string
	createdAt         int64
}

func scanIdentity(r db.Scanner) (v identity, err error) {
	err = r.Scan(&v.id, &v.person, &v.state, &v.createdAt)
	return v, err
}

const identityColumns = `id, person, state, created_at`

func findIdentity(ctx context.Context, q db.Querier, id string) (identity, error) {
	return db.One(ctx, q, scanIdentity, `SELECT `+identityColumns+` FROM sandbox_identity WHERE id = $1`, id)
}

// newestIdentity is the last one that a person began.
func (s *Sandbox) newestIdentity(ctx context.Context, person string) (identity, error) {
	return db.One(ctx, s.books, scanIdentity, `SELECT `+identityColumns+` FROM sandbox_identity
		WHERE person = $1 ORDER BY created_at DESC, id LIMIT 1`, person)
}

func (s *Sandbox) addIdentity(ctx context.Context, v identity) error {
	_, err := s.books.Exec(ctx, `INSERT INTO sandbox_identity (id, person, state, created_at) VALUES ($1, $2, $3, $4)`,
		v.id, v.person, v.state, v.createdAt)
	return err
}

func markIdentity(ctx context.Context, q db.Querier, id, state string) error {
	_, err := q.Exec(ctx, `UPDATE sandbox_identity SET state = $1 WHERE id = $2`, state, id)
	return err
}

// holder is an account and whose it is.
type holder struct {
	number, id, kind       string
	serial                 int64
	reference, fingerprint string
	registration, name     string
	callback, control      string
	amount                 money.Kobo
	validFor, expiresAt    int64
	createdAt              int64
}

const holderColumns = `number, id, kind, serial, reference, fingerprint, registration, name, callback, control,
	amount_kobo, valid_for, expires_at, created_at`

func scanHolder(r db.Scanner) (v holder, err error) {
	err = r.Scan(&v.number, &v.id, &v.kind, &v.serial, &v.reference, &v.fingerprint, &v.registration, &v.name, &v.callback,
		&v.control, &v.amount, &v.validFor, &v.expiresAt, &v.createdAt)
	return v, err
}

// findHolder is an account by its number, our id or the client's reference.
func findHolder(ctx context.Context, q db.Querier, key string) (holder, error) {
	return db.One(ctx, q, scanHolder, `SELECT `+holderColumns+` FROM sandbox_holder WHERE number = $1 OR id = $1 OR reference = $1`, key)
}

func registered(ctx context.Context, q db.Querier, registration string) (holder, error) {
	return db.One(ctx, q, scanHolder, `SELECT `+holderColumns+` FROM sandbox_holder WHERE registration = $1`, registration)
}

// addHolder tells whether the account was added: its number may be taken.
func addHolder(ctx context.Context, q db.Querier, v holder) (bool, error) {
	n, err := q.Exec(ctx, `INSERT INTO sandbox_holder (number, id, kind, serial, reference, fingerprint, registration, name, callback,
		control, amount_kobo, valid_for, expires_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT (number) DO NOTHING`,
		v.number, v.id, v.kind, v.serial, v.reference, v.fingerprint, v.registration, v.name, v.callback,
		v.control, int64(v.amount), v.validFor, v.expiresAt, v.createdAt)
	return n == 1, err
}

func lastSerial(ctx context.Context, q db.Querier) (int64, error) {
	return db.One(ctx, q, db.Value[int64], `SELECT COALESCE(MAX(serial), 0) FROM sandbox_holder`)
}

// page is a part of a list, and span the instants that it may show.
type page struct{ number, limit int64 }

type span struct{ from, before int64 }

// holders lists the permanent accounts: sub-accounts or the main one, oldest
// first.
func (s *Sandbox) holders(ctx context.Context, sub bool, p page) (rows []holder, total int64, err error) {
	const which = ` FROM sandbox_holder WHERE (kind IN ('person', 'company') AND $1 = 1) OR (kind = 'main' AND $1 = 0)`
	if total, err = db.One(ctx, s.books, db.Value[int64], `SELECT COUNT(*)`+which, db.Flag(sub)); err != nil {
		return nil, 0, err
	}
	rows, err = db.All(ctx, s.books, scanHolder, `SELECT `+holderColumns+which+` ORDER BY serial LIMIT $2 OFFSET $3`,
		db.Flag(sub), p.limit, p.number*p.limit)
	return rows, total, err
}

// adopt knows an account that somebody else opened.
func (s *Sandbox) adopt(ctx context.Context, v holder) error {
	_, err := s.books.Exec(ctx, `INSERT INTO sandbox_holder (number, id, kind, serial, reference, fingerprint, registration, name, callback,
		control, amount_kobo, valid_for, expires_at, created_at)
		VALUES ($1, $2, $3, 0, '', '', '', $4, $5, '', 0, 0, 0, $6) ON CONFLICT (number) DO UPDATE SET name = $4, callback = $5`,
		v.number, v.id, v.kind, v.name, v.callback, v.createdAt)
	return err
}

type enquiry struct {
	session, bank, number, name string
	createdAt                   int64
}

func (s *Sandbox) addEnquiry(ctx context.Context, v enquiry) error {
	_, err := s.books.Exec(ctx, `INSERT INTO sandbox_enquiry (session, bank, number, name, created_at) VALUES ($1, $2, $3, $4, $5)`,
		v.session, v.bank, v.number, v.name, v.createdAt)
	return err
}

func (s *Sandbox) findEnquiry(ctx context.Context, session string) (enquiry, error) {
	return db.One(ctx, s.books, func(r db.Scanner) (v enquiry, err error) {
		err = r.Scan(&v.session, &v.bank, &v.number, &v.name, &v.createdAt)
		return v, err
	}, `SELECT session, bank, number, name, created_at FROM sandbox_enquiry WHERE session = $1`, session)
}

// lines are the statement of the client's account, oldest first.
func (s *Sandbox) lines(ctx context.Context, d span, p page) (rows []line, total int64, err error) {
	const which = ` FROM sandbox_line WHERE created_at >= $1 AND created_at < $2`
	if total, err = db.One(ctx, s.books, db.Value[int64], `SELECT COUNT(*)`+which, d.from, d.before); err != nil {
		return nil, 0, err
	}
	rows, err = db.All(ctx, s.books, func(r db.Scanner) (v line, err error) {
		err = r.Scan(&v.reference, &v.kind, &v.planted, &v.payment, &v.narration, &v.amount, &v.balance, &v.createdAt)
		return v, err
	}, `SELECT reference, kind, planted, payment, narration, amount_kobo, balance_kobo, created_at`+which+
		` ORDER BY created_at, rowid LIMIT $3 OFFSET $4`, d.from, d.before, p.limit, p.number*p.limit)
	return rows, total, err
}

// plant writes a line that belongs to nothing that was asked for.
func (s *Sandbox) plant(ctx context.Context, l line) error {
	now := clock.Micros(s.clock.Now())
	err := s.books.Tx(ctx, func(q db.Querier) error { return enter(ctx, q, l, now) })
	if errors.Is(err, errPoor) {
		return complaint("The account has not enough money")
	}
	return err
}
