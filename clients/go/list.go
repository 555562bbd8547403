package kobo

import (
	"context"
	"iter"
	"strconv"

	"github.com/kobo-waas/kobo/clients/go/api"
)

// each returns the items of all pages of a list. New items move the older ones to later pages while the
// pages are read, so each remembers the IDs and returns no item twice. If an item leaves the list meanwhile,
// the older ones move to earlier pages, and each may skip one of them.
func each[T any](id func(T) string, page func(number int) ([]T, api.ListMeta, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		seen := map[string]bool{}
		for n := 1; ; n++ {
			items, meta, err := page(n)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items {
				if name := id(item); !seen[name] {
					seen[name] = true
					if !yield(item, nil) {
						return
					}
				}
			}
			if !meta.HasNextPage {
				return
			}
		}
	}
}

// Customers returns the company's customers, newest first. The filter may be the zero value.
func (c *Client) Customers(ctx context.Context, filter api.ListCustomersParams) iter.Seq2[api.Customer, error] {
	return each(func(one api.Customer) string { return one.ID }, func(page int) (items []api.Customer, meta api.ListMeta, err error) {
		filter.Page = &page
		got, err := c.api.ListCustomersWithResponse(ctx, &filter)
		if err == nil && got.JSON200 == nil {
			err = errForeign
		}
		if err == nil {
			items, meta = got.JSON200.Data.Data, got.JSON200.Data.Meta
		}
		return items, meta, err
	})
}

// Transactions returns the payments into the accounts of customers, newest first. The filter may be the zero value.
func (c *Client) Transactions(ctx context.Context, filter api.ListTransactionsParams) iter.Seq2[api.Transaction, error] {
	return each(func(one api.Transaction) string { return one.ID }, func(page int) (items []api.Transaction, meta api.ListMeta, err error) {
		filter.Page = &page
		got, err := c.api.ListTransactionsWithResponse(ctx, &filter)
		if err == nil && got.JSON200 == nil {
			err = errForeign
		}
		if err == nil {
			items, meta = got.JSON200.Data.Data, got.JSON200.Data.Meta
		}
		return items, meta, err
	})
}

// LedgerEntries returns the entries of the settlement accounts, newest first. The filter may be the zero value.
func (c *Client) LedgerEntries(ctx context.Context, filter api.ListLedgerEntriesParams) iter.Seq2[api.LedgerRow, error] {
	return each(func(one api.LedgerRow) string { return one.ID }, func(page int) (items []api.LedgerRow, meta api.ListMeta, err error) {
		filter.Page = &page
		got, err := c.api.ListLedgerEntriesWithResponse(ctx, &filter)
		if err == nil && got.JSON200 == nil {
			err = errForeign
		}
		if err == nil {
			items, meta = got.JSON200.Data.Data, got.JSON200.Data.Meta
		}
		return items, meta, err
	})
}

// Purchases returns the purchases, newest first. The filter may be the zero value. If purchases leave the status
// of the filter meanwhile, the iteration may skip others.
func (c *Client) Purchases(ctx context.Context, filter api.ListVtuTransactionsParams) iter.Seq2[api.VtuTransaction, error] {
	return each(func(one api.VtuTransaction) string { return one.TransactionID }, func(page int) (items []api.VtuTransaction, meta api.ListMeta, err error) {
		filter.Page = &page
		got, err := c.api.ListVtuTransactionsWithResponse(ctx, &filter)
		if err == nil && got.JSON200 == nil {
			err = errForeign
		}
		if err == nil {
			items, meta = got.JSON200.Data.Data, got.JSON200.Data.Meta
		}
		return items, meta, err
	})
}

// CryptoTransactions returns the crypto transactions, newest first. The filter may be the zero value. If
// transactions leave the status of the filter meanwhile, the iteration may skip others.
func (c *Client) CryptoTransactions(ctx context.Context, filter api.ListCryptoTransactionsParams) iter.Seq2[api.CryptoTransaction, error] {
	return each(func(one api.CryptoTransaction) string { return strconv.FormatInt(one.ID, 10) }, func(page int) (items []api.CryptoTransaction, meta api.ListMeta, err error) {
		filter.Page = &page
		got, err := c.api.ListCryptoTransactionsWithResponse(ctx, &filter)
		if err == nil && got.JSON200 == nil {
			err = errForeign
		}
		if err == nil {
			items, meta = got.JSON200.Data.Data, got.JSON200.Data.Meta
		}
		return items, meta, err
	})
}

// OpenOutcomes returns the operations without a known outcome, newest first. The filter may be the zero value.
// The list shrinks when an outcome becomes known, and an iteration at this moment may skip an operation. So its
// absence proves nothing: read the outcome by the reference.
func (c *Client) OpenOutcomes(ctx context.Context, filter api.ListOutcomesParams) iter.Seq2[api.Outcome, error] {
	return each(func(one api.Outcome) string { return one.Reference }, func(page int) (items []api.Outcome, meta api.ListMeta, err error) {
		filter.Page = &page
		got, err := c.api.ListOutcomesWithResponse(ctx, &filter)
		if err == nil && got.JSON200 == nil {
			err = errForeign
		}
		if err == nil {
			items, meta = got.JSON200.Data.Data, got.JSON200.Data.Meta
		}
		return items, meta, err
	})
}

// Checkpoints returns the signed tree heads, newest first. The filter may be the zero value.
func (c *Client) Checkpoints(ctx context.Context, filter api.ListCheckpointsParams) iter.Seq2[api.Checkpoint, error] {
	return each(func(one api.Checkpoint) string { return one.Checkpoint }, func(page int) (items []api.Checkpoint, meta api.ListMeta, err error) {
		filter.Page = &page
		got, err := c.api.ListCheckpointsWithResponse(ctx, &filter)
		if err == nil && got.JSON200 == nil {
			err = errForeign
		}
		if err == nil {
			items, meta = got.JSON200.Data.Data, got.JSON200.Data.Meta
		}
		return items, meta, err
	})
}

// Cards returns the cards, newest first. The filter may be the zero value.
func (c *Client) Cards(ctx context.Context, filter api.ListCardsParams) iter.Seq2[api.Card, error] {
	return each(func(one api.Card) string { return one.ID }, func(page int) (items []api.Card, meta api.ListMeta, err error) {
		filter.Page = &page
		got, err := c.api.ListCardsWithResponse(ctx, &filter)
		if err == nil && got.JSON200 == nil {
			err = errForeign
		}
		if err == nil {
			items, meta = got.JSON200.Data.Data, got.JSON200.Data.Meta
		}
		return items, meta, err
	})
}

// CardTransactions returns the transactions of a card, newest first. The filter may be the zero value.
func (c *Client) CardTransactions(ctx context.Context, cardID string, filter api.ListCardTransactionsParams) iter.Seq2[api.CardActivity, error] {
	return each(func(one api.CardActivity) string { return one.ID }, func(page int) (items []api.CardActivity, meta api.ListMeta, err error) {
		filter.Page = &page
		got, err := c.api.ListCardTransactionsWithResponse(ctx, cardID, &filter)
		if err == nil && got.JSON200 == nil {
			err = errForeign
		}
		if err == nil {
			items, meta = got.JSON200.Data.Data, got.JSON200.Data.Meta
		}
		return items, meta, err
	})
}

// WebhookDeliveries returns the deliveries of a webhook endpoint, newest first. The filter may be the zero value.
// If deliveries leave the status of the filter meanwhile, the iteration may skip others.
func (c *Client) WebhookDeliveries(ctx context.Context, id string, filter api.ListWebhookDeliveriesParams) iter.Seq2[api.WebhookDelivery, error] {
	return each(func(one api.WebhookDelivery) string { return one.ID }, func(page int) (items []api.WebhookDelivery, meta api.ListMeta, err error) {
		filter.Page = &page
		got, err := c.api.ListWebhookDeliveriesWithResponse(ctx, id, &filter)
		if err == nil && got.JSON200 == nil {
			err = errForeign
		}
		if err == nil {
			items, meta = got.JSON200.Data.Data, got.JSON200.Data.Meta
		}
		return items, meta, err
	})
}
