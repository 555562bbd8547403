package apptest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

// at gives a program a machine clock that the test can move.
func at(machine clock.Clock) apptest.Option { return func(c *app.Config) { c.Machine = machine } }

// checks returns the status and the body of /readyz.
func checks(t *testing.T, p *apptest.Program, path string) (status int, said map[string]string) {
	t.Helper()
	a, err := p.Raw(t.Context(), http.MethodGet, path, nil)
	if err == nil {
		err = json.Unmarshal([]byte(a.Body), &said)
	}
	if err != nil {
		t.Fatal(a, err)
	}
	return a.Status, said
}

var noWrites = regexp.MustCompile(`^none for (1[6-9]|[2-9][0-9]) s$`)

// stale moves the machine's clock 16 seconds ahead, and expects /readyz to report that the last
// write is too old.
func stale(t *testing.T, p *apptest.Program, machine *clock.Movable, database string) {
	t.Helper()
	machine.MoveTo(machine.Offset() + 16*time.Second)
	if status, said := checks(t, p, "/readyz"); status != http.StatusServiceUnavailable || !noWrites.MatchString(said["writes"]) || said["status"] != "not ready" || said["database"] != database {
		t.Errorf("no write for 16 s: %d %v", status, said)
	}
}

// fresh waits until /readyz responds 200 again, because a write has succeeded.
func fresh(t *testing.T, p *apptest.Program) {
	t.Helper()
	apptest.Eventually(t, func() string {
		if status, said := checks(t, p, "/readyz"); status != http.StatusOK || said["writes"] != "ok" || said["status"] != "ready" {
			return fmt.Sprint(status, said)
		}
		return ""
	})
}

// A read-only PostgreSQL, such as a standby, accepts connections and has the right schema. Only a
// write that fails shows that it is read-only, and then the program is not ready.
func TestReadyMeansAbleToWrite(t *testing.T) {
	t.Parallel()
	machine := &clock.Movable{}
	home := apptest.NewHome(t, db.Postgres)
	p := home.Start(t, at(machine))
	fresh(t, p)
	address, err := url.Parse(home.Database)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(address.Path, "/")
	query := address.Query()
	query.Set("default_transaction_read_only", "off")
	address.RawQuery = query.Encode()
	boss, err := db.Open(t.Context(), address.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(boss.Close)
	turn := func(how string) {
		t.Helper()
		ctx := context.WithoutCancel(t.Context())
		if _, err := boss.Exec(ctx, `ALTER DATABASE "`+name+`" `+how); err != nil {
			t.Fatal(err)
		}
		// A read, since the server warns of a connection that ends by itself meanwhile, and a warning makes a COMMIT doubtful.
		_, err := db.All(ctx, boss, db.Value[bool], `
			SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
		if err != nil {
			t.Fatal(err)
		}
	}
	turn("SET default_transaction_read_only = on")
	apptest.Eventually(t, func() string { // the change applies only to new connections
		if _, err := p.App.DB.Exec(t.Context(), `UPDATE deployment SET epoch = epoch`); err == nil || !strings.Contains(err.Error(), "read-only") {
			return fmt.Sprint(err)
		}
		return ""
	})
	stale(t, p, machine, "ok")
	turn("RESET default_transaction_read_only")
	fresh(t, p)
}

// A program is not ready while its database does not respond, or while its database file cannot be
// written.
func TestReadyWithoutWrites(t *testing.T) {
	t.Parallel()
	t.Run("hung", func(t *testing.T) {
		t.Parallel()
		machine := &clock.Movable{}
		p, proxy := behind(t, at(machine))
		proxy.Silence()
		stale(t, p, machine, "away")
		proxy.Mend()
		fresh(t, p)
	})
	t.Run("read-only file", func(t *testing.T) {
		t.Parallel()
		machine := &clock.Movable{}
		p := apptest.Start(t, db.SQLite, at(machine))
		fresh(t, p)
		pragma(t, p, "PRAGMA query_only = 1")
		stale(t, p, machine, "away")
	})
}

// /readyz shows whether API access is closed. Closed API access counts as not ready only in the
// check for load balancers of companies, since operators and providers are still served.
func TestClosedAPIAccessIsReady(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		want := func(door string, forAll, forCompanies int) {
			t.Helper()
			apptest.Eventually(t, func() string {
				all, said := checks(t, p, "/readyz")
				companies, also := checks(t, p, "/readyz?for=companies")
				if all != forAll || companies != forCompanies || said["door"] != door || also["door"] != door || said["status"] != "ready" {
					return fmt.Sprint(all, said, companies, also)
				}
				return ""
			})
		}
		want("", 200, 200)
		if err := p.App.Operators.CloseAccess(t.Context(), tester, "for a test"); err != nil {
			t.Fatal(err)
		}
		want("closed", 200, 503)
		if err := p.App.Operators.OpenAccess(t.Context(), tester); err != nil {
			t.Fatal(err)
		}
		want("", 200, 200)
	})
}
