package api

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/request"
	"github.com/kobo-waas/kobo/internal/text"
	"github.com/kobo-waas/kobo/internal/wire"
)

// journal puts a request of a company into the log that the company can read. A page that a person reads asks several
// times, so its reads are left out.
func (e *edge) journal(r *http.Request, c *call, status int, took time.Duration) {
	_, sits := seatOf(r.Context())
	if c.company == "" || c.op == nil || sits && r.Method == http.MethodGet {
		return
	}
	key := r.Header.Get("Idempotency-Key")
	if !c.op.Idempotent || !keyShape.MatchString(key) {
		key = ""
	}
	e.Requests.Add(request.Entry{
		Company: c.company, Method: r.Method, Path: shown(c.op.Path, r.PathValue), Status: int64(status), Reason: string(c.reason),
		RequestID: c.id, IdempotencyKey: key, APIKeyID: c.apiKey, Address: c.address, Body: c.sent(status),
		TookMicros: took.Microseconds(), CreatedAt: e.Clock.Now().Add(-took), Subject: peer.SubjectOf(r.Context()),
	})
}

// digits and letter match what a long id of Kobo has.
var (
	digits = regexp.MustCompile(`[0-9]`)
	letter = regexp.MustCompile(`[a-z]`)
)

// shown returns a route with the values of its parameters. A value stays the name of the parameter unless
// Kobo has made it, because a company may put an e-mail address there.
func shown(route string, value func(name string) string) string {
	parts := strings.Split(route, "/")
	for i, part := range parts {
		if !strings.HasPrefix(part, "{") || !strings.HasSuffix(part, "}") {
			continue
		}
		v := value(strings.Trim(part, "{}"))
		if text.IsOwnID(v) && (len(v) <= 9 || digits.MatchString(v) && letter.MatchString(v)) {
			parts[i] = v
		}
	}
	return strings.Join(parts, "/")
}

// mostBody is the largest size of a body in the log, in bytes.
const mostBody = 2 << 10

// sent returns the redacted body of a refused or failed request, or "".
func (c *call) sent(status int) string {
	if c.body == nil || status < http.StatusBadRequest && c.reason == "" {
		return ""
	}
	return text.Redacted(c.body.Value, mostBody)
}

// cursorShape matches the ID of a row of the log.
var cursorShape = regexp.MustCompile(`^[0-9a-f]{28}$`)

// ListRequests lists the company's requests, newest first.
func (h *handlers) ListRequests(ctx context.Context, r ListRequestsRequestObject) (ListRequestsResponseObject, error) {
	var q query
	filter := request.Filter{
		Method:    q.oneOf("method", r.Params.Method, http.MethodGet, http.MethodPost, http.MethodDelete),
		RequestID: r.Params.RequestID, IdempotencyKey: r.Params.IdempotencyKey,
		From: q.instant("from", r.Params.From, false), To: q.instant("to", r.Params.To, true),
	}
	filter.Least, filter.Most = q.statuses("status", r.Params.Status)
	if r.Params.Cursor != "" && !cursorShape.MatchString(r.Params.Cursor) {
		q.wrong("cursor", "must be the next of an earlier page")
	}
	if err := q.fault(); err != nil {
		return nil, err
	}
	company := callOf(ctx).company
	list, next, err := h.Requests.List(ctx, company, filter, r.Params.Cursor, contract.Clamp(r.Params.Limit, 50, 100))
	if err != nil {
		return nil, err
	}
	endings, err := h.endings(ctx, company)
	return ListRequests200JSONResponse{Status: "success", Data: RequestPage{
		Data: each(list, func(e request.Entry) LoggedRequest {
			return LoggedRequest{
				ID: e.ID, CreatedAt: clock.Text(e.CreatedAt), Method: e.Method, Path: e.Path, Status: int(e.Status), Reason: wire.Optional(e.Reason),
				DurationMs: int(e.TookMicros / 1000), RequestID: e.RequestID, IdempotencyKey: wire.Optional(e.IdempotencyKey),
				APIKeyID: wire.Optional(e.APIKeyID), APIKeyEnding: wire.Optional(endings[e.APIKeyID]), SourceAddress: e.Address, Body: wire.Optional(e.Body),
			}
		}), Next: wire.Optional(next),
	}}, err
}

// endings returns the last characters of a company's API keys, by their IDs.
func (h *handlers) endings(ctx context.Context, company string) (map[string]string, error) {
	keys, err := h.Companies.Keys(ctx, company)
	out := make(map[string]string, len(keys))
	for _, k := range keys {
		out[k.ID] = k.Ending
	}
	return out, err
}

// statuses parses a status such as 400, or a class of statuses such as 4xx. It returns the lowest and the
// highest status, or zeros for an empty text.
func (q *query) statuses(name, value string) (least, most int64) {
	if class, ok := strings.CutSuffix(value, "xx"); ok && len(class) == 1 && class >= "1" && class <= "5" {
		least = int64(class[0]-'0') * 100
		return least, least + 99
	}
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case value == "":
		return 0, 0
	case err != nil || n < 100 || n > 599:
		q.wrong(name, "must be a status such as 400, or a class such as 4xx")
	}
	return n, n
}
