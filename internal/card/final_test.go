package card_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// show makes the issuer report a status of the world's first card.
func (w *world) show(status provider.CardStatus) {
	w.issuer.mu.Lock()
	defer w.issuer.mu.Unlock()
	w.issuer.cards[0].Status = status
}

// A stale reply of the issuer neither revives a terminated card nor takes away a card's status.
func TestATerminatedCardStaysTerminated(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		id := w.card().ID
		is := func(want provider.CardStatus) {
			t.Helper()
			c, err := w.Find(t.Context(), w.company, id)
			if must(t, err); c.Status != string(want) {
				t.Errorf("the card is %q, want %q", c.Status, want)
			}
		}
		w.show("")
		is(provider.CardActive)
		_, err := w.set(id, provider.CardCanceled)
		must(t, err)
		for _, stale := range []provider.CardStatus{provider.CardActive, provider.CardInactive, ""} {
			w.show(stale)
			is(provider.CardCanceled)
		}
		_, err = w.fund(id, 100*money.Naira)
		w.refused(err, "Card is terminated")
		if got := kinds(w.events()); !slices.Equal(got, []string{"card.generated", "card.terminated"}) {
			t.Errorf("events %v", got)
		}
	})
}

// The issuer ends a card while the outcome of a freeze or of a termination is unknown. The freeze has failed, and the termination has
// succeeded. The issuer is not asked again.
func TestAChangeOfACardThatEndsMeanwhile(t *testing.T) {
	for to, want := range map[provider.CardStatus]string{provider.CardInactive: "Card is terminated", provider.CardCanceled: ""} {
		t.Run(string(to), func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				c := w.card()
				w.issuer.change = silence
				_, _, err := w.keyed("one", c.ID, to)
				w.refused(err, changing)
				must(t, w.Notified(t.Context(), "sudo", provider.CardNotice{
					Kind: provider.CardEnded, ID: "e1", Word: "card.terminated", Card: c.ProviderCardID, Amount: 40 * money.Naira,
				}))
				w.forward(time.Minute)
				w.issuer.change = yes
				_, now, err := w.keyed("one", c.ID, to)
				if want == "" {
					must(t, err)
				} else {
					w.refused(err, want)
				}
				if len(w.issuer.changes) != 1 || now.Status != string(provider.CardCanceled) {
					t.Errorf("the card is %s after %v", now.Status, w.issuer.changes)
				}
				if got := kinds(w.events()); !slices.Equal(got, []string{"card.generated", "card.terminated"}) {
					t.Errorf("events %v", got)
				}
			})
		})
	}
}

// The issuer's list shows another amount than the one that is credited. The first credit stays, and operators are asked.
func TestAnotherAmountThatCameBackIsACase(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		_, err := w.fund(c.ID, 700*money.Naira)
		must(t, err)
		_, err = w.set(c.ID, provider.CardCanceled)
		must(t, err)
		j := w.job(c.ID)
		for _, back := range []money.Kobo{650, 650, 700} {
			w.issuer.back = back * money.Naira
			next, err := w.Returned(t.Context(), j)
			if must(t, err); !next.IsZero() {
				t.Errorf("the job goes on at %v", next)
			}
			if back == 650 {
				w.has()
			}
		}
		w.has("CARD_BALANCE ₦0.00")
		w.holds(950*money.Naira, 0, 50*money.Naira)
	})
}
