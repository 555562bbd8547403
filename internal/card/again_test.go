package card_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/provider"
)

var errAway = errors.New("away")

// unsent is the reply to a request that could not be sent.
var unsent = provider.Answer{Outcome: provider.Rejected, Code: provider.CodeNotSent}

// retry runs the job of an unknown change an hour later. It reports whether the job runs again.
func (w *world) retry(cardID string) (again bool) {
	w.t.Helper()
	j := w.job(cardID)
	w.forward(time.Hour)
	next, err := w.CompleteChange(w.t.Context(), j)
	must(w.t, err)
	return !next.IsZero()
}

// The first try ends the card, and its reply is lost. The next one does not reach the issuer, or the issuer refuses it because the
// card has ended. While the card cannot be read, that is no outcome.
func TestARefusalOfALaterTryIsNoOutcomeByItself(t *testing.T) {
	for name, second := range map[string]provider.Answer{"not sent": unsent, "refused": no} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				c := w.card()
				w.issuer.broken, w.issuer.change, w.issuer.made = errAway, silence, true
				_, err := w.set(c.ID, provider.CardCanceled)
				w.refused(err, changing)
				w.issuer.change = second
				if !w.retry(c.ID) {
					t.Error("the job has ended without an outcome")
				}
				w.issuer.broken = nil
				if w.retry(c.ID) {
					t.Error("the job goes on after the outcome")
				}
				if got := kinds(w.events()); !slices.Equal(got, []string{"card.generated", "card.terminated"}) {
					t.Errorf("events %v", got)
				}
				left, err := job.Subjects(t.Context(), d, w.company, card.ReturnJob, []string{c.ID})
				if must(t, err); !left[c.ID] {
					t.Error("nobody looks for what was left on the card")
				}
			})
		})
	}
}

// The card is as before the first try. A try that was not sent is no refusal. A refusal of the issuer ends the change.
func TestALaterTryThatWasNotSentIsRepeated(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		w.issuer.change = silence
		_, err := w.set(c.ID, provider.CardInactive)
		w.refused(err, changing)
		w.issuer.change = unsent
		if !w.retry(c.ID) {
			t.Error("the job has ended without an outcome")
		}
		w.issuer.change = no
		if w.retry(c.ID) || len(w.events()) != 1 {
			t.Errorf("the refused change goes on, events %v", kinds(w.events()))
		}
		w.issuer.change = yes
		_, err = w.set(c.ID, provider.CardInactive)
		must(t, err)
	})
}
