package torture

import (
	"math"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// Each restore ends one life of the database and begins another. The next life goes on from the backup,
// so it lacks the lost time. Each answer from before the backup holds in all later lives.

// lost returns the times that restores have lost, in their order.
func (h *History) lost() (all []Lost) {
	for _, b := range h.Breaks {
		if b.Lost != nil {
			all = append(all, *b.Lost)
		}
	}
	return all
}

// covers reports whether the lost time has the whole call.
func (l Lost) covers(c Call) bool { return c.Begin > l.Copied && c.End < l.Down }

// touches reports whether what the call did, or what its answer says, may be lost.
func (l Lost) touches(c Call) bool { return c.Begin < l.Down && c.End > l.From }

// mayBeLost reports whether a restore may have lost what the call did.
func (h *History) mayBeLost(c Call) bool {
	for _, l := range h.lost() {
		if l.touches(c) {
			return true
		}
	}
	return false
}

// reference returns the reference of a payment at its provider. It follows from the key, also without an answer.
func (c Call) reference() string {
	switch c.Kind {
	case purchase:
		return operation.Reference(c.Company, vtu.Kind, c.Key)
	case funding:
		return operation.Reference(c.Company, card.Kind, c.Key)
	case payout:
		return c.Key
	}
	return ""
}

// follows reports whether an answer came after the begin of a lost time. It may miss what was lost.
func (h *History) follows(c Call) bool {
	return slices.ContainsFunc(h.lost(), func(l Lost) bool { return c.End > l.From })
}

// losses returns how many restores may have lost each payment, by its reference.
func (h *History) losses() map[string]int64 {
	out := map[string]int64{}
	for _, l := range h.lost() {
		touched := map[string]bool{}
		for _, c := range h.Calls {
			if ref := c.reference(); ref != "" && l.touches(c) && !touched[ref] {
				touched[ref] = true
				out[ref]++
			}
		}
	}
	return out
}

// lostPayments returns the payments that a restore may have lost, by their references. A purchase is there under that of the second biller too.
func (h *History) lostPayments() map[string]Call {
	out := map[string]Call{}
	if len(h.lost()) == 0 {
		return out
	}
	for _, c := range h.Calls {
		if ref := c.reference(); ref != "" && h.mayBeLost(c) {
			out[ref] = c
			if at := c.further(); at != "" {
				out[at] = c
			}
		}
	}
	return out
}

// seen are calls of a payment, each as one life of the database knows it.
type seen map[subject][]porcupine.Operation

func (s seen) add(c Call, said string, back int64) {
	key := subject{c.Company, c.Key}
	s[key] = append(s[key], porcupine.Operation{ClientId: c.Client + 1, Input: c.Kind == look, Call: c.Begin, Output: said, Return: back})
}

// lives returns the calls of each payment by its key, for each life of the database. A life has the calls of the
// lives before it, except for the lost ones. A request at its edge may have taken effect in it.
func (h *History) lives() (all []seen) {
	ends := h.lost()
	for n := range len(ends) + 1 {
		s, end := seen{}, int64(math.MaxInt64)
		if n < len(ends) {
			end = ends[n].Down
		}
		for _, c := range h.Calls {
			if !slices.Contains([]string{purchase, payout, funding, look}, c.Kind) || c.Begin >= end {
				continue
			}
			whole, part := c.End < end, true
			for _, l := range ends[:n] {
				whole, part = whole && !l.touches(c), part && !l.covers(c)
			}
			switch {
			case whole && c.State != unknown:
				s.add(c, c.State, c.End)
			case part && c.Kind != look: // it has no answer in this life, and may still be at work
				s.add(c, unknown, math.MaxInt64)
			}
		}
		all = append(all, s)
	}
	return all
}
