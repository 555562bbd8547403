package tatum

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

var tables = []string{
	subscriptions.Definition(),
	transactions.Definition(),
	`CREATE TABLE IF NOT EXISTS sandbox_chain_notice (
		id              INTEGER NOT NULL PRIMARY KEY,
		subscription_id TEXT    NOT NULL,
		url             TEXT    NOT NULL,
		data            TEXT    NOT NULL,
		state           TEXT    NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
		attempts        BIGINT  NOT NULL,
		code            BIGINT  NOT NULL,
		next_at         BIGINT  NOT NULL,
		lease_until     BIGINT  NOT NULL,
		created_at      BIGINT  NOT NULL
	)`,
}

type subscription struct {
	id, kind, chain, address, url string
	createdAt                     int64
}

var subscriptions = books.Table[subscription]{
	Name: "sandbox_subscription",
	Columns: `
		id         TEXT NOT NULL PRIMARY KEY,
		type       TEXT NOT NULL,
		chain      TEXT NOT NULL,
		address    TEXT NOT NULL,
		url        TEXT NOT NULL,
		created_at BIGINT NOT NULL,
		UNIQUE (type, chain, address, url)`,
	Fields: func(v *subscription) []any { return []any{&v.id, &v.kind, &v.chain, &v.address, &v.url, &v.createdAt} },
}

type transaction struct {
	hash, chain string
	block       int64
	isDropped   bool
	createdAt   int64
}

var transactions = books.Table[transaction]{
	Name: "sandbox_chain_transaction",
	Columns: `
		hash         TEXT   NOT NULL PRIMARY KEY,
		chain        TEXT   NOT NULL,
		block_number BIGINT NOT NULL,
		dropped      BIGINT NOT NULL,
		created_at   BIGINT NOT NULL`,
	Fields: func(v *transaction) []any { return []any{&v.hash, &v.chain, &v.block, &v.isDropped, &v.createdAt} },
}

// end removes a subscription, drop takes a transaction out of the chain. Both
// return how many there were.
func (c *Custodian) end(ctx context.Context, id string) (int64, error) {
	return c.Exec(ctx, `DELETE FROM sandbox_subscription WHERE id = $1`, id)
}

func (c *Custodian) drop(ctx context.Context, hash string) (int64, error) {
	return c.Exec(ctx, `UPDATE sandbox_chain_transaction SET dropped = 1 WHERE hash = $1`, hash)
}

// sent are the notifications that were tried, as Tatum lists them.
func (c *Custodian) sent(ctx context.Context, state, direction string, size, offset int) ([]any, error) {
	return db.All(ctx, c, func(row db.Scanner) (any, error) {
		var id, attempts, code, at int64
		var sub, url, data, state string
		err := row.Scan(&id, &sub, &url, &data, &state, &attempts, &code, &at)
		return map[string]any{
			"type": "ADDRESS_EVENT", "id": books.Digest("notice", strconv.FormatInt(id, 10))[:24], "subscriptionId": sub, "url": url,
			"data": json.RawMessage(data), "timestamp": at / 1000, "retryCount": attempts, "failed": state == "failed",
			"response": map[string]any{"code": code, "networkError": code == 0},
		}, err
	}, `SELECT id, subscription_id, url, data, state, attempts, code, created_at FROM sandbox_chain_notice
		WHERE (state = $1 OR $1 = '') AND attempts > 0 ORDER BY CASE WHEN $2 = 'asc' THEN id ELSE -id END LIMIT $3 OFFSET $4`,
		state, direction, size, offset)
}

// announce writes a notification of a subscription, to be sent at an instant.
func announce(ctx context.Context, q db.Querier, sub subscription, payload map[string]any, now, at int64) error {
	data, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, `
		INSERT INTO sandbox_chain_notice (subscription_id, url, data, state, attempts, code, next_at, lease_until, created_at)
		VALUES ($1, $2, $3, 'waiting', 0, 0, $4, 0, $5)`, sub.id, sub.url, string(data), at, now)
	return err
}
