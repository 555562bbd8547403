package card_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

const creating = "Card creation is being confirmed. Do not retry; check the list of cards."

func TestACardIsIssued(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		got, err := w.Find(t.Context(), w.company, c.ID)
		must(t, err)
		text, err := json.Marshal(got)
		must(t, err)
		var fields map[string]any
		must(t, json.Unmarshal(text, &fields))
		if len(fields) != 12 || fields["updatedAt"] != nil || fields["maskedPan"] != "506321*********0001" {
			t.Errorf("%s", text)
		}
		if events := w.events(); len(events) != 1 || string(events[0].Data) != string(text) {
			t.Errorf("%v", events)
		}
		second := w.card() // the issuer has already registered the customer
		if len(w.issuer.holders) != 1 || w.issuer.orders[1].Cardholder != "holder-1" {
			t.Errorf("%+v", w.issuer.orders)
		}
		list, total, err := w.List(t.Context(), w.company, "", 0, 1)
		must(t, err)
		if total != 2 || len(list) != 1 || list[0].ID != second.ID {
			t.Errorf("%d cards, %+v", total, list)
		}
		w.issuer.cards[0].Status = "inactive"
		got, err = w.Find(t.Context(), w.company, c.ID)
		must(t, err)
		if got.Status != "inactive" || got.UpdatedAt.IsZero() {
			t.Errorf("%+v", got)
		}
		w.issuer.broken = &provider.Error{Provider: "Sudo", Code: "503", Message: "Try later"}
		_, err = w.Find(t.Context(), w.company, c.ID)
		w.refused(err, "Sudo API Error: Try later")
		_, err = w.SendDefaultPIN(t.Context(), w.company, c.ID, nil)
		w.refused(err, "Sudo API Error: Try later")
	})
}

func TestCustomersThatMayHaveACard(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		ask := func(who string) error {
			r := w.request()
			r.Customer = who
			_, err := w.Generate(t.Context(), r)
			return err
		}
		w.refused(ask("nobody"), "Customer not found")
		fresh := w.created(w.company, "new@example.test", w.customer.Address)
		w.refused(ask(fresh.ID), "Customer has not completed OTP verification")
		homeless := w.serve(w.company, "homeless@example.test", nil)
		w.refused(ask(homeless.Email), "Customer has no address and the company has none")
		must(t, w.SetAddress(t.Context(), me, w.company, customer.Address{Line1: "2 Broad Street", City: "Lagos", State: "Lagos"}))
		must(t, ask(homeless.Email))
		if h := w.issuer.holders; len(h) != 1 || h[0].Address.Line1 != "2 Broad Street" {
			t.Errorf("%+v", h)
		}
	})
}

// Kobo passes the number of a physical card to the issuer and does not store the number.
func TestACardNumberPassesThrough(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		const number = "5063210000000000001"
		r := w.request()
		r.Type = card.Physical
		_, err := w.Generate(t.Context(), r)
		w.refused(err, "A physical card needs its number, and no other has one")
		r.Number = secret.NewText(number)
		g, err := w.Generate(t.Context(), r)
		must(t, err)
		if w.issuer.orders[0].Number.Reveal() != number {
			t.Error("the issuer was not given the number")
		}
		for _, e := range w.events() {
			if strings.Contains(string(e.Data), number) {
				t.Error("an event shows it")
			}
		}
		if strings.Contains(g.Card.MaskedPAN, number[6:15]) {
			t.Error("the card shows it")
		}
	})
}

func TestARefusedCard(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.issuer.create = provider.Answer{Outcome: provider.Rejected, Message: "Visa Cards are not available at the moment"}
		_, err := w.Generate(t.Context(), w.request())
		w.refused(err, "Sudo API Error: Visa Cards are not available at the moment")
		w.issuer.create = yes
		w.card() // a refused card does not stop the next creation
	})
}

func TestACardWhoseAnswerWasLost(t *testing.T) {
	for _, mute := range []bool{false, true} {
		dbtest.Each(t, func(t *testing.T, d *db.DB) {
			w := newWorld(t, d)
			w.issuer.create, w.issuer.made, w.issuer.mute = silence, true, mute
			c := w.card() // the issuer's reply is lost, but Kobo immediately finds the card on the issuer's list
			if c.ProviderCardID != "sudo-card-1" || len(w.issuer.orders) != 1 {
				t.Errorf("%+v", c)
			}
			w.issuer.broken = &provider.Error{Provider: "Sudo", Code: "timeout"}
			_, err := w.Generate(t.Context(), w.request()) // the issuer makes the card, but its list cannot be read
			w.refused(err, creating)
			_, err = w.Generate(t.Context(), w.request())
			w.refused(err, creating)
			w.issuer.broken = nil
			w.forward(time.Minute)
			again := w.card() // the retry returns the card that the first request created
			if again.ProviderCardID != "sudo-card-2" || len(w.issuer.orders) != 2 {
				t.Errorf("muted %t: %+v after %d orders", mute, again, len(w.issuer.orders))
			}
			if got := kinds(w.events()); !slices.Equal(got, []string{"card.generated", "card.generated"}) {
				t.Errorf("%v", got)
			}
		})
	}
}

// creation returns the job of the only card in creation.
func (w *world) creation() job.Job {
	w.t.Helper()
	id, err := db.One(w.t.Context(), w.db, db.Value[string], `SELECT id FROM card WHERE company_id = $1 AND state = 'CREATING'`, w.company)
	must(w.t, err)
	return job.Job{Company: w.company, Kind: card.ResolveJob, Subject: id}
}

// The directory has the card of an attempt whose state was not stored: the program has crashed in between, or a look came before the
// late reply to the order. The issuer does not return references. Nevertheless the card is found, and no other is taken for it.
func TestACardInTheDirectoryIsFound(t *testing.T) {
	for name, begin := range map[string]func(w *world){
		"after a crash": func(w *world) {
			w.issuer.create, w.issuer.made, w.issuer.broken = silence, true, errAway
			_, err := w.Generate(w.t.Context(), w.request())
			w.refused(err, creating)
			w.issuer.broken = nil
			_, err = w.db.Exec(w.t.Context(), `INSERT INTO card_directory (provider, provider_card_id, company_id, card_id) VALUES ('sudo', 'sudo-card-2', $1, $2)`,
				w.company, w.creation().Subject)
			must(w.t, err)
			ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
			defer cancel() // the notice of a card in creation is written down, and changes no state
			must(w.t, w.Notified(ctx, "sudo", provider.CardNotice{Kind: provider.CardEnded, ID: "e1", Word: "card.terminated", Card: "sudo-card-2"}))
		},
		"after a look": func(w *world) {
			w.issuer.ordered = func() {
				w.issuer.ordered = nil
				w.forward(time.Minute)
				_, err := w.Resolve(w.t.Context(), w.creation())
				must(w.t, err)
			}
			_, err := w.Generate(w.t.Context(), w.request())
			w.refused(err, creating)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				w.issuer.mute = true
				w.card() // from now on, the customer is registered with the issuer
				begin(w)
				stranger := w.issuer.cards[1]
				stranger.ID = "stranger"
				w.issuer.cards = slices.Insert(w.issuer.cards, 1, stranger)             // a card that the fintech has ordered itself
				w.issuer.cards[2].CreatedAt = stranger.CreatedAt.Add(-10 * time.Minute) // Kobo's clock was ahead at the order
				j := w.creation()
				w.forward(time.Minute)
				next, err := w.Resolve(t.Context(), j)
				must(t, err)
				c, err := w.Find(t.Context(), w.company, j.Subject)
				if err != nil || !next.IsZero() || c.ProviderCardID != "sudo-card-2" || len(w.issuer.orders) != 2 {
					t.Errorf("%+v, %v, after %d orders", c, err, len(w.issuer.orders))
				}
			})
		})
	}
}

// The clock was ahead at the order, and neither a reference nor the directory says whose card the issuer has made. It may be another
// one, so Kobo does not take it, and operators look. A card of the day before needs nobody.
func TestACardThatSeemsOlderThanItsOrderIsACase(t *testing.T) {
	for age, cases := range map[time.Duration][]string{10 * time.Minute: {"UNRESOLVED ₦0.00"}, 48 * time.Hour: nil} {
		t.Run(age.String(), func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				w.issuer.mute = true
				w.card() // from now on, the customer is registered with the issuer
				w.issuer.create, w.issuer.made, w.issuer.broken = silence, true, errAway
				_, err := w.Generate(t.Context(), w.request())
				w.refused(err, creating)
				w.issuer.broken = nil
				w.issuer.cards[1].CreatedAt = w.issuer.cards[1].CreatedAt.Add(-age)
				j := w.creation()
				for next := w.clock.Now(); !next.IsZero(); {
					w.forward(next.Sub(w.clock.Now()) + time.Second)
					next, err = w.Resolve(t.Context(), j)
					must(t, err)
				}
				_, err = w.Find(t.Context(), w.company, j.Subject)
				w.refused(err, "Card not found")
				w.has(cases...)
			})
		})
	}
}

// The clock was ten hours ahead at the order. Operators have decided about the stray card, so no later look asks them again.
func TestAStrayCardIsOneCaseAfterAClockAhead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.issuer.mute = true
		w.card() // from now on, the customer is registered with the issuer
		ahead := w.another(d)
		ahead.clock = &clock.Movable{}
		ahead.clock.MoveTo(10 * time.Hour)
		ahead.run(d)
		w.issuer.create, w.issuer.made, w.issuer.broken = silence, true, errAway
		_, err := ahead.Generate(t.Context(), w.request())
		w.refused(err, creating)
		w.issuer.broken = nil
		j := w.creation()
		for look := range 5 {
			next, err := w.Resolve(t.Context(), j)
			must(t, err)
			w.forward(next.Sub(w.clock.Now()) + time.Second)
			if look == 2 { // the first run dates the attempt anew
				w.has("UNRESOLVED ₦0.00")
				w.decide(operation.Dismissed)
			}
		}
		w.creation()
		w.has()
	})
}

// The answer to an order is lost. An order of another brand or currency is no repetition of it. The issuer's spelling does not count,
// and neither does the brand of a physical card, because the number implies it.
func TestAnOrderOfAnotherBrandIsAnotherCard(t *testing.T) {
	const number = "5063210000000000001"
	for name, c := range map[string]struct {
		lost, next card.Request
		orders     int
	}{
		"brand":    {card.Request{Type: card.Virtual, Brand: "Verve", Currency: "NGN"}, card.Request{Type: card.Virtual, Brand: "Visa", Currency: "NGN"}, 2},
		"currency": {card.Request{Type: card.Virtual, Brand: "Visa", Currency: "USD"}, card.Request{Type: card.Virtual, Brand: "Visa", Currency: "NGN"}, 2},
		"spelling": {card.Request{Type: card.Virtual, Brand: "MasterCard", Currency: "NGN"}, card.Request{Type: card.Virtual, Brand: "Mastercard", Currency: "ngn"}, 1},
		"physical": {
			card.Request{Type: card.Physical, Brand: "AfriGo", Currency: "NGN", Number: secret.NewText(number)},
			card.Request{Type: card.Physical, Brand: "Verve", Currency: "NGN", Number: secret.NewText(number)},
			1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				order := func(r card.Request) (card.Generated, error) {
					r.Company, r.Customer = w.company, w.customer.ID
					return w.Generate(t.Context(), r)
				}
				w.card() // from now on, the customer is registered with the issuer
				w.issuer.create, w.issuer.made, w.issuer.broken = silence, true, errAway
				_, err := order(c.lost)
				w.refused(err, creating)
				w.issuer.create, w.issuer.broken = yes, nil
				w.forward(time.Minute)
				g, err := order(c.next)
				must(t, err)
				if got := len(w.issuer.orders) - 1; got != c.orders || c.orders == 2 && (g.Brand != c.next.Brand || g.Currency != c.next.Currency) {
					t.Errorf("%d orders, and the card is %s %s", got, g.Brand, g.Currency)
				}
			})
		})
	}
}

// A retry with the Idempotency-Key of an open creation immediately searches the issuer for the
// card. Once the card is found, Kobo stores the response.
func TestAKeyWaitsForTheCard(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w, r := newWorld(t, d), card.Request{}
		open := func() *idempotency.Answer {
			t.Helper()
			k, a, err := w.keys.Open(t.Context(), w.company, "one", "print")
			must(t, err)
			k.Render(func(_ any, err error) idempotency.Answer {
				return idempotency.Answer{Status: 200, Body: []byte("done")}
			})
			r = w.request()
			r.Key = k
			return a
		}
		w.issuer.create, w.issuer.made = silence, true
		w.card() // from now on, the customer is registered with the issuer
		w.issuer.broken = &provider.Error{Provider: "Sudo", Code: "timeout"}
		for range 2 {
			if a := open(); a != nil {
				t.Fatalf("answered: %+v", a)
			}
			_, err := w.Generate(t.Context(), r)
			w.refused(err, creating)
		}
		w.issuer.broken = nil
		open()
		made, err := w.Generate(t.Context(), r)
		if must(t, err); made.Card.ProviderCardID != "sudo-card-2" || len(w.issuer.orders) != 2 {
			t.Errorf("%+v after %d orders", made, len(w.issuer.orders))
		}
		if a := open(); a == nil || string(a.Body) != "done" {
			t.Errorf("the stored answer is %+v", a)
		}
	})
}

func TestACardThatWasNeverMade(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.issuer.create = silence
		_, err := w.Generate(t.Context(), w.request())
		w.refused(err, creating)
		jobs, err := db.All(t.Context(), d, db.Value[string], `SELECT subject FROM job WHERE kind = $1`, card.ResolveJob)
		must(t, err)
		for range 4 {
			w.forward(10 * time.Minute)
			_, err := w.Resolve(t.Context(), job.Job{Company: w.company, Subject: jobs[len(jobs)-1]})
			must(t, err)
		}
		w.issuer.create = yes
		w.card()
		if len(w.issuer.orders) != 2 {
			t.Errorf("%d orders", len(w.issuer.orders))
		}
	})
}

func TestAnInitialLoadIsAFunding(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		r := w.request()
		r.Load = 2000 * money.Naira
		_, err := w.Generate(t.Context(), r)
		w.refused(err, "Insufficient balance")
		if len(w.issuer.orders) != 0 {
			t.Error("a card was made that could not be paid for")
		}
		r.Load = 400 * money.Naira
		g, err := w.Generate(t.Context(), r)
		must(t, err)
		if g.Load == nil || g.Load.Reference != g.Card.ID || g.Load.Amount != r.Load {
			t.Errorf("%+v", g)
		}
		w.holds(600*money.Naira, 0, 400*money.Naira)
	})
}

func TestNoticesAreWrittenDownOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		mux := http.NewServeMux()
		mux.Handle(card.Pattern, w.CallbackHandler())
		send := func(authorization string, n provider.CardNotice) (int, string) {
			body, err := json.Marshal(n)
			must(t, err)
			r := httptest.NewRequest(http.MethodPost, "/callbacks/sudo", strings.NewReader(string(body)))
			r.Header.Set("Authorization", authorization)
			answer := httptest.NewRecorder()
			mux.ServeHTTP(answer, r)
			return answer.Code, answer.Body.String()
		}
		paid := provider.CardNotice{Kind: provider.CardActivity, ID: "transaction.created:1", Word: "transaction.created", Card: c.ProviderCardID, Amount: 250}
		if status, _ := send("wrong", paid); status != http.StatusUnauthorized {
			t.Errorf("a forged notice: %d", status)
		}
		for range 3 {
			if status, body := send("right", paid); status != http.StatusOK || body != "heard\n" {
				t.Errorf("%d %s", status, body)
			}
		}
		stranger := paid
		stranger.Card = "nobody's"
		asked := provider.CardNotice{Kind: provider.CardAuthorization, ID: "2", Card: c.ProviderCardID}
		for _, n := range []provider.CardNotice{stranger, asked, {Kind: provider.CardEnded, ID: "3", Card: c.ProviderCardID}} {
			if status, _ := send("right", n); status != http.StatusOK {
				t.Errorf("%+v: %d", n, status)
			}
		}
		n, err := db.One(t.Context(), d, db.Value[int64], `SELECT count(*) FROM card_activity WHERE company_id = $1`, w.company)
		must(t, err)
		if n != 2 {
			t.Errorf("%d activities, want the payment and the end", n)
		}
		list, _, err := w.List(t.Context(), w.company, w.customer.ID, 0, 10)
		must(t, err)
		if list[0].Status != "canceled" {
			t.Errorf("%+v", list)
		}
		if status, _ := send("right", provider.CardNotice{}); status != http.StatusOK {
			t.Errorf("a notice of no use: %d", status)
		}
	})
}

func TestAnotherCompanysCardIsMissing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c, other := w.card(), w.join("Other")
		_, err := w.Find(t.Context(), other, c.ID)
		w.refused(err, "Card not found")
		_, err = w.Token(t.Context(), other, c.ID)
		w.refused(err, "Card not found")
		_, err = w.SendDefaultPIN(t.Context(), other, c.ID, nil)
		if !fault.Is(err, fault.Missing) {
			t.Error(err)
		}
		token, err := w.Token(t.Context(), w.company, c.ID)
		must(t, err)
		if token.Value.Reveal() != "pass" {
			t.Error("no token")
		}
	})
}
