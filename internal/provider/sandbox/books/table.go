package books

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
)

// Table is a table of the books. Its rows are values of T, declared as in db.Declare.
type Table[T any] struct {
	*db.Declared[T]
	rules []string
}

// NewTable declares a table with constraints in addition to its primary key. If T has no key, the
// database numbers the rows in the column id.
func NewTable[T any](name string, rules ...string) Table[T] {
	return Table[T]{db.Declare[T](name), rules}
}

// Definition returns the SQL statement that creates the table.
func (t Table[T]) Definition() string {
	var parts []string
	if t.Key == 0 {
		parts = append(parts, "id INTEGER PRIMARY KEY")
	}
	for _, c := range t.Columns {
		parts = append(parts, c.Name+map[db.Type]string{db.Text: " TEXT", db.Int: " BIGINT"}[c.Type]+" NOT NULL")
	}
	if t.Key > 0 {
		parts = append(parts, "PRIMARY KEY ("+strings.Join(t.KeyNames(), ", ")+")")
	}
	return "CREATE TABLE IF NOT EXISTS " + t.Name + " (" + strings.Join(append(parts, t.rules...), ", ") + ")"
}

func (t Table[T]) names() string { return strings.Join(t.Names(), ", ") }

// One returns the row that matches a condition, or db.ErrNone.
func (t Table[T]) One(ctx context.Context, q db.Querier, where string, args ...any) (T, error) {
	return db.One(ctx, q, t.Scan, "SELECT "+t.names()+" FROM "+t.Name+" WHERE "+where, args...)
}

// All returns the rows that match a condition. The condition must end with the ORDER BY clause.
func (t Table[T]) All(ctx context.Context, q db.Querier, where string, args ...any) ([]T, error) {
	return db.All(ctx, q, t.Scan, "SELECT "+t.names()+" FROM "+t.Name+" WHERE "+where, args...)
}

// Page returns one page of the rows that match a condition, and the total count of these rows.
func (t Table[T]) Page(ctx context.Context, q db.Querier, p Page, where, order string, args ...any) (rows []T, total int64, err error) {
	total, err = db.One(ctx, q, db.Value[int64], "SELECT COUNT(*) FROM "+t.Name+" WHERE "+where, args...)
	if err != nil {
		return nil, 0, err
	}
	where += fmt.Sprintf(" ORDER BY %s LIMIT $%d OFFSET $%d", order, len(args)+1, len(args)+2)
	rows, err = t.All(ctx, q, where, append(args, p.Limit, p.Number*p.Limit)...)
	return rows, total, err
}

// Insert adds a row. It returns an error if a row with the same key exists.
func (t Table[T]) Insert(ctx context.Context, q db.Querier, v T) error {
	_, err := t.insert(ctx, q, v, "")
	return err
}

// Add adds a row. It returns false if a row with the same key exists.
func (t Table[T]) Add(ctx context.Context, q db.Querier, v T) (added bool, err error) {
	n, err := t.insert(ctx, q, v, " ON CONFLICT DO NOTHING")
	return n == 1, err
}

func (t Table[T]) insert(ctx context.Context, q db.Querier, v T, conflict string) (int64, error) {
	values := t.Record(v).Values
	places := make([]string, len(values))
	for i := range places {
		places[i] = fmt.Sprintf("$%d", i+1)
	}
	return q.Exec(ctx, "INSERT INTO "+t.Name+" ("+t.names()+") VALUES ("+strings.Join(places, ", ")+")"+conflict, values...)
}

// Update writes the changeable columns of the row that has v's key.
func (t Table[T]) Update(ctx context.Context, q db.Querier, v T) error {
	values := t.Record(v).Values
	var set, key []string
	for i, name := range t.Names() {
		switch place := fmt.Sprintf("%s = $%d", name, i+1); {
		case i < t.Key:
			key = append(key, place)
		case slices.Contains(t.Changing, i):
			set = append(set, place)
		}
	}
	_, err := q.Exec(ctx, "UPDATE "+t.Name+" SET "+strings.Join(set, ", ")+" WHERE "+strings.Join(key, " AND "), values...)
	return err
}

// ErrRepeated is the error for a request whose reference was used before.
var ErrRepeated = errors.New("this reference was used before")

// Accept writes a request and its effects in one transaction, if the reference is new. If the
// reference was used before, Accept increments the request count of that row and returns
// ErrRepeated. The parameter same is the SQL condition that selects this row.
func (t Table[T]) Accept(ctx context.Context, b *Books, v T, same, reference string, effects func(db.Querier) error) error {
	refused := error(nil)
	err := b.Tx(ctx, func(q db.Querier) error {
		refused = nil
		added, err := t.Add(ctx, q, v)
		if err == nil && added {
			return effects(q)
		}
		refused = ErrRepeated
		if err == nil {
			_, err = q.Exec(ctx, "UPDATE "+t.Name+" SET requests = requests + 1 WHERE "+same, reference)
		}
		return err
	})
	return errors.Join(err, refused)
}

// Poll counts one requery of a request in the table, if the request is pending. It returns whether
// this requery settled the request.
func (t Table[T]) Poll(ctx context.Context, q db.Querier, v *T, s *Story) (settled bool, err error) {
	if s.Status != Pending {
		return false, nil
	}
	s.poll()
	return s.Status != Pending, t.Update(ctx, q, *v)
}
