package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

type shade string

type inner struct {
	Colour shade `db:"colour,changes"`
}

type declared struct {
	Company string `db:"company_id,key"`
	ID      string `db:"id,key"`
	inner
	Note    string    // has no tag, so it is not a column
	count   int       `db:"count"`
	on      bool      `db:"is_on,changes"`
	at      time.Time `db:"at"`
	Text    []byte    `db:"text"`
	version int64     `db:"version,version"`
}

const declaredColumns = `declared.company_id, declared.id, declared.colour, declared.count, declared.is_on,
	declared.at, declared.text, declared.version`

var sample = declared{
	"c", "1", inner{"red"}, "", 3, true, time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC), []byte("{}"), 7,
}

func TestARowOfADeclaredTableComesBackWhole(t *testing.T) {
	table := db.Declare[declared]("declared", db.Reads(declaredColumns))
	if table.Key != 2 || table.State != "version" || !table.Version || len(table.Changing) != 2 {
		t.Errorf("declared: %+v", table.Table)
	}
	r := table.Record(sample)
	want := []any{"c", "1", "red", int64(3), int64(1), sample.at.UnixMicro(), "{}", "7"}
	for i, v := range r.Values {
		if v != want[i] {
			t.Errorf("%s: %v (%T)", table.Columns[i].Name, v, v)
		}
	}
	if back, err := table.Value(r); err != nil || back.Note != "" || !same(back, sample) {
		t.Errorf("back: %+v, %v", back, err)
	}
	if _, err := table.Value(table.Record(sample).Put("version", "seven")); err == nil {
		t.Error("a version without digits was read")
	}
	if _, err := table.Value(table.Record(sample).Put("at", "noon")); err == nil {
		t.Error("an instant without a number was read")
	}
}

func same(a, b declared) bool {
	return a.Company == b.Company && a.ID == b.ID && a.inner == b.inner && a.count == b.count && a.on == b.on &&
		a.at.Equal(b.at) && string(a.Text) == string(b.Text) && a.version == b.version
}

func TestADeclaredTableReadsWhatItWrote(t *testing.T) {
	for _, dialect := range dbtest.Dialects {
		t.Run(string(dialect), func(t *testing.T) {
			d := dbtest.Open(t, dbtest.URL(t, dialect))
			ctx := context.Background()
			_, err := d.Exec(ctx, `CREATE TABLE declared (company_id TEXT, id TEXT, colour TEXT, count BIGINT, is_on BIGINT,
				at BIGINT, text TEXT, version TEXT, PRIMARY KEY (company_id, id))`)
			if err != nil {
				t.Fatal(err)
			}
			table := db.Declare[declared]("declared", db.Reads(declaredColumns))
			if err := d.Insert(ctx, table.Record(sample)); err != nil {
				t.Fatal(err)
			}
			back, err := db.One(ctx, d, table.Scan, `SELECT `+declaredColumns+` FROM declared WHERE company_id = $1`, "c")
			if err != nil || !same(back, sample) {
				t.Errorf("back: %+v, %v", back, err)
			}
			type part struct {
				on bool
				at time.Time
				id string
			}
			got, err := db.One(ctx, d, db.Fields[part], `SELECT is_on, at, id FROM declared WHERE company_id = $1`, "c")
			if err != nil || !got.on || !got.at.Equal(sample.at) || got.id != "1" {
				t.Errorf("a part: %+v, %v", got, err)
			}
		})
	}
}

func TestAWrongDeclarationStopsTheProgram(t *testing.T) {
	for name, declare := range map[string]func(){
		"columns in another order": func() { db.Declare[declared]("declared", db.Reads(`id, company_id`)) },
		"a key that comes late": func() {
			db.Declare[struct {
				A string `db:"a"`
				B string `db:"b,key"`
			}]("late")
		},
		"an unknown word": func() {
			db.Declare[struct {
				A string `db:"a,often"`
			}]("word")
		},
		"a type that no column holds": func() {
			db.Declare[struct {
				A complex128 `db:"a"`
			}]("type")
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was declared")
				}
			}()
			declare()
		})
	}
}
