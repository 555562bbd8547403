package operation_test

import (
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// charging returns a confirmed reply in which the provider charges us this amount.
func charging(k money.Kobo) provider.Answer { a := confirmed; a.Charge = k; return a }

// charged fails the test unless want is the total of all charges in the ledger, and transfers is
// the number of the operation's charge transfers.
func (p *plant) charged(o operation.Operation, want money.Kobo, transfers int64) {
	p.t.Helper()
	k, err := p.book.Balance(p.t.Context(), p.company, "charge/test")
	p.must(err)
	n, err := db.One(p.t.Context(), p.db, db.Value[int64], `SELECT count(*) FROM ledger_transfer
		WHERE company_id = $1 AND reference = $2 AND kind = 'charge' AND credit_account = 'provider/test'`, o.Company, o.ID)
	p.must(err)
	if k != -want || n != transfers {
		p.t.Errorf("the charges are %s in %d transfers, not %s in %d", -k, n, want, transfers)
	}
}

// The provider's charge is booked in the same commit as the outcome, and only if the operation
// succeeds. The company does not pay the charge.
func TestAChargeIsBookedWithTheOutcome(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		p.run(o, charging(1075))
		p.stands(o, operation.Success)
		p.charged(o, 1075, 1)
	})
	each(t, func(t *testing.T, p *plant) {
		o := p.unknown()
		p.says(charging(1075))
		p.clock.Advance(window * 2)
		p.poll(o)
		p.stands(o, operation.Success)
		p.charged(o, 1075, 1)
	})
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		no, open := rejected, silence
		no.Charge, open.Charge = 1075, 1075
		p.run(o, open)
		p.charged(o, 0, 0)
		_, err := p.Notified(t.Context(), o.Company, o.ID, no)
		p.must(err)
		p.stands(o, operation.Failed)
		p.charged(o, 0, 0)
	})
}

// If the provider reports its charge only after the outcome, and in several replies, the charge is
// booked only once. A different charge in a further reply is not booked.
func TestAChargeThatIsNamedLaterIsBookedOnce(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		p.run(o, confirmed)
		p.charged(o, 0, 0)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := p.Notified(t.Context(), o.Company, o.ID, charging(1075)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		p.stands(o, operation.Success)
		p.charged(o, 1075, 1)
		for _, k := range []money.Kobo{0, 500, 2150} {
			_, err := p.Notified(t.Context(), o.Company, o.ID, charging(k))
			p.must(err)
		}
		p.charged(o, 1075, 1)
	})
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		p.run(o, charging(1075))
		_, err := p.Notified(t.Context(), o.Company, o.ID, charging(500))
		p.must(err)
		p.charged(o, 1075, 1)
		if list := p.open(); len(list) > 0 {
			t.Errorf("cases: %+v", list)
		}
	})
}

// A reversal returns the amount to the company, but the provider's charge stays booked.
func TestAReversalKeepsTheCharge(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := p.begin()
		p.run(o, charging(1075))
		back := rejected
		back.Charge, back.Reversed = 1075, true
		_, err := p.Notified(t.Context(), o.Company, o.ID, back)
		p.must(err)
		p.stands(o, operation.Reversed)
		p.charged(o, 1075, 1)
		_, err = p.Notified(t.Context(), o.Company, o.ID, charging(1075))
		p.must(err)
		p.charged(o, 1075, 1)
	})
}
