package apptest_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// newCard creates a card for a new customer.
func newCard(t *testing.T, c *apptest.Client) string {
	t.Helper()
	var made struct{ Data struct{ ID string } }
	for _, step := range []struct {
		path string
		body map[string]any
	}{
		{"/api/v1/customer/create", map[string]any{
			"firstName": "Ada", "lastName": "Tester", "email": "ada@example.com", "phoneNumber": "08012345678", "bvn": "22212345678",
			"address": map[string]string{"line1": "1 Marina", "city": "Lagos", "state": "Lagos"},
		}},
		{"/api/v1/customer/generate-account", map[string]any{"otp": "123456"}},
		{"/api/v1/card/generate-card", map[string]any{"type": "virtual"}},
	} {
		if made.Data.ID != "" {
			step.body["customerId"] = made.Data.ID
		}
		a := c.Do(http.MethodPost, step.path, step.body).Want(t, http.StatusOK)
		if step.path != "/api/v1/customer/generate-account" {
			a.Into(t, &made)
		}
	}
	return made.Data.ID
}

// After a restore, a company sends all requests since the backup again, with the same keys. The
// providers know every reference and execute nothing a second time. The ledger gets the outcomes of
// the original requests.
func TestARepetitionAfterARestoreIsDoneOnce(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		p := home.Start(t, apptest.Window(2*time.Second))
		bundle, card := p.Bundle(), newCard(t, p.Client)
		verified := []string{verify(t, p.Client, "10"), verify(t, p.Client, "02")}
		restored := takeBackup(t, home)

		var lines []string
		repeat := func(c *apptest.Client) {
			lines = nil
			say := func(what string, a apptest.Answer) { lines = append(lines, what+": "+a.String()) }
			for i, ending := range []string{"10", "02", "04", "06", "10"} {
				key := fmt.Sprint("purchase-", i)
				say(key, c.Buy(c.Order(bundle, key, ending), header, "header-"+key))
			}
			for i, naira := range []int{510, 502, 506} {
				key := fmt.Sprint("funding-", i)
				say(key, c.Do(http.MethodPost, "/api/v1/card/fund-card", map[string]any{"cardId": card, "amount": naira}, header, key))
			}
			for _, id := range verified {
				say("payout", send(c, id, 1000))
			}
		}
		repeat(p.Client)
		p.Advance(time.Minute)
		p.Advance(time.Minute)
		resolved(t, p.Client)
		asked, first := lines, p.Sales()
		before := map[string]string{}
		for _, tr := range p.Transactions() {
			before[tr.IdempotencyKey] = tr.TransactionID
		}
		p.Stop()

		q := restored().Start(t, apptest.Window(2*time.Second))
		opened(t, q)
		q.Advance(48 * time.Hour)
		repeat(q.Client)
		q.Advance(time.Minute)
		q.Advance(time.Minute)
		resolved(t, q.Client)
		t.Logf("%d calls, the second time: %s", len(asked), lines)
		again := q.Sales()
		if len(first) != len(asked) || len(again) != len(first) {
			t.Errorf("%d calls; the providers did %d things, and %d after the restore", len(asked), len(first), len(again))
		}
		spent := money.Kobo(0)
		for reference, sale := range again {
			spent += sale.Amount
			if sale.Executions != 1 || sale.Requests != 2 {
				t.Errorf("%s: asked for %d times, executed %d times", reference, sale.Requests, sale.Executions)
			}
		}
		list := q.Transactions()
		if !slices.IsSortedFunc(list, func(a, b apptest.Transaction) int { return b.CreatedAt.Compare(a.CreatedAt) }) {
			t.Errorf("the purchases are not listed newest first: %v", list)
		}
		for _, tr := range list {
			if tr.Status != "SUCCESS" || before[tr.IdempotencyKey] != tr.TransactionID {
				t.Errorf("%s was %s, and now is %s: %s", tr.IdempotencyKey, before[tr.IdempotencyKey], tr.TransactionID, tr.Status)
			}
		}
		if left := q.Balance(q.SettlementID); left != apptest.DevFloat-spent {
			t.Errorf("the account holds %s after the providers took %s", left, spent)
		}
		holdsTogether(t, q)
		if found := breaks(t, q); len(found) > 0 {
			t.Errorf("the bank's statement differs: %v", found)
		}
	})
}
