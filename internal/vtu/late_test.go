package vtu_test

import (
	"context"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// puppet is VTpass with the replies of a test. A nil function leaves the reply to the sandbox.
type puppet struct {
	provider.Biller
	provider.SaleReceiver
	pay     func(ctx context.Context, p provider.Purchase) provider.Answer
	requery func(ctx context.Context, s provider.Sale) provider.Answer
}

func (b puppet) Pay(ctx context.Context, p provider.Purchase) provider.Answer {
	if b.pay != nil {
		return b.pay(ctx, p)
	}
	return b.Biller.Pay(ctx, p)
}

func (b puppet) Requery(ctx context.Context, s provider.Sale) provider.Answer {
	if b.requery != nil {
		return b.requery(ctx, s)
	}
	return b.Biller.Requery(ctx, s)
}

func refuses(context.Context, provider.Purchase) provider.Answer {
	return provider.Answer{Outcome: provider.Rejected, Unstarted: true, Code: "018"}
}

const topUp = 200 * money.Naira

// buy buys airtime under an idempotencyKey, or under a new one.
func (s *street) buy(key string) operation.Operation {
	s.t.Helper()
	o, c := s.order(), s.category(provider.Airtime, "MTN")
	if key != "" {
		o.IdempotencyKey = key
	}
	r, err := s.PurchaseAirtime(context.WithoutCancel(s.t.Context()), vtu.AirtimePurchase{Order: o, CategoryID: c.ID, Phone: "08031234510", Amount: topUp})
	s.must(err)
	return s.find(r.Transaction.ID)
}

// delivered returns how often the sandbox has delivered purchases with these references.
func (s *street) delivered(references ...string) (n int) {
	s.t.Helper()
	for _, r := range references {
		for _, row := range s.control("GET", "/sandbox/provider-ledger?reference="+r, "").Data {
			n += row.Executions
		}
	}
	return n
}

// A callback about the first attempt may arrive while the purchase moves. The biller's refusal of the
// first attempt then does not end the second one.
func TestACallbackDuringAMoveDecidesNothing(t *testing.T) {
	onStreet(t, provider.Proven, "*=vtpass>safehaven", func(t *testing.T, s *street) {
		held := s.balance()
		inPay, asking, moved, told := make(chan string, 1), make(chan struct{}), make(chan struct{}), make(chan struct{})
		s.Billers["vtpass"] = puppet{
			s.pass, s.pass,
			func(ctx context.Context, p provider.Purchase) provider.Answer {
				inPay <- p.Reference
				<-asking
				return refuses(ctx, p)
			},
			func(context.Context, provider.Sale) provider.Answer {
				close(asking)
				<-moved
				return provider.Answer{Outcome: provider.Rejected, Found: true, Code: "016", Reference: "v1"}
			},
		}
		s.Billers["safehaven"] = puppet{Biller: s.haven, pay: func(ctx context.Context, p provider.Purchase) provider.Answer {
			close(moved)
			<-told
			return s.haven.Pay(ctx, p)
		}}
		ahead := &clock.Movable{} // the program that takes the callback does not wait for the request
		ahead.MoveTo(6 * time.Second)
		s.Clock = ahead
		done := make(chan operation.Operation, 1)
		go func() { done <- s.buy("") }()
		reference := <-inPay
		s.must(s.Notified(t.Context(), "vtpass", reference))
		close(told)
		o := <-done
		if o.State != vtu.Success || o.Provider != "safehaven" || held-s.balance() != topUp || s.delivered(o.OurReference()) != 1 || s.cases(o) != "" {
			t.Errorf("%s at %s (%s), paid %s, cases %q", o.State, o.Provider, o.Code, (held - s.balance()).Decimal(), s.cases(o))
		}
	})
}

// A refusal of the first biller is what it has said before, and opens no case. A delivery opens a case,
// which stays when the second biller has no such purchase.
func TestALateDeliveryIsNotRefunded(t *testing.T) {
	onStreet(t, provider.Proven, "*=vtpass>safehaven", func(t *testing.T, s *street) {
		held, said := s.balance(), provider.Answer{Outcome: provider.Rejected, Found: true, Code: "failed", Reference: "v1"}
		s.Billers["vtpass"] = puppet{s.pass, s.pass, refuses, func(context.Context, provider.Sale) provider.Answer { return said }}
		s.Billers["safehaven"] = puppet{Biller: s.haven, pay: func(context.Context, provider.Purchase) provider.Answer {
			return provider.Answer{Code: provider.CodeTimeout} // never sent
		}}
		o := s.buy("")
		if code, _ := s.callback(update(o, "016")); code != 200 || s.cases(o) != "" {
			t.Errorf("a refusal: %d, cases %q", code, s.cases(o))
		}
		said = provider.Answer{Outcome: provider.Confirmed, Found: true, Code: "delivered", Reference: "v1"}
		if code, _ := s.callback(update(o, "000")); code != 200 || s.cases(o) != string(operation.LateAttempt) {
			t.Errorf("a delivery: %d, cases %q", code, s.cases(o))
		}
		o = s.resolve(o, 80*time.Hour)
		if o.State != vtu.Pending || held-s.balance() != topUp {
			t.Errorf("%s, paid %s, cases %q", o.State, (held - s.balance()).Decimal(), s.cases(o))
		}
	})
}

// A callback during the request gets an error, so that the biller sends it again. The purchase may move
// meanwhile, and the callback is then about the first attempt.
func TestACallbackDuringTheRequestComesAgain(t *testing.T) {
	onStreet(t, provider.Proven, "*=vtpass>safehaven", func(t *testing.T, s *street) {
		var code int
		s.Billers["vtpass"] = puppet{Biller: s.pass, SaleReceiver: s.pass, pay: func(_ context.Context, p provider.Purchase) provider.Answer {
			code, _ = s.callback(update(operation.Operation{ID: p.Reference}, "000"))
			return provider.Answer{Outcome: provider.Confirmed, Code: "delivered"}
		}}
		if o := s.buy(""); o.State != vtu.Success || code != 503 {
			t.Errorf("%s, the callback got %d", o.State, code)
		}
	})
}

// If the next biller has the vendor's service twice, the purchase does not move.
func TestAnAmbiguousCategoryStopsTheMove(t *testing.T) {
	onStreet(t, provider.Proven, "*=vtpass>safehaven", func(t *testing.T, s *street) {
		_, err := s.db.Exec(t.Context(), `INSERT INTO vtu_category (id, service_id, provider, code, vendor, name, active, updated_at)
			SELECT 'twin', service_id, provider, 'twin', vendor, name, 1, updated_at FROM vtu_category
			WHERE provider = 'safehaven' AND vendor = 'MTN' AND service_id = (SELECT id FROM vtu_service WHERE kind = 'AIRTIME')`)
		s.must(err)
		s.Billers["vtpass"] = puppet{s.pass, s.pass, refuses, nil}
		if o := s.buy(""); o.State != vtu.Failed || o.Attempt != 0 {
			t.Errorf("%s at %s", o.State, o.Provider)
		}
	})
}
