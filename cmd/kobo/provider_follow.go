package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
)

// followEvery is the time between two looks at an operation.
const followEvery = time.Second

// run makes the orders one after the other, follows each to its end, and prints what came of it. An
// order that fails does not stop the next one. An unknown outcome stops all further spending.
func (s *spender) run(ctx context.Context, orders []order) error {
	before, left := s.from.Balance, s.most
	var wrong error
	for _, o := range orders {
		if err := s.affords(ctx, &o, left); err != nil {
			wrong = errors.Join(wrong, err)
			continue
		}
		err := s.settle(ctx, o, false)
		left -= o.Cost
		wrong = errors.Join(wrong, err)
		if errors.As(err, new(still)) {
			break
		}
	}
	if err := s.account(ctx); err != nil {
		return errors.Join(wrong, err)
	}
	_, err := fmt.Fprintf(s.out, "balance before ₦%s, after ₦%s\n", before, s.from.Balance)
	return errors.Join(wrong, err)
}

// settle sends an order, follows it, and prints what came of it. The state file contains the order until
// its outcome is known, and the terminal shows its Idempotency-Key before it is sent. If an earlier run
// may have sent the order, the file exists already.
func (s *spender) settle(ctx context.Context, o order, earlier bool) error {
	if !earlier {
		if err := s.note(o); err != nil {
			return fmt.Errorf("%s was not sent: %w", o.What, err)
		}
	}
	if _, err := fmt.Fprintf(s.out, "sending %s, Idempotency-Key %s\n", o.What, o.Key); err != nil && !earlier {
		return errors.Join(fmt.Errorf("%s was not sent: %w", o.What, err), s.forget())
	}
	did, err := s.make(ctx, o, earlier)
	fmt.Fprintf(s.out, "%s: %s, reference %s, at the provider %s, moved %s\n", did.status, o.What, dash(did.reference), dash(did.theirs), did.moved)
	if errors.As(err, new(still)) {
		return err
	}
	return errors.Join(err, s.forget())
}

// affords asks again what an order costs, since fees may have changed since the plan. It returns an error
// if that is more than what is left.
func (s *spender) affords(ctx context.Context, o *order, left money.Kobo) error {
	err := s.preview(ctx, o)
	if err == nil && o.Cost > left {
		err = fmt.Errorf("it costs %s now, and only %s is left", o.Cost, left)
	}
	if err != nil {
		return fmt.Errorf("%s was not sent: %w", o.What, err)
	}
	return nil
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// outcome is what came of an order.
type outcome struct {
	reference, theirs, status string
	moved                     money.Kobo // with the fee, if the money has not come back
}

// make sends an order and follows it until its outcome is known, or until the time is over. The
// parameter lost is true if an earlier run may have sent the same order.
func (s *spender) make(ctx context.Context, o order, lost bool) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, max(s.wait, time.Minute)+s.http.Timeout)
	defer cancel()
	until := time.Now().Add(s.wait)
	reference, definite, err := s.send(ctx, o, until, lost)
	switch {
	case err == nil:
		return s.follow(ctx, o, reference, until)
	case definite:
		return outcome{status: "REFUSED"}, fmt.Errorf("%s was refused, and no money is gone: %w", o.What, err)
	}
	return outcome{status: "UNKNOWN"}, still{fmt.Errorf(
		"%s: no response says what became of it: %w. The next run settles it first. Or look for it in GET /api/v1/outcomes. POST /api/v1/%s, repeated unchanged with Idempotency-Key %s, moves nothing twice",
		o.What, err, o.Path, o.Key)}
}

// send posts an order, and returns the reference of the operation. If no response comes, it repeats the
// same request with the same Idempotency-Key. After a refusal it asks Kobo about this key, because the
// request may have begun an operation all the same. The result definite is true if an error means that
// nothing was paid.
func (s *spender) send(ctx context.Context, o order, until time.Time, lost bool) (reference string, definite bool, err error) {
	again := time.NewTicker(followEvery)
	defer again.Stop()
	for {
		var made struct{ TransactionID, Reference string }
		err := s.keyed(ctx, o, &made)
		var no refusal
		switch {
		case err == nil:
			return made.TransactionID + made.Reference, true, nil
		case !errors.As(err, &no), no.status == http.StatusConflict, no.status >= http.StatusInternalServerError:
			lost = true
		default:
			use, unasked := s.used(ctx, o.Key)
			switch {
			case use.reference != "":
				return use.reference, true, nil
			case use.done, unasked == nil && !use.found && !lost:
				return "", true, err
			}
			err = errors.Join(err, unasked)
		}
		if !time.Now().Before(until) {
			return "", false, err
		}
		select {
		case <-ctx.Done():
			return "", false, err
		case <-again.C:
		}
	}
}

// keyed posts an order with its Idempotency-Key.
func (s *spender) keyed(ctx context.Context, o order, data any) error {
	envelope := struct{ Data any }{data}
	return s.ask(ctx, http.MethodPost, "/api/v1/"+o.Path, o.Body, &envelope, "Authorization", "Bearer "+s.token, "Idempotency-Key", o.Key)
}

// moneyMove is an operation as the API shows it. Each kind of operation has some of the fields.
type moneyMove struct {
	Status                       string
	Refunded                     bool
	ProviderReference, SessionID string
}

// follow looks at an operation until it is no longer PENDING, or until a time. The resolver of the
// running Kobo asks the provider meanwhile.
func (s *spender) follow(ctx context.Context, o order, reference string, until time.Time) (outcome, error) {
	again := time.NewTicker(followEvery)
	defer again.Stop()
	for {
		var now moneyMove
		err := s.api(ctx, http.MethodGet, "/api/v1/"+o.Show+reference, nil, &now)
		out := outcome{reference: reference, theirs: now.ProviderReference + now.SessionID, status: now.Status, moved: o.Cost}
		switch {
		case err == nil && now.Status == "SUCCESS":
			return out, nil
		case err == nil && now.Status != "PENDING":
			if !now.Refunded {
				return out, fmt.Errorf("%s is %s, and Kobo does not report a refund", o.What, now.Status)
			}
			out.moved = 0
			return out, fmt.Errorf("%s is %s, and no money is gone: it was refunded", o.What, now.Status)
		}
		if !time.Now().Before(until) {
			return s.unknown(ctx, o, out, err)
		}
		select {
		case <-ctx.Done():
			return s.unknown(ctx, o, out, err)
		case <-again.C:
		}
	}
}

// unknown returns the error for an operation whose outcome is still unknown, with what the resolver does
// next.
func (s *spender) unknown(ctx context.Context, o order, out outcome, err error) (outcome, error) {
	out.status = "UNKNOWN"
	var resolver struct {
		Attempts      int
		NextTryAt     string
		NeedsDecision bool
	}
	next := ""
	if s.api(ctx, http.MethodGet, "/api/v1/outcomes/"+out.reference, nil, &resolver) == nil {
		next = fmt.Sprintf(" Kobo has asked %d times and asks again at %s.", resolver.Attempts, resolver.NextTryAt)
		if resolver.NeedsDecision {
			next = " Two operators must decide its case."
		}
	}
	said := fmt.Errorf("%s is still unknown, and its money waits in clearing.%s Follow it by GET /api/v1/outcomes/%s; do not pay again",
		o.What, strings.TrimRight(next, "\n"), out.reference)
	return out, still{errors.Join(said, err)}
}
