package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

func (f AuditFilter) search() auditSearch {
	switch {
	case f.Company != "":
		return auditSearches[0]
	case f.Operator != "":
		return auditSearches[1]
	case f.Action != "":
		return auditSearches[2]
	}
	return auditSearches[3]
}

// until returns the end of the period in microseconds.
func (f AuditFilter) until() int64 {
	if f.To.IsZero() {
		return math.MaxInt64
	}
	return clock.Micros(f.To)
}

func (f AuditFilter) args() []any {
	return []any{f.Operator, f.Action, f.Company, clock.Micros(f.From), f.until()}
}

func scanLine(r db.Scanner) (Line, error) {
	row, err := audit.Scan(r)
	if err != nil {
		return Line{}, err
	}
	return row.line()
}

func (r auditRow) line() (Line, error) {
	err := json.Unmarshal(r.Text, &r.Details)
	return r.Line, err
}

// place returns the place of a line in the audit log.
func (l Line) place() db.Place { return db.Place{At: clock.Micros(l.CreatedAt), ID: l.ID} }

// Cursor returns the place of a line in the audit log, as a text.
func (l Line) Cursor() string { return l.place().Cursor() }

// AuditAfter returns at most limit lines that pass the filter, the newest first. They follow the line with the cursor
// after, which is "" for the newest lines. A wrong cursor is a fault of the kind Invalid. A filter of which few lines are
// left may read many, so this is a heavy read.
func (s *Service) AuditAfter(ctx context.Context, f AuditFilter, after string, limit int) (out []Line, err error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	if until := f.until(); at.At >= until {
		at = db.Place{At: until}
	}
	args := []any{f.Operator, f.Action, clock.Micros(f.From), at.At, at.ID, limit}
	if f.Company != "" {
		args = append(args, f.Company)
	}
	err = s.db.Heavy(ctx, "", func(q db.Querier) error {
		out = nil
		for _, statement := range f.search().after {
			lines, err := db.All(ctx, q, scanLine, statement, args...)
			if err != nil {
				return err
			}
			out = append(out, lines...)
		}
		return nil
	})
	slices.SortFunc(out, func(a, b Line) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	return out[:min(len(out), limit)], err
}

// walkPage is the number of lines that EachLine reads at a time.
const walkPage = 500

// EachLine calls the function use with each line that passes the filter, the oldest first. It holds
// no transaction, so a slow reader blocks nobody.
func (s *Service) EachLine(ctx context.Context, f AuditFilter, use func(Line) error) error {
	ctx = db.Reading(ctx)
	at := db.Place{At: -1}
	for {
		lines, err := db.All(ctx, s.db, scanLine, f.search().walk, append(f.args(), at.At, at.ID, walkPage)...)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if err := use(l); err != nil {
				return err
			}
			at = l.place()
		}
		if len(lines) < walkPage {
			return nil
		}
	}
}
