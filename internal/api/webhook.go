package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// CreateWebhook adds an endpoint. Only this response shows the endpoint's secret.
func (h *handlers) CreateWebhook(ctx context.Context, r CreateWebhookRequestObject) (CreateWebhookResponseObject, error) {
	return answer(ctx, func(e webhook.Endpoint) (newWebhook, error) {
		return newWebhook{Status: "success", Data: e}, nil
	}, func(key *idempotency.Key) (webhook.Endpoint, error) {
		return h.Webhooks.Create(ctx, callOf(ctx).company, webhook.Draft{
			URL: &r.Body.URL, Description: r.Body.Description, Kinds: r.Body.Events, Active: r.Body.Active,
		}, key)
	})
}

// ListWebhooks lists the company's endpoints.
func (h *handlers) ListWebhooks(ctx context.Context, _ ListWebhooksRequestObject) (ListWebhooksResponseObject, error) {
	list, err := h.Webhooks.List(ctx, callOf(ctx).company)
	if err != nil {
		return nil, err
	}
	return ListWebhooks200JSONResponse{Status: "success", Data: append([]Webhook{}, list...)}, nil
}

// FindWebhook returns an endpoint with its backlog.
func (h *handlers) FindWebhook(ctx context.Context, r FindWebhookRequestObject) (FindWebhookResponseObject, error) {
	e, err := h.Webhooks.Find(ctx, callOf(ctx).company, r.ID)
	if err != nil {
		return nil, err
	}
	b, err := h.Webhooks.Backlog(ctx, e)
	if err != nil {
		return nil, err
	}
	e.Backlog = &b
	return FindWebhook200JSONResponse{Status: "success", Data: e}, nil
}

// UpdateWebhook changes the fields that were sent.
func (h *handlers) UpdateWebhook(ctx context.Context, r UpdateWebhookRequestObject) (UpdateWebhookResponseObject, error) {
	return answer(ctx, func(e webhook.Endpoint) (UpdateWebhook200JSONResponse, error) {
		return UpdateWebhook200JSONResponse{Status: "success", Data: e}, nil
	}, func(key *idempotency.Key) (webhook.Endpoint, error) {
		return h.Webhooks.Update(ctx, callOf(ctx).company, r.ID, webhook.Draft{
			URL: r.Body.URL, Description: r.Body.Description, Kinds: r.Body.Events, Active: r.Body.Active,
		}, key)
	})
}

// DeleteWebhook deletes an endpoint.
func (h *handlers) DeleteWebhook(ctx context.Context, r DeleteWebhookRequestObject) (DeleteWebhookResponseObject, error) {
	if err := h.Webhooks.Delete(ctx, callOf(ctx).company, r.ID); err != nil {
		return nil, err
	}
	return DeleteWebhook200JSONResponse{Status: "success", Message: "Webhook deleted"}, nil
}

// RotateWebhookSecret gives an endpoint a new secret. Only this response shows the secret.
func (h *handlers) RotateWebhookSecret(ctx context.Context, r RotateWebhookSecretRequestObject) (RotateWebhookSecretResponseObject, error) {
	return answer(ctx, func(e webhook.Endpoint) (newSecret, error) {
		return newSecret{Status: "success", Data: e}, nil
	}, func(key *idempotency.Key) (webhook.Endpoint, error) {
		return h.Webhooks.Rotate(ctx, callOf(ctx).company, r.ID, key)
	})
}

// These responses show a secret, so a cache must not store them.
type (
	newWebhook CreateWebhook200JSONResponse
	newSecret  RotateWebhookSecret200JSONResponse
)

// VisitCreateWebhookResponse sends the response with a header that forbids caching.
func (n newWebhook) VisitCreateWebhookResponse(w http.ResponseWriter) error {
	w.Header().Set("Cache-Control", "no-store")
	return CreateWebhook200JSONResponse(n).VisitCreateWebhookResponse(w)
}

// VisitRotateWebhookSecretResponse sends the response with a header that forbids caching.
func (n newSecret) VisitRotateWebhookSecretResponse(w http.ResponseWriter) error {
	w.Header().Set("Cache-Control", "no-store")
	return RotateWebhookSecret200JSONResponse(n).VisitRotateWebhookSecretResponse(w)
}

func (n newWebhook) public() any { n.Data.Secret = webhook.Secret{}; return n }

func (n newSecret) public() any { n.Data.Secret = webhook.Secret{}; return n }

// TestWebhook posts a test message to an endpoint and returns the result.
func (h *handlers) TestWebhook(ctx context.Context, r TestWebhookRequestObject) (TestWebhookResponseObject, error) {
	return answer(ctx, func(d webhook.Delivery) (TestWebhook200JSONResponse, error) {
		return TestWebhook200JSONResponse{Status: "success", Data: d}, nil
	}, func(key *idempotency.Key) (webhook.Delivery, error) {
		return h.Webhooks.Test(ctx, callOf(ctx).company, r.ID, key)
	})
}

// ListWebhookDeliveries lists the deliveries to an endpoint, newest first.
func (h *handlers) ListWebhookDeliveries(ctx context.Context, r ListWebhookDeliveriesRequestObject) (ListWebhookDeliveriesResponseObject, error) {
	var q query
	state := q.oneOf("status", r.Params.Status, string(webhook.Pending), string(webhook.Delivered), string(webhook.GivenUp))
	if err := q.fault(); err != nil {
		return nil, err
	}
	list, meta, err := turned(ctx, r.Params.Page, r.Params.PageSize, func(offset, limit int) ([]webhook.Delivery, int, error) {
		list, total, err := h.Webhooks.Deliveries(ctx, callOf(ctx).company, r.ID, webhook.DeliveryState(state), limit, offset)
		return list, int(total), err
	}, func(cursor string, limit int) ([]webhook.Delivery, error) {
		return h.Webhooks.DeliveriesAfter(ctx, callOf(ctx).company, r.ID, webhook.DeliveryState(state), cursor, limit)
	})
	if err != nil {
		return nil, err
	}
	return ListWebhookDeliveries200JSONResponse{Status: "success", Data: WebhookDeliveryPage{
		Data: append([]WebhookDelivery{}, list...), Meta: meta,
	}}, nil
}

// FindWebhookDelivery shows a delivery with each of its attempts.
func (h *handlers) FindWebhookDelivery(ctx context.Context, r FindWebhookDeliveryRequestObject) (FindWebhookDeliveryResponseObject, error) {
	d, err := h.Webhooks.Delivery(ctx, callOf(ctx).company, r.ID, r.DeliveryID)
	return FindWebhookDelivery200JSONResponse{Status: "success", Data: d}, err
}

// ResendWebhookDelivery sends the event of a delivery again.
func (h *handlers) ResendWebhookDelivery(ctx context.Context, r ResendWebhookDeliveryRequestObject) (ResendWebhookDeliveryResponseObject, error) {
	return answer(ctx, func(d webhook.Delivery) (ResendWebhookDelivery200JSONResponse, error) {
		return ResendWebhookDelivery200JSONResponse{Status: "success", Data: d}, nil
	}, func(key *idempotency.Key) (webhook.Delivery, error) {
		return h.Webhooks.Resend(ctx, callOf(ctx).company, r.ID, key)
	})
}

// ReplayWebhook sends a part of the event feed to an endpoint again.
func (h *handlers) ReplayWebhook(ctx context.Context, r ReplayWebhookRequestObject) (ReplayWebhookResponseObject, error) {
	var q query
	first, one := h.place(ctx, &q, "from", r.Body.From, false)
	last, two := h.place(ctx, &q, "to", r.Body.To, true)
	if err := errors.Join(q.fault(), one, two); err != nil {
		return nil, err
	}
	return answer(ctx, func(p webhook.Replay) (ReplayWebhook200JSONResponse, error) {
		return ReplayWebhook200JSONResponse{Status: "success", Data: p}, nil
	}, func(key *idempotency.Key) (webhook.Replay, error) {
		return h.Webhooks.Replay(ctx, callOf(ctx).company, r.ID, first, last, key)
	})
}

// place returns the sequence number at which a replay begins or ends. The caller may send an
// instant instead of a number. A replay then begins with the first event from that instant on, or
// ends with the last event up to that instant.
func (h *handlers) place(ctx context.Context, q *query, name string, value json.RawMessage, end bool) (int64, error) {
	var text string
	if json.Unmarshal(value, &text) != nil {
		n, err := strconv.ParseInt(string(value), 10, 64) // parses the digits as sent, because a float would have an exponent
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
		n-- // Since returns the first event after the end of the range, so the event before it is the last
	}
	return n, err
}
