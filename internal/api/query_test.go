package api

import (
	"testing"
	"time"
)

func TestInstants(t *testing.T) {
	day := func(h, m, s, ms int) time.Time {
		return time.Date(2030, 1, 2, h, m, s, ms*int(time.Millisecond), time.UTC)
	}
	for _, c := range []struct {
		text     string
		from, to time.Time
	}{
		{"", time.Time{}, time.Time{}},
		{"2030-01-02", day(-1, 0, 0, 0), day(23, 0, 0, 0)}, // the whole day in Lagos
		{"2030-01-02T10:00:00Z", day(10, 0, 0, 0), day(10, 0, 0, 1)},
		{"2030-01-02T10:00:00.678+01:00", day(9, 0, 0, 678), day(9, 0, 0, 679)},
	} {
		var q query
		if from, to := q.instant("from", c.text, false), q.instant("to", c.text, true); !from.Equal(c.from) || !to.Equal(c.to) || q.fault() != nil {
			t.Errorf("%q: %v to %v", c.text, from, to)
		}
	}
	for _, wrong := range []string{"yesterday", "2030-13-01", "2030-01-02 10:00:00", "1893456000"} {
		var q query
		if q.instant("from", wrong, false); q.fault() == nil {
			t.Errorf("%q passed", wrong)
		}
	}
}
