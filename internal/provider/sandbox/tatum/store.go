package tatum

import (
	"context"
	"encoding/json"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

type subscription struct {
	id        string `db:"id,key"`
	kind      string `db:"type"`
	chain     string `db:"chain"`
	address   string `db:"address"`
	url       string `db:"url"`
	createdAt int64  `db:"created_at"`
}

type transaction struct {
	hash      string `db:"hash,key"`
	chain     string `db:"chain"`
	block     int64  `db:"block_number"`
	isDropped bool   `db:"dropped"`
	createdAt int64  `db:"created_at"`
}

var (
	subscriptions = books.NewTable[subscription]("sandbox_subscription", "UNIQUE (type, chain, address, url)")
	transactions  = books.NewTable[transaction]("sandbox_chain_transaction")
)

// end removes a subscription, and drop removes a transaction from the chain. Both return the number
// of rows that they changed.
func (c *Custodian) end(ctx context.Context, id string) (int64, error) {
	return c.Exec(ctx, `DELETE FROM sandbox_subscription WHERE id = $1`, id)
}

func (c *Custodian) drop(ctx context.Context, hash string) (int64, error) {
	return c.Exec(ctx, `UPDATE sandbox_chain_transaction SET dropped = 1 WHERE hash = $1`, hash)
}

// announce writes a notification of a subscription. The notification is sent at the given instant.
func announce(ctx context.Context, q db.Querier, sub subscription, payload map[string]any, now, at, copies int64) error {
	data, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	return books.Announce(ctx, q, books.Notice{Sender: sender, About: sub.id, URL: sub.url, Body: string(data), NextAt: at, At: now}, copies)
}
