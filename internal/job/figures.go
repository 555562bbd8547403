package job

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// newRuns returns the metric of the runs of jobs. Every kind that the worker runs has its results from
// the start, so that the first failure counts as an increase.
func newRuns(kinds map[string]Work) *prometheus.CounterVec {
	runs := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kobo_job_runs_total", Help: "Runs of jobs by kind and result: done, again (the job runs once more later) or failed.",
	}, []string{"kind", "result"})
	for kind := range kinds {
		for _, result := range []string{"done", "again", "failed"} {
			runs.WithLabelValues(kind, result)
		}
	}
	return runs
}

// count adds a run to the metrics.
func (w *Worker) count(kind string, next time.Time, err error) {
	result := "again"
	switch {
	case err != nil:
		result = "failed"
	case next.IsZero():
		result = "done"
	}
	w.runs.WithLabelValues(kind, result).Inc()
}

// Metrics returns the metrics of the jobs that this worker has run.
func (w *Worker) Metrics() []prometheus.Collector { return []prometheus.Collector{w.runs} }
