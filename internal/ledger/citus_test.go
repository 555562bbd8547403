package ledger

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
)

// loaded is a ledger on Citus whose companies pay all the time.
type loaded struct {
	t         *testing.T
	book      *Book
	d         *db.DB
	url       string
	companies []string

	longest time.Duration // of the changes of the nodes

	stop  atomic.Bool
	all   sync.WaitGroup
	mu    sync.Mutex
	paid  map[string][]string // the references of the payments that were acknowledged, by company
	never map[string][]string // of those that were refused as Unavailable
	open  map[string][]string // of those without a known outcome
	why   map[string]int      // the errors of the refused ones
}

const loadFund, loadPrice = 1_000_000, 10

// load starts callers, two for each company.
func load(t *testing.T) *loaded {
	t.Helper()
	l := &loaded{t: t, url: dbtest.CitusURL(t), paid: map[string][]string{}, never: map[string][]string{}, open: map[string][]string{}, why: map[string]int{}}
	l.d = dbtest.Open(t, l.url)
	l.book = open(t, l.d)
	places := map[string]bool{}
	for i := range 8 {
		company := fmt.Sprint("company", i)
		places[l.d.Place(company)] = true
		l.companies = append(l.companies, company)
		found(t, l.book, company)
		fund(t, l.book, company, loadFund)
	}
	if len(places) < 2 {
		t.Fatalf("all companies are at %v", places)
	}
	t.Cleanup(func() { // before the database closes
		l.stop.Store(true)
		l.all.Wait()
	})
	for _, company := range l.companies {
		for caller := range 2 {
			l.all.Go(func() {
				for i := 0; !l.stop.Load(); i++ {
					l.pay(company, fmt.Sprintf("%d-%d", caller, i))
				}
			})
		}
	}
	return l
}

// pay pays once and notes the outcome. Only an outcome that is Unavailable or Unknown is no success.
func (l *loaded) pay(company, reference string) {
	err := l.book.Commit(context.Background(), Unit{
		Company: company, transfers: []Transfer{paying(reference, "", loadPrice)},
		inserts: []db.Record{thing(company, reference, "", "NEW")},
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.paid[company] = append(l.paid[company], reference)
	case fault.Is(err, fault.Unavailable):
		l.why[fmt.Sprint(err)]++
		l.never[company] = append(l.never[company], reference)
	case fault.Is(err, fault.Unknown):
		l.open[company] = append(l.open[company], reference)
	default:
		l.t.Errorf("%s %s: %v", company, reference, err)
	}
}

// more waits until each company has paid more, or the test's time is over.
func (l *loaded) more() {
	l.t.Helper()
	l.mu.Lock()
	before := map[string]int{}
	for company, list := range l.paid {
		before[company] = len(list)
	}
	l.mu.Unlock()
	for _, company := range l.companies {
		for l.t.Context().Err() == nil {
			l.mu.Lock()
			n := len(l.paid[company])
			l.mu.Unlock()
			if n >= before[company]+20 {
				break
			}
			if _, err := l.d.Exec(l.t.Context(), "SELECT 1"); err != nil { // a pause as long as a round trip
				l.t.Fatal(err)
			}
		}
	}
}

// end stops the callers, and compares the books with what they were told. Only if mayFail is true, a payment may
// have no known outcome or be refused as unavailable. A change of the nodes that took longer than a batch may take also
// explains a refusal.
func (l *loaded) end(mayFail bool) {
	t := l.t
	t.Helper()
	l.stop.Store(true)
	l.all.Wait()
	l.book.Drain()
	acknowledged, refused, unknown := 0, 0, 0
	for _, company := range l.companies {
		taken := 0
		for list, want := range map[*[]string]int{ptr(l.paid[company]): 1, ptr(l.never[company]): 0, ptr(l.open[company]): -1} {
			for _, reference := range *list {
				is, err := l.book.Taken(t.Context(), company, reference, "")
				if err != nil {
					t.Fatal(err)
				}
				if want == 1 && !is || want == 0 && is {
					t.Errorf("%s %s: in the ledger: %v", company, reference, is)
				}
				if is {
					taken++
				}
			}
		}
		if got := balance(t, l.book, company, settlement); int(got) != loadFund-taken*loadPrice {
			t.Errorf("%s has %d after %d payments", company, got, taken)
		}
		things, err := db.One(t.Context(), l.d, db.Value[int64], `SELECT count(*) FROM ledger_thing WHERE company_id = $1`, company)
		if err != nil || int(things) != taken+1 { // one more from the founding
			t.Errorf("%s: %d rows of %d payments: %v", company, things, taken, err)
		}
		audit(t, l.d, company)
		acknowledged, refused, unknown = acknowledged+len(l.paid[company]), refused+len(l.never[company]), unknown+len(l.open[company])
	}
	if !mayFail && (unknown > 0 || refused > 0 && l.longest < timeout) {
		t.Errorf("%d payments have no outcome, and %d were refused; the longest change of the nodes took %v", unknown, refused, l.longest)
	}
	for why, n := range l.why {
		t.Logf("%d times %s", n, why)
	}
	t.Logf("%d acknowledged, %d refused as unavailable, %d unknown", acknowledged, refused, unknown)
}

func ptr(list []string) *[]string { return &list }

// do runs an SQL statement at the coordinator.
func (l *loaded) do(statement string) {
	l.t.Helper()
	begun := time.Now()
	dbtest.Column(l.t, l.url, statement)
	l.longest = max(l.longest, time.Since(begun))
}

// move moves the shard of a company to the other worker.
func (l *loaded) move(company, mode string) {
	l.t.Helper()
	from := l.d.Place(company)
	to := ""
	for _, other := range l.companies {
		if place := l.d.Place(other); place != from {
			to = place
		}
	}
	if to == "" {
		for _, node := range dbtest.CitusNodes(l.t, l.url)[1:] {
			if u, err := url.Parse(node); err == nil && u.Host != from {
				to = u.Host
			}
		}
	}
	split := func(node string) (host, port string) {
		host, port, _ = strings.Cut(node, ":")
		return host, port
	}
	fromHost, fromPort := split(from)
	toHost, toPort := split(to)
	l.do(fmt.Sprintf(`SELECT citus_move_shard_placement(get_shard_id_for_distribution_column('ledger_head', '%s'), '%s', %s, '%s', %s, '%s')`,
		company, fromHost, fromPort, toHost, toPort, mode))
}

// A company moves to another node while it pays, with its writes blocked and without, and a company gets a
// shard of its own. No payment is lost, and the outcome of each is known. A batch may take 20 seconds, so it waits for
// the end of a move. Only a longer move refuses payments.
func TestCitusMovesAndSplitsUnderLoad(t *testing.T) {
	l := load(t)
	l.more()
	l.move("company0", "block_writes")
	l.more()
	l.do(`SELECT isolate_tenant_to_new_shard('ledger_head', 'company1', 'CASCADE', shard_transfer_mode => 'block_writes')`)
	l.more()
	l.move("company2", "force_logical")
	l.more()
	l.end(false)
	if wrong, err := l.d.Misplaced(t.Context()); err != nil || len(wrong) > 0 {
		t.Errorf("%v %v", wrong, err)
	}
}

// The server of a worker crashes while companies pay, and starts again. The payments of its companies are
// unavailable or unknown meanwhile, and no acknowledged one is lost.
func TestCitusLosesNothingWhenAWorkerCrashes(t *testing.T) {
	l := load(t)
	for range 2 {
		for _, worker := range dbtest.CitusNodes(t, l.url)[1:] {
			l.more()
			dbtest.Crash(t, worker)
		}
	}
	l.more()
	l.end(true)
}
