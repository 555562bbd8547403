package vtpass

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// sale is one purchase.
type sale struct {
	books.Story
	requestID string
	kind      string // the identifier of the service: airtime, data …
	service   string
	variation string
	number    string
	amount    money.Kobo
	token     string // for a prepaid meter
	createdAt int64
}

var sales = books.Table[sale]{
	Name: "sandbox_vtpass",
	Columns: `
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
		created_at  BIGINT NOT NULL`,
	Fields: func(v *sale) []any {
		return []any{
			&v.requestID, &v.kind, &v.service, &v.variation, &v.number, &v.amount, &v.Ending, &v.Status, &v.token,
			&v.Executions, &v.Requests, &v.Polls, &v.createdAt,
		}
	},
}

// accept writes a sale into the books. Unless the sale failed at once, the wallet
// pays for it in the same commit.
func (b *Biller) accept(ctx context.Context, v sale) error {
	v.createdAt = b.Now()
	return sales.Accept(ctx, b.Books, v, "request_id = $1", v.requestID, func(q db.Querier) error {
		if v.Status == books.Failed {
			return nil
		}
		_, err := books.Move(ctx, q, wallet, -v.amount)
		return err
	})
}

// ask is a sale by its request_id. The second question settles a pending sale.
func (b *Biller) ask(ctx context.Context, requestID string) (v sale, err error) {
	err = b.Tx(ctx, func(q db.Querier) (err error) {
		v, err = sales.One(ctx, q, "request_id = $1", requestID)
		if err != nil || v.Status != books.Pending {
			return err
		}
		v.Poll()
		_, err = q.Exec(ctx, `UPDATE sandbox_vtpass SET polls = $1, status = $2, executions = $3 WHERE request_id = $4`,
			v.Polls, v.Status, v.Executions, v.requestID)
		if err == nil && v.Status == books.Failed {
			_, err = books.Move(ctx, q, wallet, v.amount)
		}
		return err
	})
	return v, err
}

// executed are the sales that VTpass really made.
func (b *Biller) executed(ctx context.Context, reference string) ([]books.Row, error) {
	sold, err := sales.All(ctx, b, "executions > 0 ORDER BY created_at, request_id")
	var rows []books.Row
	for _, v := range sold {
		if ours := clientReference(v.requestID); reference == "" || reference == ours {
			rows = append(rows, v.Row(ours, "vtpass "+v.kind, v.amount, v.number, v.createdAt))
		}
	}
	return rows, err
}
