package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// webhookRow is where a company wants its events sent, and how that goes.
type webhookRow struct {
	ID           string   `json:"id"`
	Company      string   `json:"company"`
	URL          string   `json:"url"`
	Events       []string `json:"events"`
	Status       string   `json:"status"`
	Failures     int64    `json:"failures"`
	FailingSince *string  `json:"failingSince"`
	CreatedAt    string   `json:"createdAt"`
}

func webhookOf(e webhook.Endpoint) webhookRow {
	events := append([]string{}, e.Kinds...) // a list without entries, and not null
	return webhookRow{e.ID, e.Company, e.Address(), events, string(e.State), e.Failures, moment(e.FailingAt), clock.Text(e.CreatedAt)}
}

// listWebhooks shows the endpoints of all companies, those that are failing for
// one.
func (d *door) listWebhooks(ctx context.Context, r *request) (any, error) {
	state, err := r.oneOf("status", "", string(webhook.Active), string(webhook.Failing), string(webhook.Paused))
	if err != nil {
		return nil, err
	}
	return listed(r, webhookOf, func(limit, offset int) ([]webhook.Endpoint, int64, error) {
		return d.Webhooks.All(ctx, webhook.State(state), limit, offset)
	})
}
