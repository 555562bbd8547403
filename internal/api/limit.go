package api

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/limit"
	"github.com/kobo-waas/kobo/internal/peer"
)

// Limit is how many requests may come in one period, and how many at once.
type Limit = limit.Limit

// Limits are the rate limits of the edge.
type Limits struct {
	Company Limit // for each company
	Token   Limit // token operations that fail: for each address, and for each reference there
	// Callbacks bounds what one address sends to one provider's callback path. The
	// zero value bounds nothing.
	Callbacks Limit
}

// Failed is the limit of what fails; nil for no limits.
func (l *Limits) Failed() *Limit {
	if l == nil {
		return nil
	}
	return &l.Token
}

// limiters hold the buckets, and which API keys were right.
type limiters struct {
	*Limits
	buckets *limit.Buckets
	salt    []byte
	right   *otter.Cache[[sha256.Size]byte, struct{}]
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
	l := &limiters{Limits: limits, buckets: limit.New(c), salt: make([]byte, sha256.Size)}
	l.right = otter.Must(&otter.Options[[sha256.Size]byte, struct{}]{
		MaximumSize:      100_000,
		ExpiryCalculator: otter.ExpiryAccessing[[sha256.Size]byte, struct{}](24 * time.Hour),
	})
	_, err := rand.Read(l.salt)
	return l, err
}

// proof stands for a key of a company in memory. The key cannot be read from it.
func (l *limiters) proof(reference, key string) (sum [sha256.Size]byte) {
	mac := hmac.New(sha256.New, l.salt)
	mac.Write([]byte(reference + "\x00" + key))
	copy(sum[:], mac.Sum(nil))
	return sum
}

// allowCompany limits what a company asks in all.
func (e *edge) allowCompany(w http.ResponseWriter, r *http.Request, c *call) bool {
	if e.limits == nil {
		return true
	}
	s, allowed := e.limits.buckets.Take(ofCompany(c.company), e.limits.Company)
	s.Show(w.Header())
	if !allowed {
		refuse(w, r, c.op.family, s.Refusal())
	}
	return allowed
}

func ofCompany(reference string) string { return "company " + reference }

// allowToken watches a token operation: only one that fails is counted, for its
// address and for its reference there. Once an address has failed too often with
// one reference, a key is refused unseen, unless that key was right before.
func (e *edge) allowToken(w http.ResponseWriter, r *http.Request, c *call) bool {
	if e.limits == nil {
		return true
	}
	address := "address " + peer.Network(c.address)
	buckets := []string{address}
	c.failed = func(why *fault.Fault) *fault.Fault { return e.failed(w.Header(), why, buckets) }
	e.limits.buckets.Look(address, e.limits.Token).Show(w.Header())
	// Only what could be a company gets a bucket; the rest is the address's.
	reference := r.PathValue("reference")
	if !id.IsCuid(reference) {
		return true
	}
	pair := address + " reference " + reference
	buckets = append(buckets, pair)
	s := e.limits.buckets.Look(pair, e.limits.Token)
	if s.Wait == 0 {
		return true
	}
	if _, known := e.limits.right.GetIfPresent(e.limits.proof(reference, r.Header.Get("X-Api-Key"))); known {
		return true
	}
	refuse(w, r, c.op.family, s.Refusal())
	return false
}

// failed counts a token operation that failed by the caller's mistake, and says
// what the caller hears: beyond the limit no longer what the mistake was.
func (e *edge) failed(h http.Header, why *fault.Fault, buckets []string) *fault.Fault {
	switch why.Kind {
	case fault.Invalid, fault.Unauthenticated, fault.Forbidden, contract.TooLarge:
	default:
		return why
	}
	for _, bucket := range buckets[1:] {
		e.limits.buckets.Take(bucket, e.limits.Token)
	}
	s, allowed := e.limits.buckets.Take(buckets[0], e.limits.Token)
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
	if s := e.limits.buckets.Look(ofCompany(reference), e.limits.Company); s.Wait > 0 {
		return s.Refusal()
	}
	return nil
}

// tookTokens counts a token operation that succeeded as a request of its company.
func (e *edge) tookTokens(ctx context.Context, reference string) (allowed bool, s limit.State) {
	if e.limits == nil {
		return true, s
	}
	s, allowed = e.limits.buckets.Take(ofCompany(reference), e.limits.Company)
	if h := callOf(ctx).header; h != nil {
		s.Show(h)
	}
	return allowed, s
}

// remember keeps that a key was right.
func (e *edge) remember(reference, key string) {
	if e.limits != nil {
		e.limits.right.Set(e.limits.proof(reference, key), struct{}{})
	}
}
