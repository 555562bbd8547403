package vtpass

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// sale is one purchase.
type sale struct {
	requestID string     `db:"request_id,key"`
	kind      string     `db:"kind"` // the identifier of the service, such as airtime or data
	service   string     `db:"service"`
	variation string     `db:"variation"`
	number    string     `db:"number"`
	amount    money.Kobo `db:"amount_kobo"`
	token     string     `db:"token"` // set only for a prepaid meter
	books.Story
	createdAt int64 `db:"created_at"`
}

var sales = books.NewTable[sale]("sandbox_vtpass", books.StoryRule)

// accept writes a sale into the books. Unless the sale failed immediately, its price is taken from
// the wallet in the same transaction.
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

// ask handles a requery of a sale by its request_id. The second requery gives a pending sale its
// final status.
func (b *Biller) ask(ctx context.Context, requestID string) (v sale, err error) {
	err = b.Tx(ctx, func(q db.Querier) (err error) {
		if v, err = sales.One(ctx, q, "request_id = $1", requestID); err != nil {
			return err
		}
		settled, err := sales.Poll(ctx, q, &v, &v.Story)
		if err == nil && settled && v.Status == books.Failed {
			_, err = books.Move(ctx, q, wallet, v.amount)
		}
		return err
	})
	return v, err
}

// requests returns the sales that VTpass recorded, whether it carried them out or not.
func (b *Biller) requests(ctx context.Context, reference string) ([]books.Row, error) {
	sold, err := sales.All(ctx, b, "TRUE ORDER BY created_at, request_id")
	var rows []books.Row
	for _, v := range sold {
		if ours := clientReference(v.requestID); reference == "" || reference == ours {
			rows = append(rows, v.Row(ours, "vtpass "+v.kind, v.amount, v.number, v.createdAt))
		}
	}
	return rows, err
}
