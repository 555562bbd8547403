package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

// fate is the outcome of a COMMIT in a test.
type fate int

const (
	answered fate = iota
	lostBefore
	lostAfter
)

// losing is a transaction that may lose the reply to its COMMIT.
type losing struct {
	db.Pipeline
	fate fate
}

func (l losing) Commit(ctx context.Context, writes ...db.Write) error {
	if l.fate == lostBefore {
		l.Rollback()
		return db.ErrUncommitted
	}
	err := l.Pipeline.Commit(ctx, writes...)
	if err == nil && l.fate == lostAfter {
		err = db.ErrUncommitted
	}
	return err
}

// loses makes each COMMIT of a ledger end with the fate that the function next returns.
func loses(b *Book, next func() fate) {
	b.run = func(ctx context.Context, strokes func(db.Pipeline) error) error {
		return b.db.Run(ctx, func(p db.Pipeline) error { return strokes(losing{p, next()}) })
	}
}

// first returns a function that returns the given fate at its first call, and answered at all later
// calls.
func first(of fate) func() fate {
	return func() fate {
		now := of
		of = answered
		return now
	}
}

// buying returns a unit that inserts a row with a unique key and debits the settlement account.
func buying(id, key string, amount money.Kobo) Unit {
	return Unit{Company: "c1", inserts: []db.Record{thing("c1", id, key, "NEW")}, transfers: []Transfer{paying(id, "", amount)}}
}

// A unit may be refused because of an earlier unit of its batch. If the batch was committed, the
// refusal is final. If not, the refused unit is decided again.
func TestARefusalRestsOnCommittedRows(t *testing.T) {
	for name, c := range map[string]struct {
		units  [2]Unit
		reason Reason
	}{
		"the same balance twice":  {[2]Unit{buying("a", "", 100), buying("b", "", 100)}, Short},
		"the same payout twice":   {[2]Unit{buying("a", "claim", 10), buying("b", "claim", 10)}, Exists},
		"the same purchase twice": {[2]Unit{buying("a", "key", 30), buying("b", "key", 30)}, Exists},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
				b := open(t, d)
				found(t, b, "c1")
				fund(t, b, "c1", 100)
				loses(b, first(lostBefore))
				told, _ := together(b, c.units[0], c.units[1])
				if !fault.Is(told[0], fault.Unavailable) || told[1] != nil {
					t.Errorf("lost before: %v", told)
				}
				if got, want := balance(t, b, "c1", settlement), 100-c.units[1].transfers[0].Amount; got != want {
					t.Errorf("balance %d, want %d", got, want)
				}
				audit(t, d, "c1")
			})
			dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
				b := open(t, d)
				found(t, b, "c1")
				fund(t, b, "c1", 100)
				loses(b, first(lostAfter))
				told, _ := together(b, c.units[0], c.units[1])
				if told[0] != nil || !Is(told[1], c.reason) {
					t.Errorf("lost after: %v", told)
				}
				audit(t, d, "c1")
			})
		})
	}
}

// A batch that only changes rows cannot be looked up, so its outcome stays unknown. A refusal in
// that batch is not final either.
func TestARefusalOfAnUnknownBatchIsNotFinal(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		for _, f := range []fate{lostBefore, lostAfter} {
			id := fmt.Sprint("moved ", f)
			must(t, b.Commit(t.Context(), Unit{Company: "c1", inserts: []db.Record{thing("c1", id, "", "NEW")}}))
			loses(b, first(f))
			told, _ := together(b, moving(id, "DONE"), Unit{Company: "c1", transfers: []Transfer{paying(id, "", 1)}})
			if !fault.Is(told[0], fault.Unknown) || !fault.Is(told[1], fault.Unavailable) {
				t.Errorf("fate %d: %v", f, told)
			}
		}
	})
}

// What a unit does afterwards is done only if the unit is committed for certain.
func TestWhatFollowsAUnitNeedsItsCommit(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		done := 0
		buys := func(id string, amount money.Kobo) Unit {
			u := buying(id, id, amount)
			u.Then(func() { done++ })
			return u
		}
		fund(t, b, "c1", 100)
		loses(b, first(lostAfter))
		if err := b.Commit(t.Context(), buys("found again", 10)); err != nil || done != 1 {
			t.Errorf("a lost COMMIT that was found again: %v, done %d times", err, done)
		}
		loses(b, first(lostBefore))
		if err := b.Commit(t.Context(), buys("lost", 10)); !fault.Is(err, fault.Unavailable) {
			t.Errorf("lost: %v", err)
		}
		if err := b.Commit(t.Context(), buys("too dear", 1000)); !Is(err, Short) {
			t.Errorf("refused: %v", err)
		}
		must(t, b.Commit(t.Context(), Unit{Company: "c1", inserts: []db.Record{thing("c1", "moved", "", "NEW")}}))
		loses(b, first(lostAfter))
		moves := moving("moved", "DONE")
		moves.Then(func() { done++ })
		if err := b.Commit(t.Context(), moves); !fault.Is(err, fault.Unknown) {
			t.Errorf("unknown: %v", err)
		}
		if done != 1 {
			t.Errorf("done %d times, want once", done)
		}
	})
}

// In random batches with lost COMMIT replies, no final result contradicts the committed rows.
func TestNoFinalAnswerContradictsTheRows(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		t.Parallel() // most of its time are the pauses before a lost commit is looked up
		b := open(t, d)
		found(t, b, "c1")
		rng := rand.New(rand.NewPCG(5, 11))
		final := map[Reason]int{}
		for round := range 60 {
			fund(t, b, "c1", money.Kobo(50+rng.IntN(100)))
			old := fmt.Sprint(round, " old")
			must(t, b.Commit(t.Context(), Unit{Company: "c1", inserts: []db.Record{thing("c1", old, "", "NEW")}}))
			var units []Unit
			for i := range 2 + rng.IntN(6) {
				u := buying(fmt.Sprint(round, "-", i), fmt.Sprint(round, " key ", rng.IntN(3)), money.Kobo(1+rng.IntN(60)))
				if rng.IntN(4) == 0 {
					u.transitions = moving(old, "DONE").transitions
				}
				units = append(units, u)
			}
			loses(b, func() fate { return []fate{answered, lostBefore, lostAfter}[rng.IntN(3)] })
			told, _ := together(b, units...)
			loses(b, first(answered))
			for i, err := range told {
				contradicts(t, b, units[i], err)
				if r := Refused(err); r != nil {
					final[r.Reason]++
				}
			}
		}
		audit(t, d, "c1")
		if final[Short] == 0 || final[Exists] == 0 || final[Moved] == 0 {
			t.Errorf("the test tries too little: %v", final)
		}
	})
}

// contradicts fails the test if the result of a unit contradicts the rows. The test credits no
// money after the result, so a refusal for lack of money must still be correct.
func contradicts(t *testing.T, b *Book, u Unit, err error) {
	t.Helper()
	id := u.inserts[0].Value("id").(string)
	taken, readErr := b.Taken(t.Context(), "c1", id, "")
	must(t, readErr)
	if written := state(t, b, id) != ""; written != taken {
		t.Errorf("%s is written by half", id)
	}
	r := Refused(err)
	switch {
	case err == nil || fault.Is(err, fault.Unknown):
		if err == nil && !taken {
			t.Errorf("%s was told yes, and nothing happened", id)
		}
	case taken:
		t.Errorf("%s happened, and was told %v", id, err)
	case r == nil:
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", id, err)
		}
	case r.Reason == Exists:
		if there := r.Rows[0].Value("id").(string); state(t, b, there) == "" {
			t.Errorf("%s was told of %s, which is not there", id, there)
		}
	case r.Reason == Moved:
		if got := state(t, b, u.transitions[0].key[1].(string)); got != "DONE" {
			t.Errorf("%s was told of a move, and the row is %s", id, got)
		}
	case r.Reason == Short:
		if got := balance(t, b, "c1", settlement); got >= u.transfers[0].Amount {
			t.Errorf("%s is refused %d of %d", id, u.transfers[0].Amount, got)
		}
	}
}

// state returns the state of the row of thingTable with this ID, or "" if there is no such row.
func state(t *testing.T, b *Book, id string) string {
	t.Helper()
	s, err := db.One(t.Context(), b.db, db.Value[string],
		`SELECT state FROM ledger_thing WHERE company_id = $1 AND id = $2`, "c1", id)
	if err != nil && !errors.Is(err, db.ErrNone) {
		t.Fatal(err)
	}
	return s
}

// stopped calls a function of the test before the reads and before the commit of each batch.
type stopped struct {
	db.Pipeline
	read, commit func()
}

func (s stopped) Read(ctx context.Context, lookups ...db.Lookup) error {
	s.read()
	return s.Pipeline.Read(ctx, lookups...)
}

func (s stopped) Commit(ctx context.Context, writes ...db.Write) error {
	s.commit()
	return s.Pipeline.Commit(ctx, writes...)
}

// A caller waits no longer than its budget allows. A unit that no batch has taken by then is never
// committed. The outcome of a taken unit is unknown, and its batch continues.
func TestACallerIsNotKeptWaiting(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		for at, kind := range map[string]fault.Kind{"read": fault.Unavailable, "commit": fault.Unknown} {
			answer := make(chan struct{})
			hang := func(here string) func() {
				return func() {
					if here == at {
						<-answer
					}
				}
			}
			b.run = func(ctx context.Context, strokes func(db.Pipeline) error) error {
				return d.Run(ctx, func(p db.Pipeline) error { return strokes(stopped{p, hang("read"), hang("commit")}) })
			}
			first := Unit{Company: "c1", inserts: []db.Record{thing("c1", at, "", "NEW")}}
			err := b.Commit(db.Within(t.Context(), 300*time.Millisecond), first)
			if !fault.Is(err, kind) {
				t.Errorf("at its %s: %v", at, err)
			}
			queued := Unit{Company: "c1", inserts: []db.Record{thing("c1", at+" queued", "", "NEW")}}
			if err := b.Commit(db.Within(t.Context(), 300*time.Millisecond), queued); !fault.Is(err, fault.Unavailable) {
				t.Errorf("behind it, at its %s: %v", at, err)
			}
			close(answer)
			b.Drain()
			if happened := state(t, b, at) != ""; happened != (kind == fault.Unknown) {
				t.Errorf("told %s at its %s, and it happened: %v", kind, at, happened)
			}
			if state(t, b, at+" queued") != "" {
				t.Errorf("what was never taken at the %s has happened", at)
			}
		}
	})
}

// After a lost COMMIT of a unit that only appends an event, another program may give the number of
// the event to an event of its own. The outcome is known even then.
func TestALostEventIsToldFromAnother(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		other := New(d, b.clock)
		found(t, b, "c1")
		table := *eventTable
		table.Unique = []string{"company_id", "id"}
		emitting := func() Unit {
			return Unit{Company: "c1", appended: []db.Record{{Table: &table, Values: said("c1", "k").Values}}}
		}
		for _, f := range []fate{lostBefore, lostAfter} {
			next, calls := first(f), 0
			b.run = func(ctx context.Context, strokes func(db.Pipeline) error) error {
				if calls++; calls == 2 { // between the COMMIT and the look-up
					must(t, other.Commit(t.Context(), emitting()))
				}
				return b.db.Run(ctx, func(p db.Pipeline) error { return strokes(losing{p, next()}) })
			}
			err := b.Commit(t.Context(), emitting())
			if happened := f == lostAfter; happened != (err == nil) || !happened && !fault.Is(err, fault.Unavailable) {
				t.Errorf("fate %d: %v", f, err)
			}
		}
		if n, err := b.LastEvent(t.Context(), "c1"); err != nil || n != 3 { // two of the other program and one of this
			t.Errorf("%d events, %v", n, err)
		}
	})
}

// A server that fails inside a COMMIT with XX000 or 08006 may have carried it out. The ledger looks
// the batch up, and reports that nothing happened only because it has seen that.
func TestAnInternalErrorAtTheCommitIsLookedUp(t *testing.T) {
	d := dbtest.New(t, db.Postgres)
	b := open(t, d)
	found(t, b, "c1")
	fund(t, b, "c1", 100)
	for code, want := range map[string]fault.Kind{"XX000": fault.Unavailable, "08006": fault.Unavailable, "40001": "", "40P01": ""} {
		for _, statement := range []string{
			`DROP SEQUENCE IF EXISTS runs`, `CREATE SEQUENCE runs`,
			`CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
				'BEGIN IF nextval(''runs'') = 1 THEN RAISE EXCEPTION USING ERRCODE = ''` + code + `''; END IF; RETURN NEW; END'`,
			`DROP TRIGGER IF EXISTS failing ON ledger_transfer`,
			`CREATE CONSTRAINT TRIGGER failing AFTER INSERT ON ledger_transfer DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()`,
		} {
			_, err := d.Exec(t.Context(), statement)
			must(t, err)
		}
		before := balance(t, b, "c1", settlement)
		err := b.Commit(t.Context(), buying(code, "", 10))
		paid := money.Kobo(10)
		if want != "" {
			paid = 0
		}
		if (err == nil) != (want == "") || err != nil && !fault.Is(err, want) || balance(t, b, "c1", settlement) != before-paid {
			t.Errorf("%s: %v, and %d left of %d", code, err, balance(t, b, "c1", settlement), before)
		}
		must(t, b.Commit(t.Context(), buying(code+" again", "", 10)))
	}
	audit(t, d, "c1")
}

// A COMMIT loses its reply because the primary dies, and the look-ups fail until another server is promoted. The first
// look-up after that is soon, however many have failed: the companies of the batch wait for it.
func TestALostCommitIsLookedUpSoonAfterAnOutage(t *testing.T) {
	const failing = 7
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		fund(t, b, "c1", 100)
		b.timeout = 5 * time.Second // longer than seven short pauses, and shorter than seven that double
		away, fates, lost := 0, first(lostAfter), false
		b.run = func(ctx context.Context, strokes func(db.Pipeline) error) error {
			if lost && away < failing {
				away++
				return fault.New(fault.Unavailable, "the primary is away")
			}
			return b.db.Run(ctx, func(p db.Pipeline) error {
				lost = true
				return strokes(losing{p, fates()})
			})
		}
		if err := b.Commit(t.Context(), buying("a", "key", 10)); err != nil || away != failing {
			t.Errorf("after %d failed look-ups: %v", away, err)
		}
		audit(t, d, "c1")
	})
}

// Another program may carry out a task and delete its row before the lost COMMIT is looked into.
func TestARowThatMayBeGoneIsNoWitness(t *testing.T) {
	for name, want := range map[string]bool{"a task": false, "a fact": true} {
		table := &db.Table{Name: "thing", Key: 2, Passing: !want}
		u := For("company")
		u.Append(db.Record{Table: table, Values: []any{"company", "id"}})
		if _, is := u.witness(); is != want {
			t.Errorf("%s: %t", name, is)
		}
	}
}
