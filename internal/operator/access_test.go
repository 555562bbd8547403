package operator_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/secret"
)

// An altered line of the audit log about the closing opens no API access.
func TestAChangedLineOpensNoAccess(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		keys, err := secret.Parse(secret.Generate())
		if err != nil {
			t.Fatal(err)
		}
		s := operator.New(d, keys, clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)))
		for _, change := range []string{
			`UPDATE operator_audit SET mac = '' WHERE action = 'door.close'`, `UPDATE operator_audit SET details = '{}' WHERE action = 'door.close'`,
		} {
			if err := s.CloseAccess(ctx, root, "a look around"); err != nil {
				t.Fatal(err)
			}
			for _, statement := range []string{change, `DELETE FROM operator_door`} {
				if n, err := d.Exec(ctx, statement); err != nil || n == 0 {
					t.Fatal(n, err)
				}
			}
			if is, err := s.Access(ctx); err != nil || !is.Closed || !is.Automatic {
				t.Errorf("%s: %+v, %v", change, is, err)
			}
			if err := s.OpenAccess(ctx, root); err != nil {
				t.Errorf("%s: %v", change, err)
			}
			if is, err := s.Access(ctx); err != nil || is.Closed {
				t.Errorf("opened: %+v, %v", is, err)
			}
		}
	})
}

// API access that is closed stays closed, and as two operators open it, if somebody deletes or changes its
// row in the database. An operator can still open it.
func TestAChangedRowOpensNoAccess(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		keys, err := secret.Parse(secret.Generate())
		if err != nil {
			t.Fatal(err)
		}
		s := operator.New(d, keys, clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)))
		if is, err := s.Access(ctx); err != nil || is.Closed {
			t.Fatalf("at first: %+v, %v", is, err)
		}
		for _, change := range []string{
			`DELETE FROM operator_door`, `UPDATE operator_door SET automatic = 0`, `UPDATE operator_door SET reason = 'nothing'`,
		} {
			if err := d.Tx(ctx, func(q db.Querier) error { return s.Shut(ctx, q, "an old copy") }); err != nil {
				t.Fatal(err)
			}
			if err := s.CloseAccess(ctx, root, "a look around"); err != nil {
				t.Fatal(err)
			}
			if is, err := s.Access(ctx); err != nil || !is.Closed || !is.Automatic || is.Reason != "a look around" {
				t.Errorf("closed: %+v, %v", is, err)
			}
			if n, err := d.Exec(ctx, change); err != nil || n != 1 {
				t.Fatal(n, err)
			}
			is, err := s.Access(ctx)
			if err != nil || !is.Closed || !is.Automatic || !strings.HasPrefix(is.Reason, "a look around (somebody has changed") {
				t.Errorf("%s: %+v, %v", change, is, err)
			}
			if err := s.OpenAccess(ctx, root); err != nil {
				t.Errorf("%s: %v", change, err)
			}
			if is, err := s.Access(ctx); err != nil || is.Closed {
				t.Errorf("opened: %+v, %v", is, err)
			}
			if err := s.OpenAccess(ctx, root); err == nil {
				t.Errorf("%s: opened twice", change)
			}
		}
	})
}

// line inserts a line about API access as a program of an earlier schema wrote lines, without a number.
func line(t *testing.T, d *db.DB, action, details string, at time.Time) {
	t.Helper()
	if _, err := d.Exec(t.Context(), `INSERT INTO operator_audit (company_id, id, operator, action, subject, details, created_at)
		VALUES ('', $1, 'local:ada', $2, '', $3, $4)`, id.New(), action, details, clock.Micros(at)); err != nil {
		t.Fatal(err)
	}
}

// The adoption gives an old line a later number than newer lines have. Its instant shows that it is older.
// A line after the adoption has its place by its number, also if the clock was set back.
func TestAccessFollowsTheOrderOfTheActs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		keys, err := secret.Parse(secret.Generate())
		if err != nil {
			t.Fatal(err)
		}
		clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
		s := operator.New(d, keys, clk)
		is := func(when string, closed bool) {
			t.Helper()
			said, err := s.Access(ctx)
			if err != nil || said.Closed != closed || strings.Contains(said.Reason, "somebody has changed") {
				t.Errorf("%s: %+v, %v", when, said, err)
			}
			v, err := report.VerifyLog(ctx, d, d.Signer())
			if lines := v.Lines(); err != nil || len(lines) > 0 {
				t.Errorf("%s: %q, %v", when, lines, err)
			}
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		// Programs of an earlier and of this schema run at the same time.
		line(t, d, "door.close", `{"reason":"an old program","automatic":"true"}`, clk.Now())
		clk.Advance(time.Minute)
		must(s.CloseAccess(ctx, root, "a look around"))
		clk.Advance(time.Minute)
		must(s.OpenAccess(ctx, root))
		is("before the adoption", false)
		_, err = s.Adopt(ctx, ledger.New(d, clk), root, "", func(int) {})
		must(err)
		is("after the adoption", false)
		must(s.CloseAccess(ctx, root, "one more look"))
		is("closed", true)
		clk.Advance(-time.Hour) // somebody has corrected a wrong clock
		must(s.OpenAccess(ctx, root))
		is("opened by a corrected clock", false)
		clk.Advance(-time.Hour)
		must(s.CloseAccess(ctx, root, "the last look"))
		is("closed by a corrected clock", true)
		if n, err := d.Exec(ctx, `DELETE FROM operator_door`); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		if said, err := s.Access(ctx); err != nil || !said.Closed || !strings.HasPrefix(said.Reason, "the last look (somebody has changed") {
			t.Errorf("without the row: %+v, %v", said, err)
		}
	})
}

// An operator who acts at the same time changes the row and the log together, so a reader sees no difference.
func TestAnActAtTheSameTimeIsNoAlteration(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		keys, err := secret.Parse(secret.Generate())
		if err != nil {
			t.Fatal(err)
		}
		s := operator.New(d, keys, clock.System{})
		done := make(chan error, 1)
		go func() {
			for range 100 {
				if err := errors.Join(s.CloseAccess(ctx, root, "a look around"), s.OpenAccess(ctx, root)); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		for reads := 0; ; reads++ {
			if said, err := s.Access(ctx); err != nil || strings.Contains(said.Reason, "somebody has changed") {
				t.Fatalf("read %d: %+v, %v", reads, said, err)
			}
			select {
			case err := <-done:
				if err != nil || reads < 10 {
					t.Errorf("%d reads, %v", reads, err)
				}
				return
			default:
			}
		}
	})
}

// Somebody who opens API access opens the closing that was weighed. Kobo may have closed API access in between, and then two
// operators open it.
func TestAnOpeningIsOfTheClosingThatWasWeighed(t *testing.T) {
	eachOffice(t, func(t *testing.T, o *office) {
		ctx := t.Context()
		closed := func(reason string) error { return o.CloseAccess(ctx, root, reason) }
		shut := func(reason string) error {
			return o.db.Tx(ctx, func(q db.Querier) error { return o.Shut(ctx, q, reason) })
		}
		weighed := func() operator.Access {
			is, err := o.Access(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return is
		}
		for what, meanwhile := range map[string]func() error{
			"Kobo has closed it":    func() error { return shut("an old copy") },
			"another reason":        func() error { return closed("an attack") },
			"opened and closed":     func() error { return errors.Join(o.OpenAccess(ctx, root), closed("a look around")) },
			"opened and shut again": func() error { return errors.Join(o.OpenAccess(ctx, root), shut("a look around")) },
		} {
			if err := closed("a look around"); err != nil {
				t.Fatal(err)
			}
			early := root.Seeing(weighed())
			o.clock.Advance(time.Second)
			if err := meanwhile(); err != nil {
				t.Fatal(err)
			}
			if err := o.OpenAccess(ctx, early); !fault.Is(err, fault.Conflict) || !weighed().Closed {
				t.Errorf("%s: %v", what, err)
			}
			if err := o.OpenAccess(ctx, root.Seeing(weighed())); err != nil || weighed().Closed {
				t.Errorf("%s, and weighed again: %v", what, err)
			}
			if err := o.OpenAccess(ctx, early); !fault.Is(err, fault.Refused) {
				t.Errorf("%s, and opened: %v", what, err)
			}
		}
	})
}
