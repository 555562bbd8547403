package card_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// keyed sends a change of a card with an Idempotency-Key. It returns the stored response if the Idempotency-Key has one.
func (w *world) keyed(value, cardID string, to provider.CardStatus) (*idempotency.Answer, card.Card, error) {
	w.t.Helper()
	key, stored, err := w.keys.Open(w.t.Context(), w.company, value, string(to))
	if err != nil || stored != nil {
		return stored, card.Card{}, err
	}
	key.Render(func(_ any, err error) idempotency.Answer {
		if err != nil {
			return idempotency.Answer{Status: http.StatusBadRequest, Body: []byte(fault.Of(err).Message), Reason: fault.Of(err).Reason()}
		}
		return idempotency.Answer{Status: http.StatusOK, Body: []byte("done")}
	})
	c, err := w.SetStatus(w.t.Context(), card.Change{Company: w.company, CardID: cardID, To: to, Reason: "lost", Key: key})
	return nil, c, err
}

// unanswered sends a change of a card with an Idempotency-Key. The issuer's reply is lost.
func (w *world) unanswered(value, cardID string, to provider.CardStatus) {
	w.t.Helper()
	w.issuer.change = silence
	_, _, err := w.keyed(value, cardID, to)
	w.refused(err, changing)
}

// oldKey begins an Idempotency-Key as an earlier release did: it names the card alone.
func (w *world) oldKey(value, cardID string, to provider.CardStatus) {
	w.t.Helper()
	key, _, err := w.keys.Open(w.t.Context(), w.company, value, string(to))
	must(w.t, err)
	u := ledger.For(w.company)
	key.Begin(&u, cardID, w.clock.Now())
	must(w.t, w.book.Commit(w.t.Context(), u))
}

// stored checks the stored response of an Idempotency-Key.
func (w *world) stored(value, cardID string, to provider.CardStatus, status int, body string) {
	w.t.Helper()
	a, _, err := w.keyed(value, cardID, to)
	if err != nil || a == nil || a.Status != status || string(a.Body) != body {
		w.t.Errorf("the stored response is %+v, %v", a, err)
	}
}

// The issuer refuses a change after its reply was lost. The repeated request is told so.
func TestARepeatedRequestIsToldOfTheRefusal(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		id := w.card().ID
		w.unanswered("one", id, provider.CardCanceled)
		w.issuer.change = no
		if w.retry(id) {
			t.Fatal("the refused change goes on")
		}
		const refused = "Sudo API Error: the request was refused"
		_, _, err := w.keyed("one", id, provider.CardCanceled)
		w.refused(err, refused)
		w.stored("one", id, provider.CardCanceled, http.StatusBadRequest, refused)
	})
}

// The job makes a change after its reply was lost. The repeated request is told so.
func TestARepeatedRequestIsToldOfTheChange(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		id := w.card().ID
		w.unanswered("one", id, provider.CardInactive)
		w.issuer.change = yes
		if w.retry(id) {
			t.Fatal("the change has no outcome")
		}
		_, c, err := w.keyed("one", id, provider.CardInactive)
		if must(t, err); c.Status != string(provider.CardInactive) || len(w.issuer.changes) != 2 {
			t.Errorf("the card is %s after %v", c.Status, w.issuer.changes)
		}
		w.stored("one", id, provider.CardInactive, http.StatusOK, "done")
	})
}

// A repeated request continues its own change.
func TestARepeatedRequestContinuesItsChange(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		id := w.card().ID
		w.unanswered("one", id, provider.CardInactive)
		w.forward(time.Minute)
		w.issuer.change = yes
		_, c, err := w.keyed("one", id, provider.CardInactive)
		if must(t, err); c.Status != string(provider.CardInactive) {
			t.Errorf("the card is %s", c.Status)
		}
		w.stored("one", id, provider.CardInactive, http.StatusOK, "done")
	})
}

// A change began while the clock of another program was ten days ahead. After the clock is right, the repeated request continues its
// change, and the card can be changed again. A try that was not sent says nothing about the first one.
func TestAChangeOfAClockAheadIsContinued(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		id := w.card().ID
		ahead := w.another(d)
		ahead.clock = &clock.Movable{}
		ahead.clock.MoveTo(10 * 24 * time.Hour)
		ahead.run(d)
		ahead.unanswered("one", id, provider.CardInactive)
		_, _, err := w.keyed("one", id, provider.CardInactive)
		if !errors.Is(err, idempotency.ErrInFlight) {
			t.Fatalf("the first repetition: %v", err)
		}
		w.forward(time.Hour)
		w.issuer.change = unsent
		_, _, err = w.keyed("one", id, provider.CardInactive)
		w.refused(err, changing)
		w.issuer.change = yes
		_, c, err := w.keyed("one", id, provider.CardInactive)
		if must(t, err); c.Status != string(provider.CardInactive) {
			t.Errorf("the card is %s", c.Status)
		}
		_, c, err = w.keyed("two", id, provider.CardActive)
		if must(t, err); c.Status != string(provider.CardActive) {
			t.Errorf("the card is %s", c.Status)
		}
	})
}

// Another request has changed the card since. The repetition of the first one begins nothing, whatever the other one is. The key of
// an earlier release names the card alone.
func TestAnOldKeyChangesNothing(t *testing.T) {
	const replaced = "A later change of this card has replaced this one. Check the card."
	for name, c := range map[string]struct {
		then []provider.CardStatus
		old  bool
		want string // the refusal; "" for a success
	}{
		"unfrozen":                            {then: []provider.CardStatus{provider.CardActive}, want: replaced},
		"unfrozen, key of an earlier release": {then: []provider.CardStatus{provider.CardActive}, old: true, want: replaced},
		"frozen again":                        {then: []provider.CardStatus{provider.CardActive, provider.CardInactive}},
		"terminated":                          {then: []provider.CardStatus{provider.CardCanceled}, want: "Card is terminated"},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				id := w.card().ID
				w.issuer.change = silence
				var err error
				if c.old {
					w.oldKey("one", id, provider.CardInactive)
					_, err = w.set(id, provider.CardInactive)
				} else {
					_, _, err = w.keyed("one", id, provider.CardInactive)
				}
				w.refused(err, changing)
				w.issuer.change = yes
				if w.retry(id) {
					t.Fatal("the change has no outcome")
				}
				for _, to := range c.then {
					_, _, err = w.keyed("to "+string(to), id, to)
					must(t, err)
				}
				asked := len(w.issuer.changes)
				_, _, err = w.keyed("one", id, provider.CardInactive)
				body, status := "done", http.StatusOK
				if c.want != "" {
					body, status = c.want, http.StatusBadRequest
					w.refused(err, c.want)
				} else {
					must(t, err)
				}
				if len(w.issuer.changes) != asked {
					t.Errorf("the old key has changed the card: %v", w.issuer.changes)
				}
				w.stored("one", id, provider.CardInactive, status, body)
				jobs, err := job.Subjects(t.Context(), d, w.company, card.ChangeJob, []string{id})
				if must(t, err); jobs[id] {
					t.Error("the old key has left a job")
				}
			})
		})
	}
}

// The issuer's reply to a freeze is late, to the first request or to the job. The repeated request has ended the freeze by then, and a
// termination has begun, of which nothing is known. The late reply does not end the termination.
func TestALateReplyEndsNoLaterChange(t *testing.T) {
	for _, byJob := range []bool{false, true} {
		dbtest.Each(t, func(t *testing.T, d *db.DB) {
			w := newWorld(t, d)
			id := w.card().ID
			if byJob {
				w.unanswered("one", id, provider.CardInactive)
				w.issuer.change = yes
			}
			w.issuer.changed = func() {
				w.issuer.changed = nil
				w.forward(time.Minute)
				_, _, err := w.keyed("one", id, provider.CardInactive)
				must(t, err)
				w.unanswered("two", id, provider.CardCanceled)
			}
			if byJob {
				w.retry(id)
			} else {
				_, _, err := w.keyed("one", id, provider.CardInactive)
				w.refused(err, changing)
			}
			jobs, err := job.Subjects(t.Context(), d, w.company, card.ChangeJob, []string{id})
			if must(t, err); !jobs[id] {
				t.Error("nobody asks for the outcome of the termination")
			}
			w.issuer.change = yes
			if w.retry(id) {
				t.Error("the termination has no outcome")
			}
			_, c, err := w.keyed("two", id, provider.CardCanceled)
			if err != nil || c.Status != string(provider.CardCanceled) {
				t.Errorf("the card is %s after %v, %v", c.Status, w.issuer.changes, err)
			}
			w.stored("one", id, provider.CardInactive, http.StatusOK, "done")
		})
	}
}

// The first request with an Idempotency-Key gets its own response, which is that the outcome is unknown. This response is not stored.
func TestTheFirstRequestIsNoDuplicateOfItself(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		id := w.card().ID
		key, _, err := w.keys.Open(t.Context(), w.company, "one", "print")
		must(t, err)
		w.issuer.change = silence
		_, err = w.SetStatus(t.Context(), card.Change{Company: w.company, CardID: id, To: provider.CardInactive, Key: key})
		w.refused(err, changing)
		given := idempotency.Answer{Status: http.StatusBadRequest, Body: []byte(changing), Reason: fault.BeingConfirmed}
		if got, err := w.keys.Settle(t.Context(), key, given); err != nil || string(got.Body) != changing {
			t.Errorf("the response is %+v, %v", got, err)
		}
		w.forward(time.Minute)
		again, stored, err := w.keys.Open(t.Context(), w.company, "one", "print")
		if err != nil || stored != nil || again.Subject() == "" {
			t.Errorf("the response %+v is stored, %v", stored, err)
		}
	})
}
