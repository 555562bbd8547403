package card_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// A change begins while the clock is ten days ahead, and its answer is lost. After the clock is right again, the issuer is asked at once
// and then each hour. It may have made the change, so a refusal counts only if it shows the card as it was.
func TestAChangeOfAClockAheadIsFollowed(t *testing.T) {
	for name, made := range map[string]bool{"made": true, "refused": false} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				c := w.card()
				var wrong clock.Movable
				wrong.MoveTo(10 * 24 * time.Hour)
				w.Clock, w.issuer.change = &wrong, silence
				_, err := w.set(c.ID, provider.CardInactive)
				w.refused(err, changing)

				w.Clock = w.clock
				next, err := w.CompleteChange(t.Context(), w.job(c.ID))
				if wait := next.Sub(w.clock.Now()); err != nil || len(w.issuer.changes) != 2 || wait > time.Hour || wait < 59*time.Minute {
					t.Fatalf("asked %d times, and again in %s, %v", len(w.issuer.changes), wait, err)
				}
				cards := w.issuer.cards
				w.issuer.change, w.issuer.cards = no, nil // the issuer refuses the try, and does not show the card
				next, err = w.CompleteChange(t.Context(), w.job(c.ID))
				if must(t, err); next.IsZero() {
					t.Fatal("a refusal of a later try counts")
				}
				if w.issuer.cards = cards; made {
					w.issuer.cards[0].Status = provider.CardInactive
				}
				next, err = w.CompleteChange(t.Context(), w.job(c.ID))
				must(t, err)
				now, err := w.Find(t.Context(), w.company, c.ID)
				if must(t, err); !next.IsZero() || (now.Status == string(provider.CardInactive)) != made {
					t.Errorf("the card is %s, next look at %s", now.Status, next)
				}
			})
		})
	}
}

// listed returns a job of a card as the list has it.
func (w *world) listed(kind, cardID string) job.Job {
	w.t.Helper()
	at, err := db.One(w.t.Context(), w.db, db.Value[int64], `SELECT created_at FROM job WHERE company_id = $1 AND kind = $2 AND subject = $3`, w.company, kind, cardID)
	must(w.t, err)
	return job.Job{Company: w.company, Kind: kind, Subject: cardID, CreatedAt: clock.Time(at)}
}

// A change begins while the clock is ten days ahead, and the issuer never tells its outcome. Operators are asked three days after the
// clock is right again, and once.
func TestAnUnknownChangeOfAClockAheadIsACaseInTime(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		var wrong clock.Movable
		wrong.MoveTo(10 * 24 * time.Hour)
		w.Clock, w.issuer.change = &wrong, silence
		_, err := w.set(c.ID, provider.CardInactive)
		w.refused(err, changing)

		w.Clock = w.clock
		must(t, job.Recover(t.Context(), d, w.clock.Now(), card.ChangeJob))
		for after, want := range []string{"", "UNRESOLVED ₦0.00", ""} {
			w.forward([]time.Duration{71 * time.Hour, 2 * time.Hour, time.Hour}[after])
			next, err := w.CompleteChange(t.Context(), w.listed(card.ChangeJob, c.ID))
			if must(t, err); next.IsZero() {
				t.Fatal("the job has ended")
			}
			if want == "" {
				w.has()
				continue
			}
			w.has(want)
			list, _, err := w.operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open, Company: w.company}, 10, 0)
			must(t, err)
			for _, by := range []string{"ada", "bola"} {
				_, err = w.operations.ResolveCase(t.Context(), list[0].ID, operation.Finding{Outcome: operation.Dismissed}, "seen at Sudo", by, me.Note)
				must(t, err)
			}
		}
	})
}
