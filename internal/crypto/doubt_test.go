package crypto_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
)

// open returns the details of the company's open cases.
func (w *world) open(company string) (details []string) {
	w.t.Helper()
	cases, _, err := w.cases.Cases(w.t.Context(), operation.CaseFilter{State: operation.Open, Company: company}, 100, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range cases {
		details = append(details, c.Detail)
	}
	return details
}

// metric returns the sum of a metric over the labels with this value, or over all labels.
func (w *world) metric(s *crypto.Service, name, value string) (sum float64) {
	w.t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(s.Metrics()...)
	families, err := r.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.Metric {
			for _, l := range m.Label {
				if f.GetName() == name && l.GetValue() == value {
					sum += m.Counter.GetValue()
				}
			}
		}
	}
	return sum
}

// A genuine notification of unknown meaning is accepted, stored and shown to operators once, also if
// the fintech has no ledger of its own yet. A program that knows the meaning later records the deposit.
func TestANotificationOfUnknownMeaningIsKept(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		w.chain("0x1", 100, 120)
		w.node.unknown = true
		for range 2 {
			w.tell(moved(to, "0x1", 7, 100))
		}
		body := []byte(`[{"NetworkID":"` + eth + `","Address":"` + to.Address + `","Units":9,"Hash":"0x2","Block":100}]`)
		w.node.batches = []provider.Batch{{Unread: [][]byte{body}}, {Unread: [][]byte{body}}}
		w.read()
		w.want(a, "", "")
		if cases := w.open(inbox.House); len(cases) != 2 || !strings.Contains(strings.Join(cases, ""), "0x2") {
			t.Errorf("the cases are %q", cases)
		}
		if n := w.metric(w.Service, "kobo_custodian_unread_total", "node"); n != 2 {
			t.Errorf("%v notifications are unread", n)
		}
		if err := w.Receive(t.Context(), "node", http.Header{}, body); !errors.Is(err, provider.ErrForged) || len(w.open(inbox.House)) != 2 {
			t.Errorf("a forged one: %v", err)
		}
		w.read() // the same program does not know more
		w.want(a, "", "")
		w.node.unknown = false
		for range 2 {
			if err := w.program(d).Read(t.Context(), "node"); err != nil {
				t.Fatal(err)
			}
		}
		w.settled()
		if got := w.states(a); !strings.Contains(got, "deposit completed 100") || strings.Count(got, "deposit") != 2 {
			t.Errorf("the history is %q", got)
		}
		left, err := db.One(t.Context(), d, db.Value[int64], `SELECT count(*) FROM crypto_notice WHERE state = 'NEW'`)
		if err != nil || left != 0 {
			t.Errorf("%d are new, %v", left, err)
		}
	})
}

// A genuine notification that is no text is kept and shown like another one. PostgreSQL would refuse its bytes, and the
// custodian would send it again for ever.
func TestANotificationThatIsNoTextIsKept(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.node.batches = []provider.Batch{{Unread: [][]byte{[]byte("{\"a\":\"\x00\xff\\u0000\"} 0x2")}}}
		w.read()
		if cases := w.open(inbox.House); len(cases) != 1 || !strings.Contains(cases[0], "0x2") {
			t.Errorf("the cases are %q", cases)
		}
	})
}

// After a reorganisation that is deeper than what is remembered, each completed deposit that it has
// removed becomes a case. A deposit that is still in the chain does not.
func TestADeepReorganisationOpensACaseForEachDeposit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		var all []provider.Movement
		for i, block := range []int64{50, 100, 101, 102} {
			hash := fmt.Sprint("0x", i)
			w.chain(hash, block, 300)
			all = append(all, moved(to, hash, int64(i+1), block))
		}
		w.tell(all...)
		w.later(time.Hour)
		w.want(a, "deposit completed 50, deposit completed 100, deposit completed 101, deposit completed 102",
			strings.Repeat("deposit_pending deposit_completed ", 4))
		w.chain("0x0", 0, 400) // below the common block, so it is not asked about
		w.chain("0x1", 0, 400)
		w.chain("0x2", 0, 400)
		w.node.batches = []provider.Batch{{GoneFrom: 90, Gone: []string{"hash-299"}}}
		w.read()
		for range 4 {
			w.later(5 * time.Minute)
		}
		cases := strings.Join(w.open(a), ";")
		if len(w.open(a)) != 2 || !strings.Contains(cases, "0x1 ") || !strings.Contains(cases, "0x2 ") {
			t.Errorf("the cases are %q", cases)
		}
	})
}

// If the network tags its final blocks, a deposit completes when the tag reaches its block, and not by
// the number of confirmations.
func TestTheTagOfFinalityDecides(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		at := func(final int64) {
			w.chain("0x1", 100, 200)
			w.node.mu.Lock()
			defer w.node.mu.Unlock()
			now := w.node.at["0x1"]
			now.Tagged, now.Final = true, final
			w.node.at["0x1"] = now
		}
		at(0)
		w.tell(moved(to, "0x1", 7, 100))
		at(99)
		w.later(time.Hour)
		w.want(a, "deposit pending 100", "deposit_pending")
		at(100)
		w.later(time.Hour)
		w.want(a, "deposit completed 100", "deposit_pending deposit_completed")
	})
}

// A node of a different chain is counted as such, and nothing changes.
func TestAWrongChainIsCounted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.node.fails = &provider.Error{Provider: "node", Code: provider.CodeWrongChain}
		if err := w.Read(t.Context(), "node"); err == nil {
			t.Error("a node of a different chain was read")
		}
		w.node.fails = nil
		w.read()
		for result, want := range map[string]float64{"ok": 1, "wrong_chain": 1, "failed": 0, "logs_missing": 0} {
			if got := w.metric(w.Service, "kobo_custodian_reads_total", result); got != want {
				t.Errorf("%s: %v, want %v", result, got, want)
			}
		}
	})
}

// Operators see when a custodian was last read. A read that fails does not count.
func TestAFailedReadIsNotTheLastRead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.read()
		read := w.clock.Now()
		w.clock.Advance(time.Hour)
		w.node.fails = errors.New("away")
		if err := w.Read(t.Context(), "node"); err == nil {
			t.Error("a node that is away was read")
		}
		known, err := report.New(d, w.clock).Providers(t.Context())
		if err != nil || !known["node"].ChainReadAt.Equal(read) {
			t.Errorf("%v, %v; the last read was at %v", known, err, read)
		}
		w.node.fails = nil
		w.read()
		if known, err = report.New(d, w.clock).Providers(t.Context()); err != nil || !known["node"].ChainReadAt.Equal(w.clock.Now()) {
			t.Errorf("%v, %v", known, err)
		}
	})
}

// A contract can send coins without a movement that the node shows. The daily check of balances finds
// them, and opens one case for each difference.
func TestCoinsWithoutAMovementAreFound(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		quiet, busy := w.address(a, eth), w.address(b, eth)
		w.chain("0x1", 100, 200)
		w.chain("0x2", 110, 200)
		w.chain("0x3", 120, 200)
		w.tell(moved(quiet, "0x1", 50, 100), moved(busy, "0x2", 50, 110))
		w.later(time.Hour)
		holds := func(block, quietUnits, busyUnits, sent int64) {
			w.node.mu.Lock()
			defer w.node.mu.Unlock()
			w.node.heldIn, w.node.asked = block, 0
			w.node.holds = map[string]provider.Holding{
				quiet.Address: {Units: big.NewInt(quietUnits)}, busy.Address: {Units: big.NewInt(busyUnits), Sent: sent},
			}
		}
		check := func(what string, ours, theirs int) {
			t.Helper()
			w.clock.Advance(24 * time.Hour)
			for range 3 {
				if err := w.CheckBalances(t.Context(), "node"); err != nil {
					t.Fatal(err)
				}
			}
			if x, y := len(w.open(a)), len(w.open(b)); x != ours || y != theirs {
				t.Errorf("%s: %d and %d cases, want %d and %d: %q", what, x, y, ours, theirs, append(w.open(a), w.open(b)...))
			}
			if w.node.asked != 2 {
				t.Errorf("%s: %d balances were asked for", what, w.node.asked)
			}
		}
		holds(130, 50, 50, 0)
		check("all was seen", 0, 0)
		holds(140, 51, 50, 0)
		check("one came without a movement", 1, 0)
		if text := w.open(a)[0]; !strings.Contains(text, "block 140") || !strings.Contains(text, quiet.Address) || !strings.Contains(text, "0.000000000000000001 ETH more") {
			t.Errorf("the case is %q", text)
		}
		holds(150, 51, 50, 0)
		check("the same difference", 1, 0)
		holds(160, 53, 49, 0)
		check("another difference, and less without a transaction", 2, 1)
		holds(170, 53, 30, 1)
		check("fees of the company's own transactions", 2, 1)

		out := moved(busy, "0x3", 10, 180)
		out.Out = true
		w.chain("0x3", 180, 180) // not confirmed yet
		w.tell(out)
		holds(190, 53, 25, 2)
		check("a transaction that may fail", 2, 1)
		w.chain("0x3", 180, 300)
		w.later(time.Hour)
		holds(200, 53, 19, 2)
		check("a withdrawal with its fee", 2, 1)
		holds(210, 53, 20, 3)
		check("more in spite of fees", 2, 2)
	})
}

// A check of many addresses goes on where it stopped, also in a different program, and a failed check
// is repeated.
func TestTheCheckOfBalancesGoesOn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		err := d.Tx(t.Context(), func(q db.Querier) error {
			for i := range 1203 {
				if _, err := q.Exec(t.Context(), `INSERT INTO crypto_directory (network_id, address, company_id) VALUES ($1, $2, $3)`,
					eth, fmt.Sprintf("0x%040x", i+1), a); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		w.node.holds, w.node.heldIn = map[string]provider.Holding{}, 100
		for _, want := range []int{1000, 1203, 1203} {
			if err := w.program(d).CheckBalances(t.Context(), "node"); err != nil || w.node.asked != want {
				t.Errorf("%d were asked for, want %d (%v)", w.node.asked, want, err)
			}
		}
	})
}

// A notification's case shows the start of a long notification.
func TestALongNotificationIsCut(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.node.unknown = true
		body := bytes.Repeat([]byte("é"), 5000)
		if err := w.Receive(t.Context(), "node", http.Header{"Signed": {"yes"}}, body); err != nil {
			t.Fatal(err)
		}
		if text := w.open(inbox.House)[0]; len([]rune(text)) > 800 || strings.ContainsRune(text, '\ufffd') {
			t.Errorf("%d characters", len([]rune(text)))
		}
	})
}

// A program that stops while it reads a custodian gives the lease of the cursor back, so the next program need not wait for its end.
func TestAProgramThatStopsHoldsNoLease(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		for n := range 300 {
			ctx, stop := context.WithCancel(t.Context())
			timer := time.AfterFunc(time.Duration(n%30)*100*time.Microsecond, stop)
			err := w.Read(ctx, "node")
			timer.Stop()
			stop()
			held, one := db.One(t.Context(), d, db.Value[int64], `SELECT count(*) FROM crypto_cursor WHERE lease_until > 0`)
			if one != nil || held > 0 {
				t.Fatalf("read %d (%v): %d leases are held, %v", n, err, held, one)
			}
		}
	})
}
