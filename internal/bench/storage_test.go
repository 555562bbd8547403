package bench

import (
	"slices"
	"strings"
	"testing"
)

// The growth of a table and that of its index are divided by the operations. A file that was made in
// the measured part counts from zero, and a file that has not grown is left out.
func TestGrowthIsBytesOfAnOperation(t *testing.T) {
	event, index := file{"event", "event", 1000}, file{"event", "event_pkey", 300}
	still, added := file{"job", "job", 50}, file{"payout", "payout", 40}
	d := driven{used: []map[string]usage{{}, {}}, wrote: []written{
		{Files: []file{event, index, still}},
		{Files: []file{{"event", "event", 1500}, {"event", "event_pkey", 320}, still, added}},
	}}
	want := []Growth{{"event", "", 50}, {"event", "event_pkey", 2}, {"payout", "", 4}}
	if got := d.cost(10).Tables; !slices.Equal(got, want) {
		t.Errorf("the growth is %v, want %v", got, want)
	}
}

// The report names each table and index that has grown.
func TestTheReportNamesWhatHasGrown(t *testing.T) {
	printed := new(strings.Builder)
	r := Report{Results: []Result{{Mix: "hot", Cost: Cost{Tables: []Growth{{"event", "event_pkey", 118}}}}}}
	if err := r.Print(printed, nil); err != nil || !strings.Contains(printed.String(), "event_pkey") || !strings.Contains(printed.String(), "118") {
		t.Errorf("%v:\n%s", err, printed)
	}
}
