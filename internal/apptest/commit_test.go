package apptest_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// If the reply to a COMMIT is lost, the ledger searches for the committed rows before it returns a
// result to its caller.
func TestALostCommitIsLookedUp(t *testing.T) {
	for name, c := range map[string]struct {
		fate      func(waiting func()) func(forward, closeClient func())
		committed bool
	}{
		"it never arrived": {func(func()) func(_, _ func()) {
			return func(_, closeClient func()) { closeClient() }
		}, false},
		"it was done and the answer lost": {func(func()) func(_, _ func()) {
			return func(forward, closeClient func()) { forward(); closeClient() }
		}, true},
		// The ledger searches before the COMMIT is executed. The search must wait for the COMMIT.
		"it was done late": {func(waiting func()) func(_, _ func()) {
			return func(forward, closeClient func()) { closeClient(); waiting(); forward() }
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := dbtest.URL(t, db.Postgres)
			proxy, through := apptest.NewProxy(t, database)
			direct := dbtest.Open(t, database)
			book := ledger.New(dbtest.Open(t, through), clock.System{})
			unit := founded(t, book)
			proxy.AtCommit(c.fate(func() { someoneWaits(t, direct) }))
			err := book.Commit(t.Context(), unit)
			got, readErr := ledger.New(direct, clock.System{}).Balance(t.Context(), unit.Company, "b")
			if readErr != nil {
				t.Fatal(readErr)
			}
			if happened := got == 30; happened != c.committed {
				t.Fatalf("the proxy did not do its work: balance %d", got)
			}
			if c.committed && err != nil || !c.committed && !fault.Is(err, fault.Unavailable) {
				t.Errorf("committed: %v; the caller was told %v", c.committed, err)
			}
			// A COMMIT that was not executed may be repeated by the caller.
			if err != nil {
				err = book.Commit(t.Context(), unit)
			}
			if err != nil {
				t.Fatal(err)
			}
			if report, err := ledger.Verify(t.Context(), direct, unit.Company); err != nil || len(report.Wrongs) > 0 {
				t.Errorf("the book: %v, %v", report.Wrongs, err)
			}
		})
	}
}

// When a company is created, there is no lock row yet on which the search for a lost COMMIT could
// wait. If the company's row exists, or appears soon, the COMMIT was executed. Without that row the
// outcome stays unknown.
func TestALostCommitThatFounds(t *testing.T) {
	for name, c := range map[string]struct {
		fate func(forward, closeClient func())
		want func(error) bool
	}{
		"it never arrived": {
			func(_, closeClient func()) { closeClient() },
			func(err error) bool { return fault.Is(err, fault.Unknown) },
		},
		"it was done and the answer lost": {
			func(forward, closeClient func()) { forward(); closeClient() },
			func(err error) bool { return err == nil },
		},
		"it was done a little late": {
			func(forward, closeClient func()) {
				closeClient()
				<-time.After(200 * time.Millisecond) // the test cannot see that the ledger has searched, so it waits for a fixed time
				forward()
			},
			func(err error) bool { return err == nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := dbtest.URL(t, db.Postgres)
			proxy, through := apptest.NewProxy(t, database)
			d := dbtest.Open(t, through)
			keys, err := secret.Parse(secret.Generate())
			if err != nil {
				t.Fatal(err)
			}
			companies := company.New(d, ledger.New(d, clock.System{}), keys, clock.System{})
			proxy.AtCommit(c.fate)
			_, _, err = companies.Create(t.Context(), tester, "Founded Ltd")
			if !c.want(err) {
				t.Errorf("the founder was told %v", err)
			}
			// While the COMMIT of one company hangs, the creation of a different company is not delayed for
			// long.
			if _, _, err := companies.Create(t.Context(), tester, "Another Ltd"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A COMMIT is lost, and a second program commits the same transfer before the ledger searches. The
// second program's row does not prove that the first COMMIT was executed.
func TestALostCommitIsNotTakenForAnothers(t *testing.T) {
	database := dbtest.URL(t, db.Postgres)
	proxy, through := apptest.NewProxy(t, database)
	direct := dbtest.Open(t, database)
	book, other := ledger.New(dbtest.Open(t, through), clock.System{}), ledger.New(dbtest.Open(t, database), clock.System{})
	unit := founded(t, book)
	theirs := make(chan error, 1)
	proxy.AtCommit(func(_, closeClient func()) {
		go func() { theirs <- other.Commit(t.Context(), unit) }()
		someoneWaits(t, direct) // for the lock row of the lost transaction
		closeClient()
	})
	if err := book.Commit(t.Context(), unit); !fault.Is(err, fault.Unavailable) {
		t.Errorf("the one whose COMMIT was lost was told %v", err)
	}
	if err := <-theirs; err != nil {
		t.Errorf("the other was told %v", err)
	}
	if got, err := other.Balance(t.Context(), unit.Company, "b"); err != nil || got != 30 {
		t.Errorf("balance %d, %v", got, err)
	}
}

// If a COMMIT without a transfer is lost, the ledger searches for a row with exactly the values
// that it inserted. A similar row that a second program has inserted does not count.
func TestALostInsertIsNotTakenForAnothers(t *testing.T) {
	type row struct {
		Company string `db:"company_id,key"`
		ID      string `db:"id,key"`
		Name    string `db:"name"`
		Text    string `db:"text"`
	}
	table := db.Declare[row]("commit_claim", db.UniqueIfGiven("company_id", "name"))
	for name, c := range map[string]struct {
		ours, theirs row
		want         fault.Kind
	}{
		"the same name":      {row{"", "1", "name", "ours"}, row{"", "2", "name", "theirs"}, fault.Unavailable},
		"no name":            {row{"", "1", "", "ours"}, row{"", "2", "", "theirs"}, fault.Unavailable},
		"the same key":       {row{"", "1", "name", "ours"}, row{"", "1", "name", "theirs"}, fault.Unknown},
		"another key's text": {row{"", "1", "name", "ours"}, row{"", "2", "other", "ours"}, fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := dbtest.URL(t, db.Postgres)
			proxy, through := apptest.NewProxy(t, database)
			direct := dbtest.Open(t, database)
			_, err := direct.Exec(t.Context(), `CREATE TABLE commit_claim (company_id TEXT NOT NULL, id TEXT NOT NULL,
				name TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (company_id, id))`)
			if err != nil {
				t.Fatal(err)
			}
			book, other := ledger.New(dbtest.Open(t, through), clock.System{}), ledger.New(dbtest.Open(t, database), clock.System{})
			company := founded(t, book).Company
			insert := func(r row) ledger.Unit {
				r.Company = company
				u := ledger.For(company)
				u.Insert(table.Record(r))
				return u
			}
			theirs := make(chan error, 1)
			proxy.AtCommit(func(_, closeClient func()) {
				go func() { theirs <- other.Commit(t.Context(), insert(c.theirs)) }()
				someoneWaits(t, direct)
				closeClient()
			})
			if err := book.Commit(t.Context(), insert(c.ours)); !fault.Is(err, c.want) {
				t.Errorf("the one whose COMMIT was lost was told %v", err)
			}
			if err := <-theirs; err != nil {
				t.Errorf("the other was told %v", err)
			}
		})
	}
}

// If the lost COMMIT was executed, the ledger finds the inserted row with the same values.
func TestALostInsertThatHappened(t *testing.T) {
	database := dbtest.URL(t, db.Postgres)
	proxy, through := apptest.NewProxy(t, database)
	d := dbtest.Open(t, through)
	book := ledger.New(d, clock.System{})
	company := founded(t, book).Company
	for name, row := range map[string]db.Record{
		"an event": event.New(company, event.KYBChanged, "data"),
		"an audit": operator.Self(company).Note(company, "tried", "x", nil, time.Now()),
	} {
		proxy.AtCommit(func(forward, closeClient func()) { forward(); closeClient() })
		u := ledger.For(company)
		u.Append(row)
		if err := book.Commit(t.Context(), u); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// founded creates a company with two accounts. It returns a transfer between these accounts. The
// test must commit this transfer.
func founded(t *testing.T, book *ledger.Book) ledger.Unit {
	t.Helper()
	company := id.Cuid()
	u := ledger.Found(company)
	u.OpenAccounts(ledger.Account{ID: "a", Floor: money.NoFloor}, ledger.Account{ID: "b"})
	if err := book.Commit(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	u = ledger.For(company)
	u.Transfer(ledger.Transfer{Reference: id.New(), Debit: "a", Credit: "b", Amount: 30, Kind: "test"})
	return u
}

// someoneWaits returns when a transaction waits for a lock that a different transaction holds.
func someoneWaits(t *testing.T, d *db.DB) {
	apptest.Eventually(t, func() string {
		n, err := db.One(t.Context(), d, db.Value[int64],
			`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
		if err != nil || n == 0 {
			return "nobody waits for a lock"
		}
		return ""
	})
}
