package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/webhook"
)

func webhookOf(e webhook.Endpoint) Webhook {
	events := append([]string{}, e.Kinds...) // never null
	return Webhook{e.ID, e.Company, e.Address(), events, string(e.State), e.Failures, moment(e.FailingAt.Time), clock.Text(e.CreatedAt.Time)}
}

// listWebhooks shows the endpoints of all companies and their failures.
func (e *edge) listWebhooks(ctx context.Context, r *request) (any, error) {
	state := webhook.State(r.filter("status"))
	return listed(ctx, r, webhookOf, func(ctx context.Context, limit, offset int) ([]webhook.Endpoint, int64, error) {
		return e.Webhooks.All(ctx, state, limit, offset)
	})
}
