package sandbox

import (
	"context"
	"errors"
	"strconv"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// sudoFloat is what the client's account at Sudo begins with.
const sudoFloat = 10_000_000_000 * money.Naira

var sudoTables = []string{
	`CREATE TABLE IF NOT EXISTS sandbox_sudo_customer (
		id   TEXT NOT NULL PRIMARY KEY,
		name TEXT NOT NULL
	)`,
	`CREATE TABLE IF NOT EXISTS sandbox_sudo_card (
		id           TEXT   NOT NULL PRIMARY KEY,
		customer     TEXT   NOT NULL REFERENCES sandbox_sudo_customer (id),
		account      TEXT   NOT NULL UNIQUE,
		kind         TEXT   NOT NULL,
		brand        TEXT   NOT NULL,
		currency     TEXT   NOT NULL,
		pan          TEXT   NOT NULL,
		reference    TEXT   NOT NULL,
		state        TEXT   NOT NULL,
		balance_kobo BIGINT NOT NULL CHECK (balance_kobo >= 0),
		created_at   BIGINT NOT NULL
	)`,
	`CREATE TABLE IF NOT EXISTS sandbox_sudo_transfer (
		reference   TEXT   NOT NULL PRIMARY KEY,
		id          TEXT   NOT NULL UNIQUE,
		credit      TEXT   NOT NULL,
		amount_kobo BIGINT NOT NULL CHECK (amount_kobo > 0),
		narration   TEXT   NOT NULL,
		ending      TEXT   NOT NULL,
		status      TEXT   NOT NULL CHECK (status IN ('pending', 'successful', 'failed')),
		executions  BIGINT NOT NULL CHECK (executions IN (0, 1)),
		requests    BIGINT NOT NULL,
		polls       BIGINT NOT NULL,
		created_at  BIGINT NOT NULL
	)`,
	`INSERT INTO sandbox_account (number, balance_kobo) VALUES ('` + sudoAccount + `', ` + strconv.FormatInt(int64(sudoFloat), 10) + `) ON CONFLICT DO NOTHING`,
}

// sudoCard is a card in the pretend Sudo's books.
type sudoCard struct {
	story
	id, customer, account, kind, brand, currency, pan, reference, state string
	balance                                                             money.Kobo
	createdAt                                                           int64
}

// sudoFunding is a transfer into a card's account.
type sudoFunding struct {
	story
	id, reference, credit, narration string
	amount                           money.Kobo
	createdAt                        int64
}

func (s *Sandbox) addSudoCustomer(ctx context.Context, id, name string) error {
	_, err := s.books.Exec(ctx, `INSERT INTO sandbox_sudo_customer (id, name) VALUES ($1, $2)`, id, name)
	return err
}

// addSudoCard writes a card. db.ErrNone: there is no such customer.
func (s *Sandbox) addSudoCard(ctx context.Context, c sudoCard) error {
	_, err := db.One(ctx, s.books, db.Value[string], `SELECT id FROM sandbox_sudo_customer WHERE id = $1`, c.customer)
	if err != nil {
		return err
	}
	_, err = s.books.Exec(ctx, `INSERT INTO sandbox_sudo_card (id, customer, account, kind, brand, currency, pan, reference, state, balance_kobo, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10)`,
		c.id, c.customer, c.account, c.kind, c.brand, c.currency, c.pan, c.reference, c.state, c.createdAt)
	return err
}

const sudoCardColumns = `id, customer, account, kind, brand, currency, pan, reference, state, balance_kobo, created_at`

func scanSudoCard(r db.Scanner) (c sudoCard, err error) {
	err = r.Scan(&c.id, &c.customer, &c.account, &c.kind, &c.brand, &c.currency, &c.pan, &c.reference, &c.state, &c.balance, &c.createdAt)
	return c, err
}

func (s *Sandbox) findSudoCard(ctx context.Context, id string) (sudoCard, error) {
	return db.One(ctx, s.books, scanSudoCard, `SELECT `+sudoCardColumns+` FROM sandbox_sudo_card WHERE id = $1`, id)
}

func (s *Sandbox) sudoCards(ctx context.Context, customer string, p page) ([]sudoCard, int64, error) {
	total, err := db.One(ctx, s.books, db.Value[int64], `SELECT count(*) FROM sandbox_sudo_card WHERE customer = $1`, customer)
	if err != nil {
		return nil, 0, err
	}
	list, err := db.All(ctx, s.books, scanSudoCard, `SELECT `+sudoCardColumns+` FROM sandbox_sudo_card
		WHERE customer = $1 ORDER BY created_at DESC, id LIMIT $2 OFFSET $3`, customer, p.limit, p.number*p.limit)
	return list, total, err
}

// acceptSudo writes a transfer and, if it is done at once, moves its money. A
// reference is accepted once and never again.
func (s *Sandbox) acceptSudo(ctx context.Context, v sudoFunding) error {
	refused := error(nil)
	err := s.books.Tx(ctx, func(q db.Querier) error {
		refused = nil
		_, err := db.One(ctx, q, db.Value[string], `SELECT id FROM sandbox_sudo_card WHERE account = $1`, v.credit)
		if err != nil {
			return err
		}
		n, err := q.Exec(ctx, `INSERT INTO sandbox_sudo_transfer (reference, id, credit, amount_kobo, narration, ending, status,
			executions, requests, polls, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, 0, $9) ON CONFLICT (reference) DO NOTHING`,
			v.reference, v.id, v.credit, int64(v.amount), v.narration, v.ending, v.status, v.executions, v.createdAt)
		if err != nil {
			return err
		}
		if n == 0 {
			refused = errRepeated
			_, err = q.Exec(ctx, `UPDATE sandbox_sudo_transfer SET requests = requests + 1 WHERE reference = $1`, v.reference)
			return err
		}
		return v.carry(ctx, q)
	})
	return errors.Join(err, refused)
}

// carry moves the money of a transfer that is done.
func (v sudoFunding) carry(ctx context.Context, q db.Querier) error {
	if v.executions == 0 {
		return nil
	}
	n, err := q.Exec(ctx, `UPDATE sandbox_account SET balance_kobo = balance_kobo - $1 WHERE number = $2 AND balance_kobo >= $1`,
		int64(v.amount), sudoAccount)
	if err == nil && n == 0 {
		err = errPoor
	}
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, `UPDATE sandbox_sudo_card SET balance_kobo = balance_kobo + $1 WHERE account = $2`, int64(v.amount), v.credit)
	return err
}

const sudoFundingColumns = `reference, id, credit, amount_kobo, narration, ending, status, executions, requests, polls, created_at`

func scanSudoFunding(r db.Scanner) (v sudoFunding, err error) {
	err = r.Scan(&v.reference, &v.id, &v.credit, &v.amount, &v.narration, &v.ending, &v.status, &v.executions, &v.requests, &v.polls, &v.createdAt)
	return v, err
}

// askSudo is a transfer by Sudo's id. Asking is what makes time pass for one
// that is pending.
func (s *Sandbox) askSudo(ctx context.Context, id string) (v sudoFunding, err error) {
	err = s.books.Tx(ctx, func(q db.Querier) error {
		v, err = db.One(ctx, q, scanSudoFunding, `SELECT `+sudoFundingColumns+` FROM sandbox_sudo_transfer WHERE id = $1`, id)
		if err != nil || v.status != pending {
			return err
		}
		return v.wait(ctx, q)
	})
	return v, err
}

// wait is one question about a transfer that is pending.
func (v *sudoFunding) wait(ctx context.Context, q db.Querier) error {
	v.poll()
	_, err := q.Exec(ctx, `UPDATE sandbox_sudo_transfer SET polls = $1, status = $2, executions = $3 WHERE reference = $4`,
		v.polls, v.status, v.executions, v.reference)
	if err != nil {
		return err
	}
	return v.carry(ctx, q)
}

// sudoFundings is a page of the client's list; seeing a pending one there is a
// question about it too.
func (s *Sandbox) sudoFundings(ctx context.Context, p page) (list []sudoFunding, total int64, err error) {
	err = s.books.Tx(ctx, func(q db.Querier) error {
		total, err = db.One(ctx, q, db.Value[int64], `SELECT count(*) FROM sandbox_sudo_transfer WHERE status <> 'failed' OR polls > 0`)
		if err != nil {
			return err
		}
		list, err = db.All(ctx, q, scanSudoFunding, `SELECT `+sudoFundingColumns+` FROM sandbox_sudo_transfer
			WHERE status <> 'failed' OR polls > 0 ORDER BY created_at DESC, id LIMIT $1 OFFSET $2`, p.limit, p.number*p.limit)
		for i := range list {
			if err == nil && list[i].status == pending {
				err = list[i].wait(ctx, q)
			}
		}
		return err
	})
	return list, total, err
}

// sudoLedger are the fundings that Sudo really made: all, or the one with a
// reference.
func (s *Sandbox) sudoLedger(ctx context.Context, reference string) ([]ledgerRow, error) {
	list, err := db.All(ctx, s.books, scanSudoFunding, `SELECT `+sudoFundingColumns+` FROM sandbox_sudo_transfer
		WHERE executions > 0 AND ($1 = '' OR reference = $1) ORDER BY created_at, reference`, reference)
	rows := make([]ledgerRow, 0, len(list))
	for _, v := range list {
		rows = append(rows, ledgerRow{
			Reference: v.reference, Kind: "card funding", Amount: v.amount, Status: v.status, Number: masked(v.credit),
			Executions: v.executions, Requests: v.requests, CreatedAt: clock.Text(clock.Time(v.createdAt)), at: v.createdAt,
		})
	}
	return rows, err
}
