// Package request keeps a log of the companies' requests, which each company can read. The log helps a
// company to find out what its programs have sent. It is not evidence, and no money depends on it.
//
// The log has no query and no secrets. Of a path it has only the parts that name no person, and of a refused
// or failed request the redacted body. It is written behind the requests: a request puts its entry into a queue in memory, and one goroutine
// writes the entries in batches. So a request never waits for its entry. A crash loses the entries of
// about the last second. If the database is too slow, new entries are dropped and counted.
package request

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/job"
)

// Entry is a request of a company.
type Entry struct {
	Company        string    `db:"company_id,key"`
	ID             string    `db:"id,key"` // begins with the time; Add sets it
	Method         string    `db:"method"`
	Path           string    `db:"path"` // the route, with the ids of Kobo
	Status         int64     `db:"status"`
	Reason         string    `db:"reason"` // the word of the header Kobo-Reason; "" for none
	RequestID      string    `db:"request_id"`
	IdempotencyKey string    `db:"idempotency_key"` // "" for none
	APIKeyID       string    `db:"api_key_id"`      // the API key from which the access token comes; "" if unknown
	Address        string    `db:"address"`         // the network address of the caller
	Body           string    `db:"body"`            // the redacted body of a refused or failed request; "" for none
	TookMicros     int64     `db:"took_micros"`
	CreatedAt      time.Time `db:"created_at"` // when the request arrived
	Subject        string    `db:"subject"`    // the id of the payment that the request began; "" for none
}

// Config is what a Service needs.
type Config struct {
	DB    *db.DB
	Clock clock.Clock
	Log   *slog.Logger
	Keep  time.Duration // the age at which an entry is deleted; 0 keeps no log
}

// Service keeps the log.
type Service struct {
	Config
	queue   chan Entry
	uses    uses
	sweep   job.Sweep[string] // the way of the ClearJob through the companies
	dropped *prometheus.CounterVec
}

const (
	room     = 10_000                 // the number of entries that wait to be written
	batch    = 1_000                  // the number of entries of a transaction
	gather   = 500 * time.Millisecond // the time for which a batch waits for further entries
	patience = 5 * time.Second        // the longest write of a batch
)

// The reasons for which entries are dropped.
const (
	queueFull   = "full"
	writeFailed = "failed"
)

// New returns a service that writes nothing until Run is called.
func New(cfg Config) *Service {
	s := &Service{Config: cfg, queue: make(chan Entry, room), uses: uses{fresh: map[keyOf]Use{}}, sweep: job.Sweep[string]{Limit: clearLimit}, dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kobo_request_log_dropped_total",
		Help: "Requests that are missing in the log of their company: the queue was full, or the write failed.",
	}, []string{"reason"})}
	for _, reason := range []string{queueFull, writeFailed} {
		s.dropped.WithLabelValues(reason)
	}
	return s
}

// Metrics returns the service's metrics.
func (s *Service) Metrics() []prometheus.Collector { return []prometheus.Collector{s.dropped} }

// Add puts an entry into the queue. It never waits: if the queue is full, it drops the entry and counts
// it. A nil Service does nothing. A Service without Keep keeps only the last uses of API keys.
func (s *Service) Add(e Entry) {
	if s == nil {
		return
	}
	if s.note(e); s.Keep == 0 {
		return
	}
	e.ID = position(e.CreatedAt) + id.New()[24:] // the end of a new id is random
	select {
	case s.queue <- e:
	default:
		s.dropped.WithLabelValues(queueFull).Inc()
	}
}

// position returns the beginning of the IDs of the entries of an instant.
func position(t time.Time) string { return fmt.Sprintf("%016x", max(clock.Micros(t), 0)) }

// Run writes the entries of the queue and the last uses of API keys until ctx ends, and then those that are left.
func (s *Service) Run(ctx context.Context) {
	defer s.writeLastUses(ctx)
	tick := time.NewTicker(useEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			for len(s.queue) > 0 {
				s.write(ctx, s.take(nil, nil))
			}
			return
		case <-tick.C:
			if err := s.writeUses(ctx); err != nil && ctx.Err() == nil {
				s.Log.Warn("the last uses of API keys were not written", "error", err)
			}
		case e := <-s.queue:
			s.write(ctx, s.take([]Entry{e}, time.After(gather)))
		}
	}
}

// take takes entries out of the queue until the batch is full, or until the time is over. If over is
// nil, take does not wait for entries.
func (s *Service) take(list []Entry, over <-chan time.Time) []Entry {
	for len(list) < batch {
		if over == nil && len(s.queue) == 0 {
			break
		}
		select {
		case e := <-s.queue:
			list = append(list, e)
		case <-over:
			return list
		}
	}
	return list
}

// write stores a batch. The entries of each place have a transaction of their own. So no transaction writes to several nodes,
// and a node that fails keeps only the entries of its own companies out of the log. While a node does not respond, each batch takes
// as long as patience, so the queue may become full.
func (s *Service) write(ctx context.Context, list []Entry) {
	at := map[string][]Entry{}
	for _, e := range list {
		place := s.DB.Place(e.Company)
		at[place] = append(at[place], e)
	}
	var all sync.WaitGroup
	for _, there := range at {
		all.Go(func() { s.store(ctx, there) })
	}
	all.Wait()
}

// store stores entries of one place. It tries only once, because later entries wait.
func (s *Service) store(ctx context.Context, list []Entry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := s.insert(ctx, list); err != nil {
		for range list {
			s.dropped.WithLabelValues(writeFailed).Inc()
		}
		s.Log.Warn("requests were not written into the log of their companies", "requests", len(list), "error", err)
	}
}
