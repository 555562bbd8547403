// Package standby_test kills a database cluster while a whole program uses it. The test takes a
// minute, so it is in a separate package.
package standby_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

const (
	// lonely is how long the primary runs without standbys. This is more than twice the time that a
	// request may wait for the database.
	lonely = 42 * time.Second
	// window is the timeout of a provider call, as in production.
	window = 30 * time.Second
	// enough is the number of responses to wait for before and after the failover.
	enough = 100
)

// The primary confirms a commit when one of two standbys has stored it. Both standbys stop, the
// primary hangs and then dies, and a standby replaces the primary. No operation that was confirmed
// to a caller is lost. The ledger has every operation that a provider delivered. If a caller sends
// an order again under the same key, nothing is bought a second time.
func TestNoAcknowledgedOperationIsLostInAFailover(t *testing.T) {
	servers := dbtest.Replicated(t, "kobo")
	home := apptest.Home{Data: t.TempDir(), Database: servers.URL("kobo")}
	p := home.Start(t, apptest.Window(window))
	m := newMarket(t, p)
	m.open(32, 4)
	m.acknowledged(t, enough)
	if err := servers.StopStandbys(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d answers before the standbys stopped", m.count())
	hangs := time.NewTimer(lonely)
	defer hangs.Stop()
	<-hangs.C
	t.Logf("%d answers when the primary dies", m.count())
	heir := servers.Standbys[0]
	if err := errors.Join(servers.Primary.Kill(t.Context()), heir.Resume(), heir.Promote()); err != nil {
		t.Fatal(err)
	}
	m.acknowledged(t, enough)
	m.close()

	m.nothingIsLost(t)
	m.repeat(t)
	m.settle(t)
	m.nothingIsBoughtTwice(t)
	m.addsUp(t)
}

// addsUp checks the ledgers of all companies.
func (m *market) addsUp(t *testing.T) {
	heads, err := m.p.App.Reports.Heads(t.Context())
	if err != nil || len(heads) == 0 {
		t.Fatalf("%d companies, %v", len(heads), err)
	}
	for _, h := range heads {
		if found, err := m.p.App.Reports.Integrity(t.Context(), h.Company); err != nil || !found.Intact() {
			t.Errorf("%s does not add up: %v, %v", h.Company, found.Wrongs, err)
		}
	}
}

// nothingIsLost checks that the ledger has all operations that were confirmed to callers or
// delivered by the provider.
func (m *market) nothingIsLost(t *testing.T) {
	acknowledged, lost := 0, 0
	for _, o := range m.orders {
		if o.reference == "" || o.path == validate {
			continue
		}
		if acknowledged++; !known(o.by, o.reference) {
			lost++
			t.Logf("lost: %s %s, which was told %s", o.path, o.key, o.told)
		}
	}
	sales, strange := m.p.Sales(), 0
	for reference := range sales {
		if !slices.ContainsFunc(m.companies, func(c *apptest.Client) bool { return known(c, reference) }) {
			strange++
		}
	}
	t.Logf("%d operations acknowledged, %d lost; %d deliveries, %d of them in no ledger", acknowledged, lost, len(sales), strange)
	if lost > 0 || strange > 0 {
		t.Errorf("%d of %d acknowledged operations are lost, and %d of %d deliveries are in no ledger", lost, acknowledged, strange, len(sales))
	}
}

// known reports whether the ledger has an operation of the company with this reference.
func known(c *apptest.Client, reference string) bool {
	return c.Do(http.MethodGet, "/api/v1/outcomes/"+reference, nil).Status == http.StatusOK
}

// repeat sends every order again under its key, until each order has a final response. The response
// must name the operation that was confirmed before.
func (m *market) repeat(t *testing.T) {
	m.p.Advance(2 * window) // all first requests to the provider have ended
	changed := 0
	for _, o := range m.orders {
		earlier := o.reference
		apptest.Eventually(t, func() string {
			if m.ask(t, o); o.told.Status != http.StatusOK && o.told.Status != http.StatusBadRequest {
				return fmt.Sprintf("%s %s is told %s", o.path, o.key, o.told)
			}
			return ""
		})
		if earlier != "" && o.reference != earlier {
			changed++
			t.Logf("%s %s was told of %s, and then %s", o.path, o.key, earlier, o.told)
		}
	}
	if changed > 0 {
		t.Errorf("%d of %d keys gave another answer after the failover", changed, len(m.orders))
	}
}

// settle moves the clock until the resolver has ended all open operations.
func (m *market) settle(t *testing.T) {
	for range 3 {
		m.p.Advance(10 * time.Minute)
	}
	for _, c := range m.companies {
		apptest.Eventually(t, func() string {
			if open := c.Open(); len(open) > 0 {
				return fmt.Sprintf("%d operations are open, such as %+v", len(open), open[0])
			}
			return ""
		})
	}
}

// nothingIsBoughtTwice checks that the provider delivered each successful operation exactly once,
// and delivered nothing else.
func (m *market) nothingIsBoughtTwice(t *testing.T) {
	sales := m.p.Sales()
	for _, o := range m.orders {
		if o.reference == "" || o.path == validate {
			continue
		}
		if !known(o.by, o.reference) {
			t.Errorf("%s %s: the book does not have the operation of its last answer, %s", o.path, o.key, o.told)
			continue
		}
		want := int64(0)
		if o.by.Outcome(o.reference).Status == "SUCCESS" {
			want = 1
		}
		if got := sales[o.reference].Executions; got != want {
			t.Errorf("%s %s was delivered %d times, not %d", o.path, o.key, got, want)
		}
		delete(sales, o.reference)
	}
	if len(sales) > 0 {
		t.Errorf("%d deliveries belong to no key: something was bought again", len(sales))
	}
}
