package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Sample is what a soak has done so far, and how large the program is at that moment. Amounts of
// memory and storage are bytes, ages are seconds.
type Sample struct {
	Seconds     int64 `json:"seconds"`    // since the begin of the load
	Operations  int64 `json:"operations"` // that ended
	Pending     int64 `json:"pending"`    // payments whose response was PENDING
	Refunded    int64 `json:"refunded"`
	Unavailable int64 `json:"unavailable"` // payouts that were not begun, because the bank gave no name
	Failed      int64 `json:"failed"`      // operations with a response that no story and no fault explains
	Webhooks    int64 `json:"webhooks"`    // messages that arrived
	P50         int64 `json:"p50Micros"`   // of the successes since the last sample
	P99         int64 `json:"p99Micros"`

	Memory      int64 `json:"memory"` // resident
	Heap        int64 `json:"heap"`   // in use, with garbage
	Goal        int64 `json:"goal"`   // the heap at which the next collection begins; it follows the live heap
	Goroutines  int64 `json:"goroutines"`
	Handles     int64 `json:"handles"`     // open file descriptors
	Connections int64 `json:"connections"` // to the database, in use

	Stored  int64            `json:"stored"`        // the database
	WAL     int64            `json:"wal"`           // PostgreSQL: written so far. SQLite: the size of its file
	Books   int64            `json:"books"`         // the simulated providers' own books
	Log     int64            `json:"log,omitempty"` // the program's log
	Tables  map[string]int64 `json:"tables,omitempty"`
	JobsDue int64            `json:"jobsDue"`
	JobLate int64            `json:"jobLate"` // the delay of the most overdue job
	Open    int64            `json:"open"`    // operations without an outcome
	OpenAge int64            `json:"openAge"` // of the oldest of them
	Cases   int64            `json:"cases"`   // open
	Events  int64            `json:"events"`  // that wait before the webhooks, and retries
	Event   int64            `json:"event"`   // the age of the oldest waiting event at an answering endpoint
	Inbox   int64            `json:"inbox"`   // notifications that are not worked
	InboxAt int64            `json:"inboxAge"`
	// Blind says that the program could not read its database for its metrics within two seconds. Then the
	// numbers from JobsDue on are missing.
	Blind bool `json:"blind,omitempty"`
}

// sample reads the sizes from the program's metrics, from the database and from the folder.
func (s *soak) sample(ctx context.Context, at time.Duration) (out Sample, err error) {
	counts, failed, recent := s.done.since()
	out = Sample{
		Seconds: int64(at.Round(time.Second) / time.Second), Pending: counts[pending], Refunded: counts[refunded],
		Unavailable: counts[unavailable], Failed: failed, Operations: failed, Webhooks: s.hook.seen.Load(), P50: recent.at(500), P99: recent.at(990),
	}
	for _, n := range counts {
		out.Operations += n
	}
	text, err := s.ask(s.request(http.MethodGet, "/metrics", "", "", "Accept: text/plain\r\n"), "go_goroutines")
	if err != nil {
		return out, err
	}
	if err := out.read(text); err != nil {
		return out, err
	}
	_, w, err := s.instance.measure(ctx)
	if err != nil {
		return out, err
	}
	out.Stored, out.WAL = w.Stored, w.WAL
	if s.Postgres != "" {
		out.Tables = map[string]int64{}
		for _, f := range w.Files {
			out.Tables[f.Table] += f.Bytes
		}
	} else if out.WAL, err = size(s.instance.folder, "kobo.db-wal"); err != nil {
		return out, err
	}
	if out.Books, err = size(s.instance.folder, "sandbox*.db*"); err == nil {
		out.Log, err = size(s.instance.folder, "kobo.log")
	}
	return out, err
}

// size returns the size of the files that match a pattern.
func size(folder, pattern string) (sum int64, err error) {
	files, err := filepath.Glob(filepath.Join(folder, pattern))
	for _, path := range files {
		info, e := os.Stat(path)
		if e != nil && !os.IsNotExist(e) { // SQLite removes a log that it has emptied
			return sum, e
		}
		if e == nil {
			sum += info.Size()
		}
	}
	return sum, err
}

// read reads the metrics of a program. A metric that is missing is an error, unless it is absent while it is zero.
func (s *Sample) read(text []byte) error {
	m, err := parseMetrics(text)
	if err != nil {
		return err
	}
	up := m["kobo_figures_up"]
	s.Blind = up == nil || up.least < 1
	for _, one := range []struct {
		to      *int64
		name    string
		combine func(*metric) float64
		absent  bool // the metric has no series while the number is zero
	}{
		{&s.Memory, "process_resident_memory_bytes", (*metric).total, false},
		{&s.Heap, "go_memstats_heap_inuse_bytes", (*metric).total, false},
		{&s.Goal, "go_memstats_next_gc_bytes", (*metric).total, false},
		{&s.Goroutines, "go_goroutines", (*metric).total, false},
		{&s.Handles, "process_open_fds", (*metric).total, false},
		{&s.Connections, "kobo_database_connections_used", (*metric).total, false},
		{&s.JobsDue, "kobo_jobs_due", (*metric).total, true},
		{&s.JobLate, "kobo_jobs_oldest_seconds", (*metric).largest, true},
		{&s.Open, "kobo_operations_pending", (*metric).total, false},
		{&s.OpenAge, "kobo_operations_pending_oldest_seconds", (*metric).largest, false},
		{&s.Cases, "kobo_cases_open", (*metric).total, false},
		{&s.Events, "kobo_webhook_waiting", (*metric).total, false},
		{&s.Event, "kobo_webhook_oldest_seconds", (*metric).largest, false},
		{&s.Inbox, "kobo_inbox_waiting", (*metric).total, true},
		{&s.InboxAt, "kobo_inbox_oldest_seconds", (*metric).largest, true},
	} {
		found := m[one.name]
		if found == nil && (s.Blind || one.absent) {
			continue
		}
		if found == nil {
			return fmt.Errorf("/metrics lacks %s", one.name)
		}
		*one.to = int64(math.Ceil(one.combine(found)))
	}
	return nil
}

// metric is what the series of one name have together.
type metric struct{ sum, most, least float64 }

func (m *metric) total() float64   { return m.sum }
func (m *metric) largest() float64 { return m.most }

// parseMetrics reads metrics in the text format of Prometheus.
func parseMetrics(text []byte) (map[string]*metric, error) {
	out := map[string]*metric{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		value, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("/metrics cannot be read: %w", err)
		}
		name, _, _ := strings.Cut(line[:max(at, 0)], "{")
		m := out[name]
		if m == nil {
			m = &metric{most: value, least: value}
			out[name] = m
		}
		m.sum, m.most, m.least = m.sum+value, max(m.most, value), min(m.least, value)
	}
	return out, nil
}
