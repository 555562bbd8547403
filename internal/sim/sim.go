// Package sim runs the whole program through many virtual days in one process, with faults that a
// seed chooses.
//
// A run consists of worlds. A world is a database, the program on it, its simulated providers, and a
// company that uses the program. All of them run in a bubble of testing/synctest: the time is
// virtual, and moves on as soon as every goroutine waits. The network of a world is in memory,
// because the virtual time stands still while a goroutine waits for a real network. Between two steps
// the world moves the clock of the sandbox forward.
//
// The seed decides every request, fault, crash and move of the clock. It does not decide the order in
// which the goroutines of the program run.
package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/money"
)

// WorldDays is the number of days after which a run begins a new world. The daily checks read the
// whole history of a world, so a longer world would take more time for each day.
const WorldDays = 10

// Report is what a world, or a run of several worlds, has done.
type Report struct {
	Days       int            // virtual days
	Operations int            // purchases, payouts and card fundings that the company asked for
	Credits    int            // payments into accounts
	Starts     int            // starts of the program after the first one
	Faults     map[string]int // how often each fault has happened
	// Trace is the SHA-256 of the history, in hexadecimal digits. Two worlds with the same seed and
	// the same number of days have the same Trace.
	Trace string
}

// Add adds the counts of another report. The Trace becomes the SHA-256 of both traces.
func (r *Report) Add(o Report) {
	r.Days, r.Operations, r.Credits, r.Starts = r.Days+o.Days, r.Operations+o.Operations, r.Credits+o.Credits, r.Starts+o.Starts
	if r.Faults == nil {
		r.Faults = map[string]int{}
	}
	for kind, n := range o.Faults {
		r.Faults[kind] += n
	}
	sum := sha256.Sum256([]byte(r.Trace + o.Trace))
	r.Trace = hex.EncodeToString(sum[:])
}

// world is one simulated world.
type world struct {
	t       *testing.T
	chance  *rand.Rand
	home    apptest.Home
	faults  *faults
	life    *life
	current atomic.Pointer[life] // the same life, for goroutines other than that of the test
	client  *apptest.Client      // the development company

	day, step int
	bundle    apptest.Bundle
	airtime   string // the id of a vendor
	card      string
	customer  string // the account number of a customer
	orders    []*order
	invoices  []*invoice
	credits   map[string]money.Kobo // by session
	paid      money.Kobo            // the sum of the credits
	events    int64                 // the events that were checked
	news      int64                 // those among them that are no checkpoints: a start of the program signs a checkpoint too
	kinds     map[string]string

	report  Report
	history hash.Hash
	show    bool // log the history
}

// began is the virtual time at which each world begins.
var began = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// Run simulates a world of some days. It fails the test if the world breaks a rule. If show is set, it
// logs the history.
func Run(t *testing.T, seed uint64, days int, show bool) (out Report) {
	t.Helper()
	folder := folder(t)
	cryptotest.SetGlobalRandom(t, seed)
	synctest.Test(t, func(t *testing.T) {
		w := &world{
			t: t, chance: rand.New(rand.NewPCG(seed, 1)), history: sha256.New(), show: show, kinds: map[string]string{}, credits: map[string]money.Kobo{},
			home: apptest.Home{Data: folder, Database: "sqlite:" + filepath.Join(folder, "kobo.db")},
		}
		w.wait(time.Until(began))
		w.faults = newFaults(func() { w.current.Load().crash() })
		w.begin()
		w.client = apptest.NewClient(t, w.life.credentials, &http.Transport{DialContext: w.dial})
		w.furnish()
		for range days {
			w.pass()
		}
		w.settle()
		w.life.end()
		w.report.Faults, w.report.Trace = w.faults.done, hex.EncodeToString(w.history.Sum(nil))
		out = w.report
	})
	return out
}

// folder returns a folder that is removed at the end of the test. The folder is in memory where the
// system has such a place, because nothing in it must survive a power failure.
func folder(t *testing.T) string {
	t.Helper()
	place := "/dev/shm"
	if _, err := os.Stat(place); err != nil {
		place = ""
	}
	dir, err := os.MkdirTemp(place, "kobo-sim-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// say adds a line to the history. A line has only words that the seed decides, so neither an
// identifier nor a time.
func (w *world) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	_, _ = fmt.Fprintf(w.history, "%s\n", line) // a hash takes everything
	if w.show {
		w.t.Logf("day %d step %d: %s", w.day, w.step, line)
	}
}

// wrong fails the test with the place in the history.
func (w *world) wrong(format string, args ...any) {
	w.t.Helper()
	w.t.Errorf("day %d step %d: %s", w.day, w.step, fmt.Sprintf(format, args...))
}

// wait lets virtual time pass.
func (w *world) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

// config returns the configuration of the program.
func (w *world) config(n *network) app.Config {
	cfg := app.DevConfig(w.home.Data, w.home.Database)
	cfg.Network, cfg.AroundProviders = n, w.faults.around
	return cfg
}
