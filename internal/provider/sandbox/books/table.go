package books

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
)

// Table is a table of the books whose rows are of type T.
type Table[T any] struct {
	Name string
	// Columns are the lines of CREATE TABLE. The database numbers a column of type
	// INTEGER itself.
	Columns string
	Fields  func(*T) []any // pointers to the columns' fields, in the same order
}

// Definition is the statement that makes the table.
func (t Table[T]) Definition() string {
	return "CREATE TABLE IF NOT EXISTS " + t.Name + " (" + t.Columns + ")"
}

// names are the names of the columns that Fields has.
func (t Table[T]) names() string {
	var names []string
	for line := range strings.Lines(t.Columns) {
		words := strings.Fields(line)
		if len(words) > 1 && words[0] == strings.ToLower(words[0]) && words[1] != "INTEGER" {
			names = append(names, words[0])
		}
	}
	return strings.Join(names, ", ")
}

func (t Table[T]) scan(r db.Scanner) (v T, err error) {
	err = r.Scan(t.Fields(&v)...)
	return v, err
}

// One is the row that a condition names, or db.ErrNone.
func (t Table[T]) One(ctx context.Context, q db.Querier, where string, args ...any) (T, error) {
	return db.One(ctx, q, t.scan, "SELECT "+t.names()+" FROM "+t.Name+" WHERE "+where, args...)
}

// All are the rows that a condition names. The condition ends with the order.
func (t Table[T]) All(ctx context.Context, q db.Querier, where string, args ...any) ([]T, error) {
	return db.All(ctx, q, t.scan, "SELECT "+t.names()+" FROM "+t.Name+" WHERE "+where, args...)
}

// Page is one page of the rows that a condition names, and how many there are in
// all.
func (t Table[T]) Page(ctx context.Context, q db.Querier, p Page, where, order string, args ...any) (rows []T, total int64, err error) {
	total, err = db.One(ctx, q, db.Value[int64], "SELECT COUNT(*) FROM "+t.Name+" WHERE "+where, args...)
	if err != nil {
		return nil, 0, err
	}
	where += fmt.Sprintf(" ORDER BY %s LIMIT $%d OFFSET $%d", order, len(args)+1, len(args)+2)
	rows, err = t.All(ctx, q, where, append(args, p.Limit, p.Number*p.Limit)...)
	return rows, total, err
}

// Insert adds a row. A row with the same key is an error.
func (t Table[T]) Insert(ctx context.Context, q db.Querier, v T) error {
	_, err := t.insert(ctx, q, v, "")
	return err
}

// Add adds a row. It returns false if a row with the same key is there.
func (t Table[T]) Add(ctx context.Context, q db.Querier, v T) (added bool, err error) {
	n, err := t.insert(ctx, q, v, " ON CONFLICT DO NOTHING")
	return n == 1, err
}

func (t Table[T]) insert(ctx context.Context, q db.Querier, v T, conflict string) (int64, error) {
	fields := t.Fields(&v)
	places := make([]string, len(fields))
	for i := range places {
		places[i] = fmt.Sprintf("$%d", i+1)
	}
	return q.Exec(ctx, "INSERT INTO "+t.Name+" ("+t.names()+") VALUES ("+strings.Join(places, ", ")+")"+conflict, fields...)
}

// ErrRepeated is a request whose reference was used before.
var ErrRepeated = errors.New("this reference was used before")

// Accept writes a request into the books, all of its effects with it, or none. A
// reference is accepted once: the second time, the row that same names counts one
// more request, and the error is ErrRepeated.
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
