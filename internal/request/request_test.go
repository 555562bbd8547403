package request_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/request"
)

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

const day = 24 * time.Hour

type house struct {
	*request.Service
	t     *testing.T
	clock *clock.Manual
}

func each(t *testing.T, f func(t *testing.T, h *house)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk := clock.At(start)
		f(t, &house{request.New(request.Config{DB: d, Clock: clk, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Keep: 30 * day}), t, clk})
	})
}

// flush writes what waits.
func (h *house) flush() {
	h.t.Helper()
	ctx, stop := context.WithCancel(h.t.Context())
	stop()
	h.Run(ctx)
}

func (h *house) add(company string, n int, status int64) {
	h.Add(request.Entry{
		Company: company, Method: "GET", Path: fmt.Sprintf("/%d", n), Status: status, RequestID: fmt.Sprintf("r-%d", n), Address: "192.0.2.7",
		CreatedAt: start.Add(time.Duration(n) * time.Second),
	})
}

func (h *house) list(company string, f request.Filter, before string, limit int) (paths []string, next string) {
	h.t.Helper()
	list, next, err := h.List(h.t.Context(), company, f, before, limit)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range list {
		if e.Company != company {
			h.t.Errorf("%s sees %+v", company, e)
		}
		paths = append(paths, e.Path)
	}
	return paths, next
}

func (h *house) sees(what, company string, f request.Filter, want ...string) {
	h.t.Helper()
	if got, _ := h.list(company, f, "", 100); fmt.Sprint(got) != fmt.Sprint(want) {
		h.t.Errorf("%s: %s sees %v, want %v", what, company, got, want)
	}
}

func TestACompanySeesItsRequestsNewestFirst(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		for n := range 5 {
			h.add("a", n, 200+int64(n%2)*200)
			h.add("b", 10+n, 200)
		}
		h.flush()
		h.sees("all", "a", request.Filter{}, "/4", "/3", "/2", "/1", "/0")
		h.sees("all", "c", request.Filter{})
		h.sees("by class", "a", request.Filter{Least: 400, Most: 499}, "/3", "/1")
		h.sees("by method", "a", request.Filter{Method: "POST"})
		h.sees("by id", "a", request.Filter{RequestID: "r-2"}, "/2")
		h.sees("another company's id", "a", request.Filter{RequestID: "r-12"})
		h.sees("by key", "a", request.Filter{IdempotencyKey: "k"})
		h.sees("by time", "a", request.Filter{From: start.Add(time.Second), To: start.Add(3 * time.Second)}, "/2", "/1")
		var pages []string
		next := ""
		for {
			var page []string
			page, next = h.list("a", request.Filter{}, next, 2)
			if pages = append(pages, page...); next == "" {
				break
			}
		}
		if fmt.Sprint(pages) != "[/4 /3 /2 /1 /0]" {
			t.Errorf("the pages have %v", pages)
		}
	})
}

// A page looks at 10,000 entries at most. What matches further below is on a later page.
func TestASeldomMatchIsOnALaterPage(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		for n := range 12_000 {
			h.add("a", n, 200)
			if n%5_000 == 4_999 {
				h.flush() // the queue has room for 10,000
			}
		}
		h.flush()
		f := request.Filter{RequestID: "r-7"}
		first, next := h.list("a", f, "", 10)
		if len(first) != 0 || next == "" {
			t.Fatalf("the first page has %v, next %q", first, next)
		}
		if second, next := h.list("a", f, next, 10); fmt.Sprint(second) != "[/7]" || next != "" {
			t.Errorf("the second page has %v, next %q", second, next)
		}
	})
}

// A full queue drops entries, and counts them. No request waits.
func TestAFullQueueDropsEntries(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		for n := range 10_003 {
			h.add("a", n, 200)
		}
		h.counts(3, 0)
		h.flush()
		if list, _ := h.list("a", request.Filter{}, "", 1); fmt.Sprint(list) != "[/9999]" {
			t.Errorf("the last entry is %v", list)
		}
		h.add("a", 1, 200)
		h.DB.Close()
		h.flush()
		h.counts(3, 1)
	})
}

// counts checks the metric of dropped entries.
func (h *house) counts(full, failed float64) {
	h.t.Helper()
	all := prometheus.NewRegistry()
	all.MustRegister(h.Metrics()...)
	families, err := all.Gather()
	if err != nil || len(families) != 1 {
		h.t.Fatalf("%v, %v", families, err)
	}
	got := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		got[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
	}
	if want := map[string]float64{"full": full, "failed": failed}; !maps.Equal(got, want) {
		h.t.Errorf("dropped: %v, want %v", got, want)
	}
}

// The job deletes entries of all companies that are older than the retention, and nothing else.
func TestOldEntriesAreDeleted(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.add("a", 0, 200)
		h.add("b", 0, 200)
		h.clock.Advance(time.Hour)
		h.add("a", 3600, 200)
		h.flush()
		h.clock.Advance(30*day - time.Minute)
		next, err := h.Clear(t.Context(), job.Job{})
		if err != nil || !next.Equal(h.clock.Now().Add(time.Hour)) {
			t.Fatalf("%v, %v", next, err)
		}
		h.sees("after the retention", "a", request.Filter{}, "/3600")
		h.sees("after the retention", "b", request.Filter{})
	})
}

// A run that is over its limit at a company without old entries is followed by runs that go on after that company. So the last
// company is cleared too, and then the first one again.
func TestTheLastCompanyIsClearedToo(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		const later = 29 * 24 * 60 * 60
		h.add("c", 0, 200)
		h.add("a", later, 200)
		h.add("b", later, 200)
		h.flush()
		h.clock.Advance(31 * day)
		request.LimitClear(h.Service, 0)
		clear := func(pauses ...time.Duration) {
			t.Helper()
			for _, pause := range pauses {
				if next, err := h.Clear(t.Context(), job.Job{}); err != nil || !next.Equal(h.clock.Now().Add(pause)) {
					t.Fatalf("%v, %v", next, err)
				}
			}
		}
		clear(0, 0)
		h.sees("before its turn", "c", request.Filter{}, "/0")
		clear(0, time.Hour)
		h.sees("after its turn", "c", request.Filter{})
		h.clock.Advance(29 * day)
		clear(0)
		h.sees("after the retention", "a", request.Filter{})
	})
}

// The entries of each place have a transaction of their own. So a place that fails keeps only the entries of its own companies
// out of the log.
func TestAPlaceThatFailsKeepsNoOtherEntriesOut(t *testing.T) {
	d := dbtest.OpenWith(t, dbtest.URL(t, db.Postgres), db.Pools{Routed: true, Place: func(company string) string { return company }})
	if _, err := d.Exec(t.Context(), `ALTER TABLE request_log ADD CONSTRAINT fails CHECK (company_id <> 'b')`); err != nil {
		t.Fatal(err)
	}
	clk := clock.At(start)
	h := &house{request.New(request.Config{DB: d, Clock: clk, Log: slog.New(slog.DiscardHandler), Keep: 30 * day}), t, clk}
	for _, company := range []string{"a", "b", "c"} {
		h.add(company, 1, 200)
		h.add(company, 2, 200)
	}
	h.flush()
	h.sees("a place that works", "a", request.Filter{}, "/2", "/1")
	h.sees("the place that fails", "b", request.Filter{})
	h.sees("another place that works", "c", request.Filter{}, "/2", "/1")
	h.counts(0, 2)
}

// Without a retention there is no log, and what an earlier configuration has kept goes.
func TestNoRetentionIsNoLog(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.add("a", 0, 200)
		h.flush()
		h.Keep = 0
		h.add("a", 1, 200)
		h.flush()
		h.clock.Advance(time.Minute)
		if _, err := h.Clear(t.Context(), job.Job{}); err != nil {
			t.Fatal(err)
		}
		h.sees("without a retention", "a", request.Filter{})
		var none *request.Service
		none.Add(request.Entry{}) // a program without a log
	})
}
