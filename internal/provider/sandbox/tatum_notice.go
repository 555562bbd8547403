package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider/tatum"
)

// SetTatumCallback is where this program takes Tatum's notifications now: the
// port changes with each start, and subscriptions outlive it. Empty tells nobody.
func (s *Sandbox) SetTatumCallback(callback string) error {
	if callback != "" && !local(callback) {
		return errors.New("sandbox: the callback URL must be on this machine")
	}
	s.tatumCallback.Store(&callback)
	s.nudge()
	return nil
}

// tell writes down what a subscription is to be told.
func tell(ctx context.Context, q db.Querier, sub subscription, payload map[string]any, now, at int64) error {
	data, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, `
		INSERT INTO sandbox_chain_notice (subscription_id, url, data, state, attempts, code, next_at, lease_until, created_at)
		VALUES ($1, $2, $3, 'waiting', 0, 0, $4, 0, $5)`, sub.id, sub.url, string(data), at, now)
	return err
}

type chainNotice struct {
	id, attempts int64
	data         string
}

// deliverTatum tries everything that Tatum has to tell and is due, once.
func (s *Sandbox) deliverTatum(ctx context.Context) error {
	callback := s.tatumCallback.Load()
	if callback == nil || *callback == "" {
		return nil
	}
	hmac, err := s.setting(ctx, "tatum_hmac")
	if err != nil {
		return err
	}
	for {
		due, err := s.claimTatum(ctx)
		if err != nil || len(due) == 0 {
			return err
		}
		errs := make([]error, len(due))
		var all sync.WaitGroup
		for i, n := range due {
			all.Go(func() { errs[i] = s.tryTatum(ctx, *callback, hmac, n) })
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
}

func (s *Sandbox) claimTatum(ctx context.Context) (due []chainNotice, err error) {
	now := s.clock.Now()
	err = s.books.Tx(ctx, func(q db.Querier) error {
		due, err = db.All(ctx, q, func(r db.Scanner) (n chainNotice, err error) {
			return n, r.Scan(&n.id, &n.data, &n.attempts)
		}, `UPDATE sandbox_chain_notice SET lease_until = $2 WHERE id IN (
				SELECT id FROM sandbox_chain_notice WHERE state = 'waiting' AND next_at <= $1 AND lease_until <= $1 ORDER BY next_at, id LIMIT $3)
			RETURNING id, data, attempts`, clock.Micros(now), clock.Micros(now.Add(noticeLease)), int64(noticeBatch))
		return err
	})
	return due, err
}

// tryTatum knocks once, with the signature over the very bytes if signatures are
// on, and writes down what came of it.
func (s *Sandbox) tryTatum(ctx context.Context, callback, hmac string, n chainNotice) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, callback, strings.NewReader(n.data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if hmac != "" {
		req.Header.Set(tatum.HashHeader, tatum.Sign(hmac, []byte(n.data)))
	}
	code := 0
	if res, err := s.postman.Do(req); err == nil {
		_ = res.Body.Close() // the status is all that counts
		code = res.StatusCode
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	next, state := s.clock.Now(), "waiting"
	switch {
	case code/100 == 2:
		state = "delivered"
	case n.attempts >= int64(len(after)):
		state = "failed"
	default:
		next = next.Add(after[n.attempts])
	}
	_, err = s.books.Exec(ctx, `
		UPDATE sandbox_chain_notice SET state = $1, attempts = attempts + 1, code = $2, next_at = $3, lease_until = 0 WHERE id = $4`,
		state, code, clock.Micros(next), n.id)
	return err
}

// sentNotices is Tatum's list of what it has sent.
func (s *Sandbox) sentNotices(r *http.Request) (any, error) {
	size, offset, err := tatumPage(r)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	only := ""
	if q.Get("failed") == "true" {
		only = "failed"
	}
	list, err := db.All(r.Context(), s.books, func(row db.Scanner) (any, error) {
		var id, attempts, code, at int64
		var sub, url, data, state string
		err := row.Scan(&id, &sub, &url, &data, &state, &attempts, &code, &at)
		return map[string]any{
			"type": "ADDRESS_EVENT", "id": digest("notice", strconv.FormatInt(id, 10))[:24], "subscriptionId": sub, "url": url,
			"data": json.RawMessage(data), "timestamp": at / 1000, "retryCount": attempts, "failed": state == "failed",
			"response": map[string]any{"code": code, "networkError": code == 0},
		}, err
	}, `SELECT id, subscription_id, url, data, state, attempts, code, created_at FROM sandbox_chain_notice
		WHERE (state = $1 OR $1 = '') AND attempts > 0 ORDER BY CASE WHEN $2 = 'asc' THEN id ELSE -id END LIMIT $3 OFFSET $4`,
		only, q.Get("direction"), size, offset)
	if list == nil {
		list = []any{}
	}
	return list, err
}
