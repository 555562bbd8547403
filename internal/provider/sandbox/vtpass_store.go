package sandbox

import (
	"context"
	"errors"
	"strconv"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// vtpassWallet is the line of sandbox_account from which VTpass takes its prices.
const (
	vtpassWallet = "vtpass"
	vtpassFloat  = 10_000_000_000 * money.Naira // what it begins with
)

var vtpassTables = []string{
	`CREATE TABLE IF NOT EXISTS sandbox_vtpass (
		request_id  TEXT   NOT NULL PRIMARY KEY,
		kind        TEXT   NOT NULL,
		service     TEXT   NOT NULL,
		variation   TEXT   NOT NULL,
		number      TEXT   NOT NULL,
		amount_kobo BIGINT NOT NULL CHECK (amount_kobo > 0),
		ending      TEXT   NOT NULL,
		status      TEXT   NOT NULL CHECK (status IN ('pending', 'successful', 'failed')),
		token       TEXT   NOT NULL,
		executions  BIGINT NOT NULL CHECK (executions IN (0, 1)),
		requests    BIGINT NOT NULL,
		polls       BIGINT NOT NULL,
		created_at  BIGINT NOT NULL
	)`,
	`INSERT INTO sandbox_account (number, balance_kobo) VALUES ('` + vtpassWallet + `', ` + strconv.FormatInt(int64(vtpassFloat), 10) + `) ON CONFLICT DO NOTHING`,
}

// vtpassSale is one purchase in the pretend VTpass's books.
type vtpassSale struct {
	story
	requestID string
	kind      string // the identifier of the service: airtime, data …
	service   string
	variation string
	number    string
	amount    money.Kobo
	token     string // for a prepaid meter
	createdAt int64
}

// vtpassAccept writes a sale into the books and, unless it failed at once, takes
// its price: all of it, or none. A request_id is accepted once and never again.
func (s *Sandbox) vtpassAccept(ctx context.Context, v vtpassSale) error {
	refused := error(nil)
	err := s.books.Tx(ctx, func(q db.Querier) error {
		refused = nil
		n, err := q.Exec(ctx, `INSERT INTO sandbox_vtpass (request_id, kind, service, variation, number, amount_kobo, ending,
			status, token, executions, requests, polls, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1, 0, $11) ON CONFLICT (request_id) DO NOTHING`,
			v.requestID, v.kind, v.service, v.variation, v.number, int64(v.amount), v.ending,
			v.status, v.token, v.executions, clock.Micros(s.clock.Now()))
		if err != nil {
			return err
		}
		if n == 0 {
			refused = errRepeated
			_, err = q.Exec(ctx, `UPDATE sandbox_vtpass SET requests = requests + 1 WHERE request_id = $1`, v.requestID)
			return err
		}
		if v.status == failed {
			return nil
		}
		return pocket(ctx, q, -v.amount)
	})
	return errors.Join(err, refused)
}

// pocket moves the wallet's balance.
func pocket(ctx context.Context, q db.Querier, amount money.Kobo) error {
	n, err := q.Exec(ctx, `UPDATE sandbox_account SET balance_kobo = balance_kobo + $1 WHERE number = $2 AND balance_kobo + $1 >= 0`,
		int64(amount), vtpassWallet)
	if err == nil && n == 0 {
		return errPoor
	}
	return err
}

func (s *Sandbox) vtpassBalance(ctx context.Context) (money.Kobo, error) {
	n, err := db.One(ctx, s.books, db.Value[int64], `SELECT balance_kobo FROM sandbox_account WHERE number = $1`, vtpassWallet)
	return money.Kobo(n), err
}

const vtpassColumns = `request_id, kind, service, variation, number, amount_kobo, ending, status, token, executions, requests, polls, created_at`

func scanVTpass(r db.Scanner) (v vtpassSale, err error) {
	err = r.Scan(&v.requestID, &v.kind, &v.service, &v.variation, &v.number, &v.amount, &v.ending, &v.status, &v.token,
		&v.executions, &v.requests, &v.polls, &v.createdAt)
	return v, err
}

// vtpassAsk is a sale by its request_id. Asking is what makes time pass for one
// that is pending.
func (s *Sandbox) vtpassAsk(ctx context.Context, requestID string) (vtpassSale, error) {
	var v vtpassSale
	err := s.books.Tx(ctx, func(q db.Querier) error {
		var err error
		v, err = db.One(ctx, q, scanVTpass, `SELECT `+vtpassColumns+` FROM sandbox_vtpass WHERE request_id = $1`, requestID)
		if err != nil || v.status != pending {
			return err
		}
		v.poll()
		_, err = q.Exec(ctx, `UPDATE sandbox_vtpass SET polls = $1, status = $2, executions = $3 WHERE request_id = $4`,
			v.polls, v.status, v.executions, v.requestID)
		if err != nil || v.status != failed {
			return err
		}
		return pocket(ctx, q, v.amount)
	})
	return v, err
}

// vtpassLedger are the sales that VTpass really made: all, or the one with a
// reference of ours.
func (s *Sandbox) vtpassLedger(ctx context.Context, reference string) ([]ledgerRow, error) {
	sales, err := db.All(ctx, s.books, scanVTpass,
		`SELECT `+vtpassColumns+` FROM sandbox_vtpass WHERE executions > 0 ORDER BY created_at, request_id`)
	rows := make([]ledgerRow, 0, len(sales))
	for _, v := range sales {
		if ours := clientReference(v.requestID); reference == "" || reference == ours {
			rows = append(rows, ledgerRow{
				Reference: ours, Kind: "vtpass " + v.kind, Amount: v.amount, Status: v.status, Number: masked(v.number),
				Executions: v.executions, Requests: v.requests, CreatedAt: clock.Text(clock.Time(v.createdAt)), at: v.createdAt,
			})
		}
	}
	return rows, err
}
