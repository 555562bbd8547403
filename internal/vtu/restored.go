package vtu

import (
	"context"
	"fmt"

	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// These are the codes of a purchase that a further biller may have made before a restore, and of one of which only a refused
// repetition is known.
const (
	codeMoved      = "moved"
	codeRepetition = "repetition_refused"
)

// first makes the first call of a purchase. After a restore the database does not know the attempts
// that were made since the backup, so a repeated order may be delivered already. If the purchase may be a
// repetition, first asks the other billers before it calls. A refusal decides nothing then (operation.Service.Restored):
// the resolver asks the biller.
func (s *Shop) first(ctx context.Context, o operation.Operation, b basket) provider.Answer {
	if s.Operations.MayRepeat(o) && s.movedBefore(ctx, o, b.Type, false) {
		return provider.Answer{Code: codeMoved}
	}
	return s.Billers[o.Provider].Pay(ctx, b.request(o))
}

// unlessMoved returns the biller's reply about a purchase. A reply that would refund a purchase from before the end
// of a hold of moves decides nothing if a further biller may have made the purchase before the restore. Operators may
// end the hold while purchases are open, so its end does not change that.
func (s *Shop) unlessMoved(ctx context.Context, o operation.Operation, kind provider.ServiceKind, a provider.Answer) provider.Answer {
	if s.Operations.MayRepeat(o) && o.Refundable(a) && s.movedBefore(ctx, o, kind, true) {
		return provider.Answer{Code: codeMoved}
	}
	return a
}

// movedBefore asks the billers about the attempts that may have followed the last one before a restore. Their
// references follow from the operation. The first attempt may have been at another biller, because operators may have changed the
// routes since. If a biller has made such an attempt, movedBefore opens a case
// and returns true. It also returns true if a reply is unclear. With strict, a missing reference is
// clear only if the biller is proven to look up our references.
func (s *Shop) movedBefore(ctx context.Context, o operation.Operation, kind provider.ServiceKind, strict bool) bool {
	for name, b := range s.Billers {
		for n := o.Attempt + 1; n <= int64(len(s.Billers)); n++ {
			reference := o.AttemptReference(n)
			if n == 1 && name == o.Provider {
				continue // the biller recognises the repetition itself
			}
			a := b.Requery(ctx, provider.Sale{Reference: reference, Begun: o.CreatedAt, Kind: kind})
			proven, err := s.proven(ctx, name, kind)
			switch {
			case a.Outcome == provider.Rejected, a.Missing && err == nil && (proven || !strict):
				continue
			case a.Found || a.Outcome == provider.Confirmed:
				err = s.Operations.OpenCase(ctx, o.Company, o.ID, operation.Unresolved, fmt.Sprintf(
					"%s has this purchase under the reference %s, from before a restore: it reports %s (%s)", name, reference, a.Outcome, a.Code))
			}
			if err != nil {
				s.Log.Warn("a further biller could not be asked about a purchase from before a restore", "company", o.Company, "operation", o.ID, "provider", name, "error", err)
			}
			return true
		}
	}
	return false
}
