package card_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/money"
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

// A card is terminated while the clock is ten days ahead. A funding of the same clock, or one long before, came before the end, so what
// comes back is credited. A funding of a program whose clock is right may have come after it, also after the balance was read.
func TestTheReturnOfAClockAhead(t *testing.T) {
	for name, c := range map[string]struct {
		ahead, late bool // whether the clock of the funding is ahead; whether it comes after the end
		before      time.Duration
		left, back  money.Kobo
		own         money.Kobo
		want        []string
	}{
		"funded by the same clock":                   {ahead: true, left: 650, back: 650, own: 950},
		"funded by the same clock, and not listed":   {ahead: true, left: 650, own: 300, want: []string{"CARD_BALANCE ₦650.00"}},
		"funded days before":                         {before: 48 * time.Hour, left: 650, back: 650, own: 950},
		"funded after the end":                       {late: true, own: 300, want: []string{"CARD_BALANCE ₦0.00"}},
		"funded after the end, and a part came back": {late: true, back: 50, own: 300, want: []string{"CARD_BALANCE ₦0.00"}},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				id := w.card().ID
				wrong := &clock.Movable{}
				wrong.MoveTo(c.before + 10*24*time.Hour)
				beside := *w
				beside.clock = wrong
				beside.run(d)
				payer := w
				if c.ahead {
					payer = &beside
				}
				if c.late {
					w.issuer.answer = silence
				}
				f, err := payer.fund(id, 700*money.Naira)
				must(t, err)
				w.forward(c.before)
				w.issuer.left, w.issuer.back = c.left*money.Naira, c.back*money.Naira
				_, err = beside.set(id, provider.CardCanceled)
				must(t, err)
				if c.late {
					w.forward(5 * time.Minute)
					w.poll(f.Reference)
				}
				w.forward(35 * time.Minute)
				must(t, job.Recover(t.Context(), d, w.clock.Now(), card.ReturnJob))
				j := w.listed(card.ReturnJob, id)
				for range 2 {
					_, err = w.Returned(t.Context(), j)
					must(t, err)
					w.forward(2 * time.Hour)
				}
				w.has(c.want...)
				w.holds(c.own*money.Naira, 0, (1000-c.own)*money.Naira)
			})
		})
	}
}
