package card_test

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/wire"
)

const confirming = "Card funding is being confirmed. Do not retry; check the card transaction status."

func TestAFundingThatTheIssuerAccepts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		f, err := w.fund(c.ID, 1000*money.Naira) // a funding may use the whole balance
		must(t, err)
		if f.Status != operation.Success || f.CardID != c.ID || f.Refunded {
			t.Errorf("%+v", f)
		}
		w.holds(0, 0, 1000*money.Naira)
		sent := w.issuer.funded
		if len(sent) != 1 || sent[0].Reference != f.Reference || sent[0].Account != "account-1" {
			t.Errorf("asked %+v", sent)
		}
		_, err = w.fund(c.ID, 1)
		w.refused(err, "Insufficient balance")
		events := w.events()
		if got := kinds(events); !slices.Equal(got, []string{"card.generated", "card.funding_pending", "card.funded"}) {
			t.Errorf("events %v", got)
		}
		now, err := w.Funding(t.Context(), w.company, f.Reference)
		must(t, err)
		text, err := json.Marshal(now)
		must(t, err)
		if string(text) != string(events[2].Data) {
			t.Errorf("the event says\n%s, the funding is\n%s", events[2].Data, text)
		}
	})
}

func TestAFundingThatTheIssuerDeclines(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		w.issuer.answer = no
		f, err := w.fund(c.ID, 500*money.Naira)
		must(t, err)
		if f.Status != operation.Failed || !f.Refunded {
			t.Errorf("%+v", f)
		}
		w.refused(w.Declined(f), "Sudo API Error: The card is blocked. Your balance has been refunded.")
		w.holds(1000*money.Naira, 0, 0)
		w.issuer.answer = yes
		again, err := w.fund(c.ID, 500*money.Naira) // a failed funding is refunded, so a new request does not debit twice
		must(t, err)
		if again.Status != operation.Success || again.Reference == f.Reference {
			t.Errorf("%+v", again)
		}
	})
}

func TestAFundingOfUnknownOutcomeIsFollowed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for name, c := range map[string]struct {
			first, later provider.Answer
			polls        int
			state        operation.State
			kind         string
			cases        []string
		}{
			"it was done":            {silence, yes, 1, operation.Success, "card.funded", nil},
			"it was refused":         {silence, no, 1, operation.Failed, "card.funding_failed", nil},
			"it never arrived":       {silence, unseen, 5, operation.Failed, "card.funding_failed", nil},
			"nobody knows for hours": {silence, silence, 9, operation.Pending, "card.funding_pending", nil},
			"it has another name":    {provider.Other(""), unseen, 80, operation.Pending, "card.funding_pending", []string{"UNRESOLVED ₦0.00"}},
		} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, d)
				id := w.card().ID
				w.issuer.answer, w.issuer.later = c.first, c.later
				f, err := w.fund(id, 300*money.Naira)
				must(t, err)
				if f.Status != operation.Pending {
					t.Fatalf("%+v", f)
				}
				w.holds(700*money.Naira, 300*money.Naira, 0)
				for range c.polls {
					w.forward(time.Hour)
					w.poll(f.Reference)
				}
				f, err = w.Funding(t.Context(), w.company, f.Reference)
				must(t, err)
				if events := w.events(); f.Status != c.state || events[len(events)-1].Kind != c.kind {
					t.Errorf("%+v, events %v", f, kinds(events))
				}
				if len(w.issuer.funded) != 1 {
					t.Errorf("the issuer was asked %d times to pay", len(w.issuer.funded))
				}
				w.has(c.cases...)
				switch c.state {
				case operation.Success:
					w.holds(700*money.Naira, 0, 300*money.Naira)
				case operation.Failed:
					w.holds(1000*money.Naira, 0, 0)
				default:
					w.holds(700*money.Naira, 300*money.Naira, 0)
				}
			})
		}
	})
}

// After a restore, a company may repeat a funding that its issuer carried out long before. So the issuer's whole list is read for
// fundings that began before operators ended the hold.
func TestAFundingThatMayBeOfALostTimeIsSearchedInTheWholeList(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		id := w.card().ID
		w.issuer.answer, w.issuer.later = silence, silence
		var held bool
		var ended time.Time
		w.operations.Restored, w.operations.RestoredUntil = func() bool { return held }, func() time.Time { return ended }
		asks := func(f card.Funding, whole bool) {
			t.Helper()
			w.forward(time.Hour)
			w.poll(f.Reference)
			if w.issuer.asked.Reference != f.Reference || w.issuer.asked.Earlier != whole {
				t.Errorf("asked for %+v, and the whole list: not %t", w.issuer.asked, whole)
			}
		}
		before, err := w.fund(id, 100*money.Naira)
		must(t, err)
		asks(before, false)
		held = true
		asks(before, true)
		held, ended = false, w.clock.Now()
		asks(before, true)
		after, err := w.fund(id, 200*money.Naira)
		must(t, err)
		asks(after, false)
		// The clock was ahead when the funding began, and an answer is older than the funding.
		_, err = d.Exec(t.Context(), `UPDATE operation SET created_at = $3 WHERE company_id = $1 AND id = $2`, w.company, after.Reference, w.clock.Now().UnixMicro())
		must(t, err)
		asks(after, true)
	})
}

// Twenty identical concurrent fundings debit only once. Clients send such retries after a
// time-out, and in the past these retries caused double fundings.
func TestTwentyEqualFundingsAtOnceDebitOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		id := w.card().ID
		w.issuer.answer = silence
		var mu sync.Mutex
		references := map[string]int{}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				f, err := w.fund(id, 900*money.Naira)
				reference := f.Reference
				if err != nil {
					w.refused(err, confirming)
					data, _ := fault.Of(err).Extra["data"].(map[string]string)
					reference = data["reference"]
				}
				mu.Lock()
				defer mu.Unlock()
				references[reference]++
			})
		}
		all.Wait()
		if len(references) != 1 || len(w.issuer.funded) != 1 {
			t.Errorf("references %v, %d calls", references, len(w.issuer.funded))
		}
		w.holds(100*money.Naira, 900*money.Naira, 0)
		_, err := w.fund(id, 50*money.Naira) // a request with a different amount is a different funding
		must(t, err)
		w.holds(50*money.Naira, 950*money.Naira, 0)
		// Once the first funding has its outcome, an identical request counts as a new funding.
		w.issuer.answer = yes
		for reference := range references {
			w.forward(time.Minute)
			w.issuer.later = no
			w.poll(reference)
		}
		f, err := w.fund(id, 900*money.Naira)
		must(t, err)
		if f.Status != operation.Success {
			t.Errorf("%+v", f)
		}
	})
}

func TestAProgramThatDiesBetweenDebitAndOutcome(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		id := w.card().ID
		entered, leave, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
		w.issuer.during = func() { close(entered); <-leave }
		go func() { defer close(done); _, _ = w.fund(id, 300*money.Naira) }() // a crashed program would lose this result
		<-entered
		w.holds(700*money.Naira, 300*money.Naira, 0)
		_, err := w.fund(id, 300*money.Naira)
		w.refused(err, confirming)
		reference := fault.Of(err).Extra["data"].(map[string]string)["reference"]
		// A restarted program knows only what is in the database. A minute later its resolver is
		// due, and asks the issuer for the funding's outcome.
		w.forward(time.Minute)
		w.poll(reference)
		w.holds(700*money.Naira, 0, 300*money.Naira)
		close(leave)
		<-done
		w.holds(700*money.Naira, 0, 300*money.Naira)
	})
}

func TestAFundingWithAKeyIsIndependent(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		id := w.card().ID
		w.issuer.answer = silence
		send := func(value string) (card.Funding, error) {
			key, answer, err := w.keys.Open(t.Context(), w.company, value, "the same")
			if err != nil || answer != nil {
				return card.Funding{}, errors.Join(err, fault.New(fault.Conflict, "replayed"))
			}
			key.Render(func(any, error) idempotency.Answer { return idempotency.Answer{Status: 200, Body: []byte("{}")} })
			if key.Subject() != "" {
				return w.Resume(t.Context(), w.company, key.Subject(), key)
			}
			return w.Fund(t.Context(), card.Order{Company: w.company, CardID: id, Amount: 100 * money.Naira, Key: key})
		}
		_, err := send("one")
		must(t, err)
		_, err = send("two") // a second Idempotency-Key starts a second funding
		must(t, err)
		if _, err = send("one"); err == nil {
			t.Error("a used key made another funding")
		}
		_, err = w.fund(id, 100*money.Naira)
		w.refused(err, confirming)
		w.holds(800*money.Naira, 200*money.Naira, 0)
	})
}

func TestRefusedFundings(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		_, err := w.fund("0199c1f2-7b1e-7c0a-9d3e-2f6a1b0c4d5e", 100)
		w.refused(err, "Card not found")
		other := w.join("Other")
		_, err = w.Fund(t.Context(), card.Order{Company: other, CardID: c.ID, Amount: 100})
		w.refused(err, "Card not found")
		_, err = w.Funding(t.Context(), w.company, "nothing")
		w.refused(err, "Card transaction not found")
		p, err := w.Preview(t.Context(), card.Order{Company: w.company, CardID: c.ID, Amount: 2000 * money.Naira})
		must(t, err)
		if p.Refusal != "Insufficient balance" || p.BalanceAfter != 1000*money.Naira {
			t.Errorf("%+v", p)
		}
		p, err = w.Preview(t.Context(), card.Order{Company: w.company, CardID: c.ID, Amount: 400 * money.Naira})
		must(t, err)
		if p.Refusal != "" || p.BalanceAfter != 600*money.Naira || len(w.issuer.funded) != 0 {
			t.Errorf("%+v", p)
		}
		// An open funding stops an identical request, unless that request has an Idempotency-Key.
		w.issuer.answer = provider.Answer{}
		open, err := w.fund(c.ID, 400*money.Naira)
		must(t, err)
		for keyed, refusal := range map[bool]wire.Text{false: wire.Text(card.Confirming(open.Reference).Message), true: ""} {
			p, err = w.Preview(t.Context(), card.Order{Company: w.company, CardID: c.ID, Amount: 400 * money.Naira, Keyed: keyed})
			must(t, err)
			if p.Refusal != refusal {
				t.Errorf("with a key %t: %+v", keyed, p)
			}
		}
	})
}

// If a company has no active settlement account, Kobo opens an empty account for the company and
// refuses the funding.
func TestACompanyWithoutASettlementAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		poor := w.join("Poor")
		w.open(poor, 0)
		w.customer = w.serve(poor, "b@example.test", w.customer.Address)
		_, err := d.Exec(t.Context(), `UPDATE settlement_account SET status = 'INACTIVE' WHERE company_id = $1`, poor)
		must(t, err)
		w.company = poor
		id := w.card().ID
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				_, err := w.fund(id, 100)
				w.refused(err, "Insufficient balance")
			})
		}
		all.Wait()
		accounts, err := w.settlements.Accounts(t.Context(), poor)
		must(t, err)
		if len(accounts) != 2 || !accounts[1].IsDefault || accounts[1].Balance != 0 {
			t.Errorf("%+v", accounts)
		}
	})
}

// An account that an operator deactivates after the funding has chosen it does not pay. The next
// active account pays.
func TestAnAccountDeactivatedMeanwhileDoesNotPay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		fund, err := w.Plan(t.Context(), card.Order{Company: w.company, CardID: w.card().ID, Amount: 100})
		must(t, err)
		_, err = d.Exec(t.Context(), `UPDATE settlement_account SET status = 'INACTIVE' WHERE company_id = $1`, w.company)
		must(t, err)
		_, err = fund()
		w.refused(err, "Insufficient balance")
		accounts, err := w.settlements.Accounts(t.Context(), w.company)
		must(t, err)
		if len(accounts) != 2 || !accounts[1].IsDefault || accounts[1].Balance != 0 {
			t.Errorf("%+v", accounts)
		}
		w.holds(1000*money.Naira, 0, 0)
	})
}
