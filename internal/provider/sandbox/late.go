package sandbox

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

// A request that moves money may lie in a queue at the provider: its answer is
// lost, nobody knows its reference, and much later it is carried out after all,
// and nobody is told. No number ending has this story: a control
// sets it for the next request.

const nextPayment = "next payment"

var lateTables = []string{
	`CREATE TABLE IF NOT EXISTS sandbox_late (
		id         INTEGER PRIMARY KEY,
		path       TEXT   NOT NULL,
		body       TEXT   NOT NULL,
		created_at BIGINT NOT NULL,
		due_at     BIGINT NOT NULL
	)`,
	`CREATE INDEX IF NOT EXISTS sandbox_late_due ON sandbox_late (due_at)`,
}

// queued is a request that lies in the queue.
type queued struct {
	path, body string
	createdAt  int64
}

// delayNext is POST /sandbox/next-payment {"late": "3h"}: the next purchase, payout
// or card funding, at whichever provider, is carried out so much later.
func (s *Sandbox) delayNext(r *http.Request) (any, error) {
	var req struct {
		Late string `json:"late"`
	}
	if err := readBody(r, &req); err != nil {
		return nil, err
	}
	by, err := time.ParseDuration(req.Late)
	if err != nil || by <= 0 || by > farthest {
		return nil, complaint(`"late" must be a duration greater than zero, such as "20m" or "3h"`)
	}
	return map[string]any{"status": "success"}, s.set(r.Context(), nextPayment, by.String())
}

// orLate puts a request into the queue when the control has said so, and loses its
// answer. All others go on at once.
func (s *Sandbox) orLate(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		held, err := s.queue(r)
		switch {
		case err != nil:
			broken(w)
		case held:
			s.lose(w, r)
		default:
			next(w, r)
		}
	}
}

// queue tells whether the request lies in the queue from now on.
func (s *Sandbox) queue(r *http.Request) (bool, error) {
	by, err := s.setting(r.Context(), nextPayment)
	if err != nil || by == "" {
		return false, err
	}
	if by, err = s.takeNext(r.Context(), nextPayment); err != nil || by == "" {
		return false, err // another request has taken it
	}
	wait, err := time.ParseDuration(by)
	if err != nil {
		return false, err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, requestLimit))
	if err != nil {
		return false, err
	}
	now := s.clock.Now()
	_, err = s.books.Exec(r.Context(), `INSERT INTO sandbox_late (path, body, created_at, due_at) VALUES ($1, $2, $3, $4)`,
		r.URL.Path, string(body), clock.Micros(now), clock.Micros(now.Add(wait)))
	return err == nil, err
}

// carryOut does what has become due in the queue, each request once.
func (s *Sandbox) carryOut(ctx context.Context) error {
	due, err := s.takeLate(ctx)
	if err != nil {
		return err
	}
	for _, v := range due {
		err = errors.Join(err, s.execute(ctx, v))
	}
	return err
}

// execute carries a late request out. Its sender has gone, and hears nothing.
func (s *Sandbox) execute(ctx context.Context, v queued) error {
	ctx = context.WithValue(ctx, lateKey{}, clock.Time(v.createdAt))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, v.path, strings.NewReader(v.body))
	if err != nil {
		return err
	}
	kind, sale := strings.CutPrefix(v.path, "/vas/pay/")
	switch {
	case sale:
		r.SetPathValue("kind", kind)
		s.pay(unheard{}, r)
	case v.path == "/transfers":
		s.transfer(unheard{}, r)
	case strings.HasPrefix(v.path, vtpassPath):
		s.vtpassPay(unheard{}, r)
	default:
		s.sudoTransfer(unheard{}, r)
	}
	return nil
}

type lateKey struct{}

// late tells whether a request is carried out late, and when it came.
func late(ctx context.Context) (came time.Time, is bool) {
	came, is = ctx.Value(lateKey{}).(time.Time)
	return came, is
}

// unheard takes the answer to a request whose sender has gone.
type unheard struct{}

func (unheard) Header() http.Header         { return http.Header{} }
func (unheard) Write(b []byte) (int, error) { return len(b), nil }
func (unheard) WriteHeader(int)             {}

// takeLate takes what is due out of the queue, so that one program alone carries
// it out.
func (s *Sandbox) takeLate(ctx context.Context) (due []queued, err error) {
	now := clock.Micros(s.clock.Now())
	n, err := db.One(ctx, s.books, db.Value[int64], `SELECT COUNT(*) FROM sandbox_late WHERE due_at <= $1`, now)
	if err != nil || n == 0 {
		return nil, err
	}
	err = s.books.Tx(ctx, func(q db.Querier) error {
		due, err = db.All(ctx, q, func(r db.Scanner) (v queued, err error) {
			err = r.Scan(&v.path, &v.body, &v.createdAt)
			return v, err
		}, `SELECT path, body, created_at FROM sandbox_late WHERE due_at <= $1 ORDER BY due_at, id`, now)
		if err == nil {
			_, err = q.Exec(ctx, `DELETE FROM sandbox_late WHERE due_at <= $1`, now)
		}
		return err
	})
	return due, err
}
