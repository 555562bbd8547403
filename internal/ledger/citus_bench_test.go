package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/money"
)

// BenchmarkNodes measures what a commit costs the database servers, on plain PostgreSQL and on the nodes of
// a Citus. The metric db-µs/op is the processor time of all server processes of the database's connections. The
// metric idle-µs/s is the processor time of a second without commits, also that of Citus's own daemons, which
// look for deadlocks and lost transactions. The servers run on this machine (Linux).
func BenchmarkNodes(b *testing.B) {
	for _, shape := range []struct{ companies, callers int }{{1, 1}, {1, 32}, {32, 32}, {32, 128}} {
		name := fmt.Sprintf("companies=%d,callers=%d", shape.companies, shape.callers)
		b.Run("postgres/"+name, func(b *testing.B) {
			url := dbtest.URL(b, db.Postgres)
			spread(b, url, []string{url}, shape.companies, shape.callers)
		})
		b.Run("citus/"+name, func(b *testing.B) {
			url := dbtest.CitusSpreadURL(b)
			spread(b, url, dbtest.CitusNodes(b, url), shape.companies, shape.callers)
		})
	}
}

func spread(b *testing.B, url string, servers []string, companies, callers int) {
	d := dbtest.Open(b, url)
	book := New(d, clock.System{})
	names := make([]string, companies)
	for i := range names {
		names[i] = fmt.Sprint("company", i)
		u := Found(names[i])
		u.OpenAccounts(Account{ID: "settlement"}, Account{ID: "capital", Floor: money.NoFloor})
		if err := book.Commit(b.Context(), u); err != nil {
			b.Fatal(err)
		}
	}
	run := func(n int) {
		var next atomic.Int64
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				for i := next.Add(1); i <= int64(n); i = next.Add(1) {
					pay(b, book, names[int(i)%companies])
				}
			})
		}
		all.Wait()
	}
	run(64 * callers) // the connections exist, and have their statements
	before := serversTime(b, servers)
	b.ResetTimer()
	run(b.N)
	b.StopTimer()
	b.ReportMetric(float64((serversTime(b, servers)-before).Microseconds())/float64(b.N), "db-µs/op")
	before = serversTime(b, servers)
	const seconds = 4
	dbtest.Column(b, servers[0], fmt.Sprintf("SELECT 1 FROM pg_sleep(%d)", seconds))
	b.ReportMetric(float64((serversTime(b, servers)-before).Microseconds())/seconds, "idle-µs/s")
}

// serversTime returns the processor time of all processes of all servers that work for a database.
func serversTime(b *testing.B, servers []string) (sum time.Duration) {
	for _, server := range servers {
		sum += serverTime(b, server)
	}
	return sum
}

func serverTime(b *testing.B, server string) (sum time.Duration) {
	pids := dbtest.Column(b, server, "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND (backend_type = 'client backend' OR backend_type LIKE 'Citus %') AND pid <> pg_backend_pid()")
	for _, pid := range pids {
		text, err := os.ReadFile("/proc/" + pid + "/schedstat") // its first number is the time on a processor, in nanoseconds
		if errors.Is(err, fs.ErrNotExist) {
			continue // the process has just ended
		}
		if err != nil {
			b.Fatal(err)
		}
		ns, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(ns)
	}
	if sum == 0 {
		b.Fatalf("%s has no process for the database on this machine", server)
	}
	return sum
}
