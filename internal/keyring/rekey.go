package keyring

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/secret"
)

const (
	// batch is the number of rows that one step of a rekey reads.
	batch = 500
	// atOnce is the number of rows that a rekey writes concurrently.
	atOnce = 8
)

// cursor is the primary key of a row.
type cursor struct{ Company, Row string }

// row is a row with sealed values.
type row struct{ Company, ID, First, Second, Rest string }

// Progress is the state of a rekey.
type Progress struct {
	Table           string
	Rows            int64 // the rows of the table
	Read            int64 // the rows that were read
	Sealed          int64 // the rows that were sealed again
	Changed, Broken int64 // the rows that a request changed meanwhile, and the rows that do not open
}

// Rekey seals all values again that an older key sealed, or that are not bound to their rows. It
// rewrites the blind indexes of these values too. Requests are served meanwhile: each row is one
// short statement, which changes nothing if a request has changed the row. An interrupted Rekey
// continues behind the last batch. Rekey calls step after each batch.
func (s *Service) Rekey(ctx context.Context, step func(Progress)) (left []Dependent, err error) {
	ring := s.master()
	if err := s.rekeyable(ctx, ring); err != nil {
		return nil, err
	}
	ctx = db.WithLongTimeout(ctx)
	for _, table := range slices.Sorted(maps.Keys(sealedRows)) {
		if err := s.rekeyTable(ctx, ring.Keys, table, step); err != nil {
			return nil, err
		}
	}
	lines, err := s.Lines(ctx, Master)
	for _, l := range lines {
		if err != nil || l.ID == ring.Keys.Current() || !l.RemovedAt.IsZero() {
			continue
		}
		var found []Dependent
		found, err = s.Dependents(ctx, l)
		left = append(left, slices.DeleteFunc(found, func(d Dependent) bool { return d.Count == 0 })...)
	}
	return left, err
}

// rekeyable returns a fault if a running program still writes with a different key, or cannot open
// values that are bound to their rows.
func (s *Service) rekeyable(ctx context.Context, ring *Ring) error {
	if ring.waiting != "" {
		return fault.New(fault.Refused, ring.waiting)
	}
	older, err := s.DB.Beside(ctx, boundSince)
	if err != nil {
		return err
	}
	if older {
		return fault.New(fault.Refused, olderRuns)
	}
	programs, err := s.Programs(ctx, Master)
	for _, p := range programs {
		if p.Writes != ring.Keys.Current() {
			return fault.Newf(fault.Refused, "the running program %s writes with the line %s and not with %s: promote the line there first", p.Name, p.Writes, ring.Keys.Current())
		}
	}
	return err
}

func (s *Service) rekeyTable(ctx context.Context, keys *secret.Keyring, table string, step func(Progress)) error {
	rows, err := countRows(ctx, s.DB, table)
	if err != nil {
		return err
	}
	at, err := findCursor(ctx, s.DB, table, keys.Current())
	if err != nil {
		return err
	}
	p := Progress{Table: table, Rows: rows}
	for {
		list, err := findRows(ctx, s.DB, table, at, batch)
		if err != nil {
			return err
		}
		if err := s.rekeyRows(ctx, keys, table, list, &p); err != nil {
			return err
		}
		if len(list) < batch {
			step(p)
			return forgetCursor(ctx, s.DB, table) // the next run reads all rows again
		}
		last := list[len(list)-1]
		at = cursor{last.Company, last.ID}
		if err := saveCursor(ctx, s.DB, table, keys.Current(), at); err != nil {
			return err
		}
		step(p)
	}
}

// rekeyRows seals the values of some rows again. Each row is a separate statement, so it holds no
// row while it waits for another one.
func (s *Service) rekeyRows(ctx context.Context, keys *secret.Keyring, table string, list []row, p *Progress) error {
	writes, ctx := errgroup.WithContext(ctx)
	writes.SetLimit(atOnce)
	written := make([]bool, len(list))
	stale := 0
	for i, old := range list {
		next, err := reseal(keys, table, old)
		if err != nil {
			p.Broken++
			s.Log.Error("a sealed value does not open", "table", table, "company", old.Company, "row", old.ID)
			continue
		}
		if next == old {
			continue
		}
		stale++
		writes.Go(func() (err error) {
			if table == "idempotency_key" {
				written[i], err = idempotency.Reseal(ctx, s.Book, old.Company, old.ID, old.First, next.First)
			} else {
				written[i], err = replaceRow(ctx, s.DB, table, old, next)
			}
			return err
		})
	}
	err := writes.Wait()
	for _, yes := range written {
		p.Sealed += db.Flag(yes)
	}
	p.Changed += int64(stale)
	for _, yes := range written {
		p.Changed -= db.Flag(yes)
	}
	p.Read += int64(len(list))
	return err
}

// reseal returns the row with its values sealed by the current key.
func reseal(keys *secret.Keyring, table string, r row) (row, error) {
	switch table {
	case "identity_session":
		return resealBVN(keys, r)
	case "idempotency_key":
		return resealBody(keys, r)
	}
	at := secret.Place{Company: r.Company, Column: columns[table], Row: r.ID}
	var err error
	for _, value := range []*string{&r.First, &r.Second} {
		if *value != "" && err == nil {
			*value, err = keys.Reseal(at, *value)
		}
	}
	return r, err
}

// columns are the names to which the values of each table are bound.
var columns = map[string]string{
	"erasure": "erasure.identity", "person_credential": person.SealedAs, "webhook_endpoint": "webhook_endpoint.secret", "inbox_notification": "inbox_notification.body", "idempotency_key": "idempotency_key.body",
}

// resealBVN seals a BVN again, and replaces its blind index if the row has one.
func resealBVN(keys *secret.Keyring, r row) (row, error) {
	at := secret.Place{Company: r.Company, Column: identity.SealedAs, Row: r.ID}
	bvn, err := keys.Open(at, r.First)
	if err != nil {
		return r, err
	}
	indexes := keys.BlindIndex(r.Company, identity.SealedAs, bvn.Reveal())
	for _, index := range indexes[1:] {
		if rest, found := strings.CutPrefix(r.Second, index); found {
			r.Second = indexes[0] + rest
		}
	}
	r.First, err = keys.Reseal(at, r.First)
	return r, err
}

// resealBody seals the secret part of a stored response again. A public part may follow it.
func resealBody(keys *secret.Keyring, r row) (row, error) {
	text, isSealed := strings.CutPrefix(r.First, "sealed:")
	if !isSealed {
		return r, nil
	}
	text, public, hasPublic := strings.Cut(text, "\n")
	next, err := keys.Reseal(secret.Place{Company: r.Company, Column: columns["idempotency_key"], Row: r.ID}, text)
	if err != nil {
		return r, fmt.Errorf("keyring: %w", err)
	}
	if r.First = "sealed:" + next; hasPublic {
		r.First += "\n" + public
	}
	return r, nil
}
