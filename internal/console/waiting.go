package console

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// waitingLife is how long the counts of the menu are shown before they are read again.
const waitingLife = 5 * time.Second

// mostCounted is the largest number of things of one kind that the menu counts.
const mostCounted = 100

// waiting counts what needs a person, for the menus of all people of the program.
type waiting struct {
	mu     sync.Mutex
	at     time.Time
	cases  int
	all    int            // what waits for a second operator
	money  int            // differences that nobody has explained, and adjustments that wait
	asked  map[string]int // the adjustments of them that this operator has asked for
	others map[string]int // what of it waits for somebody else than this operator, who asked for it
	sums   map[string]int // what of it is a case or an adjustment, which only some roles decide, by who asked for it
	seen   string         // a hash of what was read, so that a page knows when to load itself again
}

// version returns the hash of what was read last.
func (w *waiting) version() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

// needs returns how many things below an item of the menu need the person.
func (v *visit) needs(key string) int {
	if v.isForCompanies() {
		return 0 // the first page says it
	}
	w := v.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := (clock.System{}).Now(); now.Sub(w.at) >= waitingLife {
		v.log(v.Context(), "what needs a person could not be counted", w.read(v.Context(), v.console))
		w.at = now
	}
	switch key {
	case "cases":
		return w.cases
	case "waiting":
		n := w.all - w.others[v.by.Name]
		if v.maySettle() {
			return n
		}
		for by, some := range w.sums {
			if by != v.by.Name {
				n -= some
			}
		}
		return n
	case "money":
		return w.money - w.asked[v.by.Name]
	}
	return 0
}

// read counts the open cases, and what waits for a second operator.
func (w *waiting) read(ctx context.Context, c *console) error {
	newest, open, err := c.Operations.Cases(ctx, operation.CaseFilter{State: operation.Open}, mostCounted, 0)
	if err != nil {
		return err
	}
	proposals, err := c.Operators.ProposalsAfter(ctx, operator.Proposed, "", mostCounted)
	if err != nil {
		return err
	}
	cases, err := c.Operations.CasesAfter(ctx, operation.CaseFilter{State: operation.Open, Proposed: true}, "", mostCounted)
	if err != nil {
		return err
	}
	adjustments, err := c.Settlements.AdjustmentsAfter(ctx, settlement.Pending, "", mostCounted)
	if err != nil {
		return err
	}
	breaks := 0
	for _, one := range newest {
		if one.Reason.IsBreak() {
			breaks++
		}
	}
	w.money, w.asked = breaks+len(adjustments), map[string]int{}
	w.cases, w.all, w.others = int(open), len(proposals)+len(cases)+len(adjustments), map[string]int{}
	w.sums = map[string]int{}
	sum := sha256.New()
	fmt.Fprintln(sum, open)
	for _, p := range proposals {
		w.others[p.ProposedBy]++
		fmt.Fprintln(sum, p.ID, p.State)
	}
	for _, one := range cases {
		w.others[one.ProposedBy]++
		w.sums[one.ProposedBy]++
		fmt.Fprintln(sum, one.ID, one.Outcome, clock.Text(one.ProposedAt))
	}
	for _, a := range adjustments {
		w.others[a.CreatedBy]++
		w.sums[a.CreatedBy]++
		w.asked[a.CreatedBy]++
		fmt.Fprintln(sum, a.ID)
	}
	w.seen = hex.EncodeToString(sum.Sum(nil)[:8])
	return nil
}
