package deployment

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/db"
)

// found gives the database a name, unless it has one already.
func found(ctx context.Context, q db.Querier, name string) error {
	_, err := q.Exec(ctx, `INSERT INTO deployment (id, name, epoch) VALUES (1, $1, 0) ON CONFLICT DO NOTHING`, name)
	return err
}

// find returns the mark of the database.
func find(ctx context.Context, q db.Querier) (Mark, error) {
	return db.One(ctx, q, db.Fields[Mark], `SELECT name, epoch FROM deployment WHERE id = 1`)
}

// raise raises the epoch by one, and returns the new mark.
func raise(ctx context.Context, q db.Querier) (Mark, error) {
	return db.One(ctx, q, db.Fields[Mark], `UPDATE deployment SET epoch = epoch + 1 WHERE id = 1 RETURNING name, epoch`)
}

// lift raises the epoch to the given number, unless the epoch is already as high.
func lift(ctx context.Context, q db.Querier, epoch int64) error {
	_, err := q.Exec(ctx, `UPDATE deployment SET epoch = $1 WHERE id = 1 AND epoch < $1`, epoch)
	return err
}

// errNoName means that nothing about the whole deployment can be kept yet.
var errNoName = errors.New("deployment: the database has no name yet")

// HoldMoves holds the moves of purchases to further billers, or ends the hold. It returns false if
// nothing changes. It returns an error if the database has no name (Service.Name), because then
// nothing keeps the hold.
func HoldMoves(ctx context.Context, q db.Querier, held bool) (changed bool, err error) {
	n, err := q.Exec(ctx, `UPDATE deployment SET moves_held = $1 WHERE id = 1 AND moves_held <> $1`, db.Flag(held))
	if err != nil || n == 1 {
		return n == 1, err
	}
	if _, err := find(ctx, q); errors.Is(err, db.ErrNone) {
		return false, errNoName
	} else if err != nil {
		return false, err
	}
	return false, nil
}

// MovesHeld reports whether the moves of purchases to further billers are held.
func MovesHeld(ctx context.Context, q db.Querier) (bool, error) {
	held, err := db.OrZero(db.One(ctx, q, db.Value[int64], `SELECT moves_held FROM deployment WHERE id = 1`))
	return held == 1, err
}

// environment returns the environment of the database, or "" if the database has none yet.
func environment(ctx context.Context, q db.Querier) (Environment, error) {
	return db.OrZero(db.One(ctx, q, db.Value[Environment], `SELECT environment FROM deployment WHERE id = 1`))
}

// claim sets the environment of the database, unless the database has one already.
func claim(ctx context.Context, q db.Querier, program Environment) error {
	_, err := q.Exec(ctx, `UPDATE deployment SET environment = $1 WHERE id = 1 AND environment = ''`, string(program))
	return err
}
