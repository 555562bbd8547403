package ledger

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/money"
)

// BenchmarkNodes measures what a commit costs the database servers, on plain PostgreSQL and on the nodes of
// a Citus. The metric db-µs/op is the processor time of all server processes of the database's connections. The servers run on this machine (Linux).
func BenchmarkNodes(b *testing.B) {
	for _, shape := range []struct{ companies, callers int }{{1, 1}, {1, 32}, {32, 32}, {32, 128}} {
		name := fmt.Sprintf("companies=%d,callers=%d", shape.companies, shape.callers)
		b.Run("postgres/"+name, func(b *testing.B) {
			url := dbtest.URL(b, db.Postgres)
			spread(b, url, []string{url}, shape.companies, shape.callers)
		})
		b.Run("citus/"+name, func(b *testing.B) {
			url := dbtest.CitusURL(b)
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
	run(8 * callers) // the connections exist, and have their statements
	before := serversTime(b, servers)
	b.ResetTimer()
	run(b.N)
	b.StopTimer()
	b.ReportMetric(float64((serversTime(b, servers)-before).Microseconds())/float64(b.N), "db-µs/op")
}

// serversTime returns the processor time of all processes of all servers that work for a database.
func serversTime(b *testing.B, servers []string) (sum time.Duration) {
	for _, server := range servers {
		sum += serverTime(b, server)
	}
	return sum
}

func serverTime(b *testing.B, server string) time.Duration {
	c, err := pgx.Connect(b.Context(), server)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close(b.Context()) }() // ignored, because the connection only reads
	rows, err := c.Query(b.Context(), "SELECT pid::text FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()")
	if err != nil {
		b.Fatal(err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(pids) == 0 {
		b.Fatalf("%s: %d processes: %v", server, len(pids), err)
	}
	ticks := 0
	for _, pid := range pids {
		stat := procOf(pid)
		if stat == nil {
			b.Fatal("the database server is not on this machine")
		}
		ticks += stat[userTicks] + stat[systemTicks]
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// The positions of fields in /proc/PID/stat, counted from the field after the name.
const (
	userTicks   = 11
	systemTicks = 12
)

// procOf returns the numbers of /proc/PID/stat, or nil if there is no such process.
func procOf(pid string) []int {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return nil
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	numbers := make([]int, systemTicks+1)
	for i := 1; i < len(numbers); i++ {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			return nil
		}
		numbers[i] = n
	}
	return numbers
}
