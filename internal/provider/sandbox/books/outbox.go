package books

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Retries are the pauses before each further attempt to send a notice. They are measured by the
// movable clock.
var Retries = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

const (
	noticeTimeout = 10 * time.Second // the timeout of one attempt, not measured by the movable clock
	noticeLease   = 15 * time.Second
	noticeBatch   = 32
	// LookAgain is the longest time after which the sender looks for due notices again. A different
	// program on the same books may have written a notice without waking this sender.
	LookAgain = 2 * time.Second
)

// Outbox sends the notices of one provider as real HTTP requests. The provider stores a notice in
// the database transaction of the event that it reports, so that a crash loses no notice. Each
// notice is sent at least one time, until the client responds with 2xx or no attempt is left.
type Outbox struct {
	Books  *Books
	Sender string // the provider's name in its notices
	// Redirect sends all notices to the callback, regardless of their addresses.
	Redirect bool
	// Sign, if set, adds the signature of the body to the header.
	Sign func(ctx context.Context, header http.Header, body string) error

	callback atomic.Pointer[string]
}

// Notice is one notification to a client.
type Notice struct {
	Sender   string `db:"sender"`
	About    string `db:"about"` // the provider's id of the reported object, or ""
	URL      string `db:"url"`   // "" means the callback
	Body     string `db:"body"`
	State    string `db:"state"`
	Attempts int64  `db:"attempts"`
	Status   int64  `db:"status"` // the HTTP status of the last response, or 0
	Answer   string `db:"answer"` // the last response in words
	NextAt   int64  `db:"next_at"`
	Lease    int64  `db:"lease_until"`
	At       int64  `db:"created_at"`
}

var notices = NewTable[Notice]("sandbox_outbox", "CHECK (state IN ('waiting', 'delivered', 'given_up'))")

// These are the states of a notice. If the last attempt fails, the notice becomes given_up.
const (
	waiting   = "waiting"
	delivered = "delivered"
	givenUp   = "given_up"
)

// Announce stores copies of a notice, which are sent at the notice's NextAt or later.
func Announce(ctx context.Context, q db.Querier, n Notice, copies int64) error {
	n.State = waiting
	for range copies {
		if err := notices.Insert(ctx, q, n); err != nil {
			return err
		}
	}
	return nil
}

// Sent is a notice together with its id.
type Sent struct {
	ID int64
	Notice
}

// GivenUp reports whether the last attempt to send the notice has failed.
func (s Sent) GivenUp() bool { return s.State == givenUp }

// Sent lists the notices that were tried, or only those that were given up. The parameter
// newestFirst sets the order.
func (o *Outbox) Sent(ctx context.Context, onlyGivenUp, newestFirst bool, size, offset int) ([]Sent, error) {
	return db.All(ctx, o.Books, db.Fields[Sent], `SELECT id, `+notices.names()+` FROM sandbox_outbox
		WHERE sender = $1 AND attempts > 0 AND ($2 = 0 OR state = 'given_up')
		ORDER BY CASE WHEN $3 = 0 THEN id ELSE -id END LIMIT $4 OFFSET $5`,
		o.Sender, db.Flag(onlyGivenUp), db.Flag(newestFirst), size, offset)
}

// IsLocal reports whether the host of a callback URL is this machine. The sandbox sends notices to
// no other host.
func IsLocal(callback string) bool {
	u, err := url.Parse(callback)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && provider.IsLocal(u)
}

// newClient returns the HTTP client that sends notices. It connects only to this machine, even if a
// host name resolves to a different address. It follows no redirect. If dial is set, the client uses it
// instead.
func newClient(dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Client {
	dialer := net.Dialer{Timeout: noticeTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		host, _, err := net.SplitHostPort(address)
		if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
			return errors.New("the sandbox calls only this machine")
		}
		return nil
	}}
	if dial == nil {
		dial = dialer.DialContext
	}
	return &http.Client{
		Timeout:       noticeTimeout,
		Transport:     &http.Transport{DialContext: dial, MaxIdleConnsPerHost: noticeBatch, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Send sends a request from a provider to its client.
func (b *Books) Send(r *http.Request) (*http.Response, error) { return b.client.Do(r) }

// SetCallback sets the address of notices that have no address. Such notices wait while the
// callback is empty.
func (o *Outbox) SetCallback(callback string) error {
	if callback != "" && !IsLocal(callback) {
		return errors.New("sandbox: the callback URL must be on this machine")
	}
	o.callback.Store(&callback)
	o.Books.Nudge()
	return nil
}

// Callback returns the address that SetCallback has set, or "".
func (o *Outbox) Callback() string {
	if p := o.callback.Load(); p != nil {
		return *p
	}
	return ""
}

// Nudge wakes the sender, which then immediately looks for due notices.
func (b *Books) Nudge() {
	select {
	case b.wake <- struct{}{}:
	default: // the sender has not yet received the previous nudge
	}
}

// Nudges returns the channel on which the sender receives nudges.
func (b *Books) Nudges() <-chan struct{} { return b.wake }

// Deliver makes one attempt to send each due notice.
func (o *Outbox) Deliver(ctx context.Context) error {
	for {
		due, err := o.lease(ctx)
		if err != nil || len(due) == 0 {
			return err
		}
		errs := make([]error, len(due))
		var all sync.WaitGroup
		for i, n := range due {
			all.Go(func() { errs[i] = o.try(ctx, n) })
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
}

// lease reserves the due notices that have an address, and returns them. Until the lease ends, no
// other program on the same books sends these notices.
func (o *Outbox) lease(ctx context.Context) (due []Sent, err error) {
	err = o.Books.Tx(ctx, func(q db.Querier) error {
		now := o.Books.Clock.Now()
		due, err = db.All(ctx, q, db.Fields[Sent], `UPDATE sandbox_outbox SET lease_until = $4 WHERE id IN (
				SELECT id FROM sandbox_outbox WHERE sender = $5 AND state = 'waiting' AND next_at <= $1 AND lease_until <= $1
				AND (url <> '' AND $6 = 0 OR $2 <> '') ORDER BY next_at, id LIMIT $3)
			RETURNING id, `+notices.names(),
			clock.Micros(now), o.Callback(), int64(noticeBatch), clock.Micros(now.Add(noticeLease)), o.Sender, db.Flag(o.Redirect))
		return err
	})
	return due, err
}

// try makes one attempt to send a notice and stores the result. If the program stops before the
// result is stored, the notice is sent again when the lease ends.
func (o *Outbox) try(ctx context.Context, n Sent) error {
	status, words := o.send(ctx, n.Notice)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	now, state := o.Books.Clock.Now(), waiting
	switch {
	case status/100 == 2:
		state = delivered
	case n.Attempts >= int64(len(Retries)):
		state = givenUp
	default:
		now = now.Add(Retries[n.Attempts])
	}
	_, err := o.Books.Exec(ctx, `UPDATE sandbox_outbox SET state = $1, attempts = attempts + 1, status = $2, answer = $3, next_at = $4,
		lease_until = 0 WHERE id = $5`, state, int64(status), words, clock.Micros(now), n.ID)
	return err
}

// send sends a notice and returns the HTTP status. The status is 0 if there was no response.
func (o *Outbox) send(ctx context.Context, n Notice) (status int, words string) {
	if n.URL == "" || o.Redirect {
		n.URL = o.Callback()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.URL, strings.NewReader(n.Body))
	if err != nil {
		return 0, "the callback URL cannot be read"
	}
	req.Header.Set("Content-Type", "application/json")
	if o.Sign != nil {
		err = o.Sign(ctx, req.Header, n.Body)
	}
	if err != nil {
		return 0, err.Error()
	}
	res, err := o.Books.Send(req)
	if err != nil {
		return 0, provider.WithoutURL(err).Error()
	}
	_ = res.Body.Close() // only the status is needed
	return res.StatusCode, fmt.Sprintf("HTTP %d", res.StatusCode)
}

// Next returns the time until the next notice is due. The result is at most LookAgain.
func (o *Outbox) Next(ctx context.Context) (time.Duration, error) {
	at, err := db.One(ctx, o.Books, db.Value[int64], `SELECT COALESCE(MIN(MAX(next_at, lease_until)), 0) FROM sandbox_outbox
		WHERE sender = $1 AND state = 'waiting' AND (url <> '' AND $3 = 0 OR $2 <> '')`, o.Sender, o.Callback(), db.Flag(o.Redirect))
	if err != nil || at == 0 {
		return LookAgain, err
	}
	return min(max(clock.Time(at).Sub(o.Books.Clock.Now()), 0), LookAgain), nil
}
