package bench

import (
	"math/bits"
	"time"
)

// A bucket of a histogram is at most 1/64 wider than its smallest value. Values below 128 µs have
// a bucket each.
const (
	exact   = 128
	buckets = exact + 64*34 // the last bucket holds values up to 2^41 µs, which is 25 days
)

// histogram counts durations in microseconds.
type histogram struct {
	counts [buckets]int64
	n, max int64
}

func bucket(micros int64) int {
	if micros < exact {
		return int(max(micros, 0))
	}
	shift := bits.Len64(uint64(micros)) - 7
	return min(exact+(shift-1)*64+int(micros>>shift)-64, buckets-1)
}

// largest returns the largest value of a bucket.
func largest(b int) int64 {
	if b < exact {
		return int64(b)
	}
	shift := (b-exact)/64 + 1
	return (int64((b-exact)%64+64+1) << shift) - 1
}

func (h *histogram) add(d time.Duration) {
	micros := d.Microseconds()
	h.counts[bucket(micros)]++
	h.n++
	h.max = max(h.max, micros)
}

// merge adds the counts of a different histogram.
func (h *histogram) merge(o *histogram) {
	for i, n := range o.counts {
		h.counts[i] += n
	}
	h.n += o.n
	h.max = max(h.max, o.max)
}

// at returns the duration in microseconds that perMille of a thousand durations do not exceed. It
// returns 0 if the histogram is empty.
func (h *histogram) at(perMille int64) int64 {
	rank := (h.n*perMille + 999) / 1000
	for b, n := range h.counts {
		if rank -= n; rank <= 0 && n > 0 {
			return min(largest(b), h.max)
		}
	}
	return h.max
}
