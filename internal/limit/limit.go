// Package limit limits the rate of requests with token buckets. Each request takes a token from its
// bucket, and the bucket refills steadily.
package limit

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/time/rate"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
)

// Limit allows a number of requests in each Period. Burst is the number of requests that may arrive
// together.
type Limit struct {
	Requests int
	Period   time.Duration
	Burst    int
}

// Check returns an error if no bucket can enforce the limit.
func (l Limit) Check() error {
	if l.Requests < 1 || l.Burst < 1 || l.Period < time.Duration(l.Requests) {
		return fmt.Errorf("rate limit: %d requests in %v with bursts of %d cannot be kept", l.Requests, l.Period, l.Burst)
	}
	return nil
}

// each returns the time in which a bucket refills by one token.
func (l Limit) each() time.Duration { return l.Period / time.Duration(l.Requests) }

// Share returns one of n equal parts of the limit. The burst is at least 1.
func (l Limit) Share(n int) Limit {
	if n > 1 {
		l.Period *= time.Duration(n)
		l.Burst = max(1, l.Burst/n)
	}
	return l
}

// bucket is a token bucket with the limit that it enforces.
type bucket struct {
	*rate.Limiter
	limit Limit
}

// leastLife is how long a bucket stays at least without a request.
const leastLife = 10 * time.Minute

// life is how long a bucket stays without a request. By then it is full again, as a new bucket is.
func (b bucket) life() time.Duration {
	return max(leastLife, b.limit.Period, b.limit.each()*time.Duration(b.limit.Burst))
}

// Buckets holds the buckets in use. It removes a bucket that has had no request for some time, and is full.
type Buckets struct {
	clock clock.Clock
	all   *otter.Cache[string, bucket]
}

// New returns Buckets in which every bucket is full at first.
func New(c clock.Clock) *Buckets { return newBuckets(c, clock.System{}) }

func newBuckets(c, machine clock.Clock) *Buckets {
	return &Buckets{clock: c, all: otter.Must(&otter.Options[string, bucket]{
		MaximumSize:      200_000,
		ExpiryCalculator: otter.ExpiryAccessingFunc(func(e otter.Entry[string, bucket]) time.Duration { return e.Value.life() }),
		Clock:            still{machine},
	})}
}

// still has the machine's time. Its ticker never ticks, so the cache has no goroutine that outlives the
// program. It removes an old bucket when the bucket is read, or when the cache is full.
type still struct{ clock.Clock }

// NowNano returns the time in nanoseconds.
func (s still) NowNano() int64 { return s.Now().UnixNano() }

// Tick never ticks.
func (still) Tick(time.Duration) <-chan time.Time { return nil }

// State describes a bucket at one instant.
type State struct {
	Most, Left int
	Full       time.Duration // the time until the bucket is full
	Wait       time.Duration // the time until one more request is allowed; 0 if it is allowed now
}

// Take takes one token from a bucket for a request. If the bucket is empty, the request is not
// allowed, and Wait in the state is the time to wait. A bucket with a different limit gets the
// limit l, and keeps its tokens.
func (b *Buckets) Take(name string, l Limit) (s State, allowed bool) {
	of, found := b.all.GetIfPresent(name)
	if !found {
		of, _ = b.all.ComputeIfAbsent(name, func() (bucket, bool) {
			return bucket{rate.NewLimiter(rate.Every(l.each()), l.Burst), l}, false
		})
	}
	now := b.clock.Now()
	if of.limit != l {
		of.SetLimitAt(now, rate.Every(l.each()))
		of.SetBurstAt(now, l.Burst)
		of.limit = l
		b.all.Set(name, of)
	}
	allowed = of.AllowN(now, 1)
	return of.state(now), allowed
}

// Return puts a token back into its bucket, for a request that does not count after all.
func (b *Buckets) Return(name string) {
	if of, found := b.all.GetIfPresent(name); found {
		of.AllowN(b.clock.Now(), -1)
	}
}

// Look returns the state of a bucket without taking a token from it. An unused bucket has the limit
// l.
func (b *Buckets) Look(name string, l Limit) State {
	of, found := b.all.GetIfPresent(name)
	if !found {
		return State{Most: l.Burst, Left: l.Burst}
	}
	return of.state(b.clock.Now())
}

func (b bucket) state(now time.Time) State {
	tokens, l := b.TokensAt(now), b.limit
	left := int(max(0, tokens))
	s := State{Most: l.Burst, Left: left, Full: l.each() * time.Duration(l.Burst-left)}
	if left == 0 {
		const fine = 1_000_000
		s.Wait = max(1, l.each()*time.Duration((1-tokens)*fine)/fine)
	}
	return s
}

// Show sets the RateLimit headers of a response.
func (s State) Show(h http.Header) {
	values := []string{strconv.Itoa(s.Most), strconv.Itoa(s.Left), seconds(s.Full)}
	// The names are in the form that Header.Set would make of them on each request.
	h["Ratelimit-Limit"], h["Ratelimit-Remaining"], h["Ratelimit-Reset"] = values[0:1:1], values[1:2:2], values[2:3:3]
}

// Refusal returns the fault for a request that exceeds the limit.
func (s State) Refusal() *fault.Fault {
	return fault.New(fault.Limited, "Too many requests").After(s.Wait)
}

// seconds returns the duration in seconds, rounded up so that a retry after this time is not too
// early.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}
