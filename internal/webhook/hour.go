package webhook

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
)

// The attempts of an hour are counted in memory, and written once a minute and when the program stops. So an attempt costs no write
// of its own, and a page reads some hundred rows however many attempts there were. A crash loses the counts of the last minute. The
// deliveries themselves are never counted from here.

const (
	// hoursEvery is the time between two writes of the counts.
	hoursEvery = time.Minute
	// hoursBatch is the number of rows of a transaction.
	hoursBatch = 500
	// hoursPatience is the longest write of all rows when the program stops.
	hoursPatience = 5 * time.Second
)

// longest are the longest times of the rows of an hour, in milliseconds. The last one is longer than any attempt.
var longest = []int64{10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 60_000, 3_600_000}

// hourKey names a row of webhook_hour.
type hourKey struct {
	company, endpoint string
	hour              int64 // in microseconds
	answer            string
	took              int64
}

func (k hourKey) compare(o hourKey) int {
	return cmp.Or(cmp.Compare(k.company, o.company), cmp.Compare(k.endpoint, o.endpoint), cmp.Compare(k.hour, o.hour), cmp.Compare(k.answer, o.answer), cmp.Compare(k.took, o.took))
}

// hours are the counts that are not written yet.
type hours struct {
	mu   sync.Mutex
	sums map[hourKey]int64
}

// add counts the last attempts of deliveries.
func (h *hours) add(done []Delivery) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range done {
		h.sums[hourKey{d.Company, d.Endpoint, clock.Micros(d.UpdatedAt.Truncate(time.Hour)), answerClass(int64(d.Status)), longestOf(d.Latency)}]++
	}
}

// take returns the counts, and forgets them.
func (h *hours) take() map[hourKey]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := h.sums
	h.sums = map[hourKey]int64{}
	return taken
}

// giveBack adds counts that were not written.
func (h *hours) giveBack(keys []hourKey, sums map[hourKey]int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range keys {
		h.sums[k] += sums[k]
	}
}

// answerClass returns the class of an answer. An attempt without an answer has the status 0.
func answerClass(status int64) string {
	switch status / 100 {
	case 2:
		return "2xx"
	case 3:
		return "3xx"
	case 4:
		return "4xx"
	case 5:
		return "5xx"
	}
	return "none"
}

// longestOf returns the time of the row in which an attempt counts.
func longestOf(ms int64) int64 {
	at, _ := slices.BinarySearch(longest, ms)
	return longest[min(at, len(longest)-1)]
}

// writeHours writes the counts. Those that it cannot write stay for the next time, so counts whose COMMIT got no reply may be added
// twice. Two programs write the rows in the same order.
func (s *Service) writeHours(ctx context.Context) error {
	sums := s.hours.take()
	keys := slices.SortedFunc(maps.Keys(sums), hourKey.compare)
	for len(keys) > 0 {
		n := min(len(keys), hoursBatch)
		if s.DB.Routed() { // a transaction is of one company there
			if next := slices.IndexFunc(keys, func(k hourKey) bool { return k.company != keys[0].company }); next > 0 {
				n = min(n, next)
			}
		}
		if err := s.addHours(s.DB.At(ctx, keys[0].company), keys[:n], sums); err != nil {
			s.hours.giveBack(keys, sums)
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// writeLastHours writes the counts of a program that stops.
func (s *Service) writeLastHours(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), hoursPatience)
	defer stop()
	if err := s.writeHours(ctx); err != nil {
		s.Log.Warn("the last counts of webhook deliveries were lost", "error", err)
	}
}
