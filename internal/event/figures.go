package event

import "github.com/prometheus/client_golang/prometheus"

// newCount returns the metric of the events that this program's ledger has committed.
func newCount() *prometheus.CounterVec {
	count := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kobo_events_total", Help: "Events that this program has committed, by kind.",
	}, []string{"kind"})
	count.WithLabelValues("company.pin_locked") // an alert watches it, so that the first one is an increase
	return count
}

// counted adds the rows of committed events to the metrics.
func (s *Service) counted(rows [][]any) {
	kind := table.Index("kind")
	for _, row := range rows {
		s.count.WithLabelValues(row[kind].(string)).Inc()
	}
}

// Metrics returns the metrics of the events.
func (s *Service) Metrics() []prometheus.Collector { return []prometheus.Collector{s.count} }
