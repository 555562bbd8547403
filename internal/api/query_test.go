package api

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
)

// A filter that cannot be read is refused. Without it, the answer would be the list without the filter.
func TestUnreadableFiltersAreRefused(t *testing.T) {
	spec, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	const refusal = ` must be percent-encoded`
	for _, c := range []struct{ path, query, want string }{
		{"/api/v1/settlement/payouts", "status=%zz", `"status"` + refusal},
		{"/api/v1/settlement/payouts", "status=FAILED;PENDING&from=100%", `"status"` + refusal + `; "from"` + refusal},
		{"/api/v1/settlement/payouts", "metadata[branch]=100%&metadata[%zz]=1", `"metadata[branch]"` + refusal + `; "metadata[%zz]"` + refusal},
		{"/api/v1/settlement/payouts", "sta%74us=%", `"status"` + refusal},
		{"/api/v1/settlement/payouts", "a;b=1", `"a;b" is not allowed`},
		{"/api/v1/settlement/payouts", "%zz=1", `"%zz" is not allowed`},
		{"/api/v1/settlement/payouts", strings.Repeat("&", 20_000) + "status=FAILED", `"status"` + refusal},
		{"/api/v1/settlement/payouts", "page=%zz&pageSize=1;2&status=FAILED", ""},
		{"/api/v1/settlement/payouts", "externalReference=100%25&&", ""},
		{"/api/v1/transaction", "from=%zz", `"from"` + refusal},
		{"/api/v1/transaction", "colour=%zz&x;from=1&page=%zz", ""}, // the specification ignores unknown parameters
		{"/api/v1/events", "after=12%", `"after"` + refusal},
		{"/api/v1/settlement/statement", "from=2030-01-02;2030-01-03", `"from"` + refusal},
	} {
		op := spec.Operations["GET "+c.path]
		if op == nil {
			t.Errorf("no operation GET %s", c.path)
			continue
		}
		r := httptest.NewRequestWithContext(t.Context(), "GET", c.path, nil)
		r.URL.RawQuery = c.query
		got := ""
		if err := mayAsk(op, r); err != nil {
			got = strings.Join(fault.Of(err).Details, "; ")
		}
		if got != c.want {
			t.Errorf("%s?%.40s: %s, want %s", c.path, c.query, got, c.want)
		}
	}
}

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
