package operator_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// The hold of moves shows its first reason and time until it ends. A hold without a line of its own shows
// those of no earlier hold.
func TestTheHoldOfMovesShowsItsReason(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, at := t.Context(), time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
		keys, err := secret.Parse(secret.Generate())
		if err != nil {
			t.Fatal(err)
		}
		c := clock.At(at)
		s := operator.New(d, keys, c)
		set := func(held bool, reason string) error {
			c.Advance(time.Second)
			return d.Tx(ctx, func(q db.Querier) error { return s.HoldMoves(ctx, q, root, held, reason) })
		}
		if err := set(true, "restored"); err == nil {
			t.Error("a database without a row keeps no hold, and nobody said so")
		}
		change := func(statement string) {
			t.Helper()
			if n, err := d.Exec(ctx, statement); err != nil || n != 1 {
				t.Fatal(n, err)
			}
		}
		change(`INSERT INTO deployment (id, name, epoch) VALUES (1, 'one', 0)`)
		shows := func(want operator.MovesHold) {
			t.Helper()
			if h, err := s.Moves(ctx); err != nil || h != want {
				t.Errorf("%+v, want %+v: %v", h, want, err)
			}
		}
		for _, step := range []struct {
			held   bool
			reason string
			shows  operator.MovesHold
		}{
			{false, "", operator.MovesHold{}},
			{true, "restored", operator.MovesHold{Held: true, Since: at.Add(3 * time.Second), By: root.Name, Reason: "restored"}},
			{true, "again", operator.MovesHold{Held: true, Since: at.Add(3 * time.Second), By: root.Name, Reason: "restored"}},
			{false, "", operator.MovesHold{}},
			{true, "", operator.MovesHold{Held: true, Since: at.Add(6 * time.Second), By: root.Name}},
			{false, "", operator.MovesHold{}},
		} {
			if err := set(step.held, step.reason); err != nil {
				t.Fatal(err)
			}
			shows(step.shows)
		}
		change(`UPDATE deployment SET moves_held = 1`) // as programs before this one held moves at a restore
		shows(operator.MovesHold{Held: true})
		lines, n, err := s.Audit(ctx, "", 10, 0)
		if err != nil || n != 4 {
			t.Errorf("%d lines: %+v, %v", n, lines, err)
		}
	})
}
