package operation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/operation"
)

// If the provider has sold a different amount than the order's, the operation stays PENDING with one
// case. No money moves before operators decide. The right amount is a success.
func TestAnotherAmountThanTheOrdersIsACase(t *testing.T) {
	wrong, right := confirmed, confirmed
	wrong.Sold, right.Sold = price*100, price
	each(t, func(t *testing.T, p *plant) {
		p.stands(p.run(p.begin(), right), operation.Success)
	})
	for name, reply := range map[string]func(p *plant, o operation.Operation){
		"first call": func(p *plant, o operation.Operation) { p.run(o, wrong) },
		"requery": func(p *plant, o operation.Operation) {
			p.run(o, silence)
			p.says(wrong)
			p.clock.Advance(time.Minute)
			p.poll(o)
		},
		"notification": func(p *plant, o operation.Operation) {
			p.run(o, silence)
			_, err := p.Notified(p.t.Context(), o.Company, o.ID, wrong)
			p.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p *plant) {
				o := p.begin()
				reply(p, o)
				p.stands(o, operation.Pending)
				cases := p.open()
				if len(cases) != 1 || cases[0].Reason != operation.OrderAmount || !strings.Contains(cases[0].Detail, "30.00") || !strings.Contains(cases[0].Detail, "3000.00") {
					t.Fatalf("cases: %+v", cases)
				}
				p.says(wrong)
				for next := p.clock.Now(); !next.IsZero(); {
					p.clock.Advance(time.Hour)
					next = p.poll(o)
				}
				p.stands(o, operation.Pending)
				if again := p.open(); len(again) != 1 {
					t.Errorf("after 72 hours: %+v", again)
				}
			})
		})
	}
}

// An absence proves nothing if the look-up by our reference is unproven. After the grace period it is
// a case, and never a refund.
func TestAnUnprovenAbsenceIsACase(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		unproven := missing
		unproven.Unproven = true
		p.says(unproven)
		o := p.unknown()
		for range 6 {
			p.clock.Advance(4 * time.Minute)
			p.poll(o)
		}
		p.stands(o, operation.Pending)
		if cases := p.open(); len(cases) != 1 || cases[0].Reason != operation.Unresolved {
			t.Fatalf("cases: %+v", cases)
		}
		p.says(missing) // the look-up is proven by now
		p.clock.Advance(time.Hour)
		p.poll(o)
		p.stands(o, operation.Failed)
	})
}
