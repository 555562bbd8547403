package ledger

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// looking is a transaction that reports the companies whose lock rows it reads.
type looking struct {
	db.Pipeline
	companies func(companies []string)
}

func (l looking) Read(ctx context.Context, lookups ...db.Lookup) error {
	for _, k := range lookups {
		if k.Table == lockTable {
			var companies []string
			for _, key := range k.Keys {
				companies = append(companies, key[0].(string))
			}
			l.companies(companies)
		}
	}
	return l.Pipeline.Read(ctx, lookups...)
}

// twoPlaces makes the first letter of a company's ID its place.
func twoPlaces(company string) string { return company[:1] }

// eachPlaced runs a test on each engine, with two places.
func eachPlaced(t *testing.T, f func(t *testing.T, d *db.DB)) {
	t.Helper()
	for name, c := range map[string]struct {
		dialect db.Dialect
		routed  bool
	}{"sqlite": {db.SQLite, false}, "postgres": {db.Postgres, false}, "postgres-routed": {db.Postgres, true}} {
		t.Run(name, func(t *testing.T) {
			f(t, dbtest.OpenWith(t, dbtest.URL(t, c.dialect), db.Pools{Routed: c.routed, Place: twoPlaces}))
		})
	}
}

// No batch mixes companies of two places, however many units arrive together. Companies of the same
// place share batches.
func TestABatchHasCompaniesOfOnePlace(t *testing.T) {
	eachPlaced(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		var mu sync.Mutex
		shared := 0
		b.run = func(ctx context.Context, steps func(db.Pipeline) error) error {
			return d.Run(ctx, func(p db.Pipeline) error {
				return steps(looking{p, func(companies []string) {
					mu.Lock()
					defer mu.Unlock()
					for _, c := range companies {
						if twoPlaces(c) != twoPlaces(companies[0]) {
							t.Errorf("one batch has %q", companies)
						}
					}
					if len(companies) > 1 {
						shared++
					}
				}})
			})
		}
		var companies []string
		for i := range 5 {
			companies = append(companies, fmt.Sprint("a", i), fmt.Sprint("b", i))
		}
		for _, c := range companies {
			found(t, b, c)
			fund(t, b, c, 1000)
		}
		var all sync.WaitGroup
		for i := range 20 {
			for _, c := range companies {
				all.Go(func() {
					u := Unit{Company: c, transfers: []Transfer{paying(fmt.Sprint(c, " ", i), "", 10)}}
					if err := b.Commit(context.Background(), u); err != nil {
						t.Error(err)
					}
				})
			}
		}
		all.Wait()
		b.Drain()
		for _, c := range companies {
			if got := balance(t, b, c, settlement); got != 800 {
				t.Errorf("%s has %d", c, got)
			}
			audit(t, d, c)
		}
		if shared == 0 {
			t.Error("no batch has two companies of one place")
		}
	})
}

// While the database hangs at one place, the other place goes on. The number of waiting units covers
// both places.
func TestAPlaceThatHangsDelaysNoOther(t *testing.T) {
	eachPlaced(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "a1")
		found(t, b, "b1")
		hang, begun := make(chan struct{}), make(chan struct{})
		var once sync.Once
		b.run = func(ctx context.Context, steps func(db.Pipeline) error) error {
			return d.Run(ctx, func(p db.Pipeline) error {
				return steps(looking{p, func(companies []string) {
					if companies[0] == "a1" {
						once.Do(func() { close(begun) })
						<-hang
					}
				}})
			})
		}
		claim := func(company, id string) Unit {
			return Unit{Company: company, inserts: []db.Record{thing(company, id, "", "NEW")}}
		}
		told := make(chan error, 2)
		go func() { told <- b.Commit(context.Background(), claim("a1", "first")) }()
		<-begun
		must(t, b.Commit(t.Context(), claim("b1", "second")))
		waiting := &pending{unit: claim("a1", "third"), done: told}
		if !b.queueOf("a1").Add(waiting) || b.waiting() != 1 || b.queueOf("b1").Waiting() != 0 {
			t.Errorf("%d units wait", b.waiting())
		}
		close(hang)
		must(t, <-told)
		must(t, <-told)
		b.Drain()
	})
}

// While a batch runs at a place, the units of other companies of that place wait for the next one, and share it. If the
// batch takes long, they do not wait for its end.
func TestASecondBatchOfAPlaceBeginsBesideASlowOne(t *testing.T) {
	for name, slow := range map[string]time.Duration{"soon": time.Hour, "slow": time.Millisecond} {
		t.Run(name, func(t *testing.T) { eachPlaced(t, func(t *testing.T, d *db.DB) { besideAHungBatch(t, d, slow) }) })
	}
}

func besideAHungBatch(t *testing.T, d *db.DB, slow time.Duration) {
	beside := slow < time.Second && d.Dialect() == db.Postgres // SQLite has one writer
	b := open(t, d)
	for _, company := range []string{"a1", "a2", "a3", "b1"} {
		found(t, b, company)
	}
	b.Drain()
	b = New(d, b.clock)
	b.slow = slow
	hang, begun := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	var batches [][]string
	b.run = func(ctx context.Context, steps func(db.Pipeline) error) error {
		return d.Run(ctx, func(p db.Pipeline) error {
			return steps(looking{p, func(companies []string) {
				switch {
				case companies[0] == "a1":
					close(begun)
					<-hang
				case twoPlaces(companies[0]) == "a":
					mu.Lock()
					defer mu.Unlock()
					batches = append(batches, companies)
				}
			}})
		})
	}
	first, others := make(chan error, 1), make(chan error, 2)
	add := func(company string, told chan error) {
		u := Unit{Company: company, inserts: []db.Record{thing(company, "one", "", "NEW")}}
		if !b.queueOf(company).Add(&pending{unit: u, done: told}) {
			t.Errorf("%s is refused", company)
		}
	}
	add("a1", first)
	<-begun
	add("a2", others)
	add("a3", others)
	if beside {
		must(t, <-others)
		must(t, <-others)
	}
	for i := range 10 { // a second batch of the place could begin meanwhile
		must(t, b.Commit(t.Context(), Unit{Company: "b1", inserts: []db.Record{thing("b1", fmt.Sprint(i), "", "NEW")}}))
	}
	if n := b.waiting(); !beside && n != 2 {
		t.Errorf("%d units wait for the batch, want 2", n)
	}
	close(hang)
	must(t, <-first)
	if !beside {
		must(t, <-others)
		must(t, <-others)
	}
	b.Drain()
	if got := slices.Concat(batches...); !slices.Equal(got, []string{"a2", "a3"}) || !beside && len(batches) != 1 {
		t.Errorf("the other batches of the place have %q", batches)
	}
}

// A commit at one place ends no doubt about the rows of another place, which has a standby of its own.
func TestADoubtEndsOnlyAtItsPlace(t *testing.T) {
	d := dbtest.OpenWith(t, dbtest.URL(t, db.Postgres), db.Pools{Place: twoPlaces})
	first := open(t, d)
	found(t, first, "a1")
	found(t, first, "b1")
	b := New(d, first.clock) // a program that has just started doubts all rows
	commits := 0
	b.run = func(ctx context.Context, steps func(db.Pipeline) error) error {
		return d.Run(ctx, func(p db.Pipeline) error { return steps(stopped{p, func() {}, func() { commits++ }}) })
	}
	for i, company := range []string{"a1", "a1", "b1", "b1", "a1"} {
		must(t, b.Prove(t.Context(), company))
		if want := []int{1, 1, 2, 2, 2}[i]; commits != want {
			t.Errorf("%s: %d commits, want %d", company, commits, want)
		}
	}
}

// A database without places has one queue.
func TestOnePlaceHasOneQueue(t *testing.T) {
	b := New(dbtest.New(t, db.SQLite), nil)
	for _, company := range []string{"c1", "c2"} {
		if b.queueOf(company) != b.queue {
			t.Errorf("%s has a queue of its own", company)
		}
	}
}
