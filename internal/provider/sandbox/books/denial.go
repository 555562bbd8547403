package books

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/db"
)

// denial counts how often a provider has said that it does not know a reference.
type denial struct {
	reference string `db:"reference,key"`
	times     int64  `db:"times,changes"`
}

var denials = NewTable[denial]("sandbox_denial")

// Deny counts a requery about a reference that the provider does not know, which is one with the error
// db.ErrNone. It returns this error. If the provider carries the request out later, the count shows that
// it came after the reply.
func (b *Books) Deny(ctx context.Context, reference string, err error) error {
	if !errors.Is(err, db.ErrNone) || reference == "" {
		return err
	}
	lost := b.Tx(ctx, func(q db.Querier) error {
		_, err := q.Exec(ctx, `INSERT INTO sandbox_denial (reference, times) VALUES ($1, 1)
			ON CONFLICT (reference) DO UPDATE SET times = sandbox_denial.times + 1`, reference)
		return err
	})
	if lost != nil {
		return lost
	}
	return err
}

// Denied sets how often the provider has denied the reference of each row. It adds a row for each denied reference of
// which the provider has no request. If reference is "", the rows have any reference.
func (b *Books) Denied(ctx context.Context, reference string, rows []Row) ([]Row, error) {
	list, err := denials.All(ctx, b, "$1 = '' OR reference = $1 ORDER BY reference", reference)
	if err != nil {
		return nil, err
	}
	times := map[string]int64{}
	for _, v := range list {
		times[v.reference] = v.times
	}
	for i := range rows {
		rows[i].Denied = times[rows[i].Reference]
		delete(times, rows[i].Reference)
	}
	for _, v := range list {
		if _, left := times[v.reference]; left {
			rows = append(rows, Row{Reference: v.reference, Status: Unknown, Denied: v.times})
		}
	}
	return rows, nil
}
