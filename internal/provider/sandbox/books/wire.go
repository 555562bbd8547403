package books

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

// RequestLimit is the length in bytes of the longest request that is read.
const RequestLimit = 64 << 10

// No is the error for a refusal, with its HTTP status and message.
type No struct {
	Status  int
	Message string
}

// Error returns the message.
func (n No) Error() string { return n.Message }

// Complaint returns the refusal of a wrong request, with HTTP 400.
func Complaint(message string) error { return No{http.StatusBadRequest, message} }

// OrNo returns a refusal if err is db.ErrNone. It returns all other errors unchanged.
func OrNo(err error, status int, message string) error {
	if errors.Is(err, db.ErrNone) {
		return No{status, message}
	}
	return err
}

// Write sends a JSON response. It ignores errors, since the client may have closed the connection.
func Write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// Answer sends a success response in the envelope of Safe Haven and Sudo.
func Answer(w http.ResponseWriter, message string, data any) {
	Write(w, http.StatusOK, map[string]any{"statusCode": http.StatusOK, "message": message, "data": data})
}

// Refuse sends a refusal in the envelope of Safe Haven and Sudo.
func Refuse(w http.ResponseWriter, status int, message string) {
	Write(w, status, refusal(status, message))
}

func refusal(status int, message string) any {
	return map[string]any{
		"statusCode": status, "message": message, "error": http.StatusText(status), "error_description": nil,
	}
}

// Fail sends a response with HTTP 500.
func Fail(w http.ResponseWriter) {
	Refuse(w, http.StatusInternalServerError, "Internal server error")
}

// isOddRefusal returns true and false in turn. Real providers refuse with an HTTP error, or with
// HTTP 200 and a failure in the body. So the simulated providers alternate between these two forms.
func (b *Books) isOddRefusal() bool { return b.refusals.Add(1)%2 == 1 }

// Decline sends a definite refusal. Every second refusal has HTTP 200 and reports the failure in
// the body.
func (b *Books) Decline(w http.ResponseWriter, status int, message string) {
	if b.isOddRefusal() {
		Refuse(w, status, message)
		return
	}
	Write(w, http.StatusOK, refusal(status, message))
}

// Finish responds to a request at Safe Haven or Sudo. If err is a No, ErrRepeated or ErrPoor, the
// response is a refusal. Any other error becomes an HTTP 500. If err is nil, Finish calls usual.
func (b *Books) Finish(w http.ResponseWriter, err error, usual func()) {
	var no No
	switch {
	case errors.As(err, &no):
		b.Decline(w, no.Status, no.Message)
	case errors.Is(err, ErrRepeated):
		b.declineRepeated(w)
	case errors.Is(err, ErrPoor):
		b.Decline(w, http.StatusBadRequest, "Insufficient funds")
	case err != nil:
		Fail(w)
	default:
		usual()
	}
}

// declineRepeated refuses a payment reference that was used before. The refusal reports a duplicate
// record, in one of two forms.
func (b *Books) declineRepeated(w http.ResponseWriter) {
	status := http.StatusBadRequest
	if b.isOddRefusal() {
		status = http.StatusOK
	}
	Write(w, status, map[string]any{
		"statusCode": http.StatusBadRequest, "responseCode": "94", "message": "Duplicate record", "error": "Bad Request",
		"error_description": nil,
	})
}

// Decoded returns a handler that decodes a body of type T and calls handle. If the body cannot be
// decoded, it calls refuse.
func Decoded[T any](handle func(w http.ResponseWriter, r *http.Request, req T), refuse func(http.ResponseWriter)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var req T
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, RequestLimit)).Decode(&req); err != nil {
			refuse(w)
			return
		}
		handle(w, r, req)
	}
}

// Reading returns a handler as Decoded does. The handler refuses a body that cannot be decoded, in
// the same way as Safe Haven.
func Reading[T any](b *Books, handle func(w http.ResponseWriter, r *http.Request, req T)) http.HandlerFunc {
	return Decoded(handle, func(w http.ResponseWriter) { b.Decline(w, http.StatusBadRequest, "The request body cannot be read") })
}

// Lose makes the client lose the response. Every second response breaks off in the middle. Each of
// the other responses is held open until the caller gives up.
func (b *Books) Lose(w http.ResponseWriter, r *http.Request) {
	if _, is := Late(r.Context()); is {
		return // a late request: its client already got no response when the request was queued
	}
	if b.losses.Add(1)%2 == 1 {
		timer := time.NewTimer(b.hold)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
		case <-b.released:
		}
	} else {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", "400")
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write([]byte(`{"statusCode":200,"message":"Data Bundle purch`)) // the response breaks off on purpose
		_ = http.NewResponseController(w).Flush()
	}
	// This panic makes the server close the connection.
	panic(http.ErrAbortHandler)
}

// Page selects a page of a list.
type Page struct{ Number, Limit int64 }

// Span is the time range of the rows of a list, in microseconds.
type Span struct{ From, Before int64 }

// These constants are the largest number of rows on a page, and the default number.
const (
	maxPage   = 100
	usualPage = 25
)

// ReadPage reads the page and the date range of a request for a list. Both dates are in UTC and
// included. A wrong parameter gives a Complaint.
func ReadPage(r *http.Request) (Page, Span, error) {
	p, d := Page{0, usualPage}, Span{0, math.MaxInt64}
	q := r.URL.Query()
	for name, to := range map[string]*int64{"page": &p.Number, "limit": &p.Limit} {
		if q.Get(name) == "" {
			continue
		}
		n, err := strconv.ParseInt(q.Get(name), 10, 32)
		if err != nil || n < 0 || name == "limit" && (n == 0 || n > maxPage) {
			return p, d, Complaint(name + " must be a number of a page")
		}
		*to = n
	}
	for name, to := range map[string]*int64{"fromDate": &d.From, "toDate": &d.Before} {
		if q.Get(name) == "" {
			continue
		}
		day, err := time.Parse(time.DateOnly, q.Get(name))
		if err != nil {
			return p, d, Complaint(name + " must be a date, YYYY-MM-DD")
		}
		if name == "toDate" {
			day = day.AddDate(0, 0, 1)
		}
		*to = clock.Micros(day)
	}
	return p, d, nil
}

// List responds to a request for a list with the page that find returns.
func List[T any](b *Books, w http.ResponseWriter, r *http.Request, message string, show func(T) map[string]any,
	find func(Page, Span) ([]T, int64, error),
) {
	p, d, err := ReadPage(r)
	var list []T
	var total int64
	if err == nil {
		list, total, err = find(p, d)
	}
	b.Finish(w, err, func() { AnswerPage(w, message, list, show, total, p) })
}

// AnswerPage sends a page of a list in the envelope of Safe Haven and Sudo. In this envelope the
// page and the limit are strings.
func AnswerPage[T any](w http.ResponseWriter, message string, list []T, show func(T) map[string]any, total int64, p Page) {
	rows := make([]any, 0, len(list))
	for _, v := range list {
		rows = append(rows, show(v))
	}
	Write(w, http.StatusOK, map[string]any{
		"statusCode": http.StatusOK, "message": message, "data": rows, "pagination": map[string]any{
			"total": total, "pages": (total + p.Limit - 1) / p.Limit,
			"page": strconv.FormatInt(p.Number, 10), "limit": strconv.FormatInt(p.Limit, 10),
		},
	})
}
