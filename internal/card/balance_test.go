package card_test

import (
	"errors"
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
)

const ending = "Card is being terminated"

// asks runs the job of what was left on a terminated card, until it has opened its case.
func (w *world) asks(cardID string, want ...string) {
	w.t.Helper()
	j := w.job(cardID)
	w.forward(2 * time.Hour)
	_, err := w.Returned(w.t.Context(), j)
	must(w.t, err)
	w.has(want...)
}

// A case names the balance before the try that ended the card, and not that of an earlier try.
func TestTheBalanceBeforeTheLastTryCounts(t *testing.T) {
	for name, c := range map[string]struct {
		unread bool // whether the balance cannot be read before the second try
		ends   bool // whether the first try ends the card, although its reply is lost
		want   string
	}{
		"the holder has spent":                 {want: "CARD_BALANCE ₦100.00"},
		"nobody knows what the holder did":     {unread: true, want: "CARD_BALANCE ₦0.00"},
		"the first try has ended the card":     {ends: true, want: "CARD_BALANCE ₦650.00"},
		"it has, and the balance is no longer": {ends: true, unread: true, want: "CARD_BALANCE ₦650.00"},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				id := w.card().ID
				w.issuer.left, w.issuer.change, w.issuer.made = 650*money.Naira, silence, c.ends
				w.issuer.changed = func() { w.issuer.broken = errAway }
				_, err := w.set(id, provider.CardCanceled)
				w.refused(err, changing)
				w.issuer.changed, w.issuer.broken, w.issuer.change, w.issuer.left = nil, nil, yes, 100*money.Naira
				if c.unread {
					w.issuer.unread = errors.New("no such balance")
				}
				if w.retry(id) {
					t.Fatal("the termination has no outcome")
				}
				w.asks(id, c.want)
			})
		})
	}
}

// A refused termination says nothing about what is on the card when the issuer ends it.
func TestTheBalanceBeforeARefusedTerminationIsForgotten(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		w.issuer.left, w.issuer.change = 650*money.Naira, no
		_, err := w.set(c.ID, provider.CardCanceled)
		w.refused(err, "Sudo API Error: The card is blocked.")
		must(t, w.Notified(t.Context(), "sudo", provider.CardNotice{Kind: provider.CardEnded, ID: "e1", Word: "card.terminated", Card: c.ProviderCardID}))
		w.asks(c.ID, "CARD_BALANCE ₦0.00")
	})
}

// The issuer's notice is later than the balance that Kobo has read. The holder may have spent in between.
func TestTheNoticeOfTheEndCountsBeforeTheBalanceBefore(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		w.issuer.left = 650 * money.Naira
		_, err := w.set(c.ID, provider.CardCanceled)
		must(t, err)
		must(t, w.Notified(t.Context(), "sudo", provider.CardNotice{
			Kind: provider.CardEnded, ID: "e1", Word: "card.terminated", Card: c.ProviderCardID, Amount: 40 * money.Naira,
		}))
		w.asks(c.ID, "CARD_BALANCE ₦40.00")
	})
}

// A funding that becomes a success between the reading of the balance and the end of the card is not in the balance.
func TestAFundingAfterTheReadingMakesTheBalanceUnknown(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		w.issuer.answer = silence
		f, err := w.fund(c.ID, 200*money.Naira)
		must(t, err)
		w.forward(time.Minute)
		w.issuer.left, w.issuer.changed = 450*money.Naira, func() { w.poll(f.Reference) }
		_, err = w.set(c.ID, provider.CardCanceled)
		must(t, err)
		if f, err = w.Funding(t.Context(), w.company, f.Reference); err != nil || f.Status != operation.Success {
			t.Fatalf("%+v, %v", f, err)
		}
		w.forward(time.Minute)
		w.asks(c.ID, "CARD_BALANCE ₦0.00")
	})
}

// While the outcome of a termination is unknown, the card gets no money. A refused termination permits it again. An unknown freeze
// does not prevent it.
func TestACardThatIsBeingTerminatedIsNotFunded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		id := w.card().ID
		preview := func(want string) {
			t.Helper()
			p, err := w.Preview(t.Context(), card.Order{Company: w.company, CardID: id, Amount: 100 * money.Naira})
			if err != nil || string(p.Refusal) != want {
				t.Errorf("a preview: %+v, %v", p, err)
			}
		}
		w.issuer.change = silence
		for _, to := range []provider.CardStatus{provider.CardCanceled, provider.CardInactive} {
			want := ""
			if to == provider.CardCanceled {
				want = ending
			}
			_, err := w.set(id, to)
			w.refused(err, changing)
			_, err = w.fund(id, 100*money.Naira)
			if want == "" {
				must(t, err)
			} else {
				w.refused(err, want)
			}
			preview(want)
			w.issuer.change = no
			if w.retry(id) {
				t.Error("the refused change goes on")
			}
			_, err = w.fund(id, 100*money.Naira)
			must(t, err)
			preview("")
			w.issuer.change = silence
		}
		w.holds(700*money.Naira, 0, 300*money.Naira)
	})
}

// A termination begins, or the card ends, after a funding has read the card. The funding debits nothing. A used Idempotency-Key is told
// before that.
func TestAFundingSeesATerminationThatBeginsMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		answer provider.Answer
		want   string
	}{"it has no outcome": {silence, ending}, "it has ended": {yes, "Card is terminated"}} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				id := w.card().ID
				keyed := func() (func() (card.Funding, error), error) {
					key := w.keys.Unread(w.company, "one", "print")
					key.Render(func(any, error) idempotency.Answer { return idempotency.Answer{Status: 200} })
					return w.Plan(t.Context(), card.Order{Company: w.company, CardID: id, Amount: 100 * money.Naira, Key: key})
				}
				first, err := keyed()
				must(t, err)
				_, err = first()
				must(t, err)
				again, err := keyed()
				must(t, err)
				fresh, err := w.Plan(t.Context(), card.Order{Company: w.company, CardID: id, Amount: 100 * money.Naira})
				must(t, err)
				w.issuer.change = c.answer
				_, _ = w.set(id, provider.CardCanceled)
				_, err = fresh()
				w.refused(err, c.want)
				if _, err = again(); !fault.Is(err, fault.Conflict) {
					t.Errorf("the same key: %v", err)
				}
				w.holds(900*money.Naira, 0, 100*money.Naira)
			})
		})
	}
}

// A balance that takes all its time does not take that of the termination.
func TestASlowBalancePreventsNoTermination(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.Window, w.issuer.slow = 500*time.Millisecond, true
		c, err := w.set(w.card().ID, provider.CardCanceled)
		if err != nil || c.Status != string(provider.CardCanceled) {
			t.Errorf("the card is %s, %v", c.Status, err)
		}
	})
}
