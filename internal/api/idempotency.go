package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/wire"
)

// The middleware once handles the Idempotency-Key of an operation (completion.md §4.1). A repeated
// request with the same key and body gets the first response again, byte for byte. A body that
// breaks a rule is refused earlier, so a typing error does not use up the key.
//
// The business service stores the response in the same commit as the result of the operation. It
// gets this response from the function that was given to Key.Render. Other responses, such as
// "Insufficient balance", are stored after the handler has returned. Responses that do not show
// what the operation did are not stored. These are internal errors, unavailable services, limits,
// conflicts and refused access tokens. A refusal because an earlier request has no outcome yet is
// not stored either, because the next request may be answered differently.
//
// If two requests with the same key run concurrently, only one of them begins the operation. While
// this request is running, the second gets a 409 instead of a result, because the operation may end
// differently.
func (e *edge) once(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, ok := r.Header["Idempotency-Key"]
		switch {
		// A dry run changes nothing. It neither uses up the key nor gets the stored response of the
		// key, so the real request may use the same key.
		case !ok || isDry(r):
			handler.ServeHTTP(w, r)
		case len(sent) != 1 || !keyShape.MatchString(sent[0]):
			refuse(w, r, fault.New(fault.Invalid, "Idempotency-Key must be 1 to 255 printable ASCII characters"))
		default:
			e.use(w, r, sent[0], handler)
		}
	})
}

// keyShape matches a valid Idempotency-Key.
var keyShape = regexp.MustCompile(`^[ -~]{1,255}$`)

// commitsFirst names the operations that change nothing, here or at a provider, before their first
// commit. This commit inserts the row of the Idempotency-Key, so it is refused if the key was used
// before. These operations run without a look-up of the key. Only if they commit nothing, the key
// is looked up, and decides the response as if it had been looked up first.
var commitsFirst = map[string]bool{
	"purchaseData": true, "purchaseCableTV": true, "purchaseAirtime": true, "purchaseUtility": true,
}

// The method use handles a request that has an Idempotency-Key.
func (e *edge) use(w http.ResponseWriter, r *http.Request, value string, handler http.Handler) {
	c := callOf(r.Context())
	print := fingerprint(r, c.body)
	var early *memory // the response of an operation that ran without a look-up of its key
	if commitsFirst[c.op.ID] {
		c.key = e.Keys.Unread(c.company, value, print)
		early = run(handler, r, w.Header().Clone())
		if c.key.Committed() || fault.Is(c.err, fault.Unknown) { // after Unknown, the stored key may be of this request
			e.settle(w, r, early)
			return
		}
	}
	why, reason := c.err, c.reason
	c.err, c.reason = nil, ""
	key, answer, err := e.Keys.Open(r.Context(), c.company, value, print)
	switch {
	case err != nil:
		refuse(w, r, err)
	case answer != nil:
		replay(w, c, *answer)
	case early != nil && key.Subject() == "" && key.Expired() == nil:
		c.err, c.reason = why, reason
		e.settle(w, r, early)
	default:
		c.key = key
		e.settle(w, r, run(handler, r, w.Header()))
	}
}

// run calls a handler and returns its response.
func run(handler http.Handler, r *http.Request, header http.Header) *memory {
	m := &memory{header: header, status: http.StatusOK}
	handler.ServeHTTP(m, r)
	return m
}

// settle stores the response of a request with an Idempotency-Key, and sends it. If a different
// response is stored already, settle sends that response.
func (e *edge) settle(w http.ResponseWriter, r *http.Request, m *memory) {
	maps.Copy(w.Header(), m.header)
	c := callOf(r.Context())
	key, given := c.key, idempotency.Answer{
		Status: m.status, Body: m.Bytes(), Reason: c.reason, Passing: m.status >= http.StatusBadRequest && c.reason == fault.BeingConfirmed,
	}
	if !lasting(given.Status) {
		send(w, given)
		return
	}
	// The response is stored even if the caller has disconnected.
	stands, err := e.Keys.Settle(context.WithoutCancel(r.Context()), key, given)
	switch {
	case err != nil:
		refuse(w, r, err)
	case stands.Status == given.Status && bytes.Equal(stands.Body, given.Body) && key.Expired() == nil:
		send(w, given)
	default:
		replay(w, c, stands)
	}
}

// replay sends the stored response of an earlier request.
func replay(w http.ResponseWriter, c *call, a idempotency.Answer) {
	c.reason = a.Reason
	if c.reason == "" && a.Status >= http.StatusBadRequest {
		c.reason = fault.Unstated // an earlier release stored the response without a word
	}
	w.Header().Set("Idempotent-Replayed", "true")
	if a.Secret {
		w.Header().Set("Cache-Control", "no-store")
	}
	send(w, a)
}

// lasting reports whether a status shows what the operation did, so that the response is stored.
func lasting(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusTooManyRequests:
		return false
	}
	return status < 500
}

// fingerprint identifies a request by its method, path and body. Requests that differ only in
// field order, white space, escapes or zeros at the end of a fraction have the same fingerprint.
func fingerprint(r *http.Request, b *contract.Body) string {
	text := []byte(r.Method + " " + strings.TrimSuffix(r.URL.Path, "/") + "\n")
	if b != nil {
		text = appendPlain(text, b.Value)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// appendPlain appends the JSON of a decoded value. It sorts the fields of objects. Equal numbers,
// such as 1.5 and 1.50, get the same spelling.
func appendPlain(out []byte, value any) []byte {
	switch v := value.(type) {
	case map[string]any:
		out = append(out, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendPlain(out, name)
			out = appendPlain(append(out, ':'), v[name])
		}
		return append(out, '}')
	case []any:
		out = append(out, '[')
		for i, one := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendPlain(out, one)
		}
		return append(out, ']')
	case json.Number:
		return appendNumber(out, v.String())
	case string:
		if !strings.ContainsFunc(v, isEscaped) {
			return append(append(append(out, '"'), v...), '"')
		}
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // the value was decoded from JSON
	}
	return append(out, text...)
}

// isEscaped reports whether json.Marshal may escape a character.
func isEscaped(c rune) bool { return c < ' ' || c > '~' || strings.ContainsRune(`"\<>&`, c) }

func appendNumber(out []byte, digits string) []byte {
	if strings.Trim(digits, "0123456789") == "" {
		return append(out, digits...)
	}
	exact, ok := new(big.Rat).SetString(digits)
	switch {
	case !ok:
		return append(out, digits...)
	case exact.IsInt():
		return append(out, exact.Num().String()...)
	}
	return append(out, `{"number":"`+exact.RatString()+`"}`...) // the number 1.5 must differ from the text "3/2"
}

// memory buffers a response before it is sent.
type memory struct {
	bytes.Buffer
	header http.Header
	status int
}

// Header returns the header of the real response.
func (m *memory) Header() http.Header { return m.header }

// WriteHeader stores the status.
func (m *memory) WriteHeader(status int) { m.status = status }

// send writes a finished response to the caller.
func send(w http.ResponseWriter, a idempotency.Answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // an error means that the caller has disconnected
}

// The function answer calls a business service with do, and turns the result into a response with
// shape. If the request has an Idempotency-Key, answer first gives the key a function that builds
// the response. The business service can then store the response in the same commit as the result.
//
// If the stored response of an old Idempotency-Key has been removed, answer does not call the
// business service. It returns a fault with the date on which the Idempotency-Key was used.
func answer[R, A any](ctx context.Context, shape func(R) (A, error), do func(key *idempotency.Key) (R, error)) (A, error) {
	return resumable(ctx, shape, nil, do)
}

// The function resumable does the same as answer for a request that makes an object. If an earlier
// request with the same Idempotency-Key has made the object, resumable calls resume and not do. The
// function resume only reads the object, so it also makes the response anew after the stored
// response has been removed.
func resumable[R, A any](
	ctx context.Context, shape func(R) (A, error),
	resume func(ctx context.Context, company, subject string, key *idempotency.Key) (R, error), do func(key *idempotency.Key) (R, error),
) (A, error) {
	var none A
	c := callOf(ctx)
	c.key.Render(func(result any, err error) idempotency.Answer {
		var body A
		if err == nil {
			body, err = shape(result.(R))
		}
		a := render(c.family, body, err)
		if err == nil {
			a.Reason = reasonOf(result)
		}
		return a
	})
	var result R
	err := c.key.Expired()
	if subject := c.key.Subject(); resume != nil && subject != "" {
		result, err = resume(ctx, c.company, subject, c.key)
	} else if err == nil {
		result, err = do(c.key)
	}
	if err != nil {
		return none, err
	}
	c.explain(result)
	return shape(result)
}

// render encodes a response in the form in which it is stored with an Idempotency-Key.
func render(f family, body any, err error) idempotency.Answer {
	a := idempotency.Answer{Status: http.StatusOK}
	if err != nil {
		why := fault.Of(err)
		a.Reason = why.Reason()
		a.Status, body = f.dress(why)
	}
	if s, ok := body.(interface{ status() int }); ok && err == nil {
		a.Status = s.status()
	}
	a.Body = written(a.Status, body)
	if s, ok := body.(secretive); ok {
		a.Secret, a.Public = true, written(a.Status, s.public())
	}
	return a
}

// The function written encodes a body exactly as it is sent.
func written(status int, body any) []byte {
	m := &memory{header: http.Header{}}
	contract.Write(m, status, body)
	return m.Bytes()
}

// secretive is a response body that shows a secret. The body is stored encrypted. After ten
// minutes, a repeated request gets a body without the secret, which the method public returns.
type secretive interface{ public() any }

// FindIdempotencyKey shows the response to the request that was sent with the given
// Idempotency-Key. The response may contain a secret.
func (h *handlers) FindIdempotencyKey(ctx context.Context, r FindIdempotencyKeyRequestObject) (FindIdempotencyKeyResponseObject, error) {
	c := callOf(ctx)
	use, err := h.Keys.Used(ctx, c.company, r.Key)
	if err != nil {
		return nil, err
	}
	row := IdempotencyUse{Key: use.Value, Status: "RUNNING", Reference: wire.Optional(use.Subject), CreatedAt: clock.Text(use.CreatedAt)}
	if a := use.Answer; a != nil {
		status, response := int64(a.Status), json.RawMessage(a.Body)
		row.Status, row.ResponseStatus = "DONE", &status
		if response != nil {
			row.Response = &response
		}
	}
	c.noStore()
	return FindIdempotencyKey200JSONResponse{Status: "success", Data: row}, nil
}
