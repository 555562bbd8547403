package sudo

import (
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
)

// After a restore the whole list is read for each card funding that is not found. Its lines of more than a day ago are read once, unless one
// of them is still open.
func TestOldLinesOfTheWholeListAreReadOnce(t *testing.T) {
	page := func(at string) string {
		return `200 {"data":[` + strings.Repeat(`{"_id":"","createdAt":"`+at+`"},`, pageSize-1) + `{"_id":"x","createdAt":"` + at + `"}],"pagination":{"pages":"9"}}`
	}
	fresh, old := page("2030-03-01T00:00:00.000Z"), page("2030-01-03T00:00:00.000Z")
	for status, reads := range map[string]string{"Completed": "confirmed t1", "Failed": "rejected t1", "Pending": "unknown "} {
		paid := strings.Replace(page("2030-01-01T00:00:00.000Z"), `{"_id":"x"`, `{"_id":"t1","type":"Debit","amount":5000,"status":"`+status+`","paymentReference":"`+reference+`"`, 1)
		_, p := serve(t, func(c *Config) { c.CompleteList = true },
			fresh, old, fresh, old, paid, listed(), // for the first funding: what is newer than it, and the whole list
			fresh, old, fresh, old, `500 {}`) // for the second one, whose debit is on the page before
		p.clock = clock.At(time.Date(2030, 3, 2, 2, 0, 0, 0, time.UTC))
		f := funding()
		f.Earlier, f.Since, f.Reference = true, time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC), "another"
		if a := p.RequeryFunding(t.Context(), f); !a.Missing {
			t.Errorf("%s: the first read: %+v", status, a)
		}
		f.Reference = reference
		a := p.RequeryFunding(t.Context(), f)
		if got := a.Outcome.String() + " " + a.Reference; got != reads || status == "Pending" && a.Code != "server_error" {
			t.Errorf("%s: %s (%s), want %s", status, got, a.Code, reads)
		}
		if kept, before := p.past.get(); status != "Pending" && (len(kept) == 0 || !kept[len(kept)-1].names(reference) || before.IsZero()) {
			t.Errorf("%s: %d lines are kept before %s", status, len(kept), before)
		}
	}
	// While our clock is ahead, a line of a moment ago is not final.
	_, p := serve(t, func(c *Config) { c.CompleteList = true }, listed(strings.Replace(line("Debit", "narration", "x", "1", "Completed"), "t1", "x", 1)))
	p.clock = clock.At(time.Date(2030, 1, 9, 0, 0, 0, 0, time.UTC))
	f := funding()
	f.Earlier = true
	if a := p.RequeryFunding(t.Context(), f); !a.Missing {
		t.Errorf("a clock that is ahead: %+v", a)
	}
	if kept, before := p.past.get(); len(kept) != 0 || before.After(time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%d lines are kept before %s", len(kept), before)
	}
	var k past
	k.keep(make([]transfer, 1), time.Unix(2, 0))
	k.keep(nil, time.Unix(1, 0)) // a slower read
	if lines, before := k.get(); len(lines) != 1 || before != time.Unix(2, 0) {
		t.Errorf("%d lines before %s", len(lines), before)
	}
}
