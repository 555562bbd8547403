package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
)

// farthest is how far the clock may be moved in all.
const farthest = 10 * 365 * 24 * time.Hour

// complaint is what is wrong with a control request, for whoever sent it.
type complaint string

func (c complaint) Error() string { return string(c) }

// controls are the endpoints under /sandbox/: path, then method, then what to
// do. What to do returns the body of the answer, or a complaint.
func (s *Sandbox) controls() map[string]map[string]func(*http.Request) (any, error) {
	return map[string]map[string]func(*http.Request) (any, error){
		"/sandbox/clock": {
			http.MethodGet:  func(*http.Request) (any, error) { return s.clockFace(), nil },
			http.MethodPost: s.moveClock,
		},
		"/sandbox/crypto-deposit":    {http.MethodPost: s.cryptoDeposit},
		"/sandbox/crypto-withdrawal": {http.MethodPost: s.cryptoWithdrawal},
		"/sandbox/crypto-drop":       {http.MethodPost: s.dropTransaction},
		"/sandbox/provider-ledger":   {http.MethodGet: s.providerLedger},
		"/sandbox/credit":            {http.MethodPost: s.creditByHand},
		"/sandbox/otp/{bvn}":         {http.MethodGet: s.showOTP},
		"/sandbox/account-name":      {http.MethodPost: s.renameAccount},
		"/sandbox/reverse":           {http.MethodPost: s.reverseByHand},
		"/sandbox/statement-line":    {http.MethodPost: s.plantLine},
		"/sandbox/next-card":         {http.MethodPost: s.tellNext(nextCard)},
		"/sandbox/next-account":      {http.MethodPost: s.tellNext(nextAccount)},
		"/sandbox/next-payment":      {http.MethodPost: s.delayNext},
		"/sandbox/card-notice":       {http.MethodPost: s.cardNotice},
	}
}

// control is the name of a path among the controls. One of them ends with a
// number of the caller's.
func control(path string) string {
	path = strings.TrimSuffix(path, "/")
	if rest, ok := strings.CutPrefix(path, "/sandbox/otp/"); ok && !strings.Contains(rest, "/") {
		return "/sandbox/otp/{bvn}"
	}
	return path
}

// Control is the endpoints with which a test or a developer steers the sandbox.
// It answers everything under /sandbox/, and may be mounted beside the API.
func (s *Sandbox) Control() http.Handler {
	controls := s.controls()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		methods, known := controls[control(r.URL.Path)]
		do := methods[r.Method]
		switch {
		case !known:
			sayError(w, http.StatusNotFound, "There is no such sandbox control")
			return
		case do == nil:
			for m := range methods {
				w.Header().Add("Allow", m)
			}
			sayError(w, http.StatusMethodNotAllowed, "This sandbox control has no "+r.Method)
			return
		}
		if wrong, status := unfit(r); status != 0 {
			w.Header().Set("Connection", "close") // the server would read on before it answers
			sayError(w, status, wrong)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, requestLimit)
		body, err := do(r)
		var c complaint
		switch {
		case errors.As(err, &c):
			sayError(w, http.StatusBadRequest, string(c))
		case fault.Is(err, fault.Unavailable), fault.Is(err, fault.Unknown):
			w.Header().Set("Retry-After", "5")
			sayError(w, http.StatusServiceUnavailable, "Service temporarily unavailable")
		case err != nil:
			sayError(w, http.StatusInternalServerError, "Internal Server Error")
		default:
			write(w, http.StatusOK, body)
		}
	})
}

// unfit refuses a body that is too long, and one that does not say that it is
// JSON. A browser lets a strange page send other kinds without asking us.
func unfit(r *http.Request) (wrong string, status int) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case r.ContentLength > requestLimit:
		return "The body is too large", http.StatusRequestEntityTooLarge
	case r.ContentLength != 0 && (err != nil || media != "application/json"):
		return "Content-Type must be application/json", http.StatusBadRequest
	}
	return "", 0
}

func sayError(w http.ResponseWriter, status int, message string) {
	write(w, status, map[string]string{"status": "error", "message": message})
}

// readBody reads one JSON object with no fields but v's.
func readBody(r *http.Request, v any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return complaint("The body must be one JSON object with the fields of this control")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return complaint("Nothing may follow the JSON object")
	}
	return nil
}

type clockFace struct {
	Status string `json:"status"`
	Offset string `json:"offset"`
	Now    string `json:"now"`
}

func (s *Sandbox) clockFace() clockFace {
	return clockFace{"success", s.clock.Offset().String(), clock.Text(s.clock.Now())}
}

// moveClock is POST /sandbox/clock {"advance": "2h"}. The offset is in the books
// before the clock moves, and what has become due is done before we answer.
func (s *Sandbox) moveClock(r *http.Request) (any, error) {
	var req struct {
		Advance string `json:"advance"`
	}
	if err := readBody(r, &req); err != nil {
		return nil, err
	}
	by, err := time.ParseDuration(req.Advance)
	if err != nil || by <= 0 || by > farthest {
		return nil, complaint(`"advance" must be a duration greater than zero, such as "90s" or "2h"`)
	}
	if err := s.Advance(r.Context(), by); err != nil {
		return nil, err
	}
	return s.clockFace(), nil
}

// Advance moves the clock on by d, tells of what has become due, and then does
// what OnAdvance was given.
func (s *Sandbox) Advance(ctx context.Context, d time.Duration) error {
	s.moving.Lock()
	defer s.moving.Unlock()
	offset := (s.clock.Offset() + d).Truncate(time.Microsecond)
	if offset > farthest {
		return complaint("The clock cannot be moved that far")
	}
	if err := s.set(ctx, "clock_offset", strconv.FormatInt(offset.Microseconds(), 10)); err != nil {
		return err
	}
	s.clock.MoveTo(offset)
	if err := errors.Join(s.carryOut(ctx), s.deliver(ctx), s.deliverTatum(ctx)); err != nil {
		return err
	}
	if s.onAdvance == nil {
		return nil
	}
	return s.onAdvance(ctx, offset)
}

// masked keeps the first four and the last two digits: the story can be told,
// the person cannot.
func masked(number string) string {
	if len(number) < 8 {
		return strings.Repeat("*", len(number))
	}
	return number[:4] + strings.Repeat("*", len(number)-6) + number[len(number)-2:]
}
