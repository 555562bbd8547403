package report_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// The attempts of an endpoint are those of the last 24 hours, of this endpoint and this company alone. The time is that within which 95
// of 100 answers came.
func TestAttemptsOfAnEndpointByHour(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		hour := w.clock.Now().Truncate(time.Hour)
		for _, endpoint := range []string{"one", "two"} {
			_, err := d.Exec(t.Context(), `INSERT INTO webhook_endpoint (company_id, id, url, description, kinds, state, secret, old_secret, failed_at, old_until, failures, created_at, updated_at)
				VALUES ($1, $2, 'x', '', '', 'ACTIVE', 'x', '', 0, 0, 0, 1, 1)`, w.company, endpoint)
			must(t, err)
		}
		for _, r := range []struct {
			endpoint, answer string
			ago              int
			took, attempts   int64
		}{
			{"one", "2xx", 0, 50, 90},
			{"one", "5xx", 0, 200, 5},
			{"one", "4xx", 23, 2_000, 5},
			{"one", "none", 1, 20_000, 40},
			{"one", "2xx", 24, 20_000, 1_000},
			{"two", "2xx", 0, 20_000, 1_000},
		} {
			_, err := d.Exec(t.Context(), `INSERT INTO webhook_hour (company_id, endpoint_id, hour_at, answer, took_ms, attempts) VALUES ($1, $2, $3, $4, $5, $6)`,
				w.company, r.endpoint, clock.Micros(hour.Add(-time.Duration(r.ago)*time.Hour)), r.answer, r.took, r.attempts)
			must(t, err)
		}
		got, err := w.DeliveredBy(t.Context(), w.company, "one")
		must(t, err)
		if len(got.Hours) != 24 || got.P95 != 200*time.Millisecond {
			t.Fatalf("%+v", got)
		}
		for i, want := range map[int][5]int64{0: {2: 5}, 22: {4: 40}, 23: {0: 90, 3: 5}, 10: {}} {
			if got.Hours[i].Attempts != want || !got.Hours[i].At.Equal(hour.Add(time.Duration(i-23)*time.Hour)) {
				t.Errorf("hour %d: %+v, want %v", i, got.Hours[i], want)
			}
		}
		none, err := w.DeliveredBy(t.Context(), "another", "one")
		must(t, err)
		if len(none.Hours) != 24 || none.P95 != 0 || none.Hours[23].Attempts != [5]int64{} {
			t.Errorf("another company: %+v", none)
		}
	})
}
