package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
)

// Tap observes the HTTP exchanges of one plug, for checks and for recordings. It changes nothing in
// them.
type Tap struct {
	Base    string      // the address of the provider
	Private bool        // the address is a secret, such as that of a node
	Clock   clock.Clock // our clock, with which the provider's clock is compared
	// Record, if set, receives each exchange after all secrets were removed.
	Record func(Exchange) error

	mu     sync.Mutex
	ahead  time.Duration // how far the provider's clock is ahead of ours
	dated  bool
	failed error // the first failure of Record
}

// Around returns a transport that the Tap observes.
func (t *Tap) Around(inner http.RoundTripper) http.RoundTripper { return tapped{t, inner} }

// Failed returns the first error with which an exchange could not be recorded.
func (t *Tap) Failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

type tapped struct {
	tap   *Tap
	inner http.RoundTripper
}

// RoundTrip sends the request and returns its response.
func (t tapped) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, start := []byte(nil), t.tap.Clock.Now()
	if t.tap.Record != nil && r.Body != nil {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	res, err := t.inner.RoundTrip(r)
	if err != nil {
		return res, err
	}
	t.tap.date(res.Header.Get("Date"), start)
	if t.tap.Record == nil {
		return res, nil
	}
	got, err := io.ReadAll(io.LimitReader(res.Body, answerLimit))
	if err != nil {
		return res, errors.Join(err, res.Body.Close())
	}
	rest := res.Body // a longer response is passed on whole, and recorded without its end
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(got), rest), rest}
	t.tap.keep(redacted(t.tap.Base, t.tap.Private, r, sent, res, got))
	return res, nil
}

// answerLimit is the number of bytes of a response that a Tap records.
const answerLimit = 1 << 20

// date compares the date of a response with our time. That is the middle between the start of the
// request and now.
func (t *Tap) date(text string, start time.Time) {
	at, err := http.ParseTime(text)
	if err != nil {
		return
	}
	now := t.Clock.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	// A Date header leaves out the fraction of its second.
	t.ahead, t.dated = at.Add(time.Second/2).Sub(start.Add(now.Sub(start)/2)), true
}

func (t *Tap) keep(e Exchange) {
	err := t.Record(e)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = errors.Join(t.failed, err)
}

// CheckHost sends a GET to the provider's address, without a key. Any response shows that the host,
// and its certificate, are right.
func (t *Tap) CheckHost(ctx context.Context) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, t.Base, http.NoBody)
	if err != nil {
		return "", errors.New("the address cannot be read")
	}
	client := http.Client{Transport: t.Around(transport(false)), CheckRedirect: stay}
	res, err := client.Do(r)
	if err != nil && t.Private { // the error names the host
		return "", errors.New("no answer: the name, the network or the certificate of the host is wrong")
	}
	if err != nil {
		return "", WithoutURL(err)
	}
	detail := fmt.Sprintf("answers with HTTP %d", res.StatusCode)
	if res.TLS != nil {
		detail += ", and its certificate is valid until " + res.TLS.PeerCertificates[0].NotAfter.Format(time.DateOnly)
	}
	return detail, res.Body.Close()
}

// These are the differences between two clocks at which CheckClock warns and fails. A bank refuses
// an assertion from the future, and one that has expired.
const (
	doubtfulSkew = 5 * time.Second
	wrongSkew    = 30 * time.Second
)

// CheckClock compares our clock with that of the provider, by the Date header of its last response.
func (t *Tap) CheckClock(context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ahead, which := t.ahead.Round(time.Second), "ahead of"
	if ahead < 0 {
		ahead, which = -ahead, "behind"
	}
	detail := fmt.Sprintf("the provider's clock is %s %s ours", ahead, which)
	switch {
	case !t.dated:
		return "", Skip("the provider's responses have no Date header")
	case ahead > wrongSkew:
		return "", errors.New(detail)
	case ahead > doubtfulSkew:
		return "", Warn("%s", detail)
	}
	return detail, nil
}
