package api

import (
	"errors"
	"net/http"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/limit"
	"github.com/kobo-waas/kobo/internal/peer"
)

// Limit is a rate limit: the number of requests per period, and the largest burst.
type Limit = limit.Limit

// Limits are the rate limits of the API.
type Limits struct {
	Company Limit // limits all requests of a company
	Token   Limit // limits the failed token operations from one address
	// Callbacks limits the requests from one address to one callback path. The zero value
	// turns this limit off.
	Callbacks Limit
}

// Failed returns the limit for failed requests, or nil if there is no limit.
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

// take counts a request in a bucket and shows the bucket's state in the headers. It refuses a
// request over the limit.
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

// takeCompany counts a request of a company.
func (e *edge) takeCompany(h http.Header, reference string) error {
	return take(h, e.limits.companies, reference, e.limits.Company)
}

// watchToken makes a token operation count against the caller's address if the operation fails.
// The operation always runs, because a valid key is never refused for the failures of others.
// There are no buckets by reference, because a caller can invent a new reference for each request.
// All such requests fail at the same address.
func (e *edge) watchToken(c *call) {
	if e.limits.Token == (Limit{}) {
		return
	}
	address := peer.Network(c.address)
	c.failed = func(why *fault.Fault) *fault.Fault { return e.failed(c.header, why, address) }
	e.limits.failures.Look(address, e.limits.Token).Show(c.header)
}

// The method failed counts a token operation that failed by the caller's mistake. Over the limit,
// the response no longer names the mistake.
func (e *edge) failed(h http.Header, why *fault.Fault, address string) *fault.Fault {
	switch why.Kind {
	case fault.Invalid, fault.Unauthenticated, fault.Forbidden, contract.TooLarge:
		if err := take(h, e.limits.failures, address, e.limits.Token); err != nil {
			return fault.Of(err).Because(why)
		}
	}
	return why
}

// mayTakeTokens refuses a company that is at its limit. Otherwise a request over the limit, with a
// valid key, would invalidate the earlier refresh token. Requests with a wrong key do not count
// towards this limit.
func (e *edge) mayTakeTokens(reference string) error {
	if e.limits.Company == (Limit{}) {
		return nil
	}
	if s := e.limits.companies.Look(reference, e.limits.Company); s.Wait > 0 {
		return s.Refusal()
	}
	return nil
}
