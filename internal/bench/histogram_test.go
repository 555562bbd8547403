package bench

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Each percentile of a histogram is at most 1/64 above the exact percentile, and never below it.
func TestPercentiles(t *testing.T) {
	var whole, half histogram
	var exactly []int64
	for i := range 20_000 {
		micros := rand.Int64N(int64(1) << (rand.IntN(40) + 1))
		exactly = append(exactly, micros)
		if d := time.Duration(micros) * time.Microsecond; i%2 == 0 {
			whole.add(d)
		} else {
			half.add(d)
		}
	}
	whole.merge(&half)
	slices.Sort(exactly)
	for _, perMille := range []int64{1, 100, 500, 900, 990, 999, 1000} {
		want := exactly[(whole.n*perMille+999)/1000-1]
		if got := whole.at(perMille); got < want || got > want+want/64+1 {
			t.Errorf("%d of a thousand: %d, want %d", perMille, got, want)
		}
	}
	if whole.max != exactly[len(exactly)-1] || whole.n != int64(len(exactly)) {
		t.Errorf("%d values, the largest %d", whole.n, whole.max)
	}
}

func TestBucketsHaveNoGap(t *testing.T) {
	for b := range buckets {
		if bucket(largest(b)) != b || bucket(largest(b)+1) != min(b+1, buckets-1) {
			t.Fatalf("bucket %d ends with %d", b, largest(b))
		}
	}
	if empty := new(histogram); empty.at(990) != 0 {
		t.Error(empty.at(990))
	}
}
