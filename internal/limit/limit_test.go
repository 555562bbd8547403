package limit

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
)

// Nobody empties a bucket and finds it full again after a pause, before its period is over.
func TestABucketStaysForItsPeriod(t *testing.T) {
	start := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, l := range []Limit{{10, 15 * time.Minute, 10}, {60, time.Minute, 600}, {1, time.Hour, 1}} {
		machine, own := clock.At(start), clock.At(start) // only the machine's time goes on, so no bucket refills
		b := newBuckets(own, machine)
		for range l.Burst {
			if _, allowed := b.Take("a name", l); !allowed {
				t.Fatalf("%+v: refused", l)
			}
		}
		machine.Advance(max(l.Period, 10*time.Minute) - time.Second)
		if _, allowed := b.Take("a name", l); allowed {
			t.Errorf("%+v: the bucket is full again before its time", l)
		}
		machine.Advance(time.Hour)
		if _, allowed := b.Take("a name", l); !allowed {
			t.Errorf("%+v: the bucket stays for ever", l)
		}
	}
}

// A token that comes back can be taken again, and a bucket never holds more than its burst.
func TestATokenComesBack(t *testing.T) {
	c, l := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), Limit{10, 15 * time.Minute, 10}
	b := New(c)
	b.Return("a name")
	for range 30 {
		if _, allowed := b.Take("a name", l); !allowed {
			t.Fatal("a returned token is gone")
		}
		c.Advance(time.Minute)
		b.Return("a name")
	}
	for i := range 11 {
		if _, allowed := b.Take("a name", l); allowed != (i < 10) {
			t.Errorf("request %d: %t", i, allowed)
		}
	}
}
