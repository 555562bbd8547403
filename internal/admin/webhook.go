package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/webhook"
)

func webhookOf(e webhook.Endpoint) Webhook {
	events := append([]string{}, e.Kinds...) // never null
	return Webhook{e.ID, e.Company, e.Address(), events, string(e.State), e.Failures, clock.Optional(e.FailingAt.Time), clock.Text(e.CreatedAt.Time)}
}

func (e *edge) listWebhooks(ctx context.Context, r *request) (any, error) {
	return filtered(ctx, r, webhookOf, webhook.State(r.filter("status")), e.Webhooks.All)
}
