package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
)

// eventTable describes the table of the events for these tests. It has all columns, because the SQL
// of a table is cached by the table's name.
var eventTable = &db.Table{
	Name: "event", Key: 2, Evidence: true,
	Columns: slices.Concat(db.Texts("company_id"), db.Ints("sequence"), db.Texts("id", "kind", "data"), db.Ints("created_at", "leaf"), db.Texts("mac")),
}

func said(company, kind string) db.Record {
	return db.Record{Table: eventTable, Values: []any{company, Sequence, id.New(), kind, "{}", Now, int64(0), ""}}
}

// feed returns a company's events. Each event is shown as its number, kind and seconds.
func feed(t testing.TB, d *db.DB, company string) string {
	t.Helper()
	lines, err := db.All(t.Context(), d, func(s db.Scanner) (string, error) {
		var n, at int64
		var kind string
		err := s.Scan(&n, &kind, &at)
		return fmt.Sprint(n, " ", kind, " ", at/1e6), err
	}, `SELECT sequence, kind, created_at FROM event WHERE company_id = $1 ORDER BY sequence`, company)
	must(t, err)
	return strings.Join(lines, ", ")
}

func reporting(d *db.DB) *Book {
	return WithAlerts(d, clock.At(time.Unix(9, 0)), func(low LowBalance, read func(...db.Lookup) error) (db.Record, error) {
		states := []string{}
		err := read(db.Lookup{
			Table: accountTable, By: accountTable.KeyNames(), Columns: []string{"balance_kobo"}, Keys: [][]any{{low.Company, low.Account}},
			Found: func(row []any) error { states = append(states, fmt.Sprint(row[2])); return nil },
		})
		return said(low.Company, fmt.Sprintf("%s<%d:%d(%s)", low.Account, low.Below, low.Balance, strings.Join(states, " "))), err
	})
}

// moved returns a transfer that credits the settlement account, or debits it if the amount is
// negative.
func moved(amount money.Kobo) Transfer {
	if amount < 0 {
		return Transfer{Reference: id.New(), Debit: settlement, Credit: outside, Amount: -amount}
	}
	return Transfer{Reference: id.New(), Debit: outside, Credit: settlement, Amount: amount}
}

// A low balance is reported once, in the commit that causes it. It is reported again only after the
// balance has risen to the alert.
func TestALowBalanceIsReportedOnce(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		open(t, d)
		b := reporting(d)
		found(t, b, "c1")
		fund(t, b, "c1", 150)
		commit := func(kind string, u Unit) error {
			u.Company, u.appended = "c1", []db.Record{said("c1", kind)}
			return b.Commit(t.Context(), u)
		}
		must(t, commit("set", Unit{alerts: []alert{{settlement, 100}}}))
		for _, amount := range []money.Kobo{-50, -1, -1, 3, -2, 50} {
			must(t, commit(fmt.Sprintf("%d", amount), Unit{transfers: []Transfer{moved(amount)}}))
		}
		// Only the balance after the whole unit counts. A refused unit reports nothing.
		must(t, commit("dip", Unit{transfers: []Transfer{moved(-100), moved(+90), moved(-80), moved(+90)}}))
		if r := Refused(commit("refused", Unit{transfers: []Transfer{moved(-1000)}})); r == nil {
			t.Error("it was not refused")
		}
		must(t, commit("twice", Unit{transfers: []Transfer{moved(-60), moved(-1)}}))
		must(t, commit("off", Unit{alerts: []alert{{settlement, 0}}}))
		must(t, commit("silent", Unit{transfers: []Transfer{moved(+100), moved(-100)}}))
		want := "1 set 9, 2 -50 9, 3 -1 9, 4 settlement/1<100:99(100) 9, 5 -1 9, 6 3 9, 7 -2 9, 8 settlement/1<100:99(101) 9, " +
			"9 50 9, 10 dip 9, 11 twice 9, 12 settlement/1<100:88(149) 9, 13 off 9, 14 silent 9"
		if got := feed(t, d, "c1"); got != want {
			t.Errorf("told\n%s\nwant\n%s", got, want)
		}
		if r := Refused(commit("nowhere", Unit{alerts: []alert{{"nowhere", 1}}})); r == nil || r.Reason != NoAccount {
			t.Errorf("an alert of an account that is not there: %v", r)
		}
		if alerts, err := b.Alerts(t.Context(), "c1"); err != nil || len(alerts) != 0 {
			t.Errorf("alerts %v, %v", alerts, err)
		}
		audit(t, d, "c1")
	})
}

// Low balances in one batch are reported as if its units were committed one after the other. Each
// report has the number after the event that caused it.
func TestABatchReportsEachLowBalance(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		open(t, d)
		b := reporting(d)
		for _, c := range []string{"c1", "c2"} {
			found(t, b, c)
			fund(t, b, c, 100)
		}
		var batch []*pending
		add := func(u Unit) { batch = append(batch, &pending{unit: u, done: make(chan error, 1)}) }
		add(Unit{Company: "c1", alerts: []alert{{settlement, 100}}})
		for _, c := range []string{"c1", "c2"} {
			for _, amount := range []money.Kobo{-1, -1, +2, -3} {
				add(Unit{Company: c, transfers: []Transfer{moved(amount)}, appended: []db.Record{said(c, fmt.Sprintf("%d", amount))}})
			}
		}
		if late := b.commit(batch); len(late) > 0 {
			t.Fatalf("%d are late", len(late))
		}
		for _, p := range batch {
			must(t, <-p.done)
		}
		if got := feed(t, d, "c1"); got != "1 -1 9, 2 settlement/1<100:99(100) 9, 3 -1 9, 4 2 9, 5 -3 9, 6 settlement/1<100:97(100) 9" {
			t.Errorf("c1 was told %s", got)
		}
		if got := feed(t, d, "c2"); got != "1 -1 9, 2 -1 9, 3 2 9, 4 -3 9" {
			t.Errorf("c2 was told %s", got)
		}
		if alerts, err := b.Alerts(t.Context(), "c1"); err != nil || len(alerts) != 1 || alerts[settlement] != 100 {
			t.Errorf("alerts %v, %v", alerts, err)
		}
	})
}

// A unit is not committed if its low balance cannot be reported.
func TestALowBalanceWithoutAReportIsRefused(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		open(t, d)
		var answer db.Record
		failure := errors.New("no")
		b := WithAlerts(d, clock.System{}, func(LowBalance, func(...db.Lookup) error) (db.Record, error) { return answer, failure })
		found(t, b, "c1")
		fund(t, b, "c1", 100)
		must(t, b.Commit(t.Context(), Unit{Company: "c1", alerts: []alert{{settlement, 100}}}))
		for _, c := range []struct {
			answer  db.Record
			failure error
		}{{db.Record{}, failure}, {db.Record{}, nil}, {said("c2", "a"), nil}} {
			answer, failure = c.answer, c.failure
			err := b.Commit(t.Context(), Unit{Company: "c1", transfers: []Transfer{moved(-1)}})
			if err == nil || c.failure != nil && !errors.Is(err, c.failure) {
				t.Errorf("%v: %v", c, err)
			}
		}
		if s := balance(t, b, "c1", settlement); s != 100 {
			t.Errorf("balance %d", s)
		}
	})
}

// Instants never go back in a company, even if another program's clock is behind. The ledger
// ignores the date of a clock that was far ahead.
func TestInstantsGrowWithNumbers(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		open(t, d)
		at := func(seconds int64) *Book { return New(d, clock.At(time.Unix(seconds, 0))) }
		found(t, at(1000), "c1")
		for _, seconds := range []int64{1000, 1010, 1005, 1011, 5000, 4940, 4939, 1012, 1013} {
			must(t, at(seconds).Commit(t.Context(), Unit{
				Company: "c1", transfers: []Transfer{moved(1)}, appended: []db.Record{said("c1", "a")},
			}))
		}
		want := []int64{1000, 1010, 1010, 1011, 5000, 5000, 4939, 1012, 1013}
		for _, query := range []string{
			`SELECT created_at / 1000000 FROM event WHERE company_id = $1 ORDER BY sequence`,
			`SELECT created_at / 1000000 FROM ledger_entry WHERE company_id = $1 AND account_id = 'settlement/1' ORDER BY sequence`,
			`SELECT created_at / 1000000 FROM ledger_transfer WHERE company_id = $1 ORDER BY credit_entry`,
		} {
			if got, err := db.All(t.Context(), d, db.Value[int64], query, "c1"); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v, %v", query, got, err)
			}
		}
		// A unit that contains only a transfer sets the instant too.
		must(t, at(2000).Commit(t.Context(), Unit{Company: "c1", transfers: []Transfer{moved(1)}}))
		must(t, at(1999).Commit(t.Context(), Unit{Company: "c1", appended: []db.Record{said("c1", "last")}}))
		if got := feed(t, d, "c1"); !strings.HasSuffix(got, "last 2000") {
			t.Errorf("the feed ends %s", got)
		}
	})
}
