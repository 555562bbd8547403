package webhook

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/figure"
)

// figures contains the metrics of sending. The metrics have no label for the company or the
// endpoint, since the number of companies and endpoints is unlimited.
type figures struct {
	deliveries *prometheus.CounterVec
	took       prometheus.Histogram
}

func newFigures() *figures {
	return &figures{
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kobo_webhook_deliveries_total", Help: "Attempts to deliver an event, by result: delivered, retry or failed.",
		}, []string{"result"}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "kobo_webhook_attempt_seconds", Help: "How long attempts took.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
		}),
	}
}

// results maps a delivery's state to its name in the metrics.
var results = map[DeliveryState]string{Delivered: "delivered", Pending: "retry", GivenUp: "failed"}

// count adds deliveries that have been stored to the metrics.
func (f *figures) count(done []Delivery) {
	for _, d := range done {
		f.deliveries.WithLabelValues(results[d.State]).Inc()
	}
}

// Metrics returns the service's metrics. The gauges are read from the database, so all programs on
// one database show the same values.
func (s *Service) Metrics() []prometheus.Collector {
	return []prometheus.Collector{s.figures.deliveries, s.figures.took, &figure.Source{
		Name: "webhooks", Log: s.Log, Read: s.gauges,
		Descs: []*prometheus.Desc{endpointsFigure, waitingFigure, oldestFigure, overdueFigure},
	}}
}

var (
	endpointsFigure = prometheus.NewDesc("kobo_webhook_endpoints", "Webhook endpoints by state.", []string{"state"}, nil)
	waitingFigure   = prometheus.NewDesc("kobo_webhook_waiting",
		"Events and retries that wait to be sent.", []string{"queue"}, nil)
	oldestFigure = prometheus.NewDesc("kobo_webhook_oldest_seconds",
		"Age of the oldest event that waits to be sent; resting endpoints failed of late.", []string{"endpoints"}, nil)
	overdueFigure = prometheus.NewDesc("kobo_webhook_overdue_seconds", "Delay of the most overdue retry.", nil, nil)
)

// gauges reads the gauges from the database, on the connections for reads.
func (s *Service) gauges(ctx context.Context) ([]prometheus.Metric, error) {
	w, err := s.waiting(db.Reading(ctx))
	if err != nil {
		return nil, err
	}
	out := []prometheus.Metric{
		figure.Count(waitingFigure, w.events, "events"),
		figure.Count(waitingFigure, w.retries, "retries"),
		figure.Seconds(oldestFigure, w.oldest, "answering"),
		figure.Seconds(oldestFigure, w.oldestResting, "resting"),
		figure.Seconds(overdueFigure, w.overdue),
	}
	for _, state := range []State{Active, Failing, Paused} {
		out = append(out, figure.Count(endpointsFigure, w.endpoints[state], string(state)))
	}
	return out, nil
}

// waiting contains totals over all companies: the endpoints by state, and what waits to be sent.
type waiting struct {
	endpoints             map[State]int64
	events, retries       int64
	oldest, oldestResting time.Duration
	overdue               time.Duration
}

// position is an endpoint's position in its company's feed, with the endpoint's state.
type position struct {
	company, endpoint string
	state             State
	sequence          int64
	due               time.Time // the endpoint gets no new events until then
}

// retryCount is the number of an endpoint's waiting retries.
type retryCount struct {
	Company  string
	endpoint string
	count    int64
	due      time.Time // when the first retry is due
}

// waiting returns the totals of all companies. It reads one row for each endpoint, and a database
// index that contains only the retries.
func (s *Service) waiting(ctx context.Context) (waiting, error) {
	w, now := waiting{endpoints: map[State]int64{}}, s.Clock.Now()
	positions, err := s.positions(ctx)
	if err != nil {
		return w, err
	}
	retries, err := s.waitingRetries(ctx)
	if err != nil {
		return w, err
	}
	live, companies := map[string]bool{}, map[string]bool{}
	for _, p := range positions {
		w.endpoints[p.state]++
		if p.state != Paused {
			live[p.endpoint], companies[p.company] = true, true
		}
	}
	for _, t := range retries {
		if live[t.endpoint] {
			w.retries += t.count
			w.overdue = max(w.overdue, now.Sub(t.due))
		}
	}
	return w, s.behind(ctx, &w, positions, companies, now)
}

// behind adds to w the number of events that have not been sent to live endpoints. It also sets the
// age of the oldest such event, separately for endpoints whose queue is not due yet.
func (s *Service) behind(ctx context.Context, w *waiting, positions []position, companies map[string]bool, now time.Time) error {
	heads, err := s.Book.LastEvents(ctx, slices.Collect(maps.Keys(companies)))
	if err != nil {
		return err
	}
	// Events are numbered by age, so a company's waiting event with the lowest number is its
	// oldest.
	answering, resting := map[string]int64{}, map[string]int64{}
	for _, p := range positions {
		n := heads[p.company] - p.sequence
		if p.state == Paused || n <= 0 {
			continue
		}
		w.events += n
		first := answering
		if p.due.After(now) {
			first = resting
		}
		if at, there := first[p.company]; !there || p.sequence < at {
			first[p.company] = p.sequence
		}
	}
	if w.oldest, err = s.oldest(ctx, answering, now); err == nil {
		w.oldestResting, err = s.oldest(ctx, resting, now)
	}
	return err
}

// oldest returns the age of the oldest event that has not been sent. For each company, map after
// contains the position in the feed after which the events have not been sent.
func (s *Service) oldest(ctx context.Context, after map[string]int64, now time.Time) (age time.Duration, err error) {
	for company, sequence := range after {
		page, _, err := s.Events.Feed(ctx, company, sequence, 1, 0)
		if fault.Is(err, fault.Gone) {
			continue // the queue of a replay whose events are archived
		}
		if err != nil {
			return 0, err
		}
		if len(page) > 0 {
			age = max(age, now.Sub(page[0].CreatedAt))
		}
	}
	return age, nil
}
