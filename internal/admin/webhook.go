package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/webhook"
	"github.com/kobo-waas/kobo/internal/wire"
)

func webhookOf(e webhook.Endpoint) Webhook {
	events := append([]string{}, e.Kinds...) // never null
	return Webhook{e.ID, e.Company, e.Address(), events, string(e.State), e.Failures, clock.Optional(e.FailingAt.Time), clock.Text(e.CreatedAt.Time)}
}

func (e *edge) listWebhooks(ctx context.Context, r *request) (any, error) {
	return filtered(ctx, r, webhookOf, webhook.State(r.filter("status")), e.Webhooks.All)
}

// listCompanyWebhooks lists a company's webhooks with what waits for them and their last answer.
func (e *edge) listCompanyWebhooks(ctx context.Context, r *request) (any, error) {
	c, err := e.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	endpoints, err := e.Webhooks.List(ctx, c.Reference)
	if err != nil {
		return nil, err
	}
	out := CompanyWebhooks{Webhooks: make([]CompanyWebhook, len(endpoints))}
	for i, one := range endpoints {
		b, err := e.Webhooks.Backlog(ctx, one)
		if err != nil {
			return nil, err
		}
		last, tried, err := e.Webhooks.Latest(ctx, c.Reference, one.ID)
		if err != nil {
			return nil, err
		}
		w := webhookOf(one)
		out.Webhooks[i] = CompanyWebhook{
			ID: w.ID, URL: w.URL, Events: w.Events, Status: w.Status, Failures: w.Failures, FailingSince: w.FailingSince, CreatedAt: w.CreatedAt,
			Sequence: b.Sequence, Behind: b.Behind, Retrying: b.Retrying, Failed: b.Failed,
		}
		if tried {
			d := deliveryOf(last)
			out.Webhooks[i].Last = &d
		}
		sent, err := e.Reports.DeliveredBy(ctx, c.Reference, one.ID)
		if err != nil {
			return nil, err
		}
		out.Webhooks[i].P95Ms = wire.Optional(sent.P95.Milliseconds())
		out.Webhooks[i].Hours = rows(sent.Hours, func(h report.DeliveredHour) DeliveryHour {
			return DeliveryHour{clock.Text(h.At), h.Attempts[0], h.Attempts[1], h.Attempts[2], h.Attempts[3], h.Attempts[4]}
		})
	}
	return out, nil
}

func deliveryOf(d webhook.Delivery) Delivery {
	return Delivery{
		ID: d.ID, WebhookID: d.Endpoint, EventID: d.EventID, Event: d.Kind, Sequence: d.Sequence, Status: string(d.State), Attempts: d.Attempts,
		ResponseStatus: wire.Optional(int64(d.Status)), Error: wire.Optional(string(d.Trouble)), NextAttemptAt: clock.Optional(d.NextAt.Time),
		CreatedAt: clock.Text(d.CreatedAt.Time), UpdatedAt: clock.Text(d.UpdatedAt.Time),
	}
}

// findDelivery shows a delivery with each attempt. The answers of the endpoint are redacted.
func (e *edge) findDelivery(ctx context.Context, r *request) (any, error) {
	c, err := e.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	d, err := e.Webhooks.Whole(ctx, c.Reference, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return DeliveryDetail{Delivery: deliveryOf(d), History: rows(d.History, func(a webhook.Attempt) DeliveryAttempt {
		return DeliveryAttempt{
			Attempt: a.Number, At: clock.Text(a.At.Time), ResponseStatus: wire.Optional(int64(a.Status)), LatencyMs: a.Latency,
			Response: wire.Optional(string(a.Response)), Error: wire.Optional(string(a.Trouble)),
		}
	})}, nil
}

func (e *edge) resendDelivery(ctx context.Context, r *request, body ResendRequest) (any, error) {
	d, err := e.Webhooks.ResendBy(ctx, r.by, body.Company, r.PathValue("id"))
	return deliveryOf(d), err
}

func (e *edge) replayWebhook(ctx context.Context, r *request, body ReplayRequest) (any, error) {
	p, err := e.Webhooks.ReplayBy(ctx, r.by, body.Company, r.PathValue("id"), body.From, body.To)
	return Replay{p.Endpoint, p.First, p.Last, clock.Text(p.RequestedAt.Time)}, err
}
