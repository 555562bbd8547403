package report

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

// DeliveryAnswers are the classes of the answers of a webhook endpoint. An attempt without an answer is of the class none.
var DeliveryAnswers = []string{"2xx", "3xx", "4xx", "5xx", "none"}

const (
	// deliveredHours is the number of hours of DeliveredBy, with the running one.
	deliveredHours = 24
	// deliveredRows is more than the rows of an endpoint can be in these hours: five classes of thirteen durations.
	deliveredRows = 2_000
)

// DeliveredHour is the number of the attempts to deliver to an endpoint that ended in an hour, by DeliveryAnswers.
type DeliveredHour struct {
	At       time.Time
	Attempts [5]int64
}

// Delivered is what the last 24 hours of an endpoint were, the oldest first. The last one is the running hour.
type Delivered struct {
	Hours []DeliveredHour
	// P95 is the time within which 95 of 100 answers came, rounded up to a step such as 50, 100 or 200 ms. It is 0 if nothing was answered.
	P95 time.Duration
}

// DeliveredBy returns the attempts of the last 24 hours of an endpoint. The counts are at most a minute behind.
func (s *Service) DeliveredBy(ctx context.Context, company, endpointID string) (Delivered, error) {
	running := s.clock.Now().Truncate(time.Hour)
	first := running.Add(-(deliveredHours - 1) * time.Hour)
	var out Delivered
	for i := range deliveredHours {
		out.Hours = append(out.Hours, DeliveredHour{At: first.Add(time.Duration(i) * time.Hour)})
	}
	rows, err := deliveredIn(ctx, s.db, company, endpointID, first)
	answered := map[int64]int64{}
	for _, r := range rows {
		if i := int(clock.Time(r.hour).Sub(first) / time.Hour); i < deliveredHours {
			if class := slices.Index(DeliveryAnswers, r.answer); class >= 0 {
				out.Hours[i].Attempts[class] += r.attempts
			}
			if r.answer != "none" {
				answered[r.took] += r.attempts
			}
		}
	}
	out.P95 = within95(answered)
	return out, err
}

// within95 returns the shortest of the times within which 95 of 100 came. The counts are by the longest time of each.
func within95(counts map[int64]int64) time.Duration {
	var all, reached int64
	for _, n := range counts {
		all += n
	}
	for _, took := range slices.Sorted(maps.Keys(counts)) {
		if reached += counts[took]; reached*100 >= all*95 {
			return time.Duration(took) * time.Millisecond
		}
	}
	return 0
}

// deliveredRow is a row of webhook_hour.
type deliveredRow struct {
	hour     int64
	answer   string
	took     int64
	attempts int64
}

func deliveredIn(ctx context.Context, q db.Querier, company, endpointID string, from time.Time) ([]deliveredRow, error) {
	return db.All(ctx, q, db.Fields[deliveredRow], `SELECT hour_at, answer, took_ms, attempts FROM webhook_hour
		WHERE company_id = $1 AND endpoint_id = $2 AND hour_at >= $3 ORDER BY hour_at, answer, took_ms LIMIT $4`, company, endpointID, clock.Micros(from), deliveredRows)
}
