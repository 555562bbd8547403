package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/limit"
	"github.com/kobo-waas/kobo/internal/peer"
)

// Limit is a rate limit: the number of requests per period, and the largest burst.
type Limit = limit.Limit

// Limits are the rate limits of the API.
type Limits struct {
	Company Limit // limits all requests of a company's programs
	// Programs returns how many programs share the limit of a company equally, at least 1. nil means 1.
	Programs func() int
	Token    Limit // limits the failed requests for tokens from one address
	// Callbacks limits the requests from one address to one callback path. The zero value
	// turns this limit off.
	Callbacks Limit
}

// Failed returns the limit for failed requests from one address, or nil if there is no limit.
func (l *Limits) Failed() *Limit {
	if l == nil {
		return nil
	}
	return &l.Token
}

// limiters hold the buckets of the rate limits. Each limit has a separate cache. So a stranger
// with many addresses cannot evict a company's bucket.
type limiters struct {
	Limits
	companies, failures, callbacks *limit.Buckets
}

func newLimiters(limits *Limits, c clock.Clock) (limiters, error) {
	if limits == nil {
		return limiters{}, nil
	}
	err := errors.Join(limits.Company.Check(), limits.Token.Check())
	if limits.Callbacks != (Limit{}) {
		err = errors.Join(err, limits.Callbacks.Check())
	}
	return limiters{*limits, limit.New(c), limit.New(c), limit.New(c)}, err
}

// take counts a request in a bucket and shows the bucket's state in the response headers h. It
// returns a fault if the request is over the limit.
func take(h http.Header, in *limit.Buckets, bucket string, l Limit) error {
	if l == (Limit{}) {
		return nil
	}
	s, allowed := in.Take(bucket, l)
	s.Show(h)
	if !allowed {
		return s.Refusal()
	}
	return nil
}

// takeCompany counts a request towards the limit of its company. Over the limit, it returns a
// fault.
func (e *edge) takeCompany(h http.Header, of company.Identity) error {
	return take(h, e.limits.companies, of.Reference, e.limits.of(of))
}

// takeRequest counts a request towards the limit of its company, unless a person's page has sent it. One page sends many requests, and
// the limit is for the company's programs. The console limits the visits of a person instead (decision 41).
func (e *edge) takeRequest(r *http.Request, from company.Identity) error {
	if _, sits := seatOf(r.Context()); sits {
		return nil
	}
	return e.takeCompany(callOf(r.Context()).header, from)
}

// of returns this program's share of the limit of a company. Operators may set the company's requests per
// second. The burst then keeps the proportion of the usual limit.
func (l *limiters) of(c company.Identity) Limit {
	usual := l.Company
	if usual == (Limit{}) {
		return usual
	}
	if c.PerSecond != 0 {
		usual.Burst = max(1, c.PerSecond*usual.Burst/usual.Requests)
		usual.Requests, usual.Period = c.PerSecond, time.Second
	}
	if l.Programs == nil {
		return usual
	}
	return usual.Share(l.Programs())
}

// watchToken prepares a request for tokens: if the request fails, it counts against the caller's
// address. The request is handled even over the limit, because a caller with a valid key must not
// be refused for the failures of others. Failures are not counted by company reference, because a
// caller can invent a new reference for each request.
func (e *edge) watchToken(c *call) {
	if e.limits.Token == (Limit{}) {
		return
	}
	address := peer.Network(c.address)
	c.failed = func(why *fault.Fault) *fault.Fault { return e.failed(c.header, why, address) }
	e.limits.failures.Look(address, e.limits.Token).Show(c.header)
}

// The method failed counts a request for tokens that failed by the caller's mistake. Over the
// limit, it returns a 429, which does not show the mistake.
func (e *edge) failed(h http.Header, why *fault.Fault, address string) *fault.Fault {
	switch why.Kind {
	case fault.Invalid, fault.Unauthenticated, fault.Forbidden, contract.TooLarge:
		if err := take(h, e.limits.failures, address, e.limits.Token); err != nil {
			return fault.Of(err).Because(why)
		}
	}
	return why
}

// Before new tokens are issued, mayTakeTokens refuses a company that is at its limit. Otherwise a
// request over the limit would still invalidate the company's earlier refresh token. Requests with
// a wrong key do not count towards this limit.
func (e *edge) mayTakeTokens(reference string) error {
	if e.limits.Company == (Limit{}) {
		return nil
	}
	if s := e.limits.companies.Look(reference, e.limits.of(company.Identity{})); s.Wait > 0 {
		return s.Refusal()
	}
	return nil
}
