package operation

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/provider"
)

// newReplies returns the metric of the providers' replies about operations. Its call is "first" for the
// request that may move money, and "requery" for a question about its outcome.
func newReplies() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kobo_operation_replies_total", Help: "Replies of providers about operations; the outcome is confirmed, rejected or unknown.",
	}, []string{"kind", "provider", "call", "outcome"})
}

// newMoves returns the metric of the moves of operations from one provider to the next.
func newMoves() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kobo_operation_moves_total", Help: "Operations that moved to a further provider, after the provider before definitely never started them.",
	}, []string{"kind", "from", "to"})
}

// CountFromZero gives the metrics of a kind of operation at a provider the value 0. So the first unknown
// outcome is an increase that Prometheus sees.
func (s *Service) CountFromZero(kind, providerName string) {
	for _, call := range []string{"first", "requery"} {
		for _, o := range []provider.Outcome{provider.Unknown, provider.Confirmed, provider.Rejected} {
			s.replies.WithLabelValues(kind, providerName, call, o.String())
		}
	}
}

// counted adds a reply to a call that began at start to the metrics, and returns the reply.
func (s *Service) counted(o Operation, call string, start time.Time, a provider.Answer) provider.Answer {
	s.Calls.Replied(o.Provider, o.Kind, call, a.Outcome, start)
	s.replies.WithLabelValues(o.Kind, o.Provider, call, a.Outcome.String()).Inc()
	return a
}

// Metrics returns the metrics of the providers' replies in this program.
func (s *Service) Metrics() []prometheus.Collector { return []prometheus.Collector{s.replies, s.moves} }
