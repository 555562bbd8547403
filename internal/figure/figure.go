// Package figure serves Prometheus gauges that a function reads from the database.
package figure

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// keep is how long the gauges of one reading are served. So several scrapers, and a scraper
	// without patience, cost the database no more than one.
	keep = 5 * time.Second
	// limit is the longest time of one reading. It is shorter than the time limit of a scrape.
	limit = 2 * time.Second
)

// Source is a collector of gauges that are read together. If a reading fails, only the gauges of
// this source are missing from the scrape, and kobo_figures_up of the source is 0.
type Source struct {
	Name  string
	Log   *slog.Logger
	Descs []*prometheus.Desc
	// Read returns the current gauges. It must return when its context ends.
	Read func(ctx context.Context) ([]prometheus.Metric, error)

	mu   sync.Mutex
	read time.Time // when the last reading began
	last []prometheus.Metric
	ok   bool // the last reading succeeded
}

// Describe sends the descriptions of the source's gauges.
func (s *Source) Describe(out chan<- *prometheus.Desc) {
	for _, d := range s.Descs {
		out <- d
	}
}

// Collect sends the gauges of a reading that is at most a few seconds old.
func (s *Source) Collect(out chan<- prometheus.Metric) {
	gauges, _ := s.current()
	for _, g := range gauges {
		out <- g
	}
}

// current returns the gauges of the last reading. It reads again if that reading is too old. Only
// one reading runs at a time.
func (s *Source) current() (gauges []prometheus.Metric, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.read.IsZero() && time.Since(s.read) < keep {
		return s.last, s.ok
	}
	s.read = time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var err error
	if s.last, err = s.Read(ctx); err != nil {
		s.last = nil
		s.Log.Warn("metrics cannot be read from the database", "source", s.Name, "error", err)
	}
	s.ok = err == nil
	return s.last, s.ok
}

var up = prometheus.NewDesc("kobo_figures_up", "1 if the metrics of this source were read from the database, else 0.", []string{"source"}, nil)

// Health is a collector that states for each source whether its last reading succeeded.
type Health []*Source

// Describe sends the description of kobo_figures_up.
func (Health) Describe(out chan<- *prometheus.Desc) { out <- up }

// Collect sends kobo_figures_up for each source.
func (h Health) Collect(out chan<- prometheus.Metric) {
	for _, s := range h {
		_, ok := s.current()
		out <- Flag(up, ok, s.Name)
	}
}

// Count returns a gauge with a number.
func Count(d *prometheus.Desc, n int64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
}

// Total returns a counter with a number.
func Total(d *prometheus.Desc, n int64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}

// Flag returns a gauge that is 1 for true and 0 for false.
func Flag(d *prometheus.Desc, is bool, labels ...string) prometheus.Metric {
	if is {
		return Count(d, 1, labels...)
	}
	return Count(d, 0, labels...)
}

// Seconds returns a gauge with a duration.
func Seconds(d *prometheus.Desc, t time.Duration, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, t.Seconds(), labels...)
}

// SecondsTotal returns a counter with a duration.
func SecondsTotal(d *prometheus.Desc, t time.Duration, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.CounterValue, t.Seconds(), labels...)
}

// Naira returns a gauge with an amount, which is given in kobo.
func Naira(d *prometheus.Desc, kobo int64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(kobo)/100, labels...)
}
