package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/fault"
)

// figures are the metrics of units and batches. They have no label for the company, since the number
// of companies is unlimited.
type figures struct {
	committed, refused, unavailable, unknown, failed prometheus.Counter

	results *prometheus.CounterVec
	reasons *prometheus.CounterVec
	units   prometheus.Histogram
	took    prometheus.Histogram
}

func newFigures() *figures {
	f := &figures{
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kobo_ledger_units_total", Help: "Units by result: committed, refused, unavailable, unknown or failed.",
		}, []string{"result"}),
		reasons: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kobo_ledger_refusals_total", Help: "Refused units by reason.",
		}, []string{"reason"}),
		units: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "kobo_ledger_batch_units", Help: "Units that shared a batch.", Buckets: prometheus.ExponentialBuckets(1, 2, 10),
		}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "kobo_ledger_batch_seconds", Help: "How long batches took.", Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16),
		}),
	}
	result := f.results.WithLabelValues
	f.committed, f.refused, f.unavailable = result("committed"), result("refused"), result("unavailable")
	f.unknown, f.failed = result("unknown"), result("failed")
	for _, reason := range []Reason{Exists, Moved, Short, Over, Closed, NoAccount, NoCompany} {
		f.reasons.WithLabelValues(string(reason))
	}
	return f
}

// count adds the result of a unit to the metrics.
func (f *figures) count(err error) {
	r := Refused(err)
	switch {
	case err == nil:
		f.committed.Inc()
	case r != nil:
		f.refused.Inc()
		f.reasons.WithLabelValues(string(r.Reason)).Inc()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded): // the caller left before the unit was sent
	case fault.Is(err, fault.Unavailable):
		f.unavailable.Inc()
	case fault.Is(err, fault.Unknown):
		f.unknown.Inc()
	default:
		f.failed.Inc()
	}
}

// measured runs a batch and adds its size and its duration to the metrics.
func (b *Book) measured(all []*pending) (late []*pending) {
	start := time.Now()
	late = b.commit(all)
	b.figures.units.Observe(float64(len(all)))
	b.figures.took.Observe(time.Since(start).Seconds())
	return late
}

// Metrics returns the metrics of the ledger's units and batches in this program.
func (b *Book) Metrics() []prometheus.Collector {
	return []prometheus.Collector{
		b.figures.results, b.figures.reasons, b.figures.units, b.figures.took,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "kobo_ledger_waiting", Help: "Units that wait for a batch."},
			func() float64 { return float64(b.waiting()) }),
	}
}
