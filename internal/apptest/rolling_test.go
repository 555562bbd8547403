package apptest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

const (
	// lookEvery is the time between two checks of the balancer. The programs drain for much longer.
	lookEvery = 100 * time.Millisecond
	drainFor  = 3 * time.Second
)

// balancer sends each request to the next of the programs that were ready at the last check, like a load
// balancer that asks /readyz.
type balancer struct {
	mu       sync.Mutex
	programs []*apptest.Program
	ready    []string // the addresses of the ready programs
	next     int
	restarts int
}

// check asks all programs whether they are ready.
func (b *balancer) check(ctx context.Context) {
	b.mu.Lock()
	programs := slices.Clone(b.programs)
	b.mu.Unlock()
	var ready []string
	for _, p := range programs {
		if a, err := p.Raw(ctx, http.MethodGet, "/readyz", nil); err == nil && a.Status == http.StatusOK {
			ready = append(ready, address(p))
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ready = ready
}

// run checks the programs until ctx ends.
func (b *balancer) run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		b.check(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (b *balancer) choose() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ready) == 0 {
		return ""
	}
	b.next++
	return b.ready[b.next%len(b.ready)]
}

// replace replaces a program by another one: the new one starts before the old one stops.
func (b *balancer) replace(old, with *apptest.Program) {
	b.mu.Lock()
	b.programs = append(b.programs, with)
	b.restarts++
	b.mu.Unlock()
	old.Stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.programs = slices.DeleteFunc(b.programs, func(p *apptest.Program) bool { return p == old })
}

// turnover counts the answers of all callers.
type turnover struct {
	mu                           sync.Mutex
	acknowledged, reads, refused int
	last                         time.Time
	gap                          time.Duration // the longest time without an answer to any caller
}

func (n *turnover) answered(count *int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if !n.last.IsZero() {
		n.gap = max(n.gap, now.Sub(n.last))
	}
	n.last = now
	*count++
}

func (n *turnover) bought() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.acknowledged
}

// caller keeps a connection to each program, and never sends a request a second time.
type caller struct {
	b     *balancer
	lines map[string]*line
}

// send sends a request to the program that the balancer chooses.
func (c *caller) send(method, path, token, body string) (string, error) {
	to := c.b.choose()
	l := c.lines[to]
	if l == nil {
		var err error
		if l, err = dial(to); err != nil {
			return "", err
		}
		c.lines[to] = l
	}
	res, answer, err := l.send(method, path, token, body)
	if err != nil || res.Close {
		_ = l.Close()
		delete(c.lines, to)
	}
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", res.StatusCode, answer)
	}
	return answer, err
}

// shop buys and reads what was bought at whichever program is next, until the market closes.
func (c *caller) shop(t *testing.T, as *apptest.Client, bundle apptest.Bundle, name, token string, n *turnover, closed <-chan struct{}) {
	defer func() {
		for _, l := range c.lines {
			_ = l.Close()
		}
	}()
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for i := 0; ; i++ {
		select {
		case <-closed:
			return
		case <-pace.C:
		}
		key := fmt.Sprintf("%s-%d", name, i)
		order, err := json.Marshal(as.Order(bundle, key, "10"))
		if err == nil {
			_, err = c.send(http.MethodPost, apptest.PurchaseData, token, string(order))
		}
		if err != nil {
			n.answered(&n.refused)
			t.Errorf("the purchase %s failed: %v", key, err)
			continue
		}
		n.answered(&n.acknowledged)
		if _, err := c.send(http.MethodGet, "/api/v1/vtu/transaction/"+key, token, ""); err != nil {
			n.answered(&n.refused)
			t.Errorf("the read of %s failed: %v", key, err)
			continue
		}
		n.answered(&n.reads)
	}
}

// Three programs are replaced in turn under load, behind a balancer that asks /readyz. No request fails, each
// purchase is executed once, and any program knows what another one has just answered.
func TestThreeProgramsAreReplacedInTurn(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home, b, n := apptest.NewHome(t, dialect), &balancer{}, &turnover{}
		start := func() *apptest.Program { return home.Start(t, apptest.Drain(drainFor)) }
		for range 3 {
			b.programs = append(b.programs, start())
		}
		first := b.programs[0]
		bundle := first.Bundle()
		tokens, _, err := first.Tokens(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b.check(t.Context())
		ctx, stop := context.WithCancel(t.Context())
		closed := make(chan struct{})
		var looking, callers sync.WaitGroup
		looking.Go(func() { b.run(ctx) })
		as := first.As(first.Reference, first.APIKey, first.SettlementID)
		for i := range 6 {
			c := &caller{b: b, lines: map[string]*line{}}
			callers.Go(func() { c.shop(t, as, bundle, fmt.Sprint("rolling-", i), tokens.AccessToken, n, closed) })
		}
		more := func() {
			want := n.bought() + 20
			apptest.Eventually(t, func() string {
				if got := n.bought(); got < want {
					return fmt.Sprintf("%d purchases of %d", got, want)
				}
				return ""
			})
		}
		var newest *apptest.Program
		for _, old := range slices.Clone(b.programs) {
			more()
			newest = start()
			b.replace(old, newest)
		}
		more()
		close(closed)
		callers.Wait()
		stop()
		looking.Wait()
		transactions := newest.Audit(t, apptest.DevFloat)
		t.Logf("%d programs replaced: %d purchases acknowledged, %d reads, %d failed, longest gap %v",
			b.restarts, n.acknowledged, n.reads, n.refused, n.gap.Round(time.Millisecond))
		if len(transactions) != n.acknowledged {
			t.Errorf("%d purchases in the book", len(transactions))
		}
	})
}
