// Package clock is where the time comes from.
//
// Everything that writes, compares or schedules an instant asks a Clock, so
// that the sandbox and the tests can move it. Instants are kept as microseconds
// since 1970 UTC (Micros) and shown in ISO 8601 with milliseconds and Z (Text).
package clock

import (
	"sync"
	"time"
)

// Clock tells the time in UTC.
type Clock interface {
	Now() time.Time
}

// System is the machine's own clock.
type System struct{}

// Now is the machine's time in UTC.
func (System) Now() time.Time { return time.Now().UTC() }

// Movable is the machine's clock plus an offset that only grows. The zero value
// is ready for use.
type Movable struct {
	mu     sync.RWMutex
	offset time.Duration
}

// Now is the machine's time plus the offset, in UTC.
func (m *Movable) Now() time.Time {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return time.Now().UTC().Add(m.offset)
}

// Offset is how far the clock has been moved.
func (m *Movable) Offset() time.Duration {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.offset
}

// MoveTo sets the offset if it is larger than the one in force: time never goes
// back under rows that were written with it.
func (m *Movable) MoveTo(offset time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.offset = max(m.offset, offset)
}

// Manual is a clock that stands still until it is told to move: for tests.
type Manual struct {
	mu  sync.Mutex
	now time.Time
}

// At is a Manual clock that shows the given time.
func At(t time.Time) *Manual { return &Manual{now: t.UTC()} }

// Now is the time it was last set to.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Advance moves the clock on by d.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

// Lagos is where the banking day begins and ends. Nigeria has one time zone and
// does not change its clocks, so the day needs no table of zones.
var Lagos = time.FixedZone("Africa/Lagos", 60*60)

// Micros is t as the database keeps it: microseconds since 1970 UTC, and 0 for
// the zero time, which stands for "not yet".
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time is the instant of a value made by Micros.
func Time(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// Text is the instant as the API shows it: 2030-01-02T03:04:05.678Z.
func Text(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Instant is a time as JSON shows it: like Text, and null when it is zero.
type Instant struct{ time.Time }

// MarshalJSON writes the instant, or null.
func (i Instant) MarshalJSON() ([]byte, error) {
	if i.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + Text(i.Time) + `"`), nil
}
