package operator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/operator"
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
