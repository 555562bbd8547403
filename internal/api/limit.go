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

// Limit is the number of requests in one period, and the number at once.
type Limit = limit.Limit

// Limits are the rate limits of the API.
type Limits struct {
	Company Limit // of all requests of a company
	Token   Limit // of failed token operations from an address
	// Callbacks limits the requests from one address to one callback path. The zero value
	// is no limit.
	Callbacks Limit
}

// Failed returns the limit of failed requests. nil is no limit.
func (l *Limits) Failed() *Limit {
	if l == nil {
		return nil
	}
	return &l.Token
}

// limiters hold the buckets. Each limit has a cache of its own, so that a stranger with
// many addresses pushes out no bucket of a company.
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

// take counts a request in a bucket and shows the state in the headers. It refuses a
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

// watchToken has a token operation counted by its address if it fails. A valid key is
// never refused for failures of others, so the operation runs in every case. References
// have no buckets: a caller can name a new reference each time, and all of them fail at
// the same address.
func (e *edge) watchToken(c *call) {
	if e.limits.Token == (Limit{}) {
		return
	}
	address := peer.Network(c.address)
	c.failed = func(why *fault.Fault) *fault.Fault { return e.failed(c.header, why, address) }
	e.limits.failures.Look(address, e.limits.Token).Show(c.header)
}

// failed counts a token operation that failed by the caller's mistake. Over the limit the
// answer no longer names the mistake.
func (e *edge) failed(h http.Header, why *fault.Fault, address string) *fault.Fault {
	switch why.Kind {
	case fault.Invalid, fault.Unauthenticated, fault.Forbidden, contract.TooLarge:
		if err := take(h, e.limits.failures, address, e.limits.Token); err != nil {
			return fault.Of(err).Because(why)
		}
	}
	return why
}

// mayTakeTokens refuses a company that is at its limit. Otherwise a valid key would void the
// earlier refresh token. A wrong key does not count.
func (e *edge) mayTakeTokens(reference string) error {
	if e.limits.Company == (Limit{}) {
		return nil
	}
	if s := e.limits.companies.Look(reference, e.limits.Company); s.Wait > 0 {
		return s.Refusal()
	}
	return nil
}
