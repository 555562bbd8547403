package apptest_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

const (
	header   = "Idempotency-Key"
	replayed = "Idempotent-Replayed"
)

// same fails the test unless the second response equals the first response, byte for byte, and has
// the header of a replay.
func same(t *testing.T, name string, first, second apptest.Answer) {
	t.Helper()
	if first.Header.Get(replayed) != "" {
		t.Errorf("%s: the first answer says it is a replay", name)
	}
	if second.Status != first.Status || second.Body != first.Body || second.Header.Get(replayed) != "true" {
		t.Errorf("%s: first %s, then %s (%s: %q)", name, first, second, replayed, second.Header.Get(replayed))
	}
}

func TestAnIdempotencyKeyGivesTheFirstAnswerAgain(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		bundle := p.Bundle()
		for _, ending := range []string{"10", "01", "05"} {
			order := p.Order(bundle, "header-"+ending, ending)
			first := p.Buy(order, header, "key "+ending)
			same(t, ending, first, p.Buy(order, header, "key "+ending))
		}
		// After the first response the state of the purchase changes. The stored response stays the same.
		pending := p.Order(bundle, "header-06", "06")
		first := p.Buy(pending, header, "key 06")
		p.Advance(time.Minute) // two polls
		if tr := p.Transaction("header-06"); tr.Status != "SUCCESS" {
			t.Fatalf("not resolved: %+v", tr)
		}
		same(t, "06", first, p.Buy(pending, header, "key 06"))
		// A request with the same JSON but different white space counts as the same request.
		spread := `{ "settlementId": ` + strconv.FormatInt(p.SettlementID, 10) + `, "phoneNumber": "` + pending.PhoneNumber + `",
			"productId": "` + pending.ProductID + `", "serviceCategoryId": "` + pending.ServiceCategoryID + `", "idempotencyKey": "header-06" }`
		same(t, "spread", first, p.Do(http.MethodPost, apptest.PurchaseData, spread, header, "key 06"))
		// The Idempotency-Key is used again with a different body, so the request is refused.
		pending.PhoneNumber = "08000000010"
		p.Buy(pending, header, "key 06").Want(t, http.StatusUnprocessableEntity)
		p.Audit(t, apptest.DevFloat)
	})
}

// If a valid request is refused, the refusal is stored under its Idempotency-Key, and stays the
// same even after the company has received money. A request with a malformed body does not use up
// its Idempotency-Key.
func TestARefusalIsFrozenAndAMistakeIsNot(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		bundle := p.Bundle()
		c := p.Account(p.Client, bundle.Price)
		order := c.Order(bundle, "poor", "10")
		first := c.Buy(order, header, "poor").Want(t, http.StatusBadRequest)
		p.Fund(c, bundle.Price)
		same(t, "insufficient", first, c.Buy(order, header, "poor"))
		if tr := c.Bought(c.Buy(order, header, "rich")); tr.Status != "SUCCESS" {
			t.Errorf("a new key: %+v", tr)
		}
		wrong := c.Order(bundle, "typo", "10")
		wrong.PhoneNumber = "0803"
		c.Buy(wrong, header, "typo").Want(t, http.StatusBadRequest)
		wrong.PhoneNumber = "08031234510"
		wrong.SettlementID = p.SettlementID
		p.Bought(c.Buy(wrong, header, "typo"))
		for _, bad := range []string{"", strings.Repeat("k", 256), "naïve"} {
			c.Buy(order, header, bad).Want(t, http.StatusBadRequest)
		}
	})
}

// The idempotency key in the body and the Idempotency-Key header are independent.
func TestTheTwoKeysKeepTheirMeanings(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		order := p.Order(p.Bundle(), "two-keys", "10")
		one := p.Buy(order, header, "one")
		two := p.Buy(order, header, "two")
		if p.Bought(one).TransactionID != p.Bought(two).TransactionID || !strings.HasPrefix(two.Message(), "Duplicate request") {
			t.Errorf("the body's key with another header: %s, then %s", one, two)
		}
		same(t, "one", one, p.Buy(order, header, "one"))
		same(t, "two", two, p.Buy(order, header, "two"))
		// Two companies may use equal keys.
		other := p.Company(apptest.DevFloat)
		a := other.Buy(other.Order(other.Bundle(), "two-keys", "10"), header, "one")
		if a.Header.Get(replayed) != "" || other.Bought(a).TransactionID == p.Bought(one).TransactionID {
			t.Errorf("another company with the same keys: %s", a)
		}
		if n := len(p.Transactions()); n != 1 {
			t.Errorf("%d transactions for one body key", n)
		}
	})
}

// Two processes share a database. Fifty parallel requests with one Idempotency-Key make only one
// purchase or payout, and all fifty get the same response.
func TestOneHeaderFiftyTimesAtTwoProcesses(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		p := home.Start(t)
		clients := []*apptest.Client{p.Client, home.Spawn(t, apptest.Never, 4*time.Second).Client}
		for path, body := range map[string]any{
			apptest.PurchaseData:             p.Order(p.Bundle(), "fifty", "10"),
			"/api/v1/settlement/send-payout": map[string]any{"verify_id": verify(t, p.Client, "10"), "amount": 1000},
		} {
			ask := func(i int) (apptest.Answer, error) {
				return clients[i%2].Try(context.Background(), http.MethodPost, path, body, header, path)
			}
			bodies := map[string]int{}
			for _, a := range atOnce(t, 50, ask) {
				if a.Status != http.StatusConflict {
					bodies[a.Want(t, http.StatusOK).Body]++
				}
			}
			if len(bodies) != 1 {
				t.Errorf("%s: answers: %v", path, bodies)
			}
			here, there := p.Do(http.MethodPost, path, body, header, path), clients[1].Do(http.MethodPost, path, body, header, path)
			if same(t, path, stripped(here), there); bodies[here.Body] == 0 {
				t.Errorf("%s: another answer for good: %s", path, here)
			}
		}
		if n := len(p.Transactions()); n != 1 {
			t.Errorf("%d transactions", n)
		}
		for _, sale := range p.Sales() {
			if sale.Executions != 1 {
				t.Errorf("%s was executed %d times", sale.Reference, sale.Executions)
			}
		}
		holdsTogether(t, p)
	})
}

// While a request with an Idempotency-Key is still running, a second request with that
// Idempotency-Key gets a conflict.
func TestAHeaderInFlightIsAConflict(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		g := newGate()
		home := apptest.NewHome(t, dialect)
		p, other := home.Start(t, apptest.Around(g.around)), home.Start(t)
		order := p.Order(p.Bundle(), "slow", "10")
		first := ask(t, p.Client, order, header, "slow")
		await(t, g.entered)
		other.Buy(order, header, "slow").Want(t, http.StatusConflict)
		changed := order
		changed.PhoneNumber = "08000000010"
		other.Buy(changed, header, "slow").Want(t, http.StatusUnprocessableEntity)
		close(g.open)
		same(t, "slow", await(t, first).Want(t, http.StatusOK), other.Buy(order, header, "slow"))
		p.Audit(t, apptest.DevFloat)
	})
}

// Eight equal payouts with one Idempotency-Key run in parallel, while the credit that pays for them
// arrives. All requests that do not get a conflict get the same response, and this response is
// stored.
func TestOneHeaderEightTimesWhileACreditArrives(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		for round := range 12 {
			c, key := p.Account(p.Client, 0), "round "+strconv.Itoa(round)
			body := map[string]any{"verify_id": verify(t, c, "10"), "amount": 100}
			ask := func(i int) (apptest.Answer, error) {
				if i == 4 {
					p.Fund(c, 150*money.Naira)
				}
				return c.Try(context.Background(), http.MethodPost, "/api/v1/settlement/send-payout", body, header, key)
			}
			answers := atOnce(t, 8, ask)
			kept, err := ask(0)
			if err != nil || kept.Status != http.StatusOK && kept.Status != http.StatusBadRequest {
				t.Fatalf("%s: the key gives %s, %v", key, kept, err)
			}
			for _, a := range answers {
				if a.Status != http.StatusConflict && (a.Status != kept.Status || a.Body != kept.Body) {
					t.Errorf("%s: one was answered %s, and the key gives %s", key, a, kept)
				}
			}
		}
		holdsTogether(t, p)
	})
}
