package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
)

const (
	outside    = "provider/float"
	settlement = "settlement/1"
	clearing   = "clearing/vtu"
)

// found creates a company with the usual three accounts.
func found(t testing.TB, b *Book, company string) {
	t.Helper()
	must(t, b.Commit(t.Context(), Unit{
		Company: company, found: true,
		open:    []Account{{outside, money.NoFloor}, {settlement, 0}, {clearing, 0}},
		inserts: []db.Record{thing(company, id.New(), "", "NEW")},
	}))
}

// fund credits a company's settlement account from the outside account.
func fund(t testing.TB, b *Book, company string, amount money.Kobo) {
	t.Helper()
	must(t, b.Commit(t.Context(), Unit{Company: company, transfers: []Transfer{
		{Reference: id.New(), Debit: outside, Credit: settlement, Amount: amount, Kind: "credit"},
	}}))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// thingTable represents any table of another package.
var thingTable = &db.Table{
	Name: "ledger_thing", Key: 2, Unique: []string{"company_id", "claim"}, IfGiven: true, State: "state",
	Columns: append(db.Texts("company_id", "id", "claim", "state"), db.Ints("price_kobo")...),
}

func thing(company, id, claim, state string) db.Record {
	return db.Record{Table: thingTable, Values: []any{company, id, claim, state, int64(7)}}
}

// open creates the table of the things and returns a new ledger.
func open(t testing.TB, d *db.DB) *Book {
	t.Helper()
	for _, s := range []string{
		`CREATE TABLE ledger_thing (company_id TEXT NOT NULL, id TEXT NOT NULL, claim TEXT NOT NULL,
			state TEXT NOT NULL, price_kobo BIGINT NOT NULL CHECK (price_kobo >= 0), PRIMARY KEY (company_id, id))`,
		`CREATE UNIQUE INDEX ledger_thing_claim ON ledger_thing (company_id, claim) WHERE claim <> ''`,
	} {
		if _, err := d.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	dbtest.Distribute(t, d)
	return New(d, clock.System{})
}

// changing returns a transition of the thing with the given ID.
func changing(company, id, from, to string, set ...change) Transition {
	key := []any{company, id}
	return Transition{table: thingTable, key: key, row: keyOf(key), from: []string{from}, to: to, set: set}
}

func balance(t testing.TB, b *Book, company, account string) money.Kobo {
	t.Helper()
	k, err := b.Balance(t.Context(), company, account)
	must(t, err)
	return k
}

func TestATransferLeavesTwoEntriesWithBalances(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		fund(t, b, "c1", 1000)
		must(t, b.Commit(t.Context(), Unit{Company: "c1", transfers: []Transfer{
			{Reference: "r", Debit: settlement, Credit: clearing, Amount: 300, Kind: "vtu", Narration: "n"},
			{Reference: "r", Step: "settle", Debit: clearing, Credit: outside, Amount: 300, Kind: "vtu"},
		}}))
		if s, c, o := balance(t, b, "c1", settlement), balance(t, b, "c1", clearing), balance(t, b, "c1", outside); s != 700 || c != 0 || o != -700 {
			t.Errorf("balances %d %d %d", s, c, o)
		}
		entries, err := db.All(t.Context(), d, func(s db.Scanner) (string, error) {
			var account string
			var n, amount, before, after int64
			err := s.Scan(&account, &n, &amount, &before, &after)
			return fmt.Sprintf("%s %d: %d %d→%d", account, n, amount, before, after), err
		}, `SELECT account_id, sequence, amount_kobo, previous_kobo, current_kobo FROM ledger_entry
			WHERE company_id = $1 AND account_id <> $2 ORDER BY account_id, sequence`, "c1", outside)
		must(t, err)
		want := []string{"clearing/vtu 1: 300 0→300", "clearing/vtu 2: -300 300→0", "settlement/1 1: 1000 0→1000", "settlement/1 2: -300 1000→700"}
		if fmt.Sprint(entries) != fmt.Sprint(want) {
			t.Errorf("entries %q", entries)
		}
		audit(t, d, "c1")
	})
}

func TestRefusalsChangeNothing(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		fund(t, b, "c1", 1000)
		must(t, b.Commit(t.Context(), Unit{Company: "c1", inserts: []db.Record{thing("c1", "a", "key", "PENDING")}}))
		pay := func(amount, leave money.Kobo) []Transfer {
			return []Transfer{{Reference: id.New(), Debit: settlement, Credit: clearing, Amount: amount, Leave: leave}}
		}
		for name, c := range map[string]struct {
			unit Unit
			want Refusal
		}{
			"below the floor":               {Unit{transfers: pay(1001, 0)}, Refusal{Reason: Short, Account: settlement, Balance: 1000}},
			"leaving too little":            {Unit{transfers: pay(1000, 1)}, Refusal{Reason: Short, Account: settlement, Balance: 1000}},
			"second transfer short":         {Unit{transfers: append(pay(600, 0), pay(600, 0)...)}, Refusal{Reason: Short, Account: settlement, Balance: 400}},
			"no such account":               {Unit{transfers: []Transfer{{Reference: "x", Debit: settlement, Credit: "nowhere", Amount: 1}}}, Refusal{Reason: NoAccount, Account: "nowhere"}},
			"row not new":                   {Unit{inserts: []db.Record{thing("c1", "b", "key", "PENDING")}, transfers: pay(1, 0)}, Refusal{Reason: Exists}},
			"transition from another state": {Unit{transitions: []Transition{changing("c1", "a", "DONE", "UNDONE")}, transfers: pay(1, 0)}, Refusal{Reason: Moved, State: "PENDING"}},
			"transition of no row":          {Unit{transitions: []Transition{changing("c1", "zz", "PENDING", "DONE")}, transfers: pay(1, 0)}, Refusal{Reason: Moved}},
		} {
			c.unit.Company = "c1"
			r := Refused(b.Commit(t.Context(), c.unit))
			if r == nil || r.Reason != c.want.Reason || r.Account != c.want.Account || r.Balance != c.want.Balance || r.State != c.want.State {
				t.Errorf("%s: %+v", name, r)
			}
			if r != nil && r.Reason == Exists && r.Rows[0].Value("id") != "a" {
				t.Errorf("%s: the refusal carries %v", name, r.Rows[0].Values)
			}
		}
		if r := Refused(b.Commit(t.Context(), Unit{Company: "c2", transfers: pay(1, 0)})); r == nil || r.Reason != NoCompany {
			t.Errorf("a company without a lock row: %v", r)
		}
		if s := balance(t, b, "c1", settlement); s != 1000 {
			t.Errorf("balance %d after refusals", s)
		}
		audit(t, d, "c1")
	})
}

func TestTheSameUniqueRowPostsOnce(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		fund(t, b, "c1", 1000)
		var posted, existed sync.Map
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				mine := fmt.Sprint("thing", i)
				err := b.Commit(context.Background(), Unit{
					Company: "c1", inserts: []db.Record{thing("c1", mine, "key", "PENDING")},
					transfers: []Transfer{{Reference: id.New(), Debit: settlement, Credit: clearing, Amount: 10}},
				})
				if r := Refused(err); r != nil && r.Reason == Exists {
					existed.Store(r.Rows[0].Value("id"), true)
				} else if err == nil {
					posted.Store(mine, true)
				} else {
					t.Error(err)
				}
			})
		}
		all.Wait()
		winners, seen := keys(&posted), keys(&existed)
		if len(winners) != 1 || fmt.Sprint(winners) != fmt.Sprint(seen) {
			t.Errorf("posted by %v, others saw %v", winners, seen)
		}
		if s := balance(t, b, "c1", settlement); s != 990 {
			t.Errorf("balance %d", s)
		}
	})
}

func keys(m *sync.Map) (out []any) {
	m.Range(func(k, _ any) bool { out = append(out, k); return true })
	return out
}

// If the database refuses a unit, here because of a CHECK, only this unit fails.
func TestABadRowDoesNotHarmItsNeighbours(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		fund(t, b, "c1", 1000)
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				row := thing("c1", fmt.Sprint(i), "", "PENDING")
				if i == 20 {
					row.Values[4] = int64(-1)
				}
				err := b.Commit(context.Background(), Unit{
					Company: "c1", inserts: []db.Record{row},
					transfers: []Transfer{{Reference: id.New(), Debit: settlement, Credit: clearing, Amount: 1}},
				})
				if (err == nil) == (i == 20) {
					t.Errorf("unit %d: %v", i, err)
				}
				if i == 20 && db.Classify(err) != db.Broken {
					t.Errorf("the bad row's error: %v", err)
				}
			})
		}
		all.Wait()
		if c := balance(t, b, "c1", clearing); c != 39 {
			t.Errorf("%d of 39 went through", c)
		}
		audit(t, d, "c1")
	})
}

func TestOneOfConcurrentTransitionsWins(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		fund(t, b, "c1", 100)
		must(t, b.Commit(t.Context(), Unit{
			Company: "c1", inserts: []db.Record{thing("c1", "a", "key", "PENDING")},
			transfers: []Transfer{{Reference: id.New(), Debit: settlement, Credit: clearing, Amount: 10}},
		}))
		var won sync.Map
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				to, credit := "DONE", outside
				if i%2 == 0 {
					to, credit = "UNDONE", settlement
				}
				err := b.Commit(context.Background(), Unit{
					Company:     "c1",
					transitions: []Transition{changing("c1", "a", "PENDING", to, change{"price_kobo", int64(i)})},
					transfers:   []Transfer{{Reference: id.New(), Debit: clearing, Credit: credit, Amount: 10}},
				})
				if err == nil {
					won.Store(i, true)
				} else if r := Refused(err); r == nil || r.Reason != Moved {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(keys(&won)) != 1 || balance(t, b, "c1", clearing) != 0 {
			t.Errorf("moved by %v; clearing %d", keys(&won), balance(t, b, "c1", clearing))
		}
		audit(t, d, "c1")
	})
}

// A company's dense sequences have no gaps and no repeats, even with many writers and with refused
// units.
func TestSequencesAreDense(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		fund(t, b, "c1", 100)
		var all sync.WaitGroup
		for i := range 80 {
			all.Go(func() {
				row := thing("c1", fmt.Sprint("n", i), "", "NEW")
				row.Values[4] = Next("thing")
				amount := money.Kobo(1)
				if i%3 == 0 {
					amount = 1000 // this amount exceeds the balance, so the unit is refused
				}
				err := b.Commit(context.Background(), Unit{
					Company: "c1", appended: []db.Record{row},
					transfers: []Transfer{{Reference: id.New(), Debit: settlement, Credit: clearing, Amount: amount}},
				})
				if (err == nil) == (i%3 == 0) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		numbers, err := db.All(t.Context(), d, db.Value[int64],
			`SELECT price_kobo FROM ledger_thing WHERE company_id = $1 AND id LIKE 'n%' ORDER BY price_kobo`, "c1")
		must(t, err)
		for i, n := range numbers {
			if n != int64(i+1) {
				t.Fatalf("numbers %v", numbers)
			}
		}
		last, err := b.Last(t.Context(), "c1", "thing")
		must(t, err)
		if len(numbers) != 53 || last != 53 {
			t.Errorf("%d numbers, the last %d", len(numbers), last)
		}
	})
}

// A step of a reference can be booked only once. The primary key of the transfer refuses the second
// unit with the same step. The other units of the batch are committed.
func TestNoStepHappensTwice(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		fund(t, b, "c1", 1000)
		take := func(reference, step string) error {
			return b.Commit(context.Background(), Unit{
				Company:   "c1",
				transfers: []Transfer{{Reference: reference, Step: step, Debit: settlement, Credit: clearing, Amount: 10}},
			})
		}
		must(t, take("a", ""))
		must(t, take("a", "settle"))
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				if err := take("a", "settle"); err == nil || Refused(err) != nil {
					t.Errorf("taken again: %v", err)
				}
			})
			all.Go(func() {
				if err := take(fmt.Sprint("b", i), "settle"); err != nil {
					t.Errorf("a neighbour: %v", err)
				}
			})
		}
		all.Wait()
		if got := balance(t, b, "c1", clearing); got != 220 {
			t.Errorf("clearing holds %d", got)
		}
		audit(t, d, "c1")
	})
}

func TestMistakesAreNotCommitted(t *testing.T) {
	b := &Book{}
	for _, u := range []Unit{
		{},
		{Company: "c1"},
		{Company: "c1", transfers: []Transfer{{Reference: "t", Debit: "a", Credit: "b", Amount: -1}}},
		{Company: "c1", transfers: []Transfer{{Reference: "t", Debit: "a", Credit: "a", Amount: 1}}},
		{Company: "c1", transfers: []Transfer{{Debit: "a", Credit: "b", Amount: 1}}},
		{Company: "c1", inserts: []db.Record{thing("c2", "a", "", "NEW")}},
		{Company: "c1", transitions: []Transition{changing("c2", "a", "NEW", "DONE")}},
	} {
		if err := b.Commit(t.Context(), u); err == nil {
			t.Errorf("%+v was taken", u)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	u := Unit{Company: "c1", transfers: []Transfer{{Reference: "t", Debit: "a", Credit: "b", Amount: 1}}}
	if err := b.Commit(ended, u); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who has gone: %v", err)
	}
}
