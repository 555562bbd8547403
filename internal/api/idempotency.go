package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
)

// once gives an operation the Idempotency-Key (completion.md §4.1): the same key
// and the same body get the first answer again, byte for byte. The body has
// kept the rules when it gets here, so that a typing error uses up no key.
//
// The business stores the answer in the commit that has it (Key.Render tells it
// how the answer looks). What no commit has stored, such as "Insufficient
// balance", is frozen afterwards. Answers that say nothing about the operation
// are not: our own mistakes, absences, limits, conflicts and closed gates. An
// answer that another request with the key may contradict is not sent.
func (e *edge) once(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := callOf(r.Context())
		sent, ok := r.Header["Idempotency-Key"]
		// A dry run does nothing: it neither uses a key up nor is answered by one. The
		// real request may come with the same key.
		if !ok || isDry(r) {
			handler.ServeHTTP(w, r)
			return
		}
		if len(sent) != 1 || !sane(sent[0]) {
			refuse(w, r, c.op.family, fault.New(fault.Invalid, "Idempotency-Key must be 1 to 255 printable ASCII characters"))
			return
		}
		e.use(w, r, c, sent[0], handler)
	})
}

// use answers one request with a key.
func (e *edge) use(w http.ResponseWriter, r *http.Request, c *call, value string, handler http.Handler) {
	print := fingerprint(r, c.body)
	key, answer, err := e.Keys.Open(r.Context(), c.company, value, print)
	if err != nil {
		refuse(w, r, c.op.family, err)
		return
	}
	if answer != nil {
		replay(w, *answer)
		return
	}
	memory := &memory{header: w.Header()}
	handler.ServeHTTP(memory, r.WithContext(context.WithValue(r.Context(), keyKey{}, key)))
	given := idempotency.Answer{Status: memory.status, Body: memory.body.Bytes()}
	if !lasting(given.Status) {
		send(w, given)
		return
	}
	// The caller may have gone; the answer is kept all the same.
	stands, err := e.Keys.Settle(context.WithoutCancel(r.Context()), key, given)
	switch {
	case err != nil:
		refuse(w, r, c.op.family, err)
	case stands.Status == given.Status && bytes.Equal(stands.Body, given.Body):
		send(w, given)
	default:
		replay(w, stands)
	}
}

// replay gives an answer that another request has had.
func replay(w http.ResponseWriter, a idempotency.Answer) {
	w.Header().Set("Idempotent-Replayed", "true")
	if a.Secret {
		w.Header().Set("Cache-Control", "no-store")
	}
	send(w, a)
}

type keyKey struct{}

// keyOf is the Idempotency-Key of the request, or nil.
func keyOf(ctx context.Context) *idempotency.Key {
	k, _ := ctx.Value(keyKey{}).(*idempotency.Key)
	return k
}

// sane tells whether a header value is 1 to 255 printable ASCII characters.
func sane(value string) bool {
	if value == "" || len(value) > 255 {
		return false
	}
	for _, c := range []byte(value) {
		if c < 0x20 || c > 0x7e {
			return false
		}
	}
	return true
}

// lasting tells whether an answer is the operation's own.
func lasting(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusTooManyRequests:
		return false
	}
	return status < 500
}

// fingerprint is what "the same request" means: method, path and body. How the
// body is written does not count: the order of its fields, white space, escapes,
// and noughts at the end of a fraction.
func fingerprint(r *http.Request, b *body) string {
	h := sha256.New()
	h.Write([]byte(r.Method + " " + strings.TrimSuffix(r.URL.Path, "/") + "\n"))
	if b != nil {
		// Maps are written with sorted keys; what was decoded from JSON can be
		// written as JSON.
		text, err := json.Marshal(plain(b.value))
		if err != nil {
			panic(err)
		}
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// plain is a decoded value in which equal numbers are spelled alike.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, field := range v {
			out[name] = plain(field)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = plain(one)
		}
		return out
	case json.Number:
		exact, ok := new(big.Rat).SetString(v.String())
		switch {
		case ok && exact.IsInt():
			return json.Number(exact.Num().String())
		case ok:
			// Not a text, of which one may look the same.
			return map[string]string{"number": exact.RatString()}
		}
	}
	return value
}

// memory is an answer that is not sent yet.
type memory struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header is the header of the real answer.
func (m *memory) Header() http.Header { return m.header }

// WriteHeader keeps the status.
func (m *memory) WriteHeader(status int) { m.status = status }

// Write keeps the bytes.
func (m *memory) Write(b []byte) (int, error) {
	if m.status == 0 {
		m.status = http.StatusOK
	}
	return m.body.Write(b)
}

// send gives a finished answer to the caller.
func send(w http.ResponseWriter, a idempotency.Answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.Status)
	// Nobody is left to tell when the caller has gone.
	_, _ = w.Write(a.Body)
}

// answer has a business do a request and shapes its result. The request's
// Idempotency-Key, if there is one, learns the shape first, so that the commit which
// decides the request stores the answer.
func answer[R, A any](ctx context.Context, shape func(R) (A, error), do func(key *idempotency.Key) (R, error)) (A, error) {
	c, key := callOf(ctx), keyOf(ctx)
	key.Render(func(result any, err error) idempotency.Answer {
		var body A
		if err == nil {
			body, err = shape(result.(R))
		}
		return render(c.op.family, body, err)
	})
	result, err := do(key)
	if err != nil {
		var none A
		return none, err
	}
	return shape(result)
}

// render is an answer before it is sent: what a commit stores.
func render(f family, body any, err error) idempotency.Answer {
	status := http.StatusOK
	if err != nil {
		status, body = f.dress(fault.Of(err))
	}
	a := idempotency.Answer{Status: status, Body: written(status, body)}
	if s, ok := body.(secretive); ok {
		a.Secret, a.Public = true, written(status, s.public())
	}
	return a
}

// written is a body as it is sent.
func written(status int, body any) []byte {
	m := &memory{header: http.Header{}}
	write(m, status, body)
	return m.body.Bytes()
}

// secretive is a body that shows a secret. It is kept sealed, and later shown as
// public has it.
type secretive interface{ public() any }

// FindIdempotencyKey shows what became of the request with a key.
func (h *handlers) FindIdempotencyKey(ctx context.Context, r FindIdempotencyKeyRequestObject) (FindIdempotencyKeyResponseObject, error) {
	use, err := h.Keys.Used(ctx, callOf(ctx).company, r.Key)
	if err != nil {
		return nil, err
	}
	row := IdempotencyUse{Key: use.Value, Status: "RUNNING", Reference: present(use.Subject), CreatedAt: clock.Text(use.CreatedAt)}
	if a := use.Answer; a != nil {
		status, response := int64(a.Status), json.RawMessage(a.Body)
		row.Status, row.ResponseStatus, row.Response = "DONE", &status, &response
	}
	return keptUse{Status: "success", Data: row}, nil
}

// keptUse is what became of a request. The answer that it shows may hold a secret.
type keptUse FindIdempotencyKey200JSONResponse

// VisitFindIdempotencyKeyResponse sends the answer, for nothing on the way to keep.
func (u keptUse) VisitFindIdempotencyKeyResponse(w http.ResponseWriter) error {
	w.Header().Set("Cache-Control", "no-store")
	return FindIdempotencyKey200JSONResponse(u).VisitFindIdempotencyKeyResponse(w)
}
