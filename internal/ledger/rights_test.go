package ledger

import (
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// right is a row with a right. Its note gives none.
type right struct {
	Company string `db:"company_id,key"`
	ID      string `db:"id,key"`
	State   string `db:"state,state"`
	Owner   string `db:"owner"`
	Level   int64  `db:"level,changes"`
	Note    string `db:"note,changes"`
}

const newRight = `CREATE TABLE ledger_right (company_id TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, owner TEXT NOT NULL,
	level BIGINT NOT NULL, note TEXT NOT NULL, mac TEXT NOT NULL DEFAULT '', PRIMARY KEY (company_id, id))`

var rightTable = db.Declare[right]("ledger_right", db.Rights("state", "owner", "level"))

// rightsIn returns the rows with a wrong MAC by their IDs, and whether the sum of the company is right.
func rightsIn(t *testing.T, d *db.DB, company string) (wrong string, sums bool) {
	t.Helper()
	var sum Rights
	for _, table := range db.RightsTables() {
		must(t, db.EachRow(t.Context(), d, table, company, func(page [][]any) error {
			for _, row := range page {
				sum.Add(row[len(row)-1].(string))
				if !Signed(dbtest.Evidence, table, row) {
					wrong += row[1].(string) + " "
				}
			}
			return nil
		}))
	}
	sums, err := sum.Fits(t.Context(), d, dbtest.Evidence, company)
	must(t, err)
	return strings.TrimSpace(wrong), sums
}

// A transition signs the row of a right again, from the values that it changes and from those that it
// leaves. If somebody has altered the row, its new MAC is wrong too. A row without a MAC gets one only by
// AdoptRights. A deleted row, and an earlier row with its earlier MAC, make the sum wrong for ever.
func TestRightsAreSignedAgain(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		exec := func(statement string) {
			t.Helper()
			_, err := d.Exec(t.Context(), statement)
			must(t, err)
		}
		exec(newRight)
		b := open(t, d) // it also distributes the table
		is := func(step, wrong string, sums bool) {
			t.Helper()
			if gotWrong, gotSums := rightsIn(t, d, "c1"); gotWrong != wrong || gotSums != sums {
				t.Errorf("%s: wrong are %q, and the sum is right: %t", step, gotWrong, gotSums)
			}
		}
		move := func(id, from, to string, only ...string) {
			t.Helper()
			u := For("c1")
			m := u.Transition(rightTable.Record(right{"c1", id, to, "", 5, "new"}), from)
			if len(only) > 0 {
				m.Only(only...)
			}
			must(t, b.Commit(t.Context(), u))
		}
		found(t, b, "c1")
		u := For("c1")
		u.OpenAccounts(Account{ID: "in"})
		u.Count("things", 2, 0)
		u.Insert(rightTable.Record(right{"c1", "a", "ON", "ada", 1, ""}))
		u.Append(rightTable.Record(right{"c1", "b", "ON", "bob", 1, ""}))
		must(t, b.Commit(t.Context(), u))
		is("new rows", "", true)
		move("a", "ON", "OFF")
		move("b", "ON", "ON", "note")
		u = For("c1")
		u.Count("things", 1, 0)
		u.Transition(rightTable.Record(right{Company: "c1", ID: "b", State: "OFF"}), "ON").Only().Expect("owner", "bob")
		must(t, b.Commit(t.Context(), u))
		is("changed rows", "", true)

		exec(`INSERT INTO ledger_right VALUES ('c1', 'old', 'ON', 'eve', 1, '', '')`)
		move("old", "ON", "OFF")
		is("a row of an earlier program", "old", true)
		signed := 0
		for range 2 {
			must(t, b.AdoptRights(t.Context(), "c1", func(n int) { signed += n }))
		}
		if is("adopted", "", true); signed != 1 {
			t.Errorf("%d rows were adopted", signed)
		}

		exec(`CREATE TABLE ledger_earlier AS SELECT * FROM ledger_right`)
		exec(`UPDATE ledger_right SET owner = 'eve' WHERE id = 'a'`)
		is("altered", "a", true)
		move("a", "OFF", "ON")
		move("a", "ON", "OFF")
		exec(`UPDATE ledger_right SET owner = 'ada' WHERE id = 'a'`)
		is("altered and then changed", "a", true)
		move("b", "OFF", "ON")
		exec(`UPDATE ledger_right SET (state, level, mac) = (SELECT state, level, mac FROM ledger_earlier AS e WHERE e.id = 'b') WHERE id = 'b'`)
		is("put back", "a", false)
		move("b", "OFF", "ON")
		is("put back and then changed", "a", false)
		exec(`UPDATE ledger_head SET rights = '00' || substr(rights, 3)`)
		move("b", "ON", "OFF")
		is("with another sum", "a", false)
		must(t, b.AdoptRights(t.Context(), "c1", func(int) {})) // as if an earlier program had changed the row
		is("a changed row, adopted", "", false)

		u = For("c1")
		u.Remove(rightTable.Record(right{Company: "c1", ID: "b"}))
		if err := b.Commit(t.Context(), u); err == nil {
			t.Error("a unit removes a right")
		}
	})
}
