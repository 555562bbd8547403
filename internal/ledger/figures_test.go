package ledger

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// The metrics count each unit by its result, each refusal by its reason, and the batches.
func TestUnitsAndBatchesAreCounted(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		found(t, b, "c1")
		row := thing("c1", "n", "key", "NEW")
		must(t, b.Commit(t.Context(), Unit{Company: "c1", inserts: []db.Record{row}}))
		for _, u := range []Unit{{Company: "c1", inserts: []db.Record{row}}, {Company: "nobody", inserts: []db.Record{thing("nobody", "n", "key", "NEW")}}} {
			if err := b.Commit(t.Context(), u); Refused(err) == nil {
				t.Fatal(err)
			}
		}
		b.Drain() // a batch is measured after its results were sent
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(b.Metrics()...)
		families, err := registry.Gather()
		must(t, err)
		got := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				name := f.GetName()
				for _, l := range m.GetLabel() {
					name += " " + l.GetValue()
				}
				got[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetHistogram().GetSampleSum()
				if name == "kobo_ledger_batch_seconds" && m.GetHistogram().GetSampleCount() != 4 {
					t.Errorf("%d batches", m.GetHistogram().GetSampleCount())
				}
			}
		}
		for name, want := range map[string]float64{
			"kobo_ledger_units_total committed": 2, "kobo_ledger_units_total refused": 2, "kobo_ledger_units_total unknown": 0,
			"kobo_ledger_refusals_total exists": 1, "kobo_ledger_refusals_total no company": 1, "kobo_ledger_refusals_total short": 0,
			"kobo_ledger_batch_units": 4, "kobo_ledger_waiting": 0,
		} {
			if v, there := got[name]; !there || v != want {
				t.Errorf("%s is %v, %v; want %v", name, v, there, want)
			}
		}
	})
}
