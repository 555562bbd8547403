package apptest_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// The current program migrates the home of an earlier release and makes new sales. It also polls
// the PENDING operations of the earlier program until their outcome is known.
func TestAProgramGoesOnInAFilledHome(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		for _, schema := range apptest.FilledSchemas(t, dialect) {
			p := apptest.Filled(t, dialect, schema).Start(t, apptest.Routes("UTILITY=vtpass"))
			left := p.Open()
			if len(left) == 0 {
				t.Error("nothing is PENDING")
			}
			p.Bought(p.Buy(p.Order(p.Bundle(), "after the upgrade", "10")))
			events := p.Events(0)
			behind := events[len(events)-1].CreatedAt.Sub(p.App.Clock.Now()) // this machine's clock may be behind the times in the home
			p.Advance(max(behind, 0) + time.Minute)
			for range 4 {
				p.Advance(25 * time.Hour)
			}
			for _, o := range left {
				if now := p.Outcome(o.Reference); now.Status == "PENDING" && !now.NeedsDecision {
					t.Errorf("schema %d: nobody follows %+v", schema, now)
				}
			}
			holdsTogether(t, p)
			p.Stop()
		}
	})
}

// A program starts on a newer schema, and reports that it is ready, only if that schema declares
// that it serves the program's schema.
func TestAProgramIsReadyOnANewerSchemaThatServesIt(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		change := func(statement string, args ...any) {
			t.Helper()
			if n, err := p.App.DB.Exec(t.Context(), statement, args...); err != nil || n != 1 {
				t.Fatalf("%d rows, %v", n, err)
			}
		}
		ready := func(want string) {
			t.Helper()
			apptest.Eventually(t, func() string { // the last answer may be kept
				a, err := p.Raw(t.Context(), http.MethodGet, "/readyz", nil)
				if err != nil || !strings.Contains(a.Body, `"migrations":"`+want+`"`) || want != "ok" && a.Status != http.StatusServiceUnavailable {
					return fmt.Sprintf("%s, %v", a, err)
				}
				return ""
			})
		}
		_, schema, err := p.App.DB.Migrated(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		change(`INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, '1')`, schema+1)
		ready("ok")
		p.Home.Start(t).Stop()
		change(`UPDATE db_schema SET serves = 9999`)
		ready("not those of this program")
		cfg := app.DevConfig(p.Home.Data, p.Home.Database)
		cfg.ExperimentalCitus = dbtest.HasCitus()
		_, _, err = app.OpenDev(t.Context(), cfg, false, slog.New(slog.NewTextHandler(io.Discard, nil)))
		if err == nil || !strings.Contains(err.Error(), "it is for a newer Kobo") {
			t.Errorf("started: %v", err)
		}
	})
}
