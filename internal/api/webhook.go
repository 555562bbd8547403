package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// CreateWebhook adds an endpoint. Its answer is the only one that shows the
// secret.
func (h *handlers) CreateWebhook(ctx context.Context, r CreateWebhookRequestObject) (CreateWebhookResponseObject, error) {
	c, key := callOf(ctx), keyOf(ctx)
	shape := func(s webhook.Secret) CreateWebhook200JSONResponse {
		return CreateWebhook200JSONResponse{Status: "success", Data: withSecret(s)}
	}
	key.Render(func(result any, err error) idempotency.Answer {
		var answer CreateWebhook200JSONResponse
		if err == nil {
			answer = shape(result.(webhook.Secret))
		}
		visit := func(w http.ResponseWriter) error { return answer.VisitCreateWebhookResponse(w) }
		full := render(c.op.family, visit, err)
		answer.Data.Secret = nil
		return confidential(full, render(c.op.family, visit, err))
	})
	made, err := h.Webhooks.Create(ctx, c.company, webhook.Draft{
		URL: &r.Body.URL, Description: r.Body.Description, Kinds: r.Body.Events, Active: r.Body.Active,
	}, key.Answer)
	if err != nil {
		return nil, idempotency.Taken(err)
	}
	return newWebhook(shape(made)), nil
}

// ListWebhooks shows the company's endpoints.
func (h *handlers) ListWebhooks(ctx context.Context, _ ListWebhooksRequestObject) (ListWebhooksResponseObject, error) {
	list, err := h.Webhooks.List(ctx, callOf(ctx).company)
	if err != nil {
		return nil, err
	}
	rows := make([]Webhook, 0, len(list))
	for _, e := range list {
		rows = append(rows, endpoint(e))
	}
	return ListWebhooks200JSONResponse{Status: "success", Data: rows}, nil
}

// FindWebhook shows an endpoint and what it has still to be told.
func (h *handlers) FindWebhook(ctx context.Context, r FindWebhookRequestObject) (FindWebhookResponseObject, error) {
	e, err := h.Webhooks.Find(ctx, callOf(ctx).company, r.ID)
	if err != nil {
		return nil, err
	}
	b, err := h.Webhooks.Backlog(ctx, e)
	if err != nil {
		return nil, err
	}
	row := endpoint(e)
	row.Backlog = &WebhookBacklog{Sequence: b.Sequence, Behind: b.Behind, Retrying: b.Retrying, Failed: b.Failed}
	return FindWebhook200JSONResponse{Status: "success", Data: row}, nil
}

// UpdateWebhook changes what was sent and leaves the rest.
func (h *handlers) UpdateWebhook(ctx context.Context, r UpdateWebhookRequestObject) (UpdateWebhookResponseObject, error) {
	c, key := callOf(ctx), keyOf(ctx)
	shape := func(e webhook.Endpoint) UpdateWebhook200JSONResponse {
		return UpdateWebhook200JSONResponse{Status: "success", Data: endpoint(e)}
	}
	key.Render(func(result any, err error) idempotency.Answer {
		var answer UpdateWebhook200JSONResponse
		if err == nil {
			answer = shape(result.(webhook.Endpoint))
		}
		return render(c.op.family, func(w http.ResponseWriter) error { return answer.VisitUpdateWebhookResponse(w) }, err)
	})
	e, err := h.Webhooks.Update(ctx, c.company, r.ID, webhook.Draft{
		URL: r.Body.URL, Description: r.Body.Description, Kinds: r.Body.Events, Active: r.Body.Active,
	}, key.Answer)
	if err != nil {
		return nil, idempotency.Taken(err)
	}
	return shape(e), nil
}

// DeleteWebhook ends an endpoint.
func (h *handlers) DeleteWebhook(ctx context.Context, r DeleteWebhookRequestObject) (DeleteWebhookResponseObject, error) {
	if err := h.Webhooks.Delete(ctx, callOf(ctx).company, r.ID); err != nil {
		return nil, err
	}
	return DeleteWebhook200JSONResponse{Status: "success", Message: "Webhook deleted"}, nil
}

// RotateWebhookSecret gives an endpoint a new secret, shown in this answer alone.
func (h *handlers) RotateWebhookSecret(ctx context.Context, r RotateWebhookSecretRequestObject) (RotateWebhookSecretResponseObject, error) {
	c, key := callOf(ctx), keyOf(ctx)
	shape := func(s webhook.Secret) RotateWebhookSecret200JSONResponse {
		return RotateWebhookSecret200JSONResponse{Status: "success", Data: withSecret(s)}
	}
	key.Render(func(result any, err error) idempotency.Answer {
		var answer RotateWebhookSecret200JSONResponse
		if err == nil {
			answer = shape(result.(webhook.Secret))
		}
		visit := func(w http.ResponseWriter) error { return answer.VisitRotateWebhookSecretResponse(w) }
		full := render(c.op.family, visit, err)
		answer.Data.Secret = nil
		return confidential(full, render(c.op.family, visit, err))
	})
	made, err := h.Webhooks.Rotate(ctx, c.company, r.ID, key.Answer)
	if err != nil {
		return nil, idempotency.Taken(err)
	}
	return newSecret(shape(made)), nil
}

// Nothing on the way may keep an answer that shows a secret.
type (
	newWebhook CreateWebhook200JSONResponse
	newSecret  RotateWebhookSecret200JSONResponse
)

// VisitCreateWebhookResponse sends the answer.
func (n newWebhook) VisitCreateWebhookResponse(w http.ResponseWriter) error {
	w.Header().Set("Cache-Control", "no-store")
	return CreateWebhook200JSONResponse(n).VisitCreateWebhookResponse(w)
}

// VisitRotateWebhookSecretResponse sends the answer.
func (n newSecret) VisitRotateWebhookSecretResponse(w http.ResponseWriter) error {
	w.Header().Set("Cache-Control", "no-store")
	return RotateWebhookSecret200JSONResponse(n).VisitRotateWebhookSecretResponse(w)
}

// TestWebhook tries an endpoint out and shows what it answered.
func (h *handlers) TestWebhook(ctx context.Context, r TestWebhookRequestObject) (TestWebhookResponseObject, error) {
	c, key := callOf(ctx), keyOf(ctx)
	shape := func(d webhook.Delivery) TestWebhook200JSONResponse {
		return TestWebhook200JSONResponse{Status: "success", Data: delivery(d)}
	}
	key.Render(func(result any, err error) idempotency.Answer {
		var answer TestWebhook200JSONResponse
		if err == nil {
			answer = shape(result.(webhook.Delivery))
		}
		return render(c.op.family, func(w http.ResponseWriter) error { return answer.VisitTestWebhookResponse(w) }, err)
	})
	d, err := h.Webhooks.Test(ctx, c.company, r.ID, key.Answer)
	if err != nil {
		return nil, idempotency.Taken(err)
	}
	return shape(d), nil
}

// ListWebhookDeliveries shows what was sent to an endpoint, newest first.
func (h *handlers) ListWebhookDeliveries(ctx context.Context, r ListWebhookDeliveriesRequestObject) (ListWebhookDeliveriesResponseObject, error) {
	var q query
	state := q.oneOf("status", r.Params.Status, string(webhook.Pending), string(webhook.Delivered), string(webhook.GivenUp))
	if err := q.fault(); err != nil {
		return nil, err
	}
	p := newPage(r.Params.Page, r.Params.PageSize)
	list, total, err := h.Webhooks.Deliveries(ctx, callOf(ctx).company, r.ID, webhook.DeliveryState(state), p.size, p.offset())
	if err != nil {
		return nil, err
	}
	rows := make([]WebhookDelivery, 0, len(list))
	for _, d := range list {
		rows = append(rows, delivery(d))
	}
	return ListWebhookDeliveries200JSONResponse{Status: "success", Data: WebhookDeliveryPage{
		Data: rows, Meta: p.meta(callOf(ctx).request.URL, len(rows), int(total)),
	}}, nil
}

// ResendWebhookDelivery sends what a delivery was about once more.
func (h *handlers) ResendWebhookDelivery(ctx context.Context, r ResendWebhookDeliveryRequestObject) (ResendWebhookDeliveryResponseObject, error) {
	c, key := callOf(ctx), keyOf(ctx)
	shape := func(d webhook.Delivery) ResendWebhookDelivery200JSONResponse {
		return ResendWebhookDelivery200JSONResponse{Status: "success", Data: delivery(d)}
	}
	key.Render(func(result any, err error) idempotency.Answer {
		var answer ResendWebhookDelivery200JSONResponse
		if err == nil {
			answer = shape(result.(webhook.Delivery))
		}
		return render(c.op.family, func(w http.ResponseWriter) error { return answer.VisitResendWebhookDeliveryResponse(w) }, err)
	})
	d, err := h.Webhooks.Resend(ctx, c.company, r.ID, key.Answer)
	if err != nil {
		return nil, idempotency.Taken(err)
	}
	return shape(d), nil
}

// ReplayWebhook sends a part of the feed to an endpoint once more.
func (h *handlers) ReplayWebhook(ctx context.Context, r ReplayWebhookRequestObject) (ReplayWebhookResponseObject, error) {
	c, key := callOf(ctx), keyOf(ctx)
	shape := func(p webhook.Replay) ReplayWebhook200JSONResponse {
		return ReplayWebhook200JSONResponse{Status: "success", Data: WebhookReplay{
			WebhookID: p.Endpoint, From: p.First, To: p.Last, RequestedAt: clock.Text(p.RequestedAt),
		}}
	}
	key.Render(func(result any, err error) idempotency.Answer {
		var answer ReplayWebhook200JSONResponse
		if err == nil {
			answer = shape(result.(webhook.Replay))
		}
		return render(c.op.family, func(w http.ResponseWriter) error { return answer.VisitReplayWebhookResponse(w) }, err)
	})
	var q query
	first, one := h.place(ctx, &q, "from", r.Body.From, false)
	last, two := h.place(ctx, &q, "to", r.Body.To, true)
	if err := errors.Join(q.fault(), one, two); err != nil {
		return nil, err
	}
	p, err := h.Webhooks.Replay(ctx, c.company, r.ID, first, last, key.Answer)
	if err != nil {
		return nil, idempotency.Taken(err)
	}
	return shape(p), nil
}

// place is where a replay begins or ends: a sequence number, or an instant, which
// stands for the events from it on or up to it.
func (h *handlers) place(ctx context.Context, q *query, name string, value json.RawMessage, end bool) (int64, error) {
	var text string
	if json.Unmarshal(value, &text) != nil {
		n, err := strconv.ParseInt(string(value), 10, 64) // the digits that were sent: a float would have an exponent
		if err != nil {
			q.wrong(name, "must be an integer")
		}
		return n, nil
	}
	at := q.instant(name, text, end)
	if at.IsZero() {
		if text == "" {
			q.wrong(name, "is not allowed to be empty")
		}
		return 0, nil
	}
	n, err := h.Events.Since(ctx, callOf(ctx).company, at)
	if end {
		n-- // the last before that
	}
	return n, err
}

// confidential has an answer kept sealed, and shown without its secret later.
func confidential(a, public idempotency.Answer) idempotency.Answer {
	a.Secret, a.Public = true, public.Body
	return a
}

func withSecret(s webhook.Secret) Webhook {
	row, shown := endpoint(s.Endpoint), s.Value.Reveal()
	row.Secret = &shown
	return row
}

func endpoint(e webhook.Endpoint) Webhook {
	kinds := e.Kinds
	if kinds == nil {
		kinds = []string{}
	}
	return Webhook{
		ID: e.ID, URL: e.URL, Description: present(e.Description), Events: kinds, Status: string(e.State),
		FailingSince: moment(e.FailingAt), OldSecretUntil: moment(e.OldUntil),
		CreatedAt: clock.Text(e.CreatedAt), UpdatedAt: clock.Text(e.UpdatedAt),
	}
}

func delivery(d webhook.Delivery) WebhookDelivery {
	row := WebhookDelivery{
		ID: d.ID, WebhookID: d.Endpoint, EventID: d.EventID, Event: d.Kind, Sequence: d.Sequence, Status: string(d.State),
		Attempts: d.Attempts, Response: present(d.Excerpt), Error: present(d.Trouble), NextAttemptAt: moment(d.NextAt),
		CreatedAt: clock.Text(d.CreatedAt), UpdatedAt: clock.Text(d.UpdatedAt),
	}
	if d.Attempts > 0 {
		row.LatencyMs = &d.Latency
	}
	if d.Status != 0 {
		row.ResponseStatus = &d.Status
	}
	return row
}
