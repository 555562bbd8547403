package card_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
)

const changing = "A change of this card is being confirmed. Do not retry; check the card."

func (w *world) set(cardID string, to provider.CardStatus) (card.Card, error) {
	return w.SetStatus(w.t.Context(), card.Change{Company: w.company, CardID: cardID, To: to, Reason: "lost"})
}

func (w *world) job(cardID string) job.Job {
	return job.Job{Company: w.company, Subject: cardID, CreatedAt: w.clock.Now()}
}

// cases returns the open cases as texts.
func (w *world) cases() (out []string) {
	w.t.Helper()
	list, _, err := w.operations.Cases(w.t.Context(), operation.CaseFilter{State: operation.Open, Company: w.company}, 10, 0)
	must(w.t, err)
	for _, c := range list {
		out = append(out, fmt.Sprint(c.Reason, " ", c.Amount))
	}
	return out
}

// has checks that these cases, and no others, are open.
func (w *world) has(want ...string) {
	w.t.Helper()
	if got := w.cases(); !slices.Equal(got, want) {
		w.t.Fatalf("cases %v, want %v", got, want)
	}
}

// The issuer replies when its time is over. The outcome is known, so it is stored and answered.
func TestAnOutcomeAtTheLastMomentIsStored(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		w.issuer.late, w.Window = true, time.Millisecond
		now, err := w.set(c.ID, provider.CardCanceled)
		if err != nil || now.Status != string(provider.CardCanceled) {
			t.Errorf("the card is %s, %v", now.Status, err)
		}
	})
}

func TestACardIsFrozenUnfrozenAndTerminated(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		for _, to := range []provider.CardStatus{provider.CardInactive, provider.CardInactive, provider.CardActive, provider.CardCanceled} {
			now, err := w.set(c.ID, to)
			must(t, err)
			if now.Status != string(to) {
				t.Errorf("the card is %s, want %s", now.Status, to)
			}
		}
		_, err := w.set(c.ID, provider.CardActive)
		w.refused(err, "Card is terminated")
		_, err = w.SetStatus(t.Context(), card.Change{Company: w.join("Other"), CardID: c.ID, To: provider.CardInactive})
		w.refused(err, "Card not found")
		if got := kinds(w.events()); !slices.Equal(got, []string{"card.generated", "card.frozen", "card.unfrozen", "card.terminated"}) {
			t.Errorf("events %v", got)
		}
	})
}

func TestARefusedChangeChangesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		w.issuer.change = no
		_, err := w.set(c.ID, provider.CardInactive)
		w.refused(err, "Sudo API Error: The card is blocked.")
		now, err := w.Find(t.Context(), w.company, c.ID)
		must(t, err)
		if now.Status != "active" || len(w.events()) != 1 {
			t.Errorf("%+v %v", now, kinds(w.events()))
		}
		w.issuer.change = yes
		_, err = w.set(c.ID, provider.CardInactive)
		must(t, err)
	})
}

// The reply to a change is lost. The issuer's card decides the outcome, at once or when a job asks
// again.
func TestAChangeWithoutAnAnswerIsFollowed(t *testing.T) {
	for name, made := range map[string]bool{"made": true, "not made": false} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				c := w.card()
				w.issuer.change, w.issuer.made = silence, made
				_, err := w.set(c.ID, provider.CardInactive)
				if made {
					must(t, err)
					return
				}
				w.refused(err, changing)
				_, err = w.set(c.ID, provider.CardActive)
				w.refused(err, changing)
				next, err := w.CompleteChange(t.Context(), w.job(c.ID))
				must(t, err)
				if next.IsZero() {
					t.Error("the job ended")
				}
				w.forward(time.Minute)
				w.issuer.change = yes
				next, err = w.CompleteChange(t.Context(), w.job(c.ID))
				must(t, err)
				if got := kinds(w.events()); !next.IsZero() || !slices.Equal(got, []string{"card.generated", "card.frozen"}) {
					t.Errorf("next %v, events %v", next, got)
				}
			})
		})
	}
}

func TestAChangeThatStaysUnknownIsACase(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		w.issuer.change = silence
		_, err := w.set(c.ID, provider.CardInactive)
		w.refused(err, changing)
		w.forward(73 * time.Hour)
		for range 2 {
			_, err = w.CompleteChange(t.Context(), w.job(c.ID))
			must(t, err)
		}
		w.has("UNRESOLVED ₦0.00")
	})
}

// decide makes two operators decide the only open case.
func (w *world) decide(outcome string) {
	w.t.Helper()
	list, _, err := w.operations.Cases(w.t.Context(), operation.CaseFilter{State: operation.Open, Company: w.company}, 10, 0)
	if must(w.t, err); len(list) != 1 {
		w.t.Fatalf("cases %+v", list)
	}
	for _, by := range []string{"ada", "bola"} {
		_, err = w.operations.ResolveCase(w.t.Context(), list[0].ID, operation.Finding{Outcome: outcome}, "seen at Sudo", by, me.Note)
		must(w.t, err)
	}
}

// An earlier case about the same card is decided. It was about another change, or about the first load, which has the card's id. So an
// unknown termination is a case of its own, and only one, whatever operators decide.
func TestEachUnknownChangeIsACase(t *testing.T) {
	for name, earlier := range map[string]func(w *world) (cardID string){
		"a freeze": func(w *world) string {
			id := w.card().ID
			w.issuer.change = silence
			_, err := w.set(id, provider.CardInactive)
			w.refused(err, changing)
			w.forward(73 * time.Hour)
			w.retry(id)
			w.decide(operation.Dismissed)
			w.retry(id)
			w.has()
			w.issuer.change = yes
			w.retry(id)
			return id
		},
		"the first load": func(w *world) string {
			w.issuer.answer = silence
			r := w.request()
			r.Load = 400 * money.Naira
			g, err := w.Generate(w.t.Context(), r)
			must(w.t, err)
			must(w.t, w.operations.OpenCase(w.t.Context(), w.company, g.CardID, operation.Unresolved, "no outcome after 72 hours"))
			w.decide(operation.FoundConfirmed)
			return g.CardID
		},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				id := earlier(w)
				w.issuer.change = silence
				w.forward(time.Minute)
				_, err := w.set(id, provider.CardCanceled)
				w.refused(err, changing)
				w.forward(73 * time.Hour)
				for range 2 {
					w.retry(id)
					w.has("UNRESOLVED ₦0.00")
				}
				w.decide(operation.Dismissed)
				w.retry(id)
				w.has()
			})
		})
	}
}

func TestConcurrentChangesOfACardAreReportedOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				_, err := w.set(c.ID, provider.CardInactive)
				if err != nil && fault.Of(err).Message != changing {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := kinds(w.events()); !slices.Equal(got, []string{"card.generated", "card.frozen"}) {
			t.Errorf("events %v", got)
		}
	})
}

// The money of a terminated card is credited once, if the issuer's list proves that it came back.
func TestWhatIsLeftOnATerminatedCardComesBack(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		_, err := w.fund(c.ID, 700*money.Naira)
		must(t, err)
		w.issuer.left = 650 * money.Naira
		_, err = w.set(c.ID, provider.CardCanceled)
		must(t, err)
		j := w.job(c.ID)
		next, err := w.Returned(t.Context(), j)
		must(t, err)
		if next.IsZero() {
			t.Fatal("the job ended before the money came back")
		}
		w.holds(300*money.Naira, 0, 700*money.Naira)
		w.issuer.returning = true
		w.forward(71 * time.Hour)
		if next, err = w.Returned(t.Context(), j); err != nil || next.IsZero() || len(w.cases()) > 0 {
			t.Fatalf("a return on its way: next %v, %v, cases %v", next, err, w.cases())
		}
		w.issuer.back = 650 * money.Naira
		for range 3 {
			next, err = w.Returned(t.Context(), j)
			must(t, err)
		}
		w.holds(950*money.Naira, 0, 50*money.Naira)
		if got := w.cases(); !next.IsZero() || len(got) > 0 {
			t.Errorf("next %v, cases %v", next, got)
		}
	})
}

// If nothing proves that the money came back, two operators decide. Their finding credits it once.
func TestABalanceWithoutProofIsACase(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		_, err := w.fund(c.ID, 700*money.Naira)
		must(t, err)
		ended := provider.CardNotice{Kind: provider.CardEnded, ID: "e1", Word: "card.terminated", Card: c.ProviderCardID, Amount: 650 * money.Naira}
		for range 2 { // the notice is repeated
			must(t, w.Notified(t.Context(), "sudo", ended))
		}
		j := w.job(c.ID)
		w.issuer.returning = true // and it stays so
		w.forward(73 * time.Hour)
		for range 2 {
			_, err = w.Returned(t.Context(), j)
			must(t, err)
		}
		w.has("CARD_BALANCE ₦650.00")
		list, _, err := w.operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open, Company: w.company}, 10, 0)
		must(t, err)
		finding := operation.Finding{Outcome: operation.Assigned, Target: w.company, TargetID: w.account}
		other := finding
		other.Target = w.join("Other")
		_, err = w.operations.ResolveCase(t.Context(), list[0].ID, other, "wrong", "ada", me.Note)
		if err == nil {
			t.Error("another company got the money")
		}
		for _, by := range []string{"ada", "bola"} {
			w.holds(300*money.Naira, 0, 700*money.Naira)
			_, err = w.operations.ResolveCase(t.Context(), list[0].ID, finding, "seen at Sudo", by, me.Note)
			must(t, err)
			owners, err := db.One(t.Context(), d, db.Value[int64], `SELECT count(*) FROM settlement_session WHERE company_id = $1`, w.company)
			must(t, err)
			if decided := by == "bola"; (owners == 1) != decided {
				t.Errorf("after the finding of %s the credit has %d owners", by, owners)
			}
		}
		w.holds(950*money.Naira, 0, 50*money.Naira)
		w.issuer.back = 650 * money.Naira // the list shows it later
		_, err = w.Returned(t.Context(), j)
		must(t, err)
		w.holds(950*money.Naira, 0, 50*money.Naira)
		if got := kinds(w.events()); !slices.Contains(got, "card.terminated") {
			t.Errorf("events %v", got)
		}
		w.caseMoney(list[0].ID, "")
		for _, altered := range []string{
			`UPDATE settlement_credit SET amount_kobo = amount_kobo + 1 WHERE company_id = $1`,
			`UPDATE settlement_credit SET session_id = 'card/another' WHERE company_id = $1`,
			`DELETE FROM settlement_credit WHERE company_id = $1`,
		} {
			w.caseMoney(list[0].ID, altered)
		}
	})
}

// caseMoney alters the database, looks for the finding of kobo verify about the money of a decided case,
// and takes the alteration back. Without an alteration there must be no such finding.
func (w *world) caseMoney(caseID, altered string) {
	w.t.Helper()
	err := w.db.Tx(w.t.Context(), func(q db.Querier) error {
		if altered != "" {
			n, err := q.Exec(w.t.Context(), altered, w.company)
			if err != nil || n == 0 {
				w.t.Errorf("%s: %d rows, %v", altered, n, err)
			}
		}
		v, err := report.Verify(w.t.Context(), q, w.db.Signer(), w.company, w.clock.Now())
		must(w.t, err)
		found := slices.ContainsFunc(v.Findings, func(f report.Finding) bool { return f.Check == "case money" && f.ID == caseID })
		if found != (altered != "") {
			w.t.Errorf("%q: found %v in %v", altered, found, v.Lines())
		}
		return errAltered
	})
	if !errors.Is(err, errAltered) {
		w.t.Errorf("%q stays: %v", altered, err)
	}
}

// errAltered takes back an alteration.
var errAltered = errors.New("altered")

// If the balance is neither told nor known, operators are asked. An empty card needs nobody.
func TestAnEmptyOrUnknownBalance(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		_, err := w.set(c.ID, provider.CardCanceled)
		must(t, err)
		j := w.job(c.ID)
		w.forward(2 * time.Hour)
		next, err := w.Returned(t.Context(), j)
		must(t, err)
		if !next.IsZero() || len(w.cases()) > 0 {
			t.Errorf("next %v, cases %v", next, w.cases())
		}
	})
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		w.issuer.mu.Lock()
		w.issuer.cards[0].Status = provider.CardCanceled // terminated at the issuer, without a notice
		w.issuer.mu.Unlock()
		_, err := w.Find(t.Context(), w.company, c.ID)
		must(t, err)
		j := w.job(c.ID)
		w.forward(2 * time.Hour)
		w.issuer.broken = errors.New("away")
		_, err = w.Returned(t.Context(), j)
		must(t, err)
		w.has("CARD_BALANCE ₦0.00")
	})
}

// The balance was 0, and the list shows later that money came in and is on its way back, or the list cannot be read.
func TestMoneyOnItsWayFromAnEmptyCardIsACase(t *testing.T) {
	for name, broken := range map[string]error{"the return is open": nil, "the list is not read": errAway} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				c := w.card()
				_, err := w.set(c.ID, provider.CardCanceled)
				must(t, err)
				j := w.job(c.ID)
				w.issuer.returning, w.issuer.broken = broken == nil, broken
				w.forward(71 * time.Hour)
				if next, err := w.Returned(t.Context(), j); err != nil || next.IsZero() || len(w.cases()) > 0 {
					t.Fatalf("next %v, %v, cases %v", next, err, w.cases())
				}
				w.forward(2 * time.Hour)
				if next, err := w.Returned(t.Context(), j); err != nil || !next.IsZero() {
					t.Errorf("next %v, %v", next, err)
				}
				w.has("CARD_BALANCE ₦0.00")
			})
		})
	}
}

// The first run ends the card, and its answer is lost. The second run reads a balance that is swept by then.
func TestASweptBalanceIsNotTheBalanceBefore(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		w.issuer.broken, w.issuer.change, w.issuer.made, w.issuer.left = errors.New("away"), provider.Answer{Code: provider.CodeTimeout}, true, 650*money.Naira
		_, err := w.set(c.ID, provider.CardCanceled)
		w.refused(err, changing)
		w.issuer.broken, w.issuer.left = nil, 0
		w.forward(time.Hour)
		_, err = w.CompleteChange(t.Context(), job.Job{Company: w.company, Kind: card.ChangeJob, Subject: c.ID})
		must(t, err)
		j := w.job(c.ID)
		w.forward(2 * time.Hour)
		_, err = w.Returned(t.Context(), j)
		must(t, err)
		w.has("CARD_BALANCE ₦0.00")
	})
}

// A notice without a balance does not hide the balance that Kobo has read before the termination.
func TestANoticeWithoutABalanceSaysNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		w.issuer.left = 650 * money.Naira
		_, err := w.set(c.ID, provider.CardCanceled)
		must(t, err)
		must(t, w.Notified(t.Context(), "sudo", provider.CardNotice{Kind: provider.CardEnded, ID: "e1", Word: "card.terminated", Card: c.ProviderCardID}))
		j := w.job(c.ID)
		w.forward(2 * time.Hour)
		_, err = w.Returned(t.Context(), j)
		must(t, err)
		w.has("CARD_BALANCE ₦650.00")
	})
}

// A terminated card gets no money. A funding that is open when the card ends is waited for, and then operators are asked.
func TestATerminatedCardIsNotFunded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		w.issuer.answer = provider.Answer{Code: provider.CodeTimeout}
		late, err := w.fund(c.ID, 200*money.Naira)
		must(t, err)
		w.issuer.answer = provider.Answer{Outcome: provider.Confirmed}
		_, err = w.set(c.ID, provider.CardCanceled)
		must(t, err)
		_, err = w.fund(c.ID, 100*money.Naira)
		w.refused(err, "Card is terminated")
		if seen, err := w.Preview(t.Context(), card.Order{Company: w.company, CardID: c.ID, Amount: 100 * money.Naira}); err != nil || seen.WouldSucceed {
			t.Errorf("a preview: %+v, %v", seen, err)
		}
		j := w.job(c.ID)
		w.forward(2 * time.Hour)
		w.issuer.back = 650 * money.Naira
		next, err := w.Returned(t.Context(), j)
		must(t, err)
		if next.IsZero() {
			t.Error("the open funding is not waited for")
		}
		w.poll(late.Reference)
		_, err = w.Returned(t.Context(), j)
		must(t, err)
		w.has("CARD_BALANCE ₦0.00")
	})
}

func TestTheUsesOfACardAreListed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.card()
		for i, amount := range []money.Kobo{-250050, 50000} {
			must(t, w.Notified(t.Context(), "sudo", provider.CardNotice{
				Kind: provider.CardActivity, ID: fmt.Sprint("e", i), Word: "transaction.created", Card: c.ProviderCardID, Amount: amount,
				Currency: "NGN", Merchant: "Corner Shop, Lagos, NG", At: w.clock.Now().Add(time.Duration(i) * time.Minute),
			}))
		}
		list, total, err := w.Transactions(t.Context(), w.company, c.ID, 0, 10)
		must(t, err)
		if total != 2 || list[0].ID != "e1" || list[1].Amount != -250050 || list[1].Currency != "NGN" || list[1].Merchant != "Corner Shop, Lagos, NG" {
			t.Errorf("%d %+v", total, list)
		}
		_, _, err = w.Transactions(t.Context(), w.join("Other"), c.ID, 0, 10)
		w.refused(err, "Card not found")
	})
}
