package books

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

// A late payment waits in a queue at the provider. Its response is lost, and a requery does not
// find its reference. Much later the provider carries the payment out, and sends no notice. This
// story is not chosen by the last digits of a number: a control request sets it for the next
// payment.

const nextPayment = "next payment"

// queued is a late request in the queue.
type queued struct {
	path      string `db:"path"`
	body      string `db:"body"`
	createdAt int64  `db:"created_at"`
	dueAt     int64  `db:"due_at"`
}

var queue = NewTable[queued]("sandbox_late")

// DelayNext returns a Control, whose request body is such as {"late": "3h"}. It delays the next
// purchase, payout or card funding at any provider by this time.
func (b *Books) DelayNext(farthest time.Duration) Control {
	return Steer(func(ctx context.Context, req struct {
		Late string `json:"late"`
	},
	) (any, error) {
		by, err := time.ParseDuration(req.Late)
		if err != nil || by <= 0 || by > farthest {
			return nil, Complaint(`"late" must be a duration greater than zero, such as "20m" or "3h"`)
		}
		return Success, b.Set(ctx, nextPayment, by.String())
	})
}

// Payment returns the handler of a path that moves money. If a control request has set a delay, the
// handler queues the payment, and the client gets no response. It carries out all other payments
// immediately.
func (b *Books) Payment(pattern string, pay http.HandlerFunc) http.HandlerFunc {
	b.late.HandleFunc(pattern, pay)
	return func(w http.ResponseWriter, r *http.Request) {
		held, err := b.delay(r)
		switch {
		case err != nil:
			Fail(w)
		case held:
			b.Lose(w, r)
		default:
			pay(w, r)
		}
	}
}

// delay puts a request into the queue if a control request has set a delay.
func (b *Books) delay(r *http.Request) (held bool, err error) {
	by, err := b.Setting(r.Context(), nextPayment)
	if err != nil || by == "" {
		return false, err
	}
	if by, err = b.TakeNext(r.Context(), nextPayment); err != nil || by == "" {
		return false, err // a different request has already taken the delay
	}
	wait, err := time.ParseDuration(by)
	if err != nil {
		return false, err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, RequestLimit))
	if err != nil {
		return false, err
	}
	now := b.Clock.Now()
	err = queue.Insert(r.Context(), b, queued{r.URL.Path, string(body), clock.Micros(now), clock.Micros(now.Add(wait))})
	return err == nil, err
}

// CarryOut carries out each due request of the queue exactly one time.
func (b *Books) CarryOut(ctx context.Context) error {
	due, err := b.takeLate(ctx)
	if err != nil {
		return err
	}
	for _, v := range due {
		ctx := context.WithValue(ctx, lateKey{}, clock.Time(v.createdAt))
		r, bad := http.NewRequestWithContext(ctx, http.MethodPost, v.path, strings.NewReader(v.body))
		if bad == nil {
			b.late.ServeHTTP(unheard{}, r)
		}
		err = errors.Join(err, bad)
	}
	return err
}

type lateKey struct{}

// Late reports whether the request with this context comes from the queue of late requests. If so,
// came is the time at which the client sent the request.
func Late(ctx context.Context) (came time.Time, is bool) {
	came, is = ctx.Value(lateKey{}).(time.Time)
	return came, is
}

// unheard discards the response to a late request, because its sender no longer waits.
type unheard struct{}

func (unheard) Header() http.Header         { return http.Header{} }
func (unheard) Write(b []byte) (int, error) { return len(b), nil }
func (unheard) WriteHeader(int)             {}

// takeLate removes the due requests from the queue and returns them. Each request is removed by one
// program only, and so is carried out only one time.
func (b *Books) takeLate(ctx context.Context) (due []queued, err error) {
	now := b.Now()
	n, err := db.One(ctx, b, db.Value[int64], `SELECT COUNT(*) FROM sandbox_late WHERE due_at <= $1`, now)
	if err != nil || n == 0 {
		return nil, err
	}
	err = b.Tx(ctx, func(q db.Querier) error {
		if due, err = queue.All(ctx, q, "due_at <= $1 ORDER BY due_at, id", now); err != nil {
			return err
		}
		_, err = q.Exec(ctx, `DELETE FROM sandbox_late WHERE due_at <= $1`, now)
		return err
	})
	return due, err
}
