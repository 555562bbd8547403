package sandbox

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// farthest is the largest total offset of the clock.
const farthest = 10 * 365 * 24 * time.Hour

// methods returns the controls of a path, by HTTP method. If the path has no controls, it returns
// those of the parent path, such as "/sandbox/otp/" for "/sandbox/otp/22222222222".
func (s *Sandbox) methods(of string) map[string]books.Control {
	of = strings.TrimSuffix(of, "/")
	if found := s.controls[of]; found != nil {
		return found
	}
	return s.controls[path.Dir(of)+"/"]
}

// Control returns the handler of the endpoints with which a test or a developer controls the
// sandbox. It serves all paths below /sandbox/, and may be mounted in the same server as the API.
func (s *Sandbox) Control() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		methods := s.methods(r.URL.Path)
		do := methods[r.Method]
		switch {
		case methods == nil:
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
			w.Header().Set("Connection", "close") // otherwise the server reads the whole body before it responds
			sayError(w, status, wrong)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, books.RequestLimit)
		body, err := do(r)
		var no books.No
		switch {
		case errors.As(err, &no):
			sayError(w, http.StatusBadRequest, no.Message)
		case fault.Is(err, fault.Unavailable), fault.Is(err, fault.Unknown):
			w.Header().Set("Retry-After", "5")
			sayError(w, http.StatusServiceUnavailable, "Service temporarily unavailable")
		case err != nil:
			sayError(w, http.StatusInternalServerError, "Internal Server Error")
		default:
			books.Write(w, http.StatusOK, body)
		}
	})
}

// unfit checks a request and returns the reason and the HTTP status of a refusal. It refuses a body
// that is too long, and a body whose Content-Type is not JSON. A browser allows the web page of a
// different site to send other content types without asking this server for permission.
func unfit(r *http.Request) (wrong string, status int) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case r.ContentLength > books.RequestLimit:
		return "The body is too large", http.StatusRequestEntityTooLarge
	case r.ContentLength != 0 && (err != nil || media != "application/json"):
		return "Content-Type must be application/json", http.StatusBadRequest
	}
	return "", 0
}

func sayError(w http.ResponseWriter, status int, message string) {
	books.Write(w, status, map[string]string{"status": "error", "message": message})
}

type clockFace struct {
	Status string `json:"status"`
	Offset string `json:"offset"`
	Now    string `json:"now"`
}

func (s *Sandbox) clockFace() clockFace {
	return clockFace{"success", s.Clock.Offset().String(), clock.Text(s.Clock.Now())}
}

type clockMove struct {
	Advance string `json:"advance"`
}

// clockMoved is the response to a clockMove.
type clockMoved struct {
	clockFace
	Settled bool `json:"settled"` // whether all work that became due is done
}

// moveClock handles POST /sandbox/clock {"advance": "2h"}. The late requests and notices that
// become due are carried out and sent before the response.
func (s *Sandbox) moveClock(ctx context.Context, req clockMove) (any, error) {
	by, err := time.ParseDuration(req.Advance)
	if err != nil || by <= 0 || by > farthest {
		return nil, books.Complaint(`"advance" must be a duration greater than zero, such as "90s" or "2h"`)
	}
	settled, err := s.advance(ctx, by)
	if err != nil {
		return nil, err
	}
	return clockMoved{s.clockFace(), settled}, nil
}

// Advance moves the clock forward by d and sends the notices that become due. Then it runs the
// function that OnAdvance has set.
func (s *Sandbox) Advance(ctx context.Context, d time.Duration) error {
	_, err := s.advance(ctx, d)
	return err
}

// advance does what Advance does. It returns settled from OnAdvance's function, or true without a function.
func (s *Sandbox) advance(ctx context.Context, d time.Duration) (settled bool, err error) {
	s.moving.Lock()
	defer s.moving.Unlock()
	offset, err := s.MoveClock(ctx, d, farthest)
	if err == nil {
		err = s.sendDue(ctx)
	}
	if err != nil || s.onAdvance == nil {
		return err == nil, err
	}
	return s.onAdvance(ctx, offset)
}

// providerLedger handles GET /sandbox/provider-ledger for all providers on the shared books.
func (s *Sandbox) providerLedger(r *http.Request) (any, error) {
	return ledgerOf(s.Books, s.parts...)(r)
}

// ledgerOf returns the control for GET /sandbox/provider-ledger?reference=&all=. The control lists,
// oldest first, the requests that the providers on these books carried out, whatever the providers
// replied. If all is "true", it also lists those that they did not carry out, and the references that
// they only denied.
func ledgerOf(b *books.Books, parts ...books.Part) books.Control {
	return func(r *http.Request) (any, error) {
		query, rows, balance := r.URL.Query(), []books.Row{}, money.Kobo(0)
		reference, all := query.Get("reference"), query.Get("all")
		if !slices.Contains([]string{"", "true", "false"}, all) {
			return nil, books.Complaint(`"all" must be true or false`)
		}
		for _, p := range parts {
			var err error
			if p.Float != "" {
				balance, err = b.Balance(r.Context(), p.Float)
			}
			if err == nil && p.Requests != nil {
				var more []books.Row
				more, err = p.Requests(r.Context(), reference)
				rows = append(rows, more...)
			}
			if err != nil {
				return nil, err
			}
		}
		rows, err := b.Denied(r.Context(), reference, rows)
		if err != nil {
			return nil, err
		}
		if all != "true" {
			rows = slices.DeleteFunc(rows, func(v books.Row) bool { return v.Executions == 0 })
		}
		slices.SortStableFunc(rows, func(a, b books.Row) int { return int(a.At - b.At) })
		return map[string]any{"status": "success", "balance": balance, "data": rows}, nil
	}
}
