package apptest_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
)

// paid is a payout in the response of payout-status.
type paid struct {
	Reference, Status string
	Amount, Fee       money.Kobo
	Refunded          bool
	SessionID         *string
	FailureReason     *string
}

// verify creates a new verify_id for an account number with this ending.
func verify(t *testing.T, c *apptest.Client, ending string) string {
	t.Helper()
	var v struct{ Data struct{ ID string } }
	c.Do(http.MethodPost, "/api/v1/settlement/validate-account", map[string]any{
		"bank_code": "000014", "account_number": "01234567" + ending, "pin": c.PIN, "fromSettlementId": c.SettlementID,
	}).Want(t, http.StatusOK).Into(t, &v)
	return v.Data.ID
}

func send(c *apptest.Client, verifyID string, naira int) apptest.Answer {
	return c.Do(http.MethodPost, "/api/v1/settlement/send-payout", map[string]any{"verify_id": verifyID, "amount": naira})
}

func status(c *apptest.Client, reference string) (p paid) {
	c.Data("/api/v1/settlement/payout-status/"+reference, &p)
	return p
}

// charge sets a fee of ten naira and one percent for the development company.
func charge(t *testing.T, p *apptest.Program) {
	t.Helper()
	schedule := payout.Schedule{{Flat: 10 * money.Naira, BasisPoints: 100}}
	if err := p.App.Payouts.SetFees(t.Context(), operator.Local("test"), p.Reference, schedule); err != nil {
		t.Fatal(err)
	}
}

func TestEveryStoryOfAPayoutEndsInTheTruth(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect, apptest.Window(2*time.Second))
		charge(t, p)
		references := map[string]string{}
		for _, s := range stories {
			references[s.ending] = verify(t, p.Client, s.ending)
			a := send(p.Client, references[s.ending], 1000).Want(t, s.status)
			if got := status(p.Client, references[s.ending]); s.status == http.StatusOK && got.Status != s.first {
				t.Errorf("%s: %s, then %+v", s.name, a, got)
			}
		}
		p.Advance(time.Minute)
		p.Advance(15 * time.Minute)
		want := money.Kobo(apptest.DevFloat)
		for _, s := range stories {
			got := status(p.Client, references[s.ending])
			if got.Status != s.end || got.Refunded != (s.end == "FAILED") || got.Fee != 20*money.Naira {
				t.Errorf("%s: ended %+v", s.name, got)
			}
			if s.end == "SUCCESS" {
				want -= 1020 * money.Naira
			}
			if again := send(p.Client, references[s.ending], 1000); again.Status != http.StatusBadRequest {
				t.Errorf("%s: sent again: %s", s.name, again)
			}
		}
		if open := p.Open(); len(open) != 0 {
			t.Errorf("these are open: %+v", open)
		}
		holds(t, p, p.Client, want)
	})
}

func TestAVerificationPaysOnceOverHTTP(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		id := verify(t, p.Client, "10")
		var all sync.WaitGroup
		var mu sync.Mutex
		answers := map[int]int{}
		for range 100 {
			all.Go(func() {
				a := send(p.Client, id, 1000)
				mu.Lock()
				defer mu.Unlock()
				answers[a.Status]++
			})
		}
		all.Wait()
		if answers[http.StatusOK] != 1 || answers[http.StatusBadRequest] != 99 {
			t.Errorf("answers %v", answers)
		}
		holds(t, p, p.Client, apptest.DevFloat-1000*money.Naira)
	})
}

// If the bank notifies Kobo that a payout came back, the company gets a refund.
func TestMoneyThatComesBackIsRefundedByTheBanksNotice(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		charge(t, p)
		id := verify(t, p.Client, "10")
		send(p.Client, id, 1000).Want(t, http.StatusOK)
		holds(t, p, p.Client, apptest.DevFloat-1020*money.Naira)
		a, err := p.Raw(t.Context(), http.MethodPost, "/sandbox/reverse", map[string]string{"reference": id})
		if err != nil || a.Status != http.StatusOK {
			t.Fatalf("%s, %v", a, err)
		}
		holds(t, p, p.Client, apptest.DevFloat)
		apptest.Eventually(t, func() string {
			if got := status(p.Client, id); got.Status != "REVERSED" || !got.Refunded || got.FailureReason == nil || *got.FailureReason != "The bank returned the money" {
				return fmt.Sprintf("%+v", got)
			}
			return ""
		})
		var kinds []string
		for _, e := range p.Events(0) {
			kinds = append(kinds, e.Event)
		}
		if last := kinds[len(kinds)-1]; last != "payout.reversed" {
			t.Errorf("events %q", kinds)
		}
	})
}
