// Package keyring rotates keys while several programs use one database.
//
// Each running program states every two seconds which keys it holds, and with which key it writes.
// It writes with the first key of its keyring's file that every other running program holds. So a
// key that is new in one program is never used before all programs can verify and open with it.
//
// A key with which the database was written stays required: a program without it does not start.
// `kobo key remove` ends the requirement, after a check that nothing depends on the key.
package keyring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// These are the names of the rings.
const (
	Master   = "master"
	Evidence = "evidence"
)

const (
	// every is the time between two statements of a running program.
	every = 2 * time.Second
	// lifetime is how long a program counts as running after its last statement.
	lifetime = time.Minute
	// silence is the time without a statement after which a program gets no share of the rate limits.
	silence = 15 * time.Second
	// patience is how long the statements of a program may fail before it counts as not ready.
	patience = 10 * time.Second
	// forgotten is the age at which the row of a program is deleted.
	forgotten = 24 * time.Hour
	// boundSince is the first schema whose programs open sealed values that are bound to their rows.
	boundSince = 61
)

// olderRuns is the reason why nothing changes beside a program of an older schema.
const olderRuns = "a program of an older Kobo runs, which does not state its lines and cannot open values that are bound to their rows: upgrade it first"

// Ring is a keyring of a program.
type Ring struct {
	Name string
	Keys *secret.Keyring
	// File is the file of the keyring. Without a path, the keyring does not change while the program runs.
	File secret.File
	// Recognise compares the keyring with the keys that the database knows. It may be nil.
	Recognise func(ctx context.Context) error

	text    string // the content of the file that was last read
	waiting string // the last logged reason why the program does not write with the first key
}

// Config contains what a Service needs.
type Config struct {
	DB      *db.DB
	Clock   clock.Clock
	Machine clock.Clock // the machine's clock, which the sandbox does not move
	Log     *slog.Logger
	Rings   []*Ring

	// These are needed only to seal values again, and to revoke what is left of older keys.
	Book      *ledger.Book
	Companies *company.Service
	Operators *operator.Service
}

// Service rotates the keys of one program.
type Service struct {
	Config
	id, name string

	beside atomic.Int64 // the number of other programs that run, as of the last statement

	turn  sync.Mutex // held by each statement
	mu    sync.Mutex
	wrong error     // the error of the last statement
	since time.Time // when the statements began to fail; zero after a statement without an error
}

// New returns the Service of one program.
func New(c Config) *Service {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return &Service{Config: c, id: id.New(), name: fmt.Sprintf("%s (process %d)", host, os.Getpid())}
}

// Name returns the name of this program: its machine and its process.
func (s *Service) Name() string { return s.name }

// Program is a running program and the keys that it holds.
type Program struct {
	ID     string
	Name   string
	holds  string
	Writes string // the ID of the key with which it writes
	SeenAt time.Time
}

// Holds reports whether the program holds a key.
func (p Program) Holds(keyID string) bool {
	return slices.Contains(strings.Split(p.holds, ","), keyID)
}

// Line is a key with which the database was written.
type Line struct {
	ID                                     string
	FirstAt, LastAt, CallbackAt            time.Time
	RevokeAt, ToldAt, RevokedAt, RemovedAt time.Time
}

// Begin chooses the keys with which the program writes, without stating that the program runs. It
// returns a fault if the program lacks a key with which the database was written.
func (s *Service) Begin(ctx context.Context) error { return s.each(ctx, false) }

// State states that the program runs, and with which keys. It reads the files of the keyrings
// again. After a fault, the program goes on with the keys that it has.
func (s *Service) State(ctx context.Context) error {
	err := s.each(ctx, true)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.wrong = err; {
	case err == nil:
		s.since = time.Time{}
	case s.since.IsZero():
		s.since = s.Machine.Now()
	}
	return err
}

// Running returns the number of programs that run, with this one, as of its last statement. A program
// that dies counts for 15 seconds more. A program that stops does not count when it has stopped.
func (s *Service) Running() int { return 1 + int(s.beside.Load()) }

// Wrong returns the error of the last statement, if the program lacks a key that it needs, or if the
// statements have failed for ten seconds.
func (s *Service) Wrong() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wrong != nil && (fault.Is(s.wrong, fault.Refused) || s.Machine.Now().Sub(s.since) >= patience) {
		return s.wrong
	}
	return nil
}

// each states the keys of all rings, also after an error about one ring.
func (s *Service) each(ctx context.Context, running bool) (err error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	for _, r := range s.Rings {
		err = errors.Join(err, s.state(ctx, r, running))
	}
	return err
}

// Run states every two seconds that the program runs, until ctx ends.
func (s *Service) Run(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			s.leave(context.WithoutCancel(ctx))
			return
		case <-tick.C:
		}
		now := ""
		if err := s.State(ctx); err != nil && ctx.Err() == nil {
			now = err.Error()
		}
		if now != said && now != "" {
			s.Log.Error("the keyring was not read again, or not stated: the program goes on with the keys that it has", "error", now)
		}
		said = now
	}
}

// leave removes the program's statements, so that no other program waits for it.
func (s *Service) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, every)
	defer cancel()
	if err := removeProgram(ctx, s.DB, s.id); err != nil {
		s.Log.Warn("other programs wait a minute for the keys of this program", "error", err)
	}
}

// state reads the file of a ring, states its keys, and chooses the key to write with.
//
// The order is important. The program holds all new keys before it states them, and it drops a key
// only after the statement without that key is committed. So another program never writes with a
// key that this program does not hold.
//
// If a running program cannot read the file, it states the keys that it has, and state returns the error
// of the file. Otherwise other programs would take it for ended, and would write with keys that it lacks.
func (s *Service) state(ctx context.Context, r *Ring, running bool) error {
	next, text, unread := r.read()
	if unread != nil {
		if !running {
			return unread
		}
		next, text = r.Keys, r.text
	}
	undo, err := r.Keys.Extend(next)
	if err != nil {
		return err
	}
	older, err := s.DB.Beside(ctx, boundSince)
	if err == nil && text != r.text && r.Recognise != nil {
		err = r.Recognise(ctx)
	}
	if err != nil {
		undo()
		return err
	}
	var use secret.Use
	var waiting string
	err = s.DB.Tx(ctx, func(q db.Querier) (err error) {
		use, waiting, err = s.choose(ctx, q, r, next.IDs(), older, running)
		return err
	})
	if err != nil {
		if fault.Is(err, fault.Refused) {
			undo() // after any other error the statement may be committed, and other programs may rely on it
		}
		return err
	}
	before := r.Keys.Current()
	use.Unbound = older
	r.Keys.Become(next, use)
	r.text = text
	if waiting != r.waiting && waiting != "" {
		s.Log.Warn(waiting, "ring", r.Name)
	}
	r.waiting = waiting
	if running && before != use.Current {
		s.Log.Info("the program writes with a different key", "ring", r.Name, "key", use.Current, "before", before)
	}
	return unread
}

// read returns the keyring in the ring's file, and the file's content.
func (r *Ring) read() (*secret.Keyring, string, error) {
	if r.File.Path == "" {
		return r.Keys, "", nil
	}
	if _, err := secret.CheckMode(r.File.Path); err != nil {
		return nil, "", err
	}
	content, err := os.ReadFile(r.File.Path)
	if err != nil {
		return nil, "", err
	}
	if string(content) == r.text {
		return r.Keys, r.text, nil // also without a call to the KMS
	}
	text, err := r.File.Unwrap(string(content))
	if err != nil {
		return nil, "", err
	}
	k, err := secret.Parse(text)
	return k, string(content), err
}

// choose decides with which key the program writes. All programs decide under one lock. If the
// program runs, choose also writes the program's statement.
func (s *Service) choose(
	ctx context.Context, q db.Querier, r *Ring, holds []string, older, running bool,
) (use secret.Use, waiting string, err error) {
	now := s.Clock.Now()
	if err := takeLock(ctx, q, r.Name); err != nil {
		return use, "", err
	}
	lines, err := findLines(ctx, q, r.Name)
	if err != nil {
		return use, "", err
	}
	programs, err := findPrograms(ctx, q, r.Name, s.Machine.Now().Add(-lifetime))
	if err != nil {
		return use, "", err
	}
	programs = slices.DeleteFunc(programs, func(p Program) bool { return p.ID == s.id })
	removed := map[string]bool{} // of each line with which the database was written
	for _, l := range lines {
		removed[l.ID] = !l.RemovedAt.IsZero()
		if !removed[l.ID] && !slices.Contains(holds, l.ID) {
			return use, "", fault.Newf(fault.Refused,
				"the %s keyring lacks the line %s, with which this database was written: put the line back below the first one (kobo key remove %s says what depends on it)",
				r.Name, l.ID, l.ID)
		}
	}
	for _, keyID := range holds {
		gone, written := removed[keyID]
		if gone {
			continue
		}
		if older && !written && len(lines) > 0 {
			waiting = fmt.Sprintf("the line %s waits: %s", keyID, olderRuns)
			continue
		}
		i := slices.IndexFunc(programs, func(p Program) bool { return !p.Holds(keyID) })
		if i < 0 {
			use.Current = keyID
			break
		}
		waiting = fmt.Sprintf("the line %s waits: the running program %s does not hold it; add the line there", keyID, programs[i].Name)
	}
	if use.Current == "" {
		return use, "", fault.Newf(fault.Refused, "the %s keyring has no line that all running programs hold: %s", r.Name, waiting)
	}
	beside := int64(0)
	for _, p := range programs {
		use.Beside = append(use.Beside, p.Writes)
		if s.Machine.Now().Sub(p.SeenAt) < silence {
			beside++
		}
	}
	if r.Name == Master {
		s.beside.Store(beside)
	}
	return use, waiting, s.write(ctx, q, r, holds, use.Current, running, now)
}

func (s *Service) write(ctx context.Context, q db.Querier, r *Ring, holds []string, current string, running bool, now time.Time) error {
	if err := upsertLine(ctx, q, r.Name, current, now); err != nil || !running {
		return err
	}
	for _, keyID := range r.Keys.TakeUsed() {
		if err := noteCallback(ctx, q, r.Name, keyID, now); err != nil {
			return err
		}
	}
	if err := forgetPrograms(ctx, q, s.Machine.Now().Add(-forgotten)); err != nil {
		return err
	}
	return upsertProgram(ctx, q, r.Name, Program{ID: s.id, Name: s.name, holds: strings.Join(holds, ","), Writes: current, SeenAt: s.Machine.Now()})
}

// Programs returns the running programs, and the keys of the ring that each one holds.
func (s *Service) Programs(ctx context.Context, ring string) ([]Program, error) {
	return findPrograms(ctx, s.DB, ring, s.Machine.Now().Add(-lifetime))
}

// Lines returns the keys with which the database was written, the oldest first.
func (s *Service) Lines(ctx context.Context, ring string) ([]Line, error) {
	return findLines(ctx, s.DB, ring)
}

// Promotable returns a fault if a running program does not hold a key, so that no program may write
// with that key.
func (s *Service) Promotable(ctx context.Context, ring, keyID string) error {
	lines, err := s.Lines(ctx, ring)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(lines, func(l Line) bool { return l.ID == keyID && !l.RemovedAt.IsZero() }) {
		return fault.Newf(fault.Refused, "the line %s is removed: add a new one (kobo key add)", keyID)
	}
	older, err := s.DB.Beside(ctx, boundSince)
	if err != nil {
		return err
	}
	if older {
		return fault.New(fault.Refused, olderRuns)
	}
	programs, err := s.Programs(ctx, ring)
	if err != nil {
		return err
	}
	var lacking []string
	for _, p := range programs {
		if !p.Holds(keyID) {
			lacking = append(lacking, fmt.Sprintf("%s, seen at %s", p.Name, clock.Text(p.SeenAt)))
		}
	}
	if len(lacking) > 0 {
		return fault.Newf(fault.Refused, "these running programs do not hold the line %s: add it to their keyrings first\n%s", keyID, strings.Join(lacking, "\n"))
	}
	return nil
}
