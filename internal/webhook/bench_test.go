package webhook

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// BenchmarkDeliveries measures how fast b.N existing events of one company are sent to each of
// its endpoints, over loopback.
func BenchmarkDeliveries(b *testing.B) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		for _, endpoints := range []int{1, 10} {
			b.Run(fmt.Sprintf("%s/endpoints=%d", dialect, endpoints), func(b *testing.B) {
				benchmarkDeliveries(b, dialect, endpoints)
			})
		}
	}
}

func benchmarkDeliveries(b *testing.B, dialect db.Dialect, endpoints int) {
	keys, err := secret.Parse(secret.Generate())
	must(b, err)
	w := newWorld(b, dbtest.New(b, dialect), &clock.Movable{}, keys)
	w.found("acme")
	var taken atomic.Int64
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		taken.Add(1)
	})}
	go func() { _ = server.Serve(listener) }()
	b.Cleanup(func() { _ = server.Close() })
	for range endpoints {
		w.endpoint("acme", "http://"+listener.Addr().String()+"/")
	}
	w.feed(b, "acme", b.N)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	b.ResetTimer()
	go func() { w.Run(ctx); close(ended) }()
	for want := int64(b.N * endpoints); taken.Load() < want; {
		must(b, w.Settled(ctx))
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N*endpoints)/b.Elapsed().Seconds(), "deliveries/s")
	stop()
	<-ended
}

// feed commits n events like those of a purchase, up to 1000 in a unit.
func (w *world) feed(t testing.TB, company string, n int) {
	t.Helper()
	data := map[string]string{"transactionId": "0199c1f2-7b1e-7c0a-9d3e-2f6a1b0c4d5e", "status": "SUCCESS", "padding": strings.Repeat("x", 300)}
	for n > 0 {
		some := min(n, 1000)
		u := ledger.For(company)
		for range some {
			event.Emit(&u, event.VTUSuccess, data)
		}
		must(t, w.Book.Commit(context.Background(), u))
		n -= some
	}
}

// Every SQL query for sending uses an index. So the time to send an event does not grow with the
// number of events and deliveries.
func TestALongQueueIsNotScanned(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.found("acme")
		e := w.endpoint("acme", "http://127.0.0.1:9/")
		w.feed(t, "acme", 3000)
		w.old(t, e, 3000)
		if w.db.Dialect() == db.Postgres {
			_, err := w.db.Exec(t.Context(), `ANALYZE`)
			must(t, err)
		}
		for name, query := range map[string]string{
			"the next page of events": `SELECT company_id, sequence, id, kind, data, created_at FROM event
				WHERE company_id = 'acme' AND sequence > 2000 ORDER BY sequence LIMIT 200`,
			"what is to be tried again": deliveriesWhere + `company_id = 'acme' AND endpoint_id = '` + e.ID + `' AND state = 'PENDING'
				AND next_at <= 99 ORDER BY next_at LIMIT 4`,
			"when the next retry is due": `SELECT coalesce(min(next_at), 0) FROM webhook_delivery
				WHERE company_id = 'acme' AND endpoint_id = '` + e.ID + `' AND state = 'PENDING'`,
			"the event of a retry": `SELECT data FROM event WHERE company_id = 'acme' AND id = 'e'`,
			"the newest deliveries": deliveriesWhere + `company_id = 'acme' AND endpoint_id = '` + e.ID + `' AND ('' = '')
				ORDER BY id DESC LIMIT 50`,
			"what was given up": deliveriesWhere + `company_id = 'acme' AND endpoint_id = '` + e.ID + `' AND state = 'FAILED'
				ORDER BY id DESC LIMIT 50`,
			"what is old": `SELECT id FROM (SELECT id, updated_at FROM webhook_delivery
				WHERE company_id = 'acme' AND endpoint_id = '` + e.ID + `' AND (state <> 'PENDING' OR 'ACTIVE' = 'DELETED')
				ORDER BY company_id, endpoint_id, id LIMIT 100) AS oldest WHERE updated_at < 5`,
			"what is removed": `DELETE FROM webhook_delivery WHERE company_id = 'acme' AND id IN ('d000001', 'd000002')`,
			"what waits of all": `SELECT company_id, endpoint_id, count(*), min(next_at) FROM webhook_delivery
				WHERE state = 'PENDING' GROUP BY company_id, endpoint_id`,
		} {
			plan := w.plan(t, query)
			for _, small := range []string{"SCAN oldest", "SCAN webhook_delivery USING COVERING INDEX webhook_delivery_retry"} {
				plan = strings.ReplaceAll(plan, small, "") // these scans are small: one page, or the index that has only waiting deliveries
			}
			if strings.Contains(plan, "SCAN") || strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("%s is looked for by reading everything:\n%s", name, plan)
			}
		}
	})
}

// old adds n delivered deliveries with a date in 1970 to an endpoint.
func (w *world) old(t *testing.T, e Endpoint, n int) {
	t.Helper()
	for first := 0; first < n; first += 500 {
		var rows []string
		for i := first; i < min(first+500, n); i++ {
			rows = append(rows, fmt.Sprintf("('%s', 'd%06d', '%s', 'e', 'k', %d, 'DELIVERED', 1, 200, 1, '', '', 0, 1, 1)", e.Company, i, e.ID, i))
		}
		_, err := w.db.Exec(t.Context(), `INSERT INTO webhook_delivery (company_id, id, endpoint_id, event_id, kind, sequence, state,
			attempts, status, latency_ms, excerpt, trouble, next_at, created_at, updated_at) VALUES `+strings.Join(rows, ", "))
		must(t, err)
	}
}

// plan returns the database's query plan for an SQL query.
func (w *world) plan(t *testing.T, query string) string {
	t.Helper()
	explain, columns := "EXPLAIN ", 1
	if w.db.Dialect() == db.SQLite {
		explain, columns = "EXPLAIN QUERY PLAN ", 4
	}
	lines, err := db.All(t.Context(), w.db, func(r db.Scanner) (string, error) {
		into, texts := make([]any, columns), make([]any, columns)
		for i := range into {
			into[i] = &texts[i]
		}
		err := r.Scan(into...)
		return fmt.Sprint(texts[columns-1]), err
	}, explain+query)
	must(t, err)
	return strings.Join(lines, "\n")
}
