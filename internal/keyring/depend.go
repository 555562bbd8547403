package keyring

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
)

// End is the way in which rows stop to depend on an older key.
type End string

// The ways in which rows stop to depend on an older key.
const (
	AtUse   End = "at the next use"
	ByRekey End = "by kobo rekey"
	ByTime  End = "by itself, with time"
)

const (
	// otpLife is how long an OTP counter limits further OTPs.
	otpLife = 24 * time.Hour
	// sessionLife is the longest life of a person's session (person.Begin).
	sessionLife = 24 * time.Hour
	// callbackLife is how long a callback address counts as used after its last use.
	callbackLife = 30 * 24 * time.Hour
	// unstated is how long a program may sign tokens with a key before or after its statements about it. Usually these
	// are two seconds. If the statements of a program fail, it goes on with the keys that it has, until somebody mends
	// it. The clocks of programs may differ too.
	unstated = time.Hour
)

// Place is a kind of rows that keys make.
type Place struct {
	Name   string
	Ends   End
	prefix string        // the text before the ID of the key
	since  time.Duration // the age from which rows do not count; -1 counts from now on
	sql    string
}

// Dependent is the number of rows of one place that depend on a key.
type Dependent struct {
	Place
	Line  string // the ID of the key
	Count int64
}

// Dependents returns what depends on a key with which the database was written.
func (s *Service) Dependents(ctx context.Context, l Line) ([]Dependent, error) {
	ctx, now := db.WithLongTimeout(ctx), s.Clock.Now()
	var out []Dependent
	for _, p := range dependents {
		n, err := countPlace(ctx, s.DB, p, l.ID, now)
		if err != nil {
			return nil, err
		}
		out = append(out, Dependent{p, l.ID, n})
	}
	tokens, err := countTokens(ctx, s.DB, l, now.Add(-company.RefreshLife))
	if err == nil && tokens == 0 && now.Before(l.LastAt.Add(unstated+company.AccessLife)) {
		tokens = 1 // an access token may be alive, although a later refresh token replaced its own
	}
	callbacks := db.Flag(now.Before(l.CallbackAt.Add(callbackLife)))
	return append(out,
		Dependent{Place{Name: "tokens", Ends: ByTime}, l.ID, tokens},
		Dependent{Place{Name: "callback addresses in use", Ends: ByTime}, l.ID, callbacks}), err
}

// Remove records that no program needs a key any more. It returns a fault if a running program
// writes with the key, or if rows depend on it. If the key is lost for good, the dependent rows do
// not count, because they cannot be read anyway.
func (s *Service) Remove(ctx context.Context, keyID string, lost bool) error {
	lines, err := s.Lines(ctx, Master)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(lines, func(l Line) bool { return l.ID == keyID })
	if i < 0 || !lines[i].RemovedAt.IsZero() {
		return nil // no program has written with the key, or it is removed already
	}
	found, err := s.Dependents(ctx, lines[i])
	if err != nil {
		return err
	}
	var why []string
	for _, d := range found {
		// After the date of revocation, only values that kobo rekey can save keep the key.
		if d.Count > 0 && (d.Ends == ByRekey || lines[i].RevokedAt.IsZero()) && !lost {
			why = append(why, fmt.Sprintf("%s: %d (%s)", d.Name, d.Count, d.Ends))
		}
	}
	if len(why) > 0 {
		return fault.Newf(fault.Refused, "these depend on the line %s:\n%s", keyID, strings.Join(why, "\n"))
	}
	return s.DB.Tx(ctx, func(q db.Querier) error {
		if err := takeLock(ctx, q, Master); err != nil {
			return err
		}
		programs, err := findPrograms(ctx, q, Master, s.Machine.Now().Add(-lifetime))
		for _, p := range programs {
			if p.Writes == keyID {
				return fault.Newf(fault.Refused, "the running program %s writes with the line %s: promote another line first", p.Name, keyID)
			}
		}
		if err != nil {
			return err
		}
		return removeLine(ctx, q, Master, keyID, s.Clock.Now())
	})
}

// State describes a line of a keyring for operators.
func (l Line) State() string {
	switch {
	case !l.RemovedAt.IsZero():
		return "removed"
	case !l.RevokedAt.IsZero():
		return "revoked"
	case !l.RevokeAt.IsZero():
		return "revoked at " + clock.Text(l.RevokeAt)
	}
	return "needed"
}
