package figure_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/figure"
)

var desc = prometheus.NewDesc("kobo_test", "A gauge.", nil, nil)

func values(t *testing.T, c ...prometheus.Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			out[f.GetName()] = m.GetGauge().GetValue()
		}
	}
	return out
}

// All scrapes of the next seconds are served from one reading, also if the reading failed.
func TestScrapesShareAReading(t *testing.T) {
	for _, failed := range []error{nil, errors.New("the database is away")} {
		readings := 0
		s := &figure.Source{Name: "test", Log: slog.New(slog.DiscardHandler), Descs: []*prometheus.Desc{desc}}
		s.Read = func(ctx context.Context) ([]prometheus.Metric, error) {
			if _, limited := ctx.Deadline(); !limited {
				t.Error("a reading without a time limit")
			}
			readings++
			return []prometheus.Metric{figure.Naira(desc, 150)}, failed
		}
		want := map[string]float64{"kobo_test": 1.5, "kobo_figures_up": 1}
		if failed != nil {
			want = map[string]float64{"kobo_figures_up": 0}
		}
		for range 3 {
			got := values(t, s, figure.Health{s})
			for name, v := range want {
				if got[name] != v {
					t.Errorf("%v: %s is %v, not %v", failed, name, got[name], v)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%v: %v", failed, got)
			}
		}
		if readings != 1 {
			t.Errorf("%v: %d readings", failed, readings)
		}
	}
}
