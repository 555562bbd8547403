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
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// pay credits an account at the sandbox, and returns the session ID.
func pay(t *testing.T, c *apptest.Client, account string, amount int, more map[string]any) string {
	t.Helper()
	body := map[string]any{"accountNumber": account, "amount": amount, "senderName": "BOLA SAMPLE"}
	for k, v := range more {
		body[k] = v
	}
	a, err := c.Raw(t.Context(), http.MethodPost, "/sandbox/credit", body)
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ Data struct{ SessionID string } }
	a.Want(t, http.StatusOK).Into(t, &said)
	return said.Data.SessionID
}

// tell sends a bank's notification about a credit of 100 naira.
func tell(t *testing.T, p *apptest.Program, session string) {
	body := fmt.Sprintf(`{"type":"transfer","data":{"type":"Inwards","sessionId":%q,"creditAccountNumber":%q,"amount":100,"status":"Completed"}}`,
		session, p.SettlementAccountNumber)
	a, err := p.Raw(t.Context(), http.MethodPost, p.App.Inbox.Path("safehaven"), body)
	if err != nil || a.Status != http.StatusOK {
		t.Errorf("%s, %v", a, err)
	}
}

// holds waits until the account has this balance, and checks that the ledger adds up.
func holds(t *testing.T, p *apptest.Program, c *apptest.Client, want money.Kobo) {
	t.Helper()
	apptest.Eventually(t, func() string {
		if got := c.Balance(c.SettlementID); got != want {
			return fmt.Sprintf("the account holds %s, not %s", got, want)
		}
		return ""
	})
	companies, err := p.App.Reports.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, company := range companies {
		if i, err := p.App.Reports.Integrity(t.Context(), company.Company); err != nil || !i.Intact() {
			t.Errorf("%v, %v", i.Wrongs, err)
		}
	}
}

// settled waits until no job is due.
func settled(t *testing.T, p *apptest.Program) {
	t.Helper()
	if err := p.App.Worker.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func creditEvents(c *apptest.Client) (n int) {
	for _, e := range c.Events(0) {
		if e.Event == "settlement.credit" {
			n++
		}
	}
	return n
}

// A transfer into the settlement account is credited only once, even if the bank sends fifty
// notifications.
func TestMoneyComesIn(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		pay(t, p.Client, p.SettlementAccountNumber, 5000, map[string]any{"duplicate": 49})
		pay(t, p.Client, p.SettlementAccountNumber, 70, nil)
		holds(t, p, p.Client, apptest.DevFloat+5070*money.Naira)
		settled(t, p)
		holds(t, p, p.Client, apptest.DevFloat+5070*money.Naira)
		if n := creditEvents(p.Client); n != 2 {
			t.Errorf("%d events", n)
		}
	})
}

// If the bank sends no notification about a credit, the program finds the credit when it polls the
// bank's list of credits.
func TestACreditWithoutANotificationIsFound(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		pay(t, p.Client, p.SettlementAccountNumber, 5000, map[string]any{"silent": true})
		p.Advance(time.Minute)
		holds(t, p, p.Client, apptest.DevFloat)
		p.Advance(5 * time.Minute)
		holds(t, p, p.Client, apptest.DevFloat+5000*money.Naira)
		p.Advance(2 * time.Hour)
		holds(t, p, p.Client, apptest.DevFloat+5000*money.Naira)
	})
}

// A credit for an unknown account is booked in a suspense account, and opens a case.
func TestACreditForAnUnknownAccountIsKept(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		session := pay(t, p.Client, "8000000099", 700, map[string]any{"stray": true, "duplicate": 3})
		apptest.Eventually(t, func() string {
			list, _, err := p.App.Operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open}, 10, 0)
			if err != nil || len(list) != 1 || list[0].Reason != operation.UnknownAccount || list[0].Subject != "safehaven/"+session {
				return fmt.Sprintf("%+v, %v", list, err)
			}
			return ""
		})
		if got, err := p.App.Book.Balance(t.Context(), settlement.House, settlement.SuspenseAccount); err != nil || got != 700*money.Naira {
			t.Errorf("suspense holds %s, %v", got, err)
		}
		holds(t, p, p.Client, apptest.DevFloat)
	})
}

// Two programs share a database, and each of them receives every notification many times. Each
// transfer is credited only once.
func TestNotificationsAtTwoPrograms(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		one := apptest.Start(t, dialect)
		two := one.Home.Start(t)
		var all sync.WaitGroup
		for range 10 {
			session := pay(t, one.Client, one.SettlementAccountNumber, 100, nil)
			for i := range 20 {
				all.Go(func() { tell(t, []*apptest.Program{one, two}[i%2], session) })
			}
		}
		all.Wait()
		settled(t, one)
		holds(t, one, one.Client, apptest.DevFloat+1000*money.Naira)
		holds(t, two, two.Client, apptest.DevFloat+1000*money.Naira)
		if n := creditEvents(one.Client); n != 10 {
			t.Errorf("%d events", n)
		}
	})
}

// A program stops after it has stored a notification, but before it books the credit. The next
// program books the credit.
func TestNotificationsOutliveTheProgram(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		first := apptest.Start(t, dialect)
		for range 30 {
			tell(t, first, pay(t, first.Client, first.SettlementAccountNumber, 100, map[string]any{"silent": true}))
		}
		first.Stop()
		second := first.Home.Start(t)
		holds(t, second, second.Client, apptest.DevFloat+3000*money.Naira)
	})
}

func TestAVirtualAccountIsPaid(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		generate := func(reference string) (id, number string) {
			var said struct {
				Data struct {
					ID     string `json:"virtual_trx_id"`
					Number string `json:"accountNumber"`
				}
			}
			p.Do(http.MethodPost, "/api/v1/virtual-account/generate", map[string]any{"amount": 2500, "externalReference": reference}).
				Want(t, http.StatusOK).Into(t, &said)
			return said.Data.ID, said.Data.Number
		}
		status := func(id string) string {
			var c struct{ Status string }
			p.Data("/api/v1/virtual-account/"+id, &c)
			return c.Status
		}
		paid, number := generate("invoice-1")
		late, lateNumber := generate("invoice-2")
		pay(t, p.Client, number, 2500, map[string]any{"duplicate": 9})
		holds(t, p, p.Client, apptest.DevFloat+2500*money.Naira)
		if got := status(paid); got != "SUCCESS" {
			t.Errorf("paid, and %s", got)
		}
		p.Advance(16 * time.Minute)
		if got := status(late); got != "FAILED" {
			t.Errorf("out of time, and %s", got)
		}
		pay(t, p.Client, lateNumber, 2500, nil)
		holds(t, p, p.Client, apptest.DevFloat+5000*money.Naira)
		if got := status(late); got != "FAILED" {
			t.Errorf("paid late, and %s", got)
		}
		kinds := map[string]int{}
		for _, e := range p.Events(0) {
			kinds[e.Event]++
		}
		if kinds["virtual_account.success"] != 1 || kinds["virtual_account.failed"] != 1 || kinds["virtual_account.late_payment"] != 1 {
			t.Errorf("%v", kinds)
		}
	})
}
