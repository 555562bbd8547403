package sim_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/sim"
)

// number returns a number from the environment, or another one if the variable is not set.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A program lives for many days with faults of its providers and with crashes. At the end of each day
// the books agree. KOBO_SIM_SEED repeats a run, and KOBO_SIM_DAYS is its length.
//
// Each world of a run of several worlds has a process of its own, because one process with thirty worlds
// had used 1.5 GB. As many worlds as the machine has processors run at once. A world that fails does not end the run.
func TestDays(t *testing.T) {
	seed, days := number(t, "KOBO_SIM_SEED", 1), int(number(t, "KOBO_SIM_DAYS", 3))
	if days <= sim.WorldDays {
		oneWorld(t, seed, days)
		return
	}
	started := time.Now()
	worlds := make([]sim.Report, (days+sim.WorldDays-1)/sim.WorldDays)
	places := make(chan struct{}, runtime.NumCPU())
	t.Run("worlds", func(t *testing.T) {
		for i := range worlds {
			t.Run(fmt.Sprintf("seed=%d", seed+uint64(i)), func(t *testing.T) {
				t.Parallel()
				places <- struct{}{} // -parallel may be above the number of processors
				defer func() { <-places }()
				worlds[i] = apart(t, seed+uint64(i), min(days-i*sim.WorldDays, sim.WorldDays))
			})
		}
	})
	var all sim.Report
	for _, w := range worlds {
		all.Add(w)
	}
	tell(t, all, time.Since(started))
}

// report is the variable with the file into which the process of a world writes its report.
const report = "KOBO_SIM_REPORT"

// oneWorld simulates a world in this process.
func oneWorld(t *testing.T, seed uint64, days int) {
	t.Helper()
	t.Logf("to repeat: KOBO_SIM_SEED=%d KOBO_SIM_DAYS=%d go test -run TestDays ./internal/sim", seed, days)
	started := time.Now()
	is := sim.Run(t, seed, days, os.Getenv("KOBO_SIM_SHOW") != "")
	if t.Failed() {
		return
	}
	tell(t, is, time.Since(started))
	if file := os.Getenv(report); file != "" {
		text, err := json.Marshal(is)
		if err == nil {
			err = os.WriteFile(file, text, 0o600)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// apart simulates a world in a child process, and returns its report.
func apart(t *testing.T, seed uint64, days int) (is sim.Report) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDays$", "-test.v", "-test.timeout=0")
	// The memory of a world is small, so its garbage may wait.
	c.Env = append(os.Environ(), "GOGC=400", fmt.Sprint("KOBO_SIM_SEED=", seed), fmt.Sprint("KOBO_SIM_DAYS=", days), report+"="+file)
	out, err := c.CombinedOutput()
	var text []byte
	if err == nil {
		text, err = os.ReadFile(file)
	}
	if err == nil {
		err = json.Unmarshal(text, &is)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return is
}

// tell logs what a run has done.
func tell(t *testing.T, all sim.Report, took time.Duration) {
	t.Helper()
	t.Logf("%d virtual days, %d operations, %d credits, %d starts in %s: %d days an hour",
		all.Days, all.Operations, all.Credits, all.Starts, took.Round(time.Second), time.Duration(all.Days)*time.Hour/took)
	for _, kind := range slices.Sorted(maps.Keys(all.Faults)) {
		t.Logf("%6d × %s", all.Faults[kind], kind)
	}
	t.Logf("history %s", all.Trace)
}

// A run of several worlds runs each in a process, and adds their reports.
func TestAWorldHasItsOwnProcess(t *testing.T) {
	t.Setenv("KOBO_SIM_SHOW", "")
	is := apart(t, 6, 1)
	if is.Days != 1 || is.Operations == 0 || is.Credits == 0 || len(is.Trace) != 64 {
		t.Errorf("%+v", is)
	}
}

// The same seed gives the same history twice: the same requests, answers, states and balances.
func TestASeedRepeatsItsHistory(t *testing.T) {
	var traces [2]string
	for i := range traces {
		t.Run(fmt.Sprint(i), func(t *testing.T) { traces[i] = sim.Run(t, 4, 2, false).Trace })
	}
	if traces[0] != traces[1] {
		t.Errorf("the histories %s and %s", traces[0], traces[1])
	}
}

// Another seed gives another history, so the comparison of histories means something.
func TestAnotherSeedHasAnotherHistory(t *testing.T) {
	var traces [2]string
	for i := range traces {
		t.Run(fmt.Sprint(i), func(t *testing.T) { traces[i] = sim.Run(t, uint64(5+i), 1, false).Trace })
	}
	if traces[0] == traces[1] {
		t.Errorf("both histories are %s", traces[0])
	}
}
