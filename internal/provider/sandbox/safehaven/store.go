package safehaven

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// The bank's books: sales, the statement, identities, accounts, name enquiries,
// transfers in and out, and the notices to send.
var tables = []string{
	sales.Definition(),
	lines.Definition(),
	`CREATE INDEX IF NOT EXISTS sandbox_line_newest ON sandbox_line (created_at)`,
	identities.Definition(),
	`CREATE INDEX IF NOT EXISTS sandbox_identity_person ON sandbox_identity (person)`,
	holders.Definition(),
	`CREATE UNIQUE INDEX IF NOT EXISTS sandbox_holder_reference ON sandbox_holder (reference) WHERE reference <> ''`,
	`CREATE UNIQUE INDEX IF NOT EXISTS sandbox_holder_registration ON sandbox_holder (registration) WHERE registration <> ''`,
	enquiries.Definition(),
	transfers.Definition(),
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
}

// sale is one purchase.
type sale struct {
	books.Story
	reference   string // the client's
	id          string // the bank's, 24 hex digits
	kind        string // airtime, data, cable-tv or utility
	category    string
	product     string
	productName string
	number      string
	amount      money.Kobo
	token       string // for a prepaid meter
	createdAt   int64
	updatedAt   int64
}

var sales = books.Table[sale]{
	Name: "sandbox_sale",
	Columns: `
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
		updated_at   BIGINT NOT NULL`,
	Fields: func(v *sale) []any {
		return []any{
			&v.reference, &v.id, &v.kind, &v.category, &v.product, &v.productName, &v.number, &v.amount, &v.Ending, &v.Status, &v.token,
			&v.Executions, &v.Requests, &v.Polls, &v.createdAt, &v.updatedAt,
		}
	},
}

// acceptSale writes a sale into the books. Unless the sale failed at once, the
// client pays for it in the same commit.
func (b *Bank) acceptSale(ctx context.Context, v sale) error {
	v.createdAt = b.Now()
	v.updatedAt = v.createdAt
	return sales.Accept(ctx, b.Books, v, "reference = $1", v.reference, func(q db.Querier) error {
		if v.Status == books.Failed {
			return nil
		}
		return enter(ctx, q, v.line("debit", -v.amount), v.createdAt)
	})
}

// askSale is a sale by the bank's id or the client's reference. The second question
// settles a pending sale.
func (b *Bank) askSale(ctx context.Context, reference string) (v sale, err error) {
	err = b.Tx(ctx, func(q db.Querier) (err error) {
		v, err = sales.One(ctx, q, "reference = $1 OR id = $1", reference)
		if err != nil || v.Status != books.Pending {
			return err
		}
		v.Poll()
		v.updatedAt = b.Now()
		_, err = q.Exec(ctx, `UPDATE sandbox_sale SET polls = $1, status = $2, executions = $3, updated_at = $4 WHERE reference = $5`,
			v.Polls, v.Status, v.Executions, v.updatedAt, v.reference)
		if err != nil || v.Status != books.Failed {
			return err
		}
		return enter(ctx, q, v.line("reversal", v.amount), v.updatedAt)
	})
	return v, err
}

// line is one line of the statement of the client's account. The key of its table
// keeps a request from being debited or returned twice. A line that a control plants
// has a number in the key.
type line struct {
	reference string // the reference of the request that caused the line
	kind      string // debit, reversal or credit
	planted   int64
	payment   string // the payment reference, as the statement shows it
	narration string
	amount    money.Kobo // negative: out of the account
	balance   money.Kobo // after the line
	createdAt int64
}

var lines = books.Table[line]{
	Name: "sandbox_line",
	Columns: `
		reference    TEXT   NOT NULL,
		kind         TEXT   NOT NULL CHECK (kind IN ('debit', 'reversal', 'credit')),
		planted      BIGINT NOT NULL,
		payment      TEXT   NOT NULL,
		narration    TEXT   NOT NULL,
		amount_kobo  BIGINT NOT NULL,
		balance_kobo BIGINT NOT NULL,
		created_at   BIGINT NOT NULL,
		PRIMARY KEY (reference, kind, planted)`,
	Fields: func(v *line) []any {
		return []any{&v.reference, &v.kind, &v.planted, &v.payment, &v.narration, &v.amount, &v.balance, &v.createdAt}
	},
}

// enter moves the balance of the client's account and writes the line for it.
func enter(ctx context.Context, q db.Querier, l line, now int64) (err error) {
	l.createdAt = now
	if l.balance, err = books.Move(ctx, q, debitAccount, l.amount); err != nil {
		return err
	}
	return lines.Insert(ctx, q, l)
}

// identity is one identity check.
type identity struct {
	id, person, state string
	createdAt         int64
}

var identities = books.Table[identity]{
	Name: "sandbox_identity",
	Columns: `
		id         TEXT   NOT NULL PRIMARY KEY,
		person     TEXT   NOT NULL, -- a digest of the BVN, which is not kept
		state      TEXT   NOT NULL CHECK (state IN ('sent', 'verified', 'used')),
		created_at BIGINT NOT NULL`,
	Fields: func(v *identity) []any { return []any{&v.id, &v.person, &v.state, &v.createdAt} },
}

func markIdentity(ctx context.Context, q db.Querier, id, state string) error {
	_, err := q.Exec(ctx, `UPDATE sandbox_identity SET state = $1 WHERE id = $2`, state, id)
	return err
}

// holder is an account of this bank.
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

var holders = books.Table[holder]{
	Name: "sandbox_holder",
	Columns: `
		number       TEXT   NOT NULL PRIMARY KEY,
		id           TEXT   NOT NULL UNIQUE,
		kind         TEXT   NOT NULL CHECK (kind IN ('main', 'person', 'company', 'adopted', 'virtual')),
		serial       BIGINT NOT NULL,
		reference    TEXT   NOT NULL,
		fingerprint  TEXT   NOT NULL, -- of the request that opened the account
		registration TEXT   NOT NULL,
		name         TEXT   NOT NULL,
		callback     TEXT   NOT NULL,
		control      TEXT   NOT NULL,
		amount_kobo  BIGINT NOT NULL,
		valid_for    BIGINT NOT NULL,
		expires_at   BIGINT NOT NULL,
		created_at   BIGINT NOT NULL`,
	Fields: func(v *holder) []any {
		return []any{
			&v.number, &v.id, &v.kind, &v.serial, &v.reference, &v.fingerprint, &v.registration, &v.name, &v.callback, &v.control,
			&v.amount, &v.validFor, &v.expiresAt, &v.createdAt,
		}
	},
}

// findHolder is an account by its number, the bank's id or the client's reference.
func findHolder(ctx context.Context, q db.Querier, key string) (holder, error) {
	return holders.One(ctx, q, "number = $1 OR id = $1 OR reference = $1", key)
}

func lastSerial(ctx context.Context, q db.Querier) (int64, error) {
	return db.One(ctx, q, db.Value[int64], `SELECT COALESCE(MAX(serial), 0) FROM sandbox_holder`)
}

// Adopt makes the bank know an account that it did not open, such as that of a
// development company. The account can then be credited and asked for by name.
// An empty callback means the client's default. Adopt may be called again.
func (b *Bank) Adopt(ctx context.Context, number, name, callback string) error {
	if len(number) != 10 || !books.IsDigits(number) || callback != "" && !books.IsLocal(callback) {
		return errAdopted
	}
	_, err := b.Exec(ctx, `INSERT INTO sandbox_holder (number, id, kind, serial, reference, fingerprint, registration, name, callback,
		control, amount_kobo, valid_for, expires_at, created_at)
		VALUES ($1, $2, 'adopted', 0, '', '', '', $3, $4, '', 0, 0, 0, $5) ON CONFLICT (number) DO UPDATE SET name = $3, callback = $4`,
		number, books.Digest("adopted", number)[:24], name, callback, b.Now())
	return err
}

// enquiry is one name enquiry.
type enquiry struct {
	session, bank, number, name string
	createdAt                   int64
}

var enquiries = books.Table[enquiry]{
	Name: "sandbox_enquiry",
	Columns: `
		session    TEXT   NOT NULL PRIMARY KEY,
		bank       TEXT   NOT NULL,
		number     TEXT   NOT NULL,
		name       TEXT   NOT NULL,
		created_at BIGINT NOT NULL`,
	Fields: func(v *enquiry) []any { return []any{&v.session, &v.bank, &v.number, &v.name, &v.createdAt} },
}

// transfer is money that came in or went out.
type transfer struct {
	books.Story
	id, direction            string
	session, reference       string
	external                 string // the client's reference of a virtual account
	account                  string // the id of the holder at this bank
	virtual                  bool
	enquiry                  string
	bank                     string
	creditNumber, creditName string
	debitNumber, debitName   string
	narration                string
	amount                   money.Kobo
	reversed                 bool
	createdAt, updatedAt     int64
}

var transfers = books.Table[transfer]{
	Name: "sandbox_transfer",
	Columns: `
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
		UNIQUE (direction, reference)`,
	Fields: func(v *transfer) []any {
		return []any{
			&v.id, &v.direction, &v.session, &v.reference, &v.external, &v.account, &v.virtual, &v.enquiry, &v.bank, &v.creditNumber,
			&v.creditName, &v.debitNumber, &v.debitName, &v.narration, &v.amount, &v.reversed, &v.Ending, &v.Status,
			&v.Executions, &v.Requests, &v.Polls, &v.createdAt, &v.updatedAt,
		}
	},
}

func updateTransfer(ctx context.Context, q db.Querier, v transfer) error {
	_, err := q.Exec(ctx, `UPDATE sandbox_transfer SET polls = $1, status = $2, executions = $3, reversed = $4, updated_at = $5 WHERE id = $6`,
		v.Polls, v.Status, v.Executions, db.Flag(v.reversed), v.updatedAt, v.id)
	return err
}

// findTransfer is a transfer by its session, or one that went out by the client's
// reference.
func findTransfer(ctx context.Context, q db.Querier, session, reference string) (transfer, error) {
	if session != "" {
		return transfers.One(ctx, q, "session = $1", session)
	}
	return transfers.One(ctx, q, outwardReference, reference)
}

const outwardReference = "direction = 'Outwards' AND reference = $1"

// isPaidInto tells whether something came into an account.
func (b *Bank) isPaidInto(ctx context.Context, account string) (bool, error) {
	n, err := db.One(ctx, b, db.Value[int64], `SELECT COUNT(*) FROM sandbox_transfer WHERE account = $1 AND status = 'successful'`, account)
	return n > 0, err
}

// executed are the sales, payouts and credits that the bank carried out.
func (b *Bank) executed(ctx context.Context, reference string) (rows []books.Row, err error) {
	const carriedOut = "executions > 0 AND ($1 = '' OR reference = $1) ORDER BY created_at, "
	sold, err := sales.All(ctx, b, carriedOut+"reference", reference)
	if err != nil {
		return nil, err
	}
	for _, v := range sold {
		rows = append(rows, v.Row(v.reference, v.kind, v.amount, v.number, v.createdAt))
	}
	moved, err := transfers.All(ctx, b, carriedOut+"id", reference)
	for _, v := range moved {
		kind := "payout"
		if v.direction == inwards {
			kind = "credit"
		}
		if v.reversed {
			v.Status = "reversed"
		}
		rows = append(rows, v.Row(v.reference, kind, v.amount, v.creditNumber, v.createdAt))
	}
	return rows, err
}

// announce writes copies of the notice of a transfer, to be sent from an instant
// on. An empty callback means the client's default.
func announce(ctx context.Context, q db.Querier, callback string, t transfer, from, copies int64) error {
	body, err := t.notice()
	if err != nil {
		return err
	}
	for range copies {
		if _, err := q.Exec(ctx, `INSERT INTO sandbox_notice (url, body, state, attempts, answer, next_at, lease_until, created_at)
			VALUES ($1, $2, 'waiting', 0, '', $3, 0, $4)`, callback, string(body), from, t.updatedAt); err != nil {
			return err
		}
	}
	return nil
}
