package torture

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// wired returns a database behind a wire, the same database past the wire, and the wire.
func wired(t *testing.T) (through, direct *db.DB, w *wire) {
	t.Helper()
	address := dbtest.URL(t, db.Postgres)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if w, err = newWire(u.Host); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	})
	u.Host = w.address()
	open := func(address string) *db.DB {
		t.Helper()
		d, err := db.Open(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(d.Close)
		return d
	}
	through, direct = open(u.String()), open(address)
	if _, err := direct.Exec(t.Context(), `CREATE TABLE said (n BIGINT PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
	return through, direct, w
}

// table is the table of these tests, for the writes in a pipeline.
var table = &db.Table{Name: "said", Columns: []db.Column{{Name: "n", Type: db.Int}}}

// Each way to commit, through a wire that loses the COMMIT: the program does not know the outcome, and the server has
// the row only if the COMMIT was lost after it.
func TestAWireLosesCommitsBeforeAndAfter(t *testing.T) {
	through, direct, w := wired(t)
	ctx := t.Context()
	n := int64(0)
	ways := map[string]func(n int64) error{
		"transaction": func(n int64) error {
			return through.Tx(ctx, func(q db.Querier) error {
				_, err := q.Exec(ctx, `INSERT INTO said VALUES ($1)`, n)
				return err
			})
		},
		"pipeline": func(n int64) error {
			return through.Run(ctx, func(p db.Pipeline) error {
				if err := p.Read(ctx); err != nil {
					return err
				}
				return p.Commit(ctx, db.Write{Table: table, Rows: [][]any{{n}}})
			})
		},
	}
	rows := func() int64 {
		t.Helper()
		count, err := db.One(ctx, direct, db.Value[int64], `SELECT count(*) FROM said WHERE n = $1`, n)
		if err != nil {
			t.Fatal(err)
		}
		return count
	}
	for name, commit := range ways {
		for _, does := range []string{"", lostBefore, "", lostAfter, lostAfter, lostBefore, ""} {
			n++
			w.do(does)
			err := commit(n)
			lost, want := w.losses(does), int64(1)
			if does == lostBefore {
				want = 0
			}
			if got := rows(); got != want {
				t.Errorf("%s, %q: %d rows, not %d (%v)", name, does, got, want, err)
			}
			if does == "" && (err != nil || lost != 0) {
				t.Errorf("%s: %v, %d lost", name, err, lost)
			}
			if does != "" && (!errors.Is(err, db.ErrUncommitted) || lost != 1) {
				t.Errorf("%s, %q: %v, %d lost", name, does, err, lost)
			}
		}
	}
}

// A silent wire answers nobody, and closes the connections that lost bytes when it forwards again.
func TestASilentWireAnswersNobody(t *testing.T) {
	through, _, w := wired(t)
	ask := func(patience time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := db.One(ctx, through, db.Value[int64], `SELECT count(*) FROM said`)
		return err
	}
	if err := ask(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	w.do(silence)
	if err := ask(300 * time.Millisecond); err == nil {
		t.Error("a silent wire forwarded an answer")
	}
	w.do("")
	if err := ask(5 * time.Second); err != nil {
		t.Error(err)
	}
}

// Texts and whether they have a COMMIT.
func TestCommitsAreFound(t *testing.T) {
	for sql, want := range map[string]bool{
		"COMMIT": true, "commit": true, "UPDATE a SET b = 1; commit ;": true,
		"": false, "BEGIN": false, "COMMIT PREPARED 'a'": false, "SELECT 'COMMIT'": false,
	} {
		if commits(sql) != want {
			t.Errorf("%q: %t", sql, !want)
		}
	}
}
