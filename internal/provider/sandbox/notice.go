package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

// The sandbox tells its client of transfers by real HTTP requests (webhooks).
// What is to be told is written in the same commit as the transfer, so that a
// kill loses none; it is told at least once, and again until the client says 2xx
// or all tries are used.

// after is how long the sandbox waits before each further try, by the clock that
// can be moved.
var after = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

const (
	noticeLimit = 10 * time.Second // for one try, in real time
	noticeLease = 15 * time.Second
	noticeBatch = 32
	lookAgain   = 2 * time.Second // for notices of another program on the same books
)

type notice struct {
	id, attempts int64
	url, body    string
}

// local tells whether a callback URL is on this machine: the sandbox knocks
// nowhere else.
func local(callback string) bool {
	u, err := url.Parse(callback)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// postman is the client that knocks: on this machine only, whatever a name
// resolves to, and without following anybody elsewhere.
func postman() *http.Client {
	dialer := net.Dialer{Timeout: noticeLimit, Control: func(_, address string, _ syscall.RawConn) error {
		host, _, err := net.SplitHostPort(address)
		if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
			return errors.New("the sandbox tells only this machine")
		}
		return nil
	}}
	return &http.Client{
		Timeout:       noticeLimit,
		Transport:     &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: noticeBatch, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// SetCallback is where the client is told of whatever has no callback URL of its
// own, as a setting of the real provider's dashboard is. Empty tells nobody.
func (s *Sandbox) SetCallback(callback string) error {
	if callback != "" && !local(callback) {
		return errors.New("sandbox: the callback URL must be on this machine")
	}
	s.callback.Store(&callback)
	s.nudge()
	return nil
}

func (s *Sandbox) defaultCallback() string {
	if p := s.callback.Load(); p != nil {
		return *p
	}
	return ""
}

// announce writes down that a transfer is to be told, so many times, from an
// instant on.
func announce(ctx context.Context, q db.Querier, callback string, t transfer, from int64, copies int) error {
	kind := "transfer"
	if t.virtual {
		kind = "virtualAccount.transfer"
	}
	body, err := json.Marshal(map[string]any{"type": kind, "data": t.record()})
	if err != nil {
		return err
	}
	for range copies {
		if _, err := q.Exec(ctx, `INSERT INTO sandbox_notice (url, body, state, attempts, answer, next_at, lease_until, created_at)
			VALUES ($1, $2, 'waiting', 0, '', $3, 0, $4)`, callback, string(body), from, t.updatedAt); err != nil {
			return err
		}
	}
	return nil
}

// nudge has the sender look now.
func (s *Sandbox) nudge() {
	select {
	case s.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// post sends notices until the sandbox is closed.
func (s *Sandbox) post(ctx context.Context) {
	defer close(s.posted)
	for ctx.Err() == nil {
		err := errors.Join(s.carryOut(ctx), s.deliver(ctx), s.deliverTatum(ctx))
		wait := lookAgain
		if err == nil {
			wait, err = s.nextNotice(ctx)
		}
		if err != nil && ctx.Err() == nil {
			s.log.Error("the sandbox's notices cannot be sent", "error", err)
			wait = lookAgain
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// deliver tries everything that is due once.
func (s *Sandbox) deliver(ctx context.Context) error {
	for {
		due, err := s.claim(ctx)
		if err != nil || len(due) == 0 {
			return err
		}
		errs := make([]error, len(due))
		var all sync.WaitGroup
		for i, n := range due {
			all.Go(func() { errs[i] = s.try(ctx, n) })
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
}

// try knocks once and writes down what came of it. What was not written down,
// because we were stopped, is tried again when the lease ends.
func (s *Sandbox) try(ctx context.Context, n notice) error {
	said, ok := s.knock(ctx, n)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	now, state := s.clock.Now(), "waiting"
	switch {
	case ok:
		state = "delivered"
	case n.attempts >= int64(len(after)):
		state = "given_up"
	default:
		now = now.Add(after[n.attempts])
	}
	_, err := s.books.Exec(ctx, `UPDATE sandbox_notice SET state = $1, attempts = attempts + 1, answer = $2, next_at = $3, lease_until = 0
		WHERE id = $4`, state, said, clock.Micros(now), n.id)
	return err
}

func (s *Sandbox) knock(ctx context.Context, n notice) (said string, ok bool) {
	if n.url == "" {
		n.url = s.defaultCallback()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url, strings.NewReader(n.body))
	if err != nil {
		return "the callback URL cannot be read", false
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.postman.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) { // its URL holds the client's secret
			err = u.Err
		}
		return err.Error(), false
	}
	_ = res.Body.Close() // the status is all that counts
	return fmt.Sprintf("HTTP %d", res.StatusCode), res.StatusCode/100 == 2
}

// claim takes what is due and has an address, so that another program on the same books leaves it.
func (s *Sandbox) claim(ctx context.Context) (due []notice, err error) {
	err = s.books.Tx(ctx, func(q db.Querier) error {
		now := s.clock.Now()
		due, err = db.All(ctx, q, func(r db.Scanner) (n notice, err error) {
			err = r.Scan(&n.id, &n.url, &n.body, &n.attempts)
			return n, err
		}, `SELECT id, url, body, attempts FROM sandbox_notice WHERE state = 'waiting' AND next_at <= $1 AND lease_until <= $1
			AND (url <> '' OR $2 <> '') ORDER BY next_at, id LIMIT $3`, clock.Micros(now), s.defaultCallback(), int64(noticeBatch))
		for _, n := range due {
			if err == nil {
				_, err = q.Exec(ctx, `UPDATE sandbox_notice SET lease_until = $1 WHERE id = $2`, clock.Micros(now.Add(noticeLease)), n.id)
			}
		}
		return err
	})
	return due, err
}

// nextNotice is how long it is until the next one is due, at most lookAgain.
func (s *Sandbox) nextNotice(ctx context.Context) (time.Duration, error) {
	at, err := db.One(ctx, s.books, db.Value[int64],
		`SELECT COALESCE(MIN(MAX(next_at, lease_until)), 0) FROM sandbox_notice WHERE state = 'waiting' AND (url <> '' OR $1 <> '')`,
		s.defaultCallback())
	if err != nil || at == 0 {
		return lookAgain, err
	}
	return min(max(clock.Time(at).Sub(s.clock.Now()), 0), lookAgain), nil
}
