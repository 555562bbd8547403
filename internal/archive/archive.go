// Package archive moves old events from the database into files.
//
// Events stay for ever unless an owner of the database runs kobo archive. The command moves whole
// months. Each company and month has one file of JSON lines, events-YYYY-MM.jsonl in a folder with
// the company's reference. Each line contains an event and a hash. The hash covers the event and the
// hash of the line before it, also across files. So a changed, missing or moved line is found.
//
// The steps of a month are such that a crash between any two of them loses nothing:
//
//  1. write a draft, and write it to the disk;
//  2. give the draft its name, unless a file has that name already;
//  3. read the file again, and compare it with what was written;
//  4. insert the month's row;
//  5. remove the events in small batches.
//
// The next run continues at the first step that is missing. A company may ask for a replay at any time. So the service asks before
// the first step, before the fourth one and before each batch whether a webhook waits for an event of the month. If one does, the rest
// of the month stays for a later run, and so does a file that is written already.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// Service moves the events of all companies.
type Service struct {
	DB       *db.DB
	Events   *event.Service
	Webhooks *webhook.Service
	Clock    clock.Clock
	Folder   string
	// Covered returns the number of a company's first rows of evidence whose hashes stay when the rows
	// are removed. If it is nil, all events may be removed.
	Covered func(ctx context.Context, company string) (int64, error)

	// Step, if set, is called after each step. Tests use it to interrupt the run.
	Step func(what string) error
}

// Month is a month of a company whose events are in a file.
type Month struct {
	Company    string    `db:"company_id,key"`
	Name       string    `db:"month,key"` // such as 2030-01, in Lagos
	First      int64     `db:"first_sequence"`
	Last       int64     `db:"last_sequence"`
	Hash       string    `db:"hash"` // the hash of the last line
	ArchivedAt time.Time `db:"archived_at"`
	Leaves     string    `db:"leaves"` // the evidence numbers of the events, as ranges (Ranges)
	MAC        string    `db:"mac"`

	kinds map[string]int64 // how many events of each kind the file contains
}

// Held is a company whose events must wait.
type Held struct {
	Company  string
	Sequence int64 // the first event that waits
	// Uncovered means that no whole tile below a checkpoint has the hash of the event. Otherwise a
	// webhook has not received the event yet.
	Uncovered bool
}

// Run moves all months that ended at least keep months before the present month. It calls moved
// after each month. The newest event of a company always stays, and so does its month. Run returns
// the companies with an event that must wait.
func (s *Service) Run(ctx context.Context, keep int, moved func(Month)) (held []Held, err error) {
	now := s.Clock.Now().In(clock.Lagos)
	before := time.Date(now.Year(), now.Month()-time.Month(keep), 1, 0, 0, 0, 0, clock.Lagos)
	for company := ""; ; {
		company, err = s.Events.NextCompany(ctx, company)
		if errors.Is(err, db.ErrNone) {
			return held, nil
		}
		var waits *Held
		if err == nil {
			waits, err = s.company(db.WithLongTimeout(ctx), company, before, moved)
		}
		if err != nil {
			return held, fmt.Errorf("company %s: %w", company, err)
		}
		if waits != nil {
			held = append(held, *waits)
		}
	}
}

// company moves the months of one company that end at or before an instant.
func (s *Service) company(ctx context.Context, company string, before time.Time, moved func(Month)) (*Held, error) {
	last, held, err := s.finish(ctx, company)
	if err != nil || held != nil {
		return held, err
	}
	for {
		m, err := s.following(ctx, last, before)
		if err != nil || m.Last < m.First {
			return nil, err
		}
		if held, err := s.waits(ctx, m); err != nil || held != nil {
			return held, err
		}
		if covered, err := s.covered(ctx, m); err != nil || !covered {
			return &Held{Company: company, Sequence: m.First, Uncovered: true}, err
		}
		m, held, err := s.move(ctx, m, last.Hash)
		if err != nil || held != nil {
			return held, err
		}
		moved(m)
		last = m
	}
}

// waits returns the company as held if a webhook has not received an event of the month, or of an earlier one.
func (s *Service) waits(ctx context.Context, m Month) (*Held, error) {
	waiting, waits, err := s.Webhooks.Waiting(ctx, m.Company)
	if err != nil || !waits || waiting > m.Last {
		return nil, err
	}
	return &Held{Company: m.Company, Sequence: waiting}, nil
}

// covered reports whether the tree of the company keeps the hashes of all events of a month.
func (s *Service) covered(ctx context.Context, m Month) (bool, error) {
	if s.Covered == nil {
		return true, nil
	}
	first, last, err := s.Events.Leaves(ctx, m.Company, m.First, m.Last)
	if err != nil {
		return false, err
	}
	count, err := s.Covered(ctx, m.Company)
	return first > 0 && last <= count, err
}

// following returns the month after an archived one that has events. Its Last is 0 if that month
// must stay.
func (s *Service) following(ctx context.Context, last Month, before time.Time) (Month, error) {
	m := Month{Company: last.Company, First: last.Last + 1}
	page, _, err := s.Events.Feed(ctx, m.Company, last.Last, 1, 0)
	if err != nil || len(page) == 0 {
		return m, err
	}
	at := page[0].CreatedAt.In(clock.Lagos)
	end := time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, clock.Lagos)
	if end.After(before) {
		return m, nil
	}
	m.Name = at.Format("2006-01")
	next, err := s.Events.Since(ctx, m.Company, end)
	if err != nil {
		return m, err
	}
	// The newest event stays. So a later event always shows a reader that earlier events are gone.
	if page, _, err = s.Events.Feed(ctx, m.Company, next-1, 1, 0); err == nil && len(page) > 0 {
		m.Last = next - 1
	}
	return m, err
}

// move moves one month. The hash is that of the last line before the month. If a webhook waits for an event meanwhile, move
// returns the company as held.
func (s *Service) move(ctx context.Context, m Month, hash string) (Month, *Held, error) {
	path := s.path(m)
	wrote, err := s.export(ctx, m, hash, path)
	if err != nil {
		return m, nil, err
	}
	read, err := check(path, m, hash)
	if err != nil {
		return m, nil, err
	}
	if read.hash != wrote.hash || !maps.Equal(read.kinds, wrote.kinds) {
		return m, nil, fmt.Errorf("%s exists already and contains other events: move it away, or name another folder", path)
	}
	if err := s.step("checked"); err != nil {
		return m, nil, err
	}
	if held, err := s.waits(ctx, m); err != nil || held != nil {
		return m, held, err
	}
	m.Hash, m.ArchivedAt, m.Leaves = read.hash, s.Clock.Now(), ranges(wrote.leaves)
	m.kinds = read.kinds
	m.MAC = s.DB.Signer().MAC(m.Content())
	rows := []db.Record{months.Record(m)}
	for kind, n := range read.kinds {
		rows = append(rows, kinds.Record(count{m.Company, m.Name, kind, n}))
	}
	if err := s.DB.Insert(ctx, rows...); err != nil {
		return m, nil, err
	}
	if err := s.step("recorded"); err != nil {
		return m, nil, err
	}
	held, err := s.remove(ctx, m)
	return m, held, err
}

// export writes the file of a month, unless the file exists. It returns what the file must contain.
func (s *Service) export(ctx context.Context, m Month, hash, path string) (c content, err error) {
	if err := s.makeFolder(filepath.Dir(path)); err != nil {
		return c, err
	}
	if err := removeDrafts(path); err != nil {
		return c, err
	}
	draft, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".partial-*")
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, os.Remove(draft.Name())) }()
	c, err = s.write(ctx, draft, m, hash)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return c, err
	}
	if err := s.step("drafted"); err != nil {
		return c, err
	}
	if err := os.Link(draft.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return c, err
	}
	if err := errors.Join(db.Persist(path), persistNames(s.Folder)); err != nil {
		return c, err
	}
	return c, s.step("named")
}

// makeFolder creates the folder of a company and, if necessary, the folder of the archive. It makes
// the name of the archive's folder safe on the disk. The caller does this for the company's folder.
func (s *Service) makeFolder(folder string) error {
	if _, err := os.Stat(s.Folder); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(s.Folder, 0o700); err != nil {
			return err
		}
		if err := persistNames(filepath.Dir(s.Folder)); err != nil {
			return err
		}
	}
	return os.MkdirAll(folder, 0o700)
}

// finish removes the events of months that were recorded and not removed, if their files are still
// there and right. It returns the last recorded month, and the company as held if a webhook waits for an event.
func (s *Service) finish(ctx context.Context, company string) (last Month, held *Held, err error) {
	last.Company = company
	hash := ""
	list, err := s.months(ctx, company)
	if err != nil {
		return last, nil, err
	}
	first, err := s.Events.First(ctx, company)
	for _, m := range list {
		if err == nil && held == nil && first <= m.Last {
			var read content
			if read, err = check(s.path(m), m, hash); err == nil && read.hash != m.Hash {
				err = fmt.Errorf("%s is not the file that was archived", s.path(m))
			}
			if err == nil {
				held, err = s.remove(ctx, m)
			}
		}
		last, hash = m, m.Hash
	}
	return last, held, err
}

// removeMost is the maximum number of events that one SQL statement removes.
const removeMost = 1000

// remove removes the events up to the end of a recorded month, until a webhook waits for one of them.
func (s *Service) remove(ctx context.Context, m Month) (*Held, error) {
	for {
		if held, err := s.waits(ctx, m); err != nil || held != nil {
			return held, err
		}
		n, err := s.Events.Remove(ctx, m.Company, m.Last, removeMost)
		if err != nil || n == 0 {
			return nil, err
		}
		if err := s.step("removed"); err != nil {
			return nil, err
		}
	}
}

func (s *Service) step(what string) error {
	if s.Step == nil {
		return nil
	}
	return s.Step(what)
}

func (s *Service) path(m Month) string {
	return filepath.Join(s.Folder, m.Company, "events-"+m.Name+".jsonl")
}
