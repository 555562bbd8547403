package api

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/time/rate"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
)

// Limit is how many requests may come in one Period, and how many at once.
type Limit struct {
	Requests int
	Period   time.Duration
	Burst    int
}

// Limits are the rate limits of the edge.
type Limits struct {
	Company Limit // for each company
	Token   Limit // token operations: for each address and for each reference
	// Callbacks bounds what one address sends to one provider's callback path. The
	// zero value bounds nothing.
	Callbacks Limit
}

// limiters hold the buckets in use; those left alone for ten minutes are full
// again and forgotten.
type limiters struct {
	clock   clock.Clock
	limits  *Limits
	buckets *otter.Cache[string, *rate.Limiter]
}

func newLimiters(limits *Limits, c clock.Clock) (*limiters, error) {
	if limits == nil {
		return nil, nil
	}
	all := []Limit{limits.Company, limits.Token}
	if limits.Callbacks != (Limit{}) {
		all = append(all, limits.Callbacks)
	}
	for _, l := range all {
		if l.Requests < 1 || l.Burst < 1 || l.Period < time.Duration(l.Requests) {
			return nil, fmt.Errorf("rate limit: %d requests in %v with bursts of %d cannot be kept", l.Requests, l.Period, l.Burst)
		}
	}
	return &limiters{clock: c, limits: limits, buckets: otter.Must(&otter.Options[string, *rate.Limiter]{
		MaximumSize:      200_000,
		ExpiryCalculator: otter.ExpiryAccessing[string, *rate.Limiter](10 * time.Minute),
	})}, nil
}

// allow takes one request from a bucket. It sets the RateLimit headers, and
// answers 429 in the operation's dress when the bucket is empty.
func (e *edge) allow(w http.ResponseWriter, r *http.Request, bucket string, limit Limit) bool {
	l := e.limits
	each := limit.Period / time.Duration(limit.Requests) // when the next one may come
	b, err := l.buckets.Get(r.Context(), bucket, otter.LoaderFunc[string, *rate.Limiter](
		func(context.Context, string) (*rate.Limiter, error) {
			return rate.NewLimiter(rate.Every(each), limit.Burst), nil
		}))
	if err != nil {
		return true // the caller has gone; there is nobody to refuse
	}
	now := l.clock.Now()
	allowed := b.AllowN(now, 1)
	left := int(max(0, b.TokensAt(now)))
	h := w.Header()
	h.Set("RateLimit-Limit", strconv.Itoa(limit.Burst))
	h.Set("RateLimit-Remaining", strconv.Itoa(left))
	h.Set("RateLimit-Reset", seconds(each*time.Duration(limit.Burst-left)))
	if !allowed {
		h.Set("Retry-After", seconds(each))
		f := account // of a path that is no operation
		if op := callOf(r.Context()).op; op != nil {
			f = op.family
		}
		refuse(w, r, f, fault.New(fault.Limited, "Too many requests"))
	}
	return allowed
}

// seconds rounds up: who comes back then is not refused again.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// allowCompany limits what a company asks in all.
func (e *edge) allowCompany(w http.ResponseWriter, r *http.Request, c *call) bool {
	return e.limits == nil || e.allow(w, r, "company "+c.company, e.limits.limits.Company)
}

// allowToken limits guessing: for each address, and for each reference whoever
// asks.
func (e *edge) allowToken(w http.ResponseWriter, r *http.Request) bool {
	if e.limits == nil {
		return true
	}
	limit := e.limits.limits.Token
	if !e.allow(w, r, "address "+e.RemoteAddress(r), limit) {
		return false
	}
	// Only what could be a company gets a bucket; the rest is the address's.
	reference := r.PathValue("reference")
	return !id.IsCuid(reference) || e.allow(w, r, "reference "+reference, limit)
}

// connectionAddress is the other end of the connection. IPv6 callers own whole
// /64 networks, so that one is one caller.
func connectionAddress(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	address = address.Unmap().WithZone("")
	if address.Is6() {
		network, _ := address.Prefix(64) // an IPv6 address has a /64
		return network.String()
	}
	return address.String()
}
