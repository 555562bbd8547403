package sandbox

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
)

// requestLimit is the longest request we read.
const requestLimit = 64 << 10

// write answers with JSON. A client that went away is no concern of ours.
func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// answer is Safe Haven's envelope for a yes.
func answer(w http.ResponseWriter, message string, data any) {
	write(w, http.StatusOK, map[string]any{"statusCode": http.StatusOK, "message": message, "data": data})
}

// answerBank is the envelope of transfers and virtual accounts, which has a
// response code as the banks between them use it.
func answerBank(w http.ResponseWriter, message, code string, data any) {
	write(w, http.StatusOK, map[string]any{
		"statusCode": http.StatusOK, "responseCode": code, "responseMessage": reasons[code], "message": message, "data": data,
	})
}

// answerPage is the envelope of a list; the page and the limit are strings.
func answerPage(w http.ResponseWriter, message string, rows []any, total int64, p page) {
	write(w, http.StatusOK, map[string]any{
		"statusCode": http.StatusOK, "message": message, "data": rows, "pagination": map[string]any{
			"total": total, "pages": (total + p.limit - 1) / p.limit,
			"page": strconv.FormatInt(p.number, 10), "limit": strconv.FormatInt(p.limit, 10),
		},
	})
}

// The longest page, and the usual one.
const (
	maxPage   = 100
	usualPage = 25
)

// listed reads the page and the days (UTC, both included) that a list is asked
// for. It returns what is wrong with them in words, or "".
func listed(r *http.Request) (p page, d span, wrong string) {
	p, d = page{0, usualPage}, span{0, math.MaxInt64}
	q := r.URL.Query()
	for name, to := range map[string]*int64{"page": &p.number, "limit": &p.limit} {
		if q.Get(name) == "" {
			continue
		}
		n, err := strconv.ParseInt(q.Get(name), 10, 32)
		if err != nil || n < 0 || name == "limit" && (n == 0 || n > maxPage) {
			return p, d, name + " must be a number of a page"
		}
		*to = n
	}
	for name, to := range map[string]*int64{"fromDate": &d.from, "toDate": &d.before} {
		if q.Get(name) == "" {
			continue
		}
		day, err := time.Parse(time.DateOnly, q.Get(name))
		if err != nil {
			return p, d, name + " must be a date, YYYY-MM-DD"
		}
		if name == "toDate" {
			day = day.AddDate(0, 0, 1)
		}
		*to = clock.Micros(day)
	}
	return p, d, ""
}

// refuse is Safe Haven's envelope for a no, dressed as HTTP says.
func refuse(w http.ResponseWriter, status int, message string) {
	write(w, status, refusal(status, message))
}

func refusal(status int, message string) any {
	return map[string]any{
		"statusCode": status, "message": message, "error": http.StatusText(status), "error_description": nil,
	}
}

func broken(w http.ResponseWriter) {
	refuse(w, http.StatusInternalServerError, "Internal server error")
}

func oauthError(w http.ResponseWriter, status int, code, description string) {
	write(w, status, map[string]string{"error": code, "error_description": description})
}

// decline is a definite no about what was asked. Every other one comes as HTTP
// 200 with the failure in the body, as the real ones at times do.
func (s *Sandbox) decline(w http.ResponseWriter, status int, message string) {
	if s.refusals.Add(1)%2 == 0 {
		write(w, http.StatusOK, refusal(status, message))
		return
	}
	refuse(w, status, message)
}

// lose is an answer that never arrives: held until the caller gives up, and
// every other time cut off in the middle.
func (s *Sandbox) lose(w http.ResponseWriter, r *http.Request) {
	if _, is := late(r.Context()); is {
		return // it was lost before
	}
	if s.losses.Add(1)%2 == 1 {
		timer := time.NewTimer(s.hold)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
		case <-s.released:
		}
	} else {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", "400")
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write([]byte(`{"statusCode":200,"message":"Data Bundle purch`)) // the cut is the point
		_ = http.NewResponseController(w).Flush()
	}
	// The server closes the connection without another word.
	panic(http.ErrAbortHandler)
}
