package crypto

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/provider"
)

// The results of a read in the metrics, besides provider.CodeWrongChain and provider.CodeLogsMissing.
const (
	readOK     = "ok"
	readFailed = "failed"
)

// newReads and newUnread return the metrics of the custodians' reports.
func newReads() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kobo_custodian_reads_total",
		Help: "Reads of custodians; the result is ok, wrong_chain (a node of a different chain), logs_missing (a node returns too few logs) or failed.",
	}, []string{"custodian", "result"})
}

func newUnread() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kobo_custodian_unread_total", Help: "Genuine notifications of custodians whose meaning is unknown. Kobo keeps them and opens a case.",
	}, []string{"custodian"})
}

// countFromZero gives the metrics of a custodian the value 0, so that Prometheus sees the first
// increase.
func (s *Service) countFromZero(custody string) {
	for _, result := range []string{readOK, readFailed, provider.CodeWrongChain, provider.CodeLogsMissing} {
		s.reads.WithLabelValues(custody, result)
	}
	s.unread.WithLabelValues(custody)
}

// counted adds a read to the metrics, and returns its error.
func (s *Service) counted(custody string, err error) error {
	result := readOK
	if err != nil {
		result = readFailed
		if code := provider.AsError(custody, err).Code; code == provider.CodeWrongChain || code == provider.CodeLogsMissing {
			result = code
		}
	}
	s.reads.WithLabelValues(custody, result).Inc()
	return err
}

// Metrics returns the metrics of the custodians' reports.
func (s *Service) Metrics() []prometheus.Collector { return []prometheus.Collector{s.reads, s.unread} }
