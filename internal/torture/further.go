package torture

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// A run has two billers: the default bank, and a second one. While the first refuses each sale before it starts, purchases move to the
// second one, where their attempt has another reference. A restore holds such moves. Operators allow them again when no company
// repeats a purchase from before the restore any more, as docs/operating/incidents.md says.

// These are breaks about the two billers.
const (
	refusing = "biller refuses" // the first biller refuses each sale before it starts
	allowing = "moves allowed"  // operators allow moves after a restore
)

// These are the banks of a run. Each is a biller.
const (
	firstBank   = "safehaven"
	furtherBank = "second"
)

// furtherControls is the path of the sandbox's controls of the second biller.
const furtherControls = "/sandbox/banks/" + furtherBank

// config returns the configuration of the programs of a run.
func config(data, database string) app.Config {
	cfg := app.DevConfig(data, database)
	for _, name := range []string{firstBank, furtherBank} {
		cfg.Banks[name] = app.SafeHavenConfig{}
	}
	way := firstBank + ">" + furtherBank
	cfg.VTU.Routes = "AIRTIME=" + way + ", DATA=" + way
	return cfg
}

// furtherReference returns the reference of a purchase at the second biller. It follows from the first one.
func furtherReference(company, reference string) string {
	const attempt = 2
	return operation.Operation{Company: company, Kind: vtu.Kind, ID: reference}.AttemptReference(attempt)
}

// pair lets operators say which product of the second biller is the bundle. Without that only airtime moves.
func (w *world) pair(ctx context.Context) error {
	type row struct{ ID, Name, Vendor string }
	list := func(biller string) (rows []row, err error) {
		var page struct{ Data []row }
		err = w.by.data(ctx, 0, http.MethodGet, "products?kind=DATA&pageSize=100&biller="+biller, nil, &page)
		return page.Data, err
	}
	ours, err := list(firstBank)
	if err != nil {
		return err
	}
	theirs, err := list(furtherBank)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(ours, func(r row) bool { return r.ID == w.bundle.id })
	if i < 0 {
		return fmt.Errorf("operators do not see the bundle %s", w.bundle.id)
	}
	j := slices.IndexFunc(theirs, func(r row) bool { return r.Name == ours[i].Name && r.Vendor == ours[i].Vendor })
	if j < 0 {
		return fmt.Errorf("the second biller does not sell %q", ours[i].Name)
	}
	return w.by.data(ctx, 0, http.MethodPost, "product-pairs", map[string]string{"first": ours[i].ID, "second": theirs[j].ID}, nil)
}

// refuse lets the first biller refuse sales for a while.
func (b *breaker) refuse(ctx context.Context, length time.Duration) error {
	if err := b.tell(ctx, "/sandbox/vas-off", map[string]bool{"off": true}); err != nil {
		return err
	}
	wait(ctx, length)
	return b.tell(ctx, "/sandbox/vas-off", map[string]bool{"off": false})
}

// hold is a hold of moves after a restore. Times are microseconds since the begin of the run.
type hold struct {
	down      int64 // the programs had ended
	opened    int64 // an operator opened API access
	forgotten int64 // the companies gave up their orders from before the restore; 0 until then
}

// The companies give up their orders from before a restore some time after it, and later operators allow moves. In between Kobo answers
// the last of these orders.
const (
	forgetAfter = 10 * time.Second
	allowAfter  = patience + 6*time.Second
)

// afterRestore does what follows some time after a restore.
func (b *breaker) afterRestore(ctx context.Context) error {
	since := func(at int64) time.Duration { return time.Duration(b.now()-at) * time.Microsecond }
	switch h := b.hold; {
	case h == nil:
		return nil
	case h.forgotten > 0 && since(h.forgotten) >= allowAfter:
		return b.act(ctx, plan{kind: allowing})
	case h.forgotten == 0 && since(h.opened) >= forgetAfter:
		b.giveUp(h)
	}
	return nil
}

// giveUp lets the companies give up their purchases from before a restore. It waits for the answers to those that are under way.
func (b *breaker) giveUp(h *hold) {
	b.forgotten.Store(h.down)
	b.repeating.Lock()
	defer b.repeating.Unlock()
	h.forgotten = b.now()
}

// allow lets purchases move again.
func (b *breaker) allow(ctx context.Context) (err error) {
	ctx = context.WithoutCancel(ctx)
	if h := b.hold; h != nil && h.forgotten == 0 { // in a replay
		b.giveUp(h)
		wait(ctx, allowAfter)
	}
	b.hold = nil
	const rest, tries = time.Second, 60
	for range tries { // the database may be away
		if err = b.endHold(ctx, b.copier); err == nil {
			return nil
		}
		wait(ctx, rest)
	}
	return err
}

// endHold ends the hold of moves at the time of Kobo's clock.
func (w *world) endHold(ctx context.Context, c *copier) error {
	now, err := w.clock(ctx)
	if err == nil {
		err = c.allowMoves(ctx, now)
	}
	return err
}

// isOld reports whether an order is a purchase from before the last restore, which may have lost it.
func (c *client) isOld(o order) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return o.call.Kind == purchase && len(c.gone) > 0 && o.made < c.gone[len(c.gone)-1].Down
}

// isForgotten reports whether the company does not send an order again: a restore may have lost the purchase, and moves are
// allowed since, or will be soon. So the purchase might be sold by both billers.
func (c *client) isForgotten(o order) bool {
	return o.call.Kind == purchase && o.made < c.forgotten.Load()
}

// allowedSince reports whether moves were allowed after a restore that may have lost the purchase. Its company does not repeat it
// since. A request without an answer may take effect somewhat later.
func (h *History) allowedSince(c Call) bool {
	const later = 15_000_000 // microseconds
	late := c
	if c.State == unknown {
		late.End += later
	}
	return c.Kind == purchase && slices.ContainsFunc(h.lost(), func(l Lost) bool {
		return l.touches(late) && slices.ContainsFunc(h.Breaks, func(b Break) bool { return b.Kind == allowing && b.At.Microseconds() > l.Open })
	})
}

// refusedSales returns the times in which the first biller refused all sales while moves were allowed.
func (h *History) refusedSales() (list []Break) {
	held := false
	for _, b := range h.Breaks {
		switch {
		case b.Lost != nil:
			held = true
		case b.Kind == allowing:
			held = false
		case b.Kind == refusing && !held:
			list = append(list, b)
		}
	}
	return list
}

// refusedFirst reports whether the first biller refused all sales during an order, while moves were allowed. Then the refund may be right at
// once, also without a move.
func (h *History) refusedFirst(orders []Call) bool {
	const window = 2_000_000 // microseconds of a first call, which may come when the client has given up
	return slices.ContainsFunc(h.refusedSales(), func(b Break) bool {
		from, to := b.At.Microseconds(), b.Ended.Microseconds()
		return slices.ContainsFunc(orders, func(c Call) bool { return c.Kind == purchase && c.Begin < to && c.End+window > from })
	})
}

// movedWhileHeld returns the purchases that have moved although their first request came after a restore, and their last answer before
// operators allowed moves.
func (h *History) movedWhileHeld() (list []string) {
	orders, lost := h.orders(), h.lost()
	for i, l := range lost {
		end := int64(math.MaxInt64)
		if i+1 < len(lost) {
			end = lost[i+1].Down
		}
		for _, b := range h.Breaks {
			if at := b.At.Microseconds(); b.Kind == allowing && at > l.Open {
				end = min(end, at)
			}
		}
		for _, reference := range h.Facts.Moved {
			own := orders[reference]
			if len(own) > 0 && !slices.ContainsFunc(own, func(c Call) bool { return c.Begin < l.Open || c.End > end || c.Status == 0 }) {
				list = append(list, reference)
			}
		}
	}
	return list
}

// executions returns what the providers were asked for.
func (w *world) executions(ctx context.Context) (said requests, err error) {
	var at, there []Execution
	for path, into := range map[string]*[]Execution{"/sandbox": &at, furtherControls: &there} {
		send := func() (answer, error) {
			return w.fleet.send(ctx, http.MethodGet, path+"/provider-ledger?all=true", nil)
		}
		if err = w.fleet.ok(ctx, send, into); err != nil {
			return said, err
		}
	}
	return joined(at, there, w.calls()), nil
}

// requests are what the providers were asked for.
type requests struct {
	all   []Execution
	moved []string // the purchases that Kobo has sent to the second biller
	both  []string // those of them that Kobo has sent to the first biller too
}

// joined adds what the second biller was asked for to the first list, under the first references of the purchases.
func joined(list, there []Execution, calls []Call) requests {
	out, first, place := requests{all: list}, map[string]string{}, map[string]int{}
	for _, c := range calls {
		if c.Kind == purchase {
			first[c.further()] = c.reference()
		}
	}
	for i, e := range list {
		place[e.Reference] = i
	}
	for _, e := range there {
		reference, known := first[e.Reference]
		if known {
			e.Reference = reference
		}
		i, both := place[e.Reference]
		if known && e.Requests > 0 {
			if out.moved = append(out.moved, reference); both && list[i].Requests > 0 {
				out.both = append(out.both, reference)
			}
		}
		if both {
			out.all[i] = out.all[i].with(e)
			continue
		}
		place[e.Reference] = len(out.all)
		out.all = append(out.all, e)
	}
	return out
}

// with adds what the second biller knows of a purchase. It is the word of the last biller that Kobo has sent the purchase to. The requests and
// executions of both are added up, so a purchase that both have got counts as sent twice.
func (e Execution) with(o Execution) Execution {
	sum := e
	if o.Requests > 0 {
		sum = o
	} else if e.Requests == 0 {
		sum.Denied = max(e.Denied, o.Denied) // it was sent to none, and Kobo has asked the last one
	}
	sum.Executions, sum.Requests = e.Executions+o.Executions, e.Requests+o.Requests
	return sum
}

// further returns the reference of a purchase at the second biller. It is "" for another call.
func (c Call) further() string {
	if c.Kind != purchase {
		return ""
	}
	return furtherReference(c.Company, c.reference())
}

// hadRequest reports whether a provider has ever had a request about the subject of a case. Operators ask before they say that a payment was
// executed.
func (w *world) hadRequest(ctx context.Context, c Case) (bool, error) {
	for path, reference := range map[string]string{"/sandbox": c.Subject, furtherControls: furtherReference(c.Company, c.Subject)} {
		a, err := w.fleet.send(ctx, http.MethodGet, path+"/provider-ledger?all=true&reference="+url.QueryEscape(reference), nil)
		if err == nil && a.status != http.StatusOK {
			err = fmt.Errorf("the provider's ledger: status %d", a.status)
		}
		var list struct{ Data []Execution }
		if err == nil {
			err = a.into(&list)
		}
		if err != nil || slices.ContainsFunc(list.Data, func(e Execution) bool { return e.Requests > 0 }) {
			return err == nil, err
		}
	}
	return false, nil
}

// mustMove reports whether purchases had to move: for some seconds in all, the first biller refused sales while moves were allowed.
func (h *History) mustMove() bool {
	const enough = 8 * time.Second
	var while time.Duration
	for _, b := range h.refusedSales() {
		while += b.Ended - b.At
	}
	return while >= enough
}
