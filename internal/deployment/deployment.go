// Package deployment detects that the database is an old copy.
//
// Once a second, a serving program increases a number in the database, the epoch. After each commit
// it writes the epoch into a file outside the database. A database restored from a backup has a
// lower epoch than the file, and lacks the latest requests to providers. A program that starts on
// such a database closes API access. The same commit raises the epoch to that of the file, so each
// old copy is detected only once. API access stays closed until an operator opens it. A running program
// notices in the same way that its database went back.
package deployment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Mark is the name of a database and its epoch.
type Mark struct {
	Name  string // the name, which the database shares with all its copies
	Epoch int64
}

// Close closes API access in a transaction, and records the reason.
type Close func(ctx context.Context, q db.Querier, reason string) error

// Service raises the epoch of one database.
type Service struct {
	db    *db.DB
	clock clock.Clock
	log   *slog.Logger
	path  string
	sync  func(folder string) error
	shut  Close // of Begin

	mu     sync.Mutex
	last   int64     // the epoch after our last raise
	raised time.Time // the time of that raise
	failed bool      // true if the last raise failed
	name   string    // the name of the database, or "" before it was read
}

// New returns a service for a database and the epoch file at path. With path "", there is no file.
// The clock c must be the machine's clock.
func New(d *db.DB, c clock.Clock, log *slog.Logger, path string) *Service {
	return &Service{db: d, clock: c, log: log, path: path, sync: secret.SyncFolder}
}

// Begin compares the database with the file before the program serves requests, and raises the
// epoch for the first time. It returns an error if the file cannot be read or written.
func (s *Service) Begin(ctx context.Context, shut Close) error {
	s.shut = shut
	if s.path == "" {
		s.log.Warn("epoch_file is not set: an old copy of the database will not be noticed")
		_, err := s.meet(ctx, Mark{})
		return err
	}
	// The file is read before the database, because other programs may raise the epoch in between.
	// So a database with an epoch below that of the file is an old copy.
	seen, there, err := read(s.path)
	if err != nil {
		return err
	}
	now, err := s.meet(ctx, seen)
	if err != nil {
		return err
	}
	if !there && now.Epoch > 1 {
		s.log.Warn("the epoch file was not there: this start could not notice an old copy of the database", "file", s.path)
	}
	return s.keep(now, seen.Name)
}

// meet compares the database with the mark of the file, and raises the epoch. The zero Mark means
// that there is no file.
func (s *Service) meet(ctx context.Context, seen Mark) (now Mark, err error) {
	why := ""
	err = s.db.Tx(ctx, func(q db.Querier) error {
		if err := found(ctx, q, id.New()); err != nil {
			return err
		}
		was, err := find(ctx, q)
		if err != nil {
			return err
		}
		if why = s.odd(seen, was); why != "" {
			now, err = s.shutAbove(ctx, q, why, seen.Epoch)
		} else {
			now, err = raise(ctx, q)
		}
		return err
	})
	if err == nil {
		s.note(now, why)
	}
	return now, err
}

// shutAbove closes API access, and raises the epoch above a number. One commit does both, so the next start or raise does
// not close it again.
func (s *Service) shutAbove(ctx context.Context, q db.Querier, why string, above int64) (now Mark, err error) {
	if err = s.shut(ctx, q, why); err == nil {
		err = lift(ctx, q, above)
	}
	if err == nil {
		now, err = raise(ctx, q)
	}
	return now, err
}

// odd returns the reason why the database does not match the file, or "".
func (s *Service) odd(seen, now Mark) string {
	switch {
	case seen == Mark{}:
		return ""
	case seen.Name != now.Name:
		return fmt.Sprintf("the epoch file %s is of another database: see docs/operating.md", s.path)
	case seen.Epoch > now.Epoch:
		return fmt.Sprintf("this database is an old copy: its epoch is %d, and %s says %d: see docs/operating.md", now.Epoch, s.path, seen.Epoch)
	}
	return ""
}

// every is the time between two raises of the epoch.
const every = time.Second

// Run raises the epoch once a second until ctx ends.
func (s *Service) Run(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := s.Raise(ctx); ctx.Err() == nil {
			s.tell(err)
		}
	}
}

// tell logs the first failed raise, and the first successful raise after a failure.
func (s *Service) tell(err error) {
	switch {
	case err != nil && !s.failed:
		s.log.Error("the epoch was not raised or not written: an old copy may not be noticed", "error", err)
	case err == nil && s.failed:
		s.log.Info("the epoch is raised and written again")
	}
	s.failed = err != nil
}

// Raise raises the epoch by one and, after the commit, writes it into the file. If the database is below the last
// epoch that this program has committed, an old copy has taken its place. Then the same commit closes API access and
// raises the epoch above the last one, as a start on an old copy does. Begin comes before the first Raise.
func (s *Service) Raise(ctx context.Context) error {
	last, why := s.epoch(), ""
	var now Mark
	err := s.db.Tx(ctx, func(q db.Querier) (err error) {
		why = ""
		if now, err = raise(ctx, q); err != nil || now.Epoch > last {
			return err
		}
		why = fmt.Sprintf("this database is an old copy: it went back from epoch %d to %d while a program ran: see docs/operating.md", last, now.Epoch-1)
		now, err = s.shutAbove(ctx, q, why, last)
		return err
	})
	if err != nil {
		return err
	}
	s.note(now, why)
	if s.path == "" {
		return nil
	}
	return s.keep(now, now.Name)
}

// epoch returns the epoch after our last raise.
func (s *Service) epoch() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// note stores the new epoch and its time. It logs why the same commit has closed API access, unless why is "".
func (s *Service) note(now Mark, why string) {
	if why != "" {
		s.log.Error("API access is closed; kobo door open lets companies in", "reason", why)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.raised = now.Epoch, s.clock.Now()
}

// keep replaces the mark in the file with the mark now. The name in the file must be the name of
// now or the parameter instead, and otherwise keep returns an error. If the file has the name of
// now and the same or a higher epoch, another program has written that epoch. Then keep leaves the
// file unchanged.
func (s *Service) keep(now Mark, instead string) error {
	seen, there, err := read(s.path)
	switch {
	case err != nil:
		return err
	case there && seen.Name != now.Name && seen.Name != instead:
		return fmt.Errorf("epoch_file: another database writes %s", s.path)
	case there && seen.Name == now.Name && seen.Epoch >= now.Epoch:
		return nil
	}
	return write(s.path, now, s.sync)
}

// Name returns the name of the database. It gives the database a name if it has none yet.
func (s *Service) Name(ctx context.Context) (string, error) {
	s.mu.Lock()
	name := s.name
	s.mu.Unlock()
	if name != "" {
		return name, nil
	}
	m, err := find(ctx, s.db)
	if errors.Is(err, db.ErrNone) {
		err = s.db.Tx(ctx, func(q db.Querier) error {
			err := found(ctx, q, id.New())
			if err == nil {
				m, err = find(ctx, q)
			}
			return err
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name = m.Name
	return m.Name, err
}

// Raised returns the time of the last raise. At that time the database could be written.
func (s *Service) Raised() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raised
}
