package sudo

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

type customer struct{ id, name string }

var customers = books.Table[customer]{
	Name: "sandbox_sudo_customer",
	Columns: `
		id   TEXT NOT NULL PRIMARY KEY,
		name TEXT NOT NULL`,
	Fields: func(c *customer) []any { return []any{&c.id, &c.name} },
}

type card struct {
	id, customer, account, kind, brand, currency, pan, reference, state string
	balance                                                             money.Kobo
	createdAt                                                           int64
}

var cards = books.Table[card]{
	Name: "sandbox_sudo_card",
	Columns: `
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
		created_at   BIGINT NOT NULL`,
	Fields: func(c *card) []any {
		return []any{
			&c.id, &c.customer, &c.account, &c.kind, &c.brand, &c.currency, &c.pan, &c.reference, &c.state, &c.balance, &c.createdAt,
		}
	},
}

// transfer is money for a card's account.
type transfer struct {
	books.Story
	reference, id, credit, narration string
	amount                           money.Kobo
	createdAt                        int64
}

var transfers = books.Table[transfer]{
	Name: "sandbox_sudo_transfer",
	Columns: `
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
		created_at  BIGINT NOT NULL`,
	Fields: func(v *transfer) []any {
		return []any{
			&v.reference, &v.id, &v.credit, &v.amount, &v.narration, &v.Ending, &v.Status, &v.Executions, &v.Requests, &v.Polls, &v.createdAt,
		}
	},
}

// accept writes a transfer and, if it is done at once, moves its money. db.ErrNone
// means that no card has the account.
func (i *Issuer) accept(ctx context.Context, v transfer) error {
	if _, err := cards.One(ctx, i, "account = $1", v.credit); err != nil {
		return err
	}
	return transfers.Accept(ctx, i.Books, v, "reference = $1", v.reference, func(q db.Querier) error { return v.settle(ctx, q) })
}

// settle moves the money of a transfer that is done.
func (v transfer) settle(ctx context.Context, q db.Querier) error {
	if v.Executions == 0 {
		return nil
	}
	_, err := books.Move(ctx, q, account, -v.amount)
	if err == nil {
		_, err = q.Exec(ctx, `UPDATE sandbox_sudo_card SET balance_kobo = balance_kobo + $1 WHERE account = $2`, int64(v.amount), v.credit)
	}
	return err
}

// ask is a transfer by Sudo's id. The second question settles a pending transfer.
func (i *Issuer) ask(ctx context.Context, id string) (v transfer, err error) {
	err = i.Tx(ctx, func(q db.Querier) (err error) {
		if v, err = transfers.One(ctx, q, "id = $1", id); err != nil {
			return err
		}
		return v.poll(ctx, q)
	})
	return v, err
}

// poll counts one question about a transfer, if it is pending.
func (v *transfer) poll(ctx context.Context, q db.Querier) error {
	if v.Status != books.Pending {
		return nil
	}
	v.Poll()
	_, err := q.Exec(ctx, `UPDATE sandbox_sudo_transfer SET polls = $1, status = $2, executions = $3 WHERE reference = $4`,
		v.Polls, v.Status, v.Executions, v.reference)
	if err != nil {
		return err
	}
	return v.settle(ctx, q)
}

// list is a page of the client's list. A list is a question about each pending
// transfer on it.
func (i *Issuer) list(ctx context.Context, p books.Page) (list []transfer, total int64, err error) {
	err = i.Tx(ctx, func(q db.Querier) (err error) {
		list, total, err = transfers.Page(ctx, q, p, "status <> 'failed' OR polls > 0", "created_at DESC, id")
		for n := range list {
			if err == nil {
				err = list[n].poll(ctx, q)
			}
		}
		return err
	})
	return list, total, err
}

// executed are the transfers that Sudo really made.
func (i *Issuer) executed(ctx context.Context, reference string) ([]books.Row, error) {
	list, err := transfers.All(ctx, i, "executions > 0 AND ($1 = '' OR reference = $1) ORDER BY created_at, reference", reference)
	var rows []books.Row
	for _, v := range list {
		rows = append(rows, v.Row(v.reference, "card funding", v.amount, v.credit, v.createdAt))
	}
	return rows, err
}
