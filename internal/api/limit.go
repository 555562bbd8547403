package api

import (
	"context"
	"net/http"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/limit"
	"github.com/kobo-waas/kobo/internal/peer"
)

// Limit is how many requests may come in one period, and how many at once.
type Limit = limit.Limit

// Limits are the rate limits of the edge.
type Limits struct {
	Company Limit // for each company
	Token   Limit // token operations that fail, for each address
	// Callbacks bounds what one address sends to one callback path. The zero value
	// bounds nothing.
	Callbacks Limit
}

// Failed is the limit of what fails; nil for no limits.
func (l *Limits) Failed() *Limit {
	if l == nil {
		return nil
	}
	return &l.Token
}

// limiters hold the buckets. Each kind has its own: strangers, who can make many of
// theirs, push out nobody else's.
type limiters struct {
	*Limits
	companies, failures, notices *limit.Buckets
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
		if err := l.Check(); err != nil {
			return nil, err
		}
	}
	return &limiters{Limits: limits, companies: limit.New(c), failures: limit.New(c), notices: limit.New(c)}, nil
}

// allowCompany limits what a company asks in all.
func (e *edge) allowCompany(w http.ResponseWriter, r *http.Request, c *call) bool {
	if e.limits == nil {
		return true
	}
	s, allowed := e.limits.companies.Take(c.company, e.limits.Company)
	s.Show(w.Header())
	if !allowed {
		refuse(w, r, c.op.family, s.Refusal())
	}
	return allowed
}

// watchToken has a token operation counted if it fails, for its address. The key is
// looked at in every case: a right one is never refused for the failures of others.
// References have no buckets. Anybody can name a new one each time, and whatever
// fails with one fails at its address too.
func (e *edge) watchToken(w http.ResponseWriter, c *call) {
	if e.limits == nil {
		return
	}
	address := peer.Network(c.address)
	c.failed = func(why *fault.Fault) *fault.Fault { return e.failed(w.Header(), why, address) }
	e.limits.failures.Look(address, e.limits.Token).Show(w.Header())
}

// failed counts a token operation that failed by the caller's mistake, and says
// what the caller hears: beyond the limit no longer what the mistake was.
func (e *edge) failed(h http.Header, why *fault.Fault, address string) *fault.Fault {
	switch why.Kind {
	case fault.Invalid, fault.Unauthenticated, fault.Forbidden, tooLarge:
	default:
		return why
	}
	s, allowed := e.limits.failures.Take(address, e.limits.Token)
	s.Show(h)
	if !allowed {
		return s.Refusal().Because(why)
	}
	return why
}

// mayTakeTokens refuses a company that is at its limit, before a right key would
// void the earlier refresh token. A wrong key takes nothing from the company.
func (e *edge) mayTakeTokens(reference string) error {
	if e.limits == nil {
		return nil
	}
	if s := e.limits.companies.Look(reference, e.limits.Company); s.Wait > 0 {
		return s.Refusal()
	}
	return nil
}

// tookTokens counts a token operation that succeeded as a request of its company.
func (e *edge) tookTokens(ctx context.Context, reference string) (allowed bool, s limit.State) {
	if e.limits == nil {
		return true, s
	}
	s, allowed = e.limits.companies.Take(reference, e.limits.Company)
	if h := callOf(ctx).header; h != nil {
		s.Show(h)
	}
	return allowed, s
}
