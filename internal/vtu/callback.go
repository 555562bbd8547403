package vtu

import (
	"context"
	"net/http"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// CallbackHandler returns the HTTP handler for the callbacks of one biller. The function genuine
// checks the secret in the path. A callback is not signed, so it proves nothing: the handler asks
// the biller for the outcome of the purchase. If the handler cannot, the response is an error, and
// the biller sends the callback again.
func (s *Shop) CallbackHandler(biller string, genuine func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		by, able := s.Billers[biller].(provider.SaleReceiver)
		if !able || !genuine(r) {
			inbox.Say(w, http.StatusNotFound, "Not found")
			return
		}
		body, ok := inbox.Read(w, r)
		if !ok {
			return
		}
		reference, err := by.ParseSaleNotice(body)
		if err != nil {
			s.Log.Warn("a biller's callback could not be read", "provider", biller, "error", err)
			inbox.Say(w, http.StatusBadRequest, "The callback cannot be read")
			return
		}
		if err := s.Notified(r.Context(), biller, reference); err != nil {
			s.Log.Warn("a biller's callback could not be followed up", "provider", biller, "error", err)
			inbox.Say(w, http.StatusServiceUnavailable, "Service temporarily unavailable")
			return
		}
		inbox.Reply(w, http.StatusOK, `{"response":"success"}`)
	})
}

// Notified asks the biller for the outcome of a purchase, because a callback names the purchase. If
// the biller has returned the money of a successful purchase, Notified opens a case. It ignores a
// reference that is not a purchase at this biller. After a success, no job asks about the purchase
// again, so Notified returns an error if the biller's reply leaves the outcome open.
func (s *Shop) Notified(ctx context.Context, biller, reference string) error {
	company, err := db.OrZero(s.owner(ctx, reference))
	if err != nil {
		return err
	}
	purchaseID := reference
	if attempt, err := s.attempt(ctx, company, reference); err != nil {
		return err
	} else if attempt.State == operation.AttemptUnstarted {
		return s.late(ctx, biller, attempt)
	} else if attempt.OperationID != "" {
		company, purchaseID = attempt.Company, attempt.OperationID
	}
	if company == "" {
		return nil
	}
	o, err := s.Operations.Find(ctx, company, purchaseID)
	if err != nil || o.Provider != biller || o.State == operation.Reversed {
		return err
	}
	if o.InFlight(s.Clock.Now()) { // the purchase may still move, so the callback must come again
		return fault.New(fault.Unavailable, "the request of the purchase is still running")
	}
	a := s.requery(ctx, o)
	if o.State == Success && a.Outcome == provider.Unknown {
		return fault.Newf(fault.Unavailable, "%s did not give the outcome: %s", biller, a.Code)
	}
	_, err = s.Operations.Replied(ctx, o, a)
	return err
}

// attempt returns the attempt with a reference of ours. It is empty if there is none. Parameter
// company is the owner of the purchase with this ID, or "".
func (s *Shop) attempt(ctx context.Context, company, reference string) (operation.Attempt, error) {
	if company == "" {
		var err error
		if company, err = db.OrZero(s.Operations.AttemptOwner(ctx, reference)); err != nil || company == "" {
			return operation.Attempt{}, err
		}
	}
	return db.OrZero(s.Operations.FindAttempt(ctx, company, reference))
}

// late asks a biller about an attempt that had definitely never started there, because a callback names
// it. If the biller has the purchase all the same, late opens a case, because the purchase went on at a
// different biller.
func (s *Shop) late(ctx context.Context, biller string, t operation.Attempt) error {
	if t.Provider != biller {
		return nil
	}
	a, err := s.askAgain(ctx, t)
	switch {
	case err != nil:
		return err
	case a.Missing && !a.Unproven, a.Outcome == provider.Rejected:
		return nil
	case a.Outcome == provider.Unknown && !a.Found && !a.Missing:
		return fault.Newf(fault.Unavailable, "%s did not give the outcome: %s", biller, a.Code)
	}
	return s.Operations.Late(ctx, t, a)
}

// CheckAttempt runs an operation.AttemptJob. If the biller has the purchase all the same, or says nothing
// definite for 72 hours, CheckAttempt opens a case. No money moves.
func (s *Shop) CheckAttempt(ctx context.Context, j job.Job) (next time.Time, err error) {
	t, err := s.Operations.FindAttempt(ctx, j.Company, j.Subject)
	switch now := s.Clock.Now(); {
	case err != nil:
		return time.Time{}, err
	case t.State != operation.AttemptUnstarted:
		return time.Time{}, nil
	case now.Before(t.FirstCheck()):
		return t.FirstCheck(), nil
	}
	a, err := s.askAgain(ctx, t)
	if err != nil {
		return time.Time{}, err
	}
	if a.Found && a.Outcome != provider.Rejected || a.Outcome == provider.Confirmed {
		return time.Time{}, s.Operations.Late(ctx, t, a)
	}
	due := j.RunAt
	if j.LastError != "" {
		due = t.FirstCheck() // the pause after the failed run has replaced the planned time
	}
	next, more := t.AttemptCheck(a, due, s.Clock.Now())
	switch {
	case more:
		return next, nil
	case a.Outcome == provider.Rejected || a.Missing:
		return time.Time{}, nil
	}
	return time.Time{}, s.Operations.Late(ctx, t, a)
}

// askAgain asks a biller about an attempt that had definitely never started there. If the biller does not
// find the reference and is not proven to look it up, the reply is unproven, and the statement of the
// account that pays decides.
func (s *Shop) askAgain(ctx context.Context, t operation.Attempt) (provider.Answer, error) {
	b := s.Billers[t.Provider]
	if b == nil {
		return provider.NotConfigured, nil
	}
	p, err := s.findPurchase(ctx, t.Company, t.OperationID)
	if err != nil {
		return provider.Answer{}, err
	}
	a := b.Requery(ctx, provider.Sale{Reference: t.Reference, Begun: p.CreatedAt, Kind: p.Type})
	if !a.Missing {
		return a, nil
	}
	proven, err := s.proven(ctx, t.Provider, p.Type)
	books, able := b.(provider.Bookkeeper)
	if err != nil || proven || !able {
		a.Unproven = !proven
		return a, err
	}
	a.Unproven = true
	taken, returned, _, err := s.onStatement(ctx, books, t.Reference, p.CreatedAt)
	if err == nil && taken > returned {
		a = provider.Answer{Outcome: provider.Confirmed, Code: "statement"}
	}
	return a, err
}
