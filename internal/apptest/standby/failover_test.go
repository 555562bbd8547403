package standby_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db/cluster"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// These are the faults. After each but the last one, the tool that promotes has noticed it (detection) and promotes a
// standby.
const (
	killed  = "kill -9"         // the primary dies
	frozen  = "freeze and wake" // it hangs, and wakes when it is the primary no more
	unheard = "cut connections" // the network to it is cut, while it runs
	alone   = "no standby"      // both standbys stop for a while, and the primary lives
)

// detection is the time from a fault to the decision to promote. Tools need longer. It is short here because the gap is
// measured from the promotion on.
const detection = 3 * time.Second

// mostGap is how long after the promotion callers may go without a confirmation.
const mostGap = 3 * time.Second

// trio is the servers, each behind a proxy, and the program that reaches them through the proxies.
type trio struct {
	*cluster.Trio
	t       *testing.T
	proxies [3]*apptest.Proxy
	market  *market
	plant   func(ctx context.Context, former string) error // writes to a former primary; nil for nothing
}

// newTrio starts the servers, and the program with its callers' companies.
func newTrio(t *testing.T) *trio {
	servers := dbtest.Trio(t, "kobo")
	w := &trio{Trio: servers, t: t}
	var hosts []string
	query := ""
	for i, c := range servers.Servers {
		proxy, address := apptest.NewProxy(t, c.URL)
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		w.proxies[i], hosts, query = proxy, append(hosts, u.Host), u.RawQuery
	}
	database := "postgres://kobo@" + strings.Join(hosts, ",") + "/kobo?" + query + "&target_session_attrs=read-write"
	p := (apptest.Home{Data: t.TempDir(), Database: database}).Start(t, apptest.Window(window))
	w.market = newMarket(t, p)
	return w
}

// open starts the callers.
func (w *trio) open(t *testing.T) {
	w.market.open(8, 2)
	w.market.acknowledged(t, enough)
}

// Failovers follow one another under load, with faults by a seed. The program is never restarted. No confirmed operation
// is lost, and nobody gets another error than 503. KOBO_TEST_FAILOVERS is how many, else one; then the time without
// confirmations counts too, because nothing else uses the machine. KOBO_TEST_SEED is the seed.
func TestFailoversUnderLoad(t *testing.T) {
	many, err := strconv.Atoi(os.Getenv("KOBO_TEST_FAILOVERS"))
	measured := err == nil
	if !measured {
		many = 1
	}
	seed, err := strconv.ParseUint(os.Getenv("KOBO_TEST_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano()) % 1_000_000
	}
	t.Logf("seed %d", seed)
	w := newTrio(t)
	w.open(t)

	chance := rand.New(rand.NewPCG(seed, 0))
	var faults []string
	gaps := map[string][]time.Duration{}
	var all findings
	for n := range many {
		if n%4 == 0 { // each fault once in four, in any order
			faults = []string{killed, frozen, unheard, alone}
			chance.Shuffle(4, func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
		}
		fault := faults[n%4]
		whole, beyond, found := w.suffer(fault)
		t.Logf("%2d: %-16s no confirmation for %.1f s, %.1f s of it after the promotion; server %d is the primary; the former one alone has %d rows, %d of them dated after the promotion",
			n+1, fault, whole.Seconds(), beyond.Seconds(), w.Primary(), found.behind, found.sent)
		if gaps[fault] = append(gaps[fault], beyond); beyond > mostGap {
			t.Log(w.Logs())
		}
		for _, wrong := range found.wrongs {
			t.Error(wrong)
		}
		all.behind, all.sent = all.behind+found.behind, all.sent+found.sent
		w.market.acknowledged(t, enough)
	}
	w.market.close()
	for fault, list := range gaps {
		slices.Sort(list)
		t.Logf("%-16s %d times, gap beyond the promotion: p50 %.1f s, max %.1f s", fault, len(list), list[len(list)/2].Seconds(), list[len(list)-1].Seconds())
		if measured && list[len(list)-1] > mostGap {
			t.Errorf("%s: %s after a promotion without a confirmation", fault, list[len(list)-1])
		}
	}
	t.Logf("rows that only a former primary has: %d, none of them confirmed, %d of them dated after the promotion", all.behind, all.sent)
	t.Logf("statuses of all answers: %v", w.market.statuses)
	for status, n := range w.market.statuses {
		if !slices.Contains([]int{200, 503}, status) {
			t.Errorf("%d answers with the status %d", n, status)
		}
	}
	w.market.nothingIsLost(t)
	w.market.repeat(t)
	w.market.settle(t)
	w.market.nothingIsBoughtTwice(t)
	w.market.addsUp(t)
}

// suffer lets the servers suffer a fault. It returns how long nobody got a confirmation, and how much of this was after
// the promotion, and what the former primary says.
func (w *trio) suffer(fault string) (whole, beyond time.Duration, found findings) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatalf("%s: %v", fault, err)
		}
	}
	former := w.Primary()
	since := w.market.p.App.Clock.Now().Add(-time.Minute)
	began := time.Now()
	switch fault {
	case killed:
		must(w.Servers[former].Kill(ctx))
	case frozen:
		must(w.Freeze(former))
	case unheard:
		w.proxies[former].Silence()
	case alone:
		for _, i := range w.Standbys() {
			must(w.Servers[i].Halt())
		}
		began = time.Now() // a halt sends what is left
	}
	w.pass(detection)
	if fault == alone {
		for _, i := range w.Standbys() {
			must(w.Servers[i].Resume())
		}
		must(w.AwaitStandbys(ctx, 1))
	} else {
		if fault == unheard { // who promotes first ends the old primary, which still hears the standbys
			must(w.Servers[former].Kill(ctx))
		}
		must(w.Failover(ctx))
	}
	promoted, dated := time.Now(), w.market.p.App.Clock.Now()
	if fault == frozen {
		must(w.Wake(former))
	}
	first := w.market.firstAfter(w.t, promoted)
	whole, beyond = first.Sub(w.market.lastBefore(began, first)), first.Sub(promoted)
	if fault != alone {
		var err error
		found, err = w.askFormer(ctx, fault, former, since, dated)
		must(err)
		must(w.Rejoin(ctx, former))
	}
	must(w.AwaitStandbys(ctx, 2))
	return whole, beyond, found
}

// pass waits for a while, because the database servers know no other time.
func (w *trio) pass(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

// firstAfter waits for the first confirmation after an instant.
func (m *market) firstAfter(t *testing.T, at time.Time) (first time.Time) {
	t.Helper()
	apptest.Eventually(t, func() string {
		m.mu.Lock()
		defer m.mu.Unlock()
		i, _ := slices.BinarySearchFunc(m.at, at, time.Time.Compare)
		if i == len(m.at) {
			return fmt.Sprintf("no confirmation for %s after the promotion; statuses %v", time.Since(at).Round(time.Second), m.statuses)
		}
		first = m.at[i]
		return ""
	})
	return first
}

// lastBefore returns the instant after which the longest time without a confirmation began, between an instant just
// before a fault and the first confirmation after the promotion.
func (m *market) lastBefore(fault, first time.Time) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, longest := fault, time.Duration(0)
	before := fault
	for _, at := range m.at {
		if at.Before(fault) || at.After(first) {
			continue
		}
		if gap := at.Sub(before); gap > longest {
			last, longest = before, gap
		}
		before = at
	}
	return last
}
