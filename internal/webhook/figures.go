package webhook

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// figures tell Prometheus how sending goes. None is by company or by endpoint,
// of which there is no end: who that is, is asked of the endpoints themselves.
type figures struct {
	deliveries *prometheus.CounterVec
	took       prometheus.Histogram
}

func newFigures() *figures {
	return &figures{
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kobo_webhook_deliveries_total", Help: "Attempts to deliver an event, by what came of them: delivered, retry or failed.",
		}, []string{"result"}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "kobo_webhook_attempt_seconds", Help: "How long attempts took.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
		}),
	}
}

// results are what the states of a delivery are called in the figures.
var results = map[DeliveryState]string{Delivered: "delivered", Pending: "retry", GivenUp: "failed"}

// count counts what has been written down.
func (f *figures) count(done []Delivery) {
	for _, d := range done {
		f.deliveries.WithLabelValues(results[d.State]).Inc()
	}
}

// Metrics are the service's figures. What waits is looked up when it is asked
// for, and is the same whichever program on the database is asked.
func (s *Service) Metrics() []prometheus.Collector {
	return []prometheus.Collector{s.figures.deliveries, s.figures.took, queues{s}}
}

// queues looks up what waits.
type queues struct{ *Service }

var (
	endpointsFigure = prometheus.NewDesc("kobo_webhook_endpoints", "Webhook endpoints by state.", []string{"state"}, nil)
	waitingFigure   = prometheus.NewDesc("kobo_webhook_waiting",
		"What waits to be sent: events that endpoints have not come to, and retries.", []string{"queue"}, nil)
	oldestFigure = prometheus.NewDesc("kobo_webhook_oldest_seconds",
		"Age of the oldest event that an endpoint has not come to; resting endpoints failed lately and are left alone.", []string{"endpoints"}, nil)
	overdueFigure = prometheus.NewDesc("kobo_webhook_overdue_seconds", "How long ago the most overdue retry should have been made.", nil, nil)
)

// Describe names the figures that Collect looks up.
func (queues) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{endpointsFigure, waitingFigure, oldestFigure, overdueFigure} {
		out <- d
	}
}

// Collect looks the figures up. If the database does not answer they are missing
// and the others are not.
func (q queues) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	w, err := q.waiting(ctx)
	if err != nil {
		q.Log.Warn("the webhooks' figures cannot be read", "error", err)
		return
	}
	gauge := func(d *prometheus.Desc, value float64, label ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, label...)
	}
	for _, state := range []State{Active, Failing, Paused} {
		gauge(endpointsFigure, float64(w.endpoints[state]), string(state))
	}
	gauge(waitingFigure, float64(w.events), "events")
	gauge(waitingFigure, float64(w.retries), "retries")
	gauge(oldestFigure, w.oldest.Seconds(), "answering")
	gauge(oldestFigure, w.oldestResting.Seconds(), "resting")
	gauge(overdueFigure, w.overdue.Seconds())
}

// waiting is what has still to be sent, over all companies.
type waiting struct {
	endpoints             map[State]int
	events, retries       int64
	oldest, oldestResting time.Duration
	overdue               time.Duration
}

// place is how far an endpoint has come.
type place struct {
	company, endpoint string
	state             State
	sequence          int64
	due               time.Time // it is left alone until then
}

// tail is what an endpoint has to be sent again.
type tail struct {
	company, endpoint string
	count             int64
	due               time.Time // the first of it
}

// waiting adds up places and tails: a row for each endpoint, and the retries by
// the index that holds nothing else.
func (s *Service) waiting(ctx context.Context) (waiting, error) {
	w, now := waiting{endpoints: map[State]int{}}, s.Clock.Now()
	places, err := s.places(ctx)
	if err != nil {
		return w, err
	}
	tails, err := s.tails(ctx)
	if err != nil {
		return w, err
	}
	live, companies := map[string]bool{}, map[string]bool{}
	for _, p := range places {
		w.endpoints[p.state]++
		if p.state != Paused {
			live[p.endpoint], companies[p.company] = true, true
		}
	}
	for _, t := range tails {
		if live[t.endpoint] {
			w.retries += t.count
			w.overdue = max(w.overdue, now.Sub(t.due))
		}
	}
	return w, s.behind(ctx, &w, places, companies, now)
}

// behind adds what live endpoints have not come to.
func (s *Service) behind(ctx context.Context, w *waiting, places []place, companies map[string]bool, now time.Time) error {
	heads, err := s.Book.Heads(ctx, slices.Collect(maps.Keys(companies)))
	if err != nil {
		return err
	}
	// Of each company the first event that waits is the oldest.
	answering, resting := map[string]int64{}, map[string]int64{}
	for _, p := range places {
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

// oldest is the age of the oldest of the events that come after places in the
// feeds of companies.
func (s *Service) oldest(ctx context.Context, after map[string]int64, now time.Time) (age time.Duration, err error) {
	for company, sequence := range after {
		page, _, err := s.Events.Feed(ctx, company, sequence, 1, 0)
		if err != nil {
			return 0, err
		}
		if len(page) > 0 {
			age = max(age, now.Sub(page[0].CreatedAt))
		}
	}
	return age, nil
}
