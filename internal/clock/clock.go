// Package clock provides the current time.
//
// All code that writes, compares or schedules an instant reads a Clock, so the sandbox and the
// tests can move the time. The database stores instants as microseconds since 1970 UTC (Micros).
// The API shows them in ISO 8601 with milliseconds and Z (Text).
package clock

import (
	"sync"
	"time"
)

// Clock provides the current time in UTC.
type Clock interface {
	Now() time.Time
	// Elapsed returns how much time has truly passed since a fixed instant of this program. It grows with
	// Now, but a jump of the machine's clock does not change it.
	Elapsed() time.Duration
}

// began is the instant from which the clocks of the machine count Elapsed.
var began = time.Now()

// System is the clock of the machine.
type System struct{}

// Now returns the machine's time in UTC.
func (System) Now() time.Time { return time.Now().UTC() }

// Elapsed returns the time since the start of the program, by a timer that nobody can set. While the
// machine sleeps, the timer may stand still.
func (System) Elapsed() time.Duration { return time.Since(began) }

// Movable is the machine's clock plus an offset that only grows. The zero value
// is ready for use.
type Movable struct {
	mu     sync.RWMutex
	offset time.Duration
}

// Now returns the machine's time plus the offset, in UTC.
func (m *Movable) Now() time.Time {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return time.Now().UTC().Add(m.offset)
}

// Elapsed returns the time since the start of the program plus the offset, because the world of a
// sandbox moves with its clock.
func (m *Movable) Elapsed() time.Duration { return time.Since(began) + m.Offset() }

// Offset returns the sum of all moves.
func (m *Movable) Offset() time.Duration {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.offset
}

// MoveTo sets the offset, unless the present offset is larger. Rows have been dated with the
// present offset, so time must never go back.
func (m *Movable) MoveTo(offset time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.offset = max(m.offset, offset)
}

// Manual is a clock for tests. Only Advance and Jump change its time.
type Manual struct {
	mu      sync.Mutex
	now     time.Time
	elapsed time.Duration
}

// At returns a Manual clock that shows the given time.
func At(t time.Time) *Manual { return &Manual{now: t.UTC()} }

// Now returns the time that At, Advance or Jump has set.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Advance moves the clock forward by d.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
	m.elapsed += d
}

// Elapsed returns the sum of what Advance has added.
func (m *Manual) Elapsed() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.elapsed
}

// Jump sets the clock forward by d, or back if d is negative. No time passes meanwhile.
func (m *Manual) Jump(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

// Lagos is the time zone of the banking day. Nigeria has a single time zone without summer time, so
// a fixed offset is enough.
var Lagos = time.FixedZone("Africa/Lagos", 60*60)

// Micros returns t as the database stores it, in microseconds since 1970 UTC. It returns 0 for the
// zero time, which means "not yet".
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time turns a value of Micros back into an instant.
func Time(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// Text returns the instant as the API shows it: 2030-01-02T03:04:05.678Z.
func Text(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Optional returns the instant as Text does, or nil for the zero instant.
func Optional(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := Text(t)
	return &text
}

// Instant is a time that JSON shows like Text. The zero time is null.
type Instant struct{ time.Time }

// MarshalJSON writes the instant, or null.
func (i Instant) MarshalJSON() ([]byte, error) {
	if i.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + Text(i.Time) + `"`), nil
}
