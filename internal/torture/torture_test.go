package torture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// isChild makes the test binary a program of a run.
const isChild = "KOBO_TEST_TORTURE_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(isChild) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := Child(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// brief runs for a few seconds and returns the verdict's text.
func brief(t *testing.T, o Options) (h History, text string) {
	t.Helper()
	t.Setenv(isChild, "yes")
	o.Duration, o.Clients, o.Folder, o.Child, o.Progress = 6*time.Second, 4, folder(t), []string{os.Args[0]}, io.Discard
	o.History = filepath.Join(t.TempDir(), "history")
	h, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	sound, err := Print(&out, &h, Check(&h))
	if err != nil || !sound {
		t.Errorf("%v\n%s", err, &out)
	}
	if left, err := os.ReadDir(o.Folder); err != nil || len(left) > 0 {
		t.Errorf("the run left %v behind (%v)", left, err)
	}
	again, err := ReadHistory(o.History)
	if err != nil || !reflect.DeepEqual(Check(&again), Check(&h)) {
		t.Errorf("the history in the file gives another verdict, %v", err)
	}
	if len(h.Breaks) == 0 || len(h.Facts.Companies) != 2 || len(h.Facts.Companies[0].Payments) == 0 {
		t.Errorf("the run did little:\n%s", &out)
	}
	return h, out.String()
}

// A program on SQLite is killed and frozen, and loses nothing.
func TestAShortRunOnSQLite(t *testing.T) {
	const seed = 5 // its schedule begins with a kill
	h, text := brief(t, Options{Seed: seed, Programs: 1})
	t.Log(text)
	if !h.brokeBy(killing) {
		t.Errorf("no program was killed: %+v", h.Breaks)
	}
}

// Two programs share a database on PostgreSQL, whose connections are cut too.
func TestAShortRunOnPostgreSQL(t *testing.T) {
	server := dbtest.URL(t, db.Postgres)
	seed, only := uint64(1), []string{cutting}
	for b := (&breaker{programs: make([]*program, 2), server: newServer(server), only: only}); ; seed++ {
		p, err := b.chosen(scheduleOf(seed))
		if err != nil {
			t.Fatal(err)
		}
		if p.after < 2*time.Second {
			break
		}
	}
	h, text := brief(t, Options{Seed: seed, Programs: 2, Postgres: server, Only: only})
	t.Log(text)
	if !h.brokeBy(cutting) {
		t.Errorf("no connection was cut: %+v", h.Breaks)
	}
	d, err := db.Open(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	n, err := db.One(t.Context(), d, db.Value[int64], `SELECT count(*) FROM pg_database WHERE datname LIKE 'kobo_torture_%'`)
	if err != nil || n != 0 {
		t.Errorf("%d databases are left, %v", n, err)
	}
}

// A run touches no database with a foreign name. It says so before it connects.
func TestForeignDatabasesAreRefused(t *testing.T) {
	for _, name := range []string{"kobo", "postgres", "kobo_torture_", "xkobo_torture_a", `kobo_torture_a"; DROP DATABASE kobo; --`} {
		s := server{"postgres://nobody@127.0.0.1:1/postgres", name}
		for _, do := range []func(context.Context) error{s.create, s.drop, s.cut} {
			if err := do(t.Context()); !errors.Is(err, ErrForeign) {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
}

// The choices and the schedule follow from the seed.
func TestTheScheduleFollowsFromTheSeed(t *testing.T) {
	plans := func(seed uint64) (out []plan) {
		b := &breaker{programs: make([]*program, 3)}
		r := scheduleOf(seed)
		for range 50 {
			out = append(out, b.next(r))
		}
		return out
	}
	if !reflect.DeepEqual(plans(5), plans(5)) || reflect.DeepEqual(plans(5), plans(6)) {
		t.Error("the schedule does not follow from the seed")
	}
}

// Each twentieth break lets a day pass, so three days have passed after sixty.
func TestDaysPassDuringALongLoad(t *testing.T) {
	b, r := &breaker{programs: make([]*program, 3)}, scheduleOf(7)
	for n := range 60 {
		if p := b.next(r); (p == plan{kind: clockJump, after: p.after, length: 24 * time.Hour, target: p.target}) != (n%20 == 19) {
			t.Errorf("break %d is %+v", n+1, p)
		}
	}
}

func TestInvalidOptionsAreRefused(t *testing.T) {
	for name, o := range map[string]Options{
		"--minutes":  {Clients: 1, Programs: 1},
		"--clients":  {Duration: time.Minute, Programs: 1},
		"--programs": {Duration: time.Minute, Clients: 1, Programs: 4},
		"--standbys": {Duration: time.Minute, Clients: 1, Programs: 1, Standbys: 2},
	} {
		if _, err := Run(t.Context(), o); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
