package torture

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// did returns what each client of a run asked for, in order: the kinds, the amounts and the stories. Calls
// that only read are left out, because a client does not record a balance without an answer.
func did(h *History, until int64) map[int][]string {
	calls := slices.Clone(h.Calls)
	slices.SortStableFunc(calls, func(x, y Call) int { return cmp.Compare(x.Begin, y.Begin) })
	out := map[int][]string{}
	for _, c := range calls {
		if c.Client < 0 || c.Begin > until || !slices.Contains([]string{purchase, payout, funding, credit, adjustment, reversal}, c.Kind) {
			continue
		}
		key := c.Key
		if c.Kind != purchase && c.Kind != funding {
			key = "" // it differs in each life
		}
		out[c.Client] = append(out[c.Client], fmt.Sprint(c.Kind, " ", key, " ", int64(c.Amount), " ", c.Story, " ", c.Paying))
	}
	return out
}

// A history is replayed: each client makes the same calls in the same order, and the same breaks come at the same time at the earliest.
func TestAHistoryIsReplayed(t *testing.T) {
	t.Setenv(isChild, "yes")
	o := Options{
		Seed: 5, Programs: 1, Duration: 3 * time.Second, Clients: 2, Folder: t.TempDir(), Child: []string{os.Args[0]}, Progress: io.Discard,
		History: filepath.Join(t.TempDir(), "history"),
	}
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	was, err := ReadHistory(o.History)
	if err != nil {
		t.Fatal(err)
	}
	again := o
	again.Seed, again.Clients, again.History = 0, 0, ""
	if err = again.Replay(&was); err != nil {
		t.Fatal(err)
	}
	h, err := Run(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if sound, err := Print(&out, &h, Check(&h)); err != nil || !sound {
		t.Errorf("%v\n%s", err, &out)
	}
	first, second := did(&was, (&replay{of: &was}).end()), did(&h, math.MaxInt64)
	for n := range o.Clients {
		// Without an answer, settling sends an order again. So the later list, which has the calls of settling too, may have more.
		if a, b := first[n], second[n]; len(a) == 0 || len(b) < len(a) || !slices.Equal(a, b[:len(a)]) {
			t.Errorf("client %d asked\n%s\nand in the replay\n%s", n, strings.Join(a, "\n"), strings.Join(b, "\n"))
		}
	}
	if len(was.Breaks) == 0 || len(h.Breaks) != len(was.Breaks) {
		t.Fatalf("%d breaks, and %d in the replay", len(was.Breaks), len(h.Breaks))
	}
	for i, b := range h.Breaks {
		if w := was.Breaks[i]; b.Kind != w.Kind || b.Target != w.Target || b.For != w.For {
			t.Errorf("break %d was %+v, and is %+v", i, w, b)
		}
	}
}

// A history of another database, or without facts, is not replayed.
func TestAHistoryOfAnotherDatabaseIsRefused(t *testing.T) {
	h := sound()
	h.Run.Engine = "sqlite"
	for _, c := range []struct {
		o Options
		h History
	}{{Options{Postgres: "postgres://127.0.0.1:1/x"}, *h}, {Options{}, History{Run: h.Run}}} {
		if err := c.o.Replay(&c.h); !errors.Is(err, ErrReplay) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	if o := (Options{}); o.Replay(h) != nil || o.replayed != h {
		t.Error("the history is refused")
	}
}
