package vtu

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// requery asks the biller of the purchase's last attempt for its outcome, even if the routes now
// choose a different biller. A different biller does not know the purchase, and must not repeat
// the purchase.
func (s *Shop) requery(ctx context.Context, o operation.Operation) provider.Answer {
	b := s.Billers[o.Provider]
	if b == nil {
		return provider.NotConfigured
	}
	p, err := s.findPurchase(ctx, o.Company, o.ID)
	if err != nil {
		s.Log.Warn("a purchase could not be read before its requery", "operation", o.ID, "error", err)
		return provider.Answer{Code: "unread"}
	}
	a := b.Requery(ctx, provider.Sale{Reference: o.OurReference(), Begun: o.CreatedAt, Kind: p.Type, Theirs: o.ProviderReference})
	if a.Outcome == provider.Rejected && !a.Found && o.ProviderReference != "" && s.Operations.MayRepeat(o) {
		// The biller may have refused the repetition, whose id this is, and have carried out the request before it.
		return provider.Answer{Code: codeRepetition, Message: a.Message}
	}
	if !a.Missing && !a.Found {
		return s.unlessMoved(ctx, o, p.Type, a)
	}
	proven, err := s.proven(ctx, o.Provider, p.Type)
	if err == nil && a.Found && !proven {
		err = s.prove(ctx, o.Provider, p.Type, o.OurReference())
	}
	if err != nil {
		s.Log.Warn("whether a biller looks up our references could not be read or written", "provider", o.Provider, "error", err)
	}
	if a.Missing && !proven {
		a = s.unproven(ctx, b, o, p.Type, a)
	}
	return s.unlessMoved(ctx, o, p.Type, a)
}

// proven reports whether the biller looks up purchases of a kind by our references.
func (s *Shop) proven(ctx context.Context, biller string, kind provider.ServiceKind) (bool, error) {
	lookups, set := s.Lookups[biller]
	if !set || lookups.Of(kind) == provider.Proven {
		return true, nil
	}
	return s.isProven(ctx, biller, kind)
}

// prove records that a biller has found a purchase by our reference, with a line in the audit log.
func (s *Shop) prove(ctx context.Context, biller string, kind provider.ServiceKind, reference string) error {
	return s.DB.Tx(ctx, func(q db.Querier) error {
		added, err := addProof(ctx, q, biller, kind, s.Clock.Now())
		if err != nil || !added || s.Audit == nil {
			return err
		}
		return s.Audit(ctx, q, "lookup.proven", biller+"/"+string(kind), map[string]string{"reference": reference})
	})
}

// reversible is the age from which a debit on the statement counts. Before this age, the biller may
// still return the money of a purchase that it could not deliver.
const reversible = 15 * time.Minute

// unproven returns the reply about a purchase that a biller does not find, if it is not proven that
// the biller looks up our references. The absence proves nothing. But the statement of the account
// that pays may show the purchase. A purchase of power is never confirmed by the statement, because
// the statement does not contain the meter's token.
func (s *Shop) unproven(ctx context.Context, b provider.Biller, o operation.Operation, kind provider.ServiceKind, a provider.Answer) provider.Answer {
	a.Unproven = true
	books, able := b.(provider.Bookkeeper)
	if !able || s.Clock.Now().Before(o.CreatedAt.Add(reversible)) {
		return a
	}
	taken, returned, unclear, err := s.onStatement(ctx, books, o.OurReference(), o.CreatedAt)
	switch {
	case err != nil:
		s.Log.Warn("the statement could not be read for a purchase", "operation", o.ID, "error", err)
	case unclear:
		s.Log.Warn("a line of the statement names a purchase, but may belong to something else", "operation", o.ID)
	case taken > 0 && returned >= taken:
		return provider.Answer{Outcome: provider.Rejected, Code: "reversed", Message: "The biller returned the money"}
	case taken > 0 && returned == 0 && kind != provider.Utility:
		return provider.Answer{Outcome: provider.Confirmed, Code: "statement", Sold: taken}
	}
	return a
}

// onStatement adds up the lines of the statement that belong to a reference of ours since its purchase was
// created: the money taken from the account and the money returned to it. Unclear is true if further lines name the
// reference. The sums then decide nothing.
func (s *Shop) onStatement(
	ctx context.Context, books provider.Bookkeeper, sent string, created time.Time,
) (taken, returned money.Kobo, unclear bool, err error) {
	const slack = time.Hour // for the difference between the bank's clock and ours
	from, to := created.Add(-slack), s.Clock.Now().Add(slack)
	seen := map[string]bool{}
	for page, more := 0, true; more && err == nil; page++ {
		var lines []provider.StatementLine
		lines, more, err = books.Statement(ctx, from, to, page)
		for _, l := range lines {
			ours, perhaps := belongs(l, sent)
			again := seen[l.Identity()]
			seen[l.Identity()] = true
			switch {
			case again, !ours:
			case l.Credit:
				returned += l.Amount
			default:
				taken += l.Amount
			}
			unclear = unclear || perhaps
		}
	}
	return taken, returned, unclear, err
}

// belongs reports whether a line of the statement belongs to a purchase with this reference. The reference of the line
// decides first: a line with the reference of another payment belongs to that payment, whatever its narration says. The
// company writes the narration of its payouts. Otherwise the narration decides, if the bank wrote it: that of a debit or of
// a return. Perhaps is true if only words name the purchase that another sender, or the other side of a transfer between
// banks, may have written.
func belongs(l provider.StatementLine, sent string) (ours, perhaps bool) {
	own := provider.References(l.Reference)
	isSession := func(name string) bool { return strings.Trim(name, "0123456789") == "" }
	switch {
	case strings.TrimSpace(l.Reference) == sent, slices.Contains(own, sent):
		return true, false
	case !slices.Contains(provider.References(l.Narration), sent), slices.ContainsFunc(own, func(n string) bool { return !isSession(n) }):
		return false, false
	case len(own) > 0, l.Credit && !l.Reversal:
		return false, true
	}
	return true, false
}
