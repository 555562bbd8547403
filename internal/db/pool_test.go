package db_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// mostAtOnce returns the largest number of connections that a pool opens for a hundred parallel
// callers.
func mostAtOnce(t *testing.T, url string) int64 {
	t.Helper()
	d := dbtest.Open(t, url)
	var mu sync.Mutex
	var most int64
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			err := d.Tx(context.Background(), func(q db.Querier) error {
				n, err := db.One(t.Context(), q, db.Value[int64],
					`SELECT count(*) FROM pg_stat_activity, pg_sleep(0.02) WHERE datname = current_database() AND backend_type = 'client backend'`)
				mu.Lock()
				defer mu.Unlock()
				most = max(most, n)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	return most
}

// The number of connections in the URL is used, whether it is higher or lower than the default.
func TestTheURLSaysHowManyConnections(t *testing.T) {
	for most, parameter := range map[int64]string{12: "", 1: "pool_max_conns=1", 3: "pool_max_conns=3", 20: "pool_max_conns=20"} {
		url := dbtest.URL(t, db.Postgres)
		if parameter != "" {
			separator := "?"
			if strings.Contains(url, "?") {
				separator = "&"
			}
			url += separator + parameter
		}
		got := mostAtOnce(t, url)
		if got > most || most < 12 && got != most || most == 20 && got <= 12 {
			t.Errorf("%q: %d connections", parameter, got)
		}
	}
}

func TestAWrongNumberOfConnectionsIsRefused(t *testing.T) {
	for _, number := range []string{"0", "-1", "many", "4294967297"} {
		url := "postgres://kobo:hidden@localhost/kobo?pool_max_conns=" + number
		_, err := db.Open(t.Context(), url)
		for _, err := range []error{err, db.CheckURL(url)} {
			if err == nil || !strings.Contains(fmt.Sprint(err), "pool_max_conns of the PostgreSQL URL must be") || strings.Contains(err.Error(), "hidden") {
				t.Errorf("%s: %v", number, err)
			}
		}
	}
	if err := errors.Join(db.CheckURL("postgres://h/d?pool_max_conns=1"), db.CheckURL("sqlite:kobo.db"), db.CheckURL("postgres://h/d")); err != nil {
		t.Error(err)
	}
}
