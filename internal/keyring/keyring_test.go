package keyring_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/keyring"
	"github.com/kobo-waas/kobo/internal/secret"
)

// program is a program with a separate file of the keyring.
type program struct {
	*keyring.Service
	keys *secret.Keyring
	file string
}

func start(t *testing.T, d *db.DB, clk clock.Clock, text string) *program {
	t.Helper()
	p := &program{file: filepath.Join(t.TempDir(), "master.key")}
	p.write(t, text)
	var err error
	if p.keys, err = secret.Parse(text); err != nil {
		t.Fatal(err)
	}
	p.Service = keyring.New(keyring.Config{
		DB: d, Clock: clk, Machine: clk, Log: slog.New(slog.DiscardHandler),
		Rings: []*keyring.Ring{{Name: keyring.Master, Keys: p.keys, File: secret.File{Path: p.file}}},
	})
	return p
}

func (p *program) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(p.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (p *program) state(t *testing.T) string {
	t.Helper()
	if err := p.State(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p.keys.Current()
}

func line(name string) string {
	_, key, _ := strings.Cut(secret.Generate(), ":")
	return name + ":" + key
}

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// A program writes with a new line only while each running program holds that line. A program that
// has stated nothing for a minute, or has stopped, does not count as running.
func TestALineWaitsForAllRunningPrograms(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk := clock.At(noon)
		old, next := line("old"), line("next")
		one, two := start(t, d, clk, old), start(t, d, clk, old)
		one.state(t)
		two.state(t)
		one.write(t, next+old)
		if got := one.state(t); got != "old" {
			t.Errorf("it writes with %s, which the other program lacks", got)
		}
		if !strings.HasPrefix(two.keys.MAC("x"), "old$") || !two.keys.Verify(one.keys.MAC("x"), "x") {
			t.Error("the other program does not verify a hash")
		}
		clk.Advance(59 * time.Second)
		if got := one.state(t); got != "old" {
			t.Errorf("it writes with %s, and the other program may run", got)
		}
		clk.Advance(2 * time.Second)
		if got := one.state(t); got != "next" {
			t.Errorf("it writes with %s, and no other program runs", got)
		}
		if err := two.State(t.Context()); err == nil || !strings.Contains(err.Error(), "lacks the line next") {
			t.Errorf("it lacks a written line: %v", err)
		}
		if two.Wrong() == nil {
			t.Error("it counts as ready")
		}
		two.write(t, old+next)
		if got := two.state(t); got != "old" || two.Wrong() != nil {
			t.Errorf("its first line is the old one, and it writes with %s, %v", got, two.Wrong())
		}
		if hash := one.keys.MAC("x"); two.keys.Stale(hash) || !two.keys.Verify(hash, "x") {
			t.Error("a hash of the other program's line is replaced")
		}
		if _, err := one.Rekey(t.Context(), func(keyring.Progress) {}); err == nil || !strings.Contains(err.Error(), "writes with the line old") {
			t.Errorf("a program writes with the old line: %v", err)
		}
		one.state(t)
		if one.keys.Stale(two.keys.MAC("x")) {
			t.Error("a hash of the other program's line is replaced")
		}
	})
}

// Beside a program of an older schema, no program writes with a new line, and sealed values are not
// bound to their rows.
func TestOlderProgramsReadEverything(t *testing.T) {
	d, clk := dbtest.New(t, db.Postgres), clock.At(noon)
	old, next := line("old"), line("next")
	p := start(t, d, clk, old)
	p.state(t)
	p.write(t, next+old)
	rollback := errors.New("rollback")
	err := d.Tx(t.Context(), func(q db.Querier) error {
		if _, err := q.Exec(t.Context(), `SET LOCAL application_name = 'kobo/0.1/54'`); err != nil {
			return err
		}
		if got := p.state(t); got != "old" {
			t.Errorf("it writes with %s, which the older program may lack", got)
		}
		if text, err := p.keys.Seal(place(0), "value"); err != nil || strings.Contains(text, "row") {
			t.Errorf("sealed as %s, %v", text, err)
		}
		if err := p.Promotable(t.Context(), keyring.Master, "next"); err == nil || !strings.Contains(err.Error(), "older Kobo") {
			t.Errorf("promotable: %v", err)
		}
		return rollback
	})
	if !errors.Is(err, rollback) {
		t.Fatal(err)
	}
	if got := p.state(t); got != "next" {
		t.Errorf("it writes with %s", got)
	}
	if text, err := p.keys.Seal(place(0), "value"); err != nil || !strings.HasPrefix(text, "next$row$") {
		t.Errorf("sealed as %s, %v", text, err)
	}
}

// A file that cannot be read, or that contains a different key under a known ID, changes nothing.
func TestABadFileChangesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		old := line("old")
		clk := clock.At(noon)
		p := start(t, d, clk, old)
		p.state(t)
		hash := p.keys.MAC("x")
		for _, text := range []string{"", old[:20], line("old"), line("next")} {
			p.write(t, text)
			if err := p.State(t.Context()); err == nil {
				t.Errorf("accepted a keyring with %d characters", len(text))
			}
			if p.keys.Current() != "old" || !p.keys.Verify(hash, "x") {
				t.Error("the key changed")
			}
			clk.Advance(2 * time.Minute)
		}
		p.write(t, line("next")+old)
		p.state(t)
	})
}

// A program whose file cannot be read goes on stating the lines that it has. So no other program writes
// with a line that it lacks.
func TestAProgramWithABadFileStillCounts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk, old, next := clock.At(noon), line("old"), line("next")
		p, q := start(t, d, clk, old), start(t, d, clk, old)
		p.state(t)
		q.state(t)
		p.write(t, "half of a li")
		for range 4 {
			clk.Advance(30 * time.Second)
			if err := p.State(t.Context()); err == nil {
				t.Fatal("a bad file was accepted")
			}
			q.state(t)
		}
		if p.Wrong() == nil {
			t.Error("the program does not say that its file is bad")
		}
		if err := q.Promotable(t.Context(), keyring.Master, "next"); err == nil {
			t.Error("a line that a running program lacks may be promoted")
		}
		q.write(t, next+old)
		if got := q.state(t); got != "old" {
			t.Errorf("the other program writes with %s", got)
		}
		p.write(t, old+next)
		p.state(t)
		if got := q.state(t); got != "next" || p.Wrong() != nil {
			t.Errorf("the other program writes with %s, and %v", got, p.Wrong())
		}
	})
}

// However the lines of many programs change at the same time, no program writes with a line that a
// different running program lacks.
func TestNoProgramWritesWithALineThatAnotherLacks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk := clock.At(noon)
		base := line("base")
		more := []string{line("a"), line("b"), line("c")}
		programs := make([]*program, 4)
		for i := range programs {
			programs[i] = start(t, d, clk, base)
			programs[i].state(t)
		}
		for round := range 8 {
			var all sync.WaitGroup
			for _, p := range programs {
				lines := []string{base}
				for _, one := range more[:min(len(more), round/2)] {
					if rand.N(3) > 0 {
						lines = append(lines, one)
					}
				}
				rand.Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
				p.write(t, strings.Join(lines, ""))
				all.Go(func() { _ = p.State(t.Context()) }) // a file that lacks a written line is refused
			}
			all.Wait()
			for i, p := range programs {
				for k, other := range programs {
					if hash := p.keys.MAC("x"); !other.keys.Verify(hash, "x") {
						t.Errorf("round %d: program %d writes with %s, which program %d lacks", round, i, secret.KeyOf(hash), k)
					}
				}
			}
		}
	})
}

// A rekey that was interrupted continues behind its last batch. It seals values of older programs
// again too, and a value that a request has changed meanwhile stays.
func TestRekeyContinues(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk, ctx := clock.At(noon), t.Context()
		old, next := line("old"), line("next")
		p := start(t, d, clk, old)
		p.state(t)
		before, err := secret.Parse(old)
		if err != nil {
			t.Fatal(err)
		}
		const rows = 1200
		sealed := make([]string, rows)
		err = d.Tx(ctx, func(q db.Querier) error {
			for i := range rows {
				before.Become(before, secret.Use{Current: "old", Unbound: i%2 == 0})
				if sealed[i], err = before.Seal(place(i), fmt.Sprint("body ", i)); err != nil {
					return err
				}
				if _, err := q.Exec(ctx, `INSERT INTO inbox_notification (company_id, id, provider, body, state, detail, received_at, worked_at)
					VALUES ('house', $1, 'bank', $2, 'WORKED', '', 0, 0)`, place(i).Row, sealed[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		p.write(t, next+old)
		p.state(t)
		interrupted, stop := context.WithCancel(ctx)
		var last keyring.Progress
		_, err = p.Rekey(interrupted, func(r keyring.Progress) {
			if last = r; r.Read > 0 {
				stop()
			}
		})
		if err == nil || last.Sealed != 500 || last.Rows != rows {
			t.Fatalf("%+v, %v", last, err)
		}
		if yes, err := keyring.ReplaceNotification(ctx, d, "house", place(0).Row, sealed[0], "stale"); yes || err != nil {
			t.Errorf("a changed row was overwritten: %v", err)
		}
		left, err := p.Rekey(ctx, func(r keyring.Progress) {
			if r.Read > 0 {
				last = r
			}
		})
		if err != nil || last.Read != 700 || last.Sealed != 700 || last.Broken > 0 {
			t.Fatalf("%+v, %v", last, err)
		}
		for _, one := range left {
			if one.Ends == keyring.ByRekey {
				t.Errorf("left: %+v", one)
			}
		}
		for i := range rows {
			text, err := db.One(ctx, d, db.Value[string], `SELECT body FROM inbox_notification WHERE company_id = 'house' AND id = $1`, place(i).Row)
			if err != nil {
				t.Fatal(err)
			}
			body, err := p.keys.Open(place(i), text)
			if err != nil || body.Reveal() != fmt.Sprint("body ", i) || !strings.HasPrefix(text, "next$row$") {
				t.Fatalf("row %d: %q, %v", i, body.Reveal(), err)
			}
			if _, err := p.keys.Open(place(i+1), text); err == nil {
				t.Fatalf("the body of row %d opens in a different row", i)
			}
		}
	})
}

func place(i int) secret.Place {
	return secret.Place{Company: "house", Column: "inbox_notification.body", Row: fmt.Sprintf("old$%05d", i)}
}

// A program counts the programs that run beside it. One that has stopped does not count at once, and one that has
// died does not count after 15 seconds.
func TestAProgramCountsThoseThatRun(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk := clock.At(noon)
		text := line("one")
		first, second, third := start(t, d, clk, text), start(t, d, clk, text), start(t, d, clk, text)
		counts := func(want int) {
			t.Helper()
			first.state(t)
			if got := first.Running(); got != want {
				t.Errorf("%d programs run, not %d", got, want)
			}
		}
		if got := first.Running(); got != 1 {
			t.Errorf("before the first statement %d", got)
		}
		counts(1)
		second.state(t)
		third.state(t)
		counts(3)
		ctx, stop := context.WithCancel(t.Context())
		stop()
		third.Run(ctx)
		counts(2)
		clk.Advance(15*time.Second - time.Millisecond)
		counts(2)
		clk.Advance(time.Millisecond)
		counts(1)
		second.state(t)
		counts(2)
	})
}
