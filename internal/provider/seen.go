package provider

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
)

// The two periods over which operators see the calls. A period ends now, and begins at most one step
// earlier than its length requires.
const (
	recentStep, recentParts = time.Minute, 16            // 15 minutes, or up to a minute more
	dayStep, dayParts       = 15 * time.Minute, 4*24 + 1 // 24 hours, or up to a quarter of an hour more
)

// durations are the upper bounds of the classes in which the durations of calls are counted. Each
// bound is about 41 percent above the one before it. A last class has the longer calls.
var durations = [...]time.Duration{
	5 * time.Millisecond, 7 * time.Millisecond, 10 * time.Millisecond, 14 * time.Millisecond, 20 * time.Millisecond, 28 * time.Millisecond,
	40 * time.Millisecond, 57 * time.Millisecond, 80 * time.Millisecond, 113 * time.Millisecond, 160 * time.Millisecond, 226 * time.Millisecond,
	320 * time.Millisecond, 453 * time.Millisecond, 640 * time.Millisecond, 905 * time.Millisecond, 1280 * time.Millisecond, 1810 * time.Millisecond,
	2560 * time.Millisecond, 3620 * time.Millisecond, 5120 * time.Millisecond, 7241 * time.Millisecond, 10240 * time.Millisecond,
	14482 * time.Millisecond, 20480 * time.Millisecond, 28963 * time.Millisecond, 40960 * time.Millisecond,
}

// Tally has the numbers of calls in a period, by what became of them.
type Tally struct {
	Calls     int64
	Successes int64
	Refusals  int64
	NotSent   int64 // calls of which no byte was sent
	Unknowns  int64 // calls without a reply that Kobo can use

	took    [len(durations) + 1]int32 // the number of calls in each class of durations
	longest time.Duration
}

// Quantile returns a duration that is not exceeded by this percentage of the calls. It is the upper
// bound of a class in durations, but never more than the longest call. Without calls, it is 0.
func (t Tally) Quantile(percent int64) time.Duration {
	rank := (t.Calls*percent + 99) / 100
	for i, bound := range durations {
		if rank -= int64(t.took[i]); rank <= 0 {
			return min(bound, t.longest)
		}
	}
	return t.longest
}

// count adds a call with its result, as in Meter.Count or Figures.Replied.
func (t *Tally) count(result string, took time.Duration) {
	t.Calls++
	switch result {
	case resultOK:
		t.Successes++
	case resultRefused, resultDenied, Rejected.String():
		t.Refusals++
	case CodeNotSent:
		t.NotSent++
	default:
		t.Unknowns++
	}
	class, _ := slices.BinarySearch(durations[:], took)
	t.took[class]++
	t.longest = max(t.longest, took)
}

// Add adds the calls of a different tally.
func (t *Tally) Add(other Tally) {
	t.Calls += other.Calls
	t.Successes += other.Successes
	t.Refusals += other.Refusals
	t.NotSent += other.NotSent
	t.Unknowns += other.Unknowns
	for i, n := range other.took {
		t.took[i] += n
	}
	t.longest = max(t.longest, other.longest)
}

// window has the tallies of the last parts of time, each as long as step. The part with the number n
// since 1970 is at the index n modulo the number of parts.
type window struct {
	step  time.Duration
	parts []part
}

type part struct {
	number int64
	Tally
}

func newWindow(step time.Duration, parts int) window { return window{step, make([]part, parts)} }

func (w window) number(at time.Time) int64 { return at.UnixNano() / int64(w.step) }

func (w window) count(at time.Time, result string, took time.Duration) {
	n := w.number(at)
	p := &w.parts[n%int64(len(w.parts))]
	if p.number != n {
		*p = part{number: n}
	}
	p.count(result, took)
}

// sum returns the tally of all parts that are not too old.
func (w window) sum(now time.Time) (t Tally) {
	last := w.number(now)
	for _, p := range w.parts {
		if p.number > last-int64(len(w.parts)) && p.number <= last {
			t.Add(p.Tally)
		}
	}
	return t
}

// Seen is what this program has seen of one kind of call to a provider.
type Seen struct {
	Call          string
	LastSuccessAt time.Time // zero if no call has succeeded
	LastFailureAt time.Time // zero if no call has failed
	LastFailure   string    // the result of the last call that failed
	Recent        Tally     // the last 15 minutes
	Day           Tally     // the last 24 hours
}

// record keeps what was seen of one kind of call.
type record struct {
	Seen
	recent, day window
}

// register keeps what this program has seen of all providers, in memory.
type register struct {
	mu    sync.Mutex
	clock clock.Clock
	since time.Time
	seen  map[string]map[string]*record // by provider and call
	first map[string]time.Time          // the first call to each provider
}

// begin empties the register. Its times are those of the clock.
func (r *register) begin(c clock.Clock) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock, r.since, r.seen, r.first = c, c.Now(), map[string]map[string]*record{}, map[string]time.Time{}
}

// Follow forgets all that was seen, and takes the times of later calls from a clock.
func (f *Figures) Follow(c clock.Clock) {
	f.register.begin(c)
	f.outcomes.begin(c)
}

// Since returns the time from which this program has counted.
func (f *Figures) Since() time.Time {
	f.register.mu.Lock()
	defer f.register.mu.Unlock()
	return f.register.since
}

// Start returns the machine's time at which a call begins, for Replied. A duration is not measured by a
// clock that the sandbox moves.
func (f *Figures) Start() time.Time { return time.Now() }

// Replied adds an outcome of an operation, such as a payout, to what was seen of a provider. The call
// is "first", which may move money, or "requery". A nil Figures adds nothing.
func (f *Figures) Replied(provider, kind, call string, o Outcome, start time.Time) {
	if f == nil {
		return
	}
	result := o.String()
	if o == Confirmed {
		result = resultOK
	}
	f.outcomes.note(provider, kind+" "+call, result, time.Since(start))
}

// note adds a call to what was seen of a provider.
func (r *register) note(provider, call, result string, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	calls := r.seen[provider]
	if calls == nil {
		calls = map[string]*record{}
		r.seen[provider], r.first[provider] = calls, now
	}
	one := calls[call]
	if one == nil {
		one = &record{Seen: Seen{Call: call}, recent: newWindow(recentStep, recentParts), day: newWindow(dayStep, dayParts)}
		calls[call] = one
	}
	one.recent.count(now, result, took)
	one.day.count(now, result, took)
	if result == resultOK {
		one.LastSuccessAt = now
	} else {
		one.LastFailureAt, one.LastFailure = now, result
	}
}

// ages returns the time since the last success of each provider, or since its first call.
func (r *register) ages() map[string]time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, out := r.clock.Now(), map[string]time.Duration{}
	for name, last := range r.first {
		for _, one := range r.seen[name] {
			if one.LastSuccessAt.After(last) {
				last = one.LastSuccessAt
			}
		}
		out[name] = max(now.Sub(last), 0)
	}
	return out
}

// Seen returns what this program has seen of each kind of call to a provider, in the order of the
// calls' names.
func (f *Figures) Seen(provider string) []Seen { return f.register.of(provider) }

// Outcomes returns what this program has seen of the operations at a provider. A call is the kind of
// operation with the word first or requery. A refusal is the outcome rejected.
func (f *Figures) Outcomes(provider string) []Seen { return f.outcomes.of(provider) }

func (r *register) of(provider string) (out []Seen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	for _, one := range r.seen[provider] {
		s := one.Seen
		s.Recent, s.Day = one.recent.sum(now), one.day.sum(now)
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Seen) int { return cmp.Compare(a.Call, b.Call) })
	return out
}

// Together returns what was seen of several kinds of call as if they were one kind.
func Together(all []Seen) (sum Seen) {
	for _, s := range all {
		sum.Recent.Add(s.Recent)
		sum.Day.Add(s.Day)
		if s.LastSuccessAt.After(sum.LastSuccessAt) {
			sum.LastSuccessAt = s.LastSuccessAt
		}
		if s.LastFailureAt.After(sum.LastFailureAt) {
			sum.LastFailureAt, sum.LastFailure = s.LastFailureAt, s.LastFailure
		}
	}
	return sum
}
