package customer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

func TestAnAccountIsGeneratedOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		_, err := w.Create(t.Context(), w.registration("ada@example.test"))
		must(t, err)
		wrong := w.request("ada@example.test", 0)
		wrong.OTP = secret.NewText("000000")
		_, err = w.GenerateAccount(t.Context(), wrong)
		want(t, err, fault.Refused, "Failed to create account. Invalid OTP")

		results := make(chan error, 20)
		for range 20 {
			go func() {
				_, err := w.GenerateAccount(t.Context(), w.request("ada@example.test", w.other.ID))
				results <- err
			}()
		}
		made := 0
		for range 20 {
			if err := <-results; err == nil {
				made++
			} else if !fault.Is(err, fault.Refused) {
				t.Error(err)
			}
		}
		c, err := w.Find(t.Context(), w.company, "ada@example.test")
		must(t, err)
		if made != 1 || len(w.bank.opened) != 2 || c.Account == nil || int64(c.Account.SettlementID) != w.other.ID || c.KYCStatus() != "VERIFIED" {
			t.Errorf("%d were told of an account, the bank was asked %d times: %+v", made, len(w.bank.opened), c)
		}
		if w.bank.opened[0].Reference == w.bank.opened[1].Reference || w.bank.opened[1].IdentityNumber.Reveal() != bvn {
			t.Errorf("the bank was asked for %+v", w.bank.opened)
		}
		_, err = w.GenerateAccount(t.Context(), w.request(c.ID, 0))
		want(t, err, fault.Refused, "An account generated already")
		if told := w.told(t); len(told) != 2 || told[1].Kind != "customer.account_generated" {
			t.Errorf("the events are %+v", told)
		}
	})
}

func TestALostAnswerOpensNoSecondAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		_, err := w.Create(t.Context(), w.registration("ada@example.test"))
		must(t, err)
		w.bank.open = func(int) provider.AccountAnswer { return provider.AccountAnswer{} }
		w.bank.found = provider.AccountAnswer{Answer: provider.Answer{Missing: true}}
		for range 2 { // Kobo uses the same reference again, because the bank does not know an account with it
			_, err = w.GenerateAccount(t.Context(), w.request("ada@example.test", 0))
			want(t, err, fault.Refused, "Failed to create account. The bank has not said whether it was opened. Try again.")
		}
		if w.bank.opened[0].Reference != w.bank.opened[1].Reference {
			t.Error("the reference is another one")
		}
		_, err = d.Exec(t.Context(), `UPDATE customer_account SET called_until = $2 WHERE company_id = $1`,
			w.company, clock.Micros(w.clock.Now().Add(5*time.Second)))
		must(t, err)
		_, err = w.GenerateAccount(t.Context(), w.request("ada@example.test", 0))
		want(t, err, fault.Refused, "Failed to create account. The account is being opened. Try again in a minute.")
		w.clock.Advance(time.Minute)
		w.bank.found = account(77)
		c, err := w.GenerateAccount(t.Context(), w.request("ada@example.test", 0))
		must(t, err)
		if c.Account.Number != "8000000077" || len(w.bank.opened) != 2 {
			t.Errorf("the account is %+v after %d requests", c.Account, len(w.bank.opened))
		}
	})
}

func TestRequestsWithoutAnAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		_, err := w.GenerateAccount(t.Context(), w.request("nobody", 0))
		want(t, err, fault.Missing, "Customer not found")
		_, err = w.Create(t.Context(), w.registration("ada@example.test"))
		must(t, err)
		_, err = w.GenerateAccount(t.Context(), w.request("ada@example.test", 999))
		want(t, err, fault.Refused, "Settlement account not found")
		_, err = d.Exec(t.Context(), `UPDATE identity_session SET reference = '' WHERE company_id = $1`, w.company)
		must(t, err)
		_, err = w.GenerateAccount(t.Context(), w.request("ada@example.test", 0))
		want(t, err, fault.Refused, "KYC entry not found")
	})
}

func TestTransactionsAreFiltered(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		ada := w.served(t, "ada@example.test", 0)
		w.clock.Advance(time.Minute)
		bob := w.served(t, "bob@example.test", 0)
		start := w.clock.Now()
		for i := range 6 {
			to := ada
			if i%3 == 2 {
				to = bob
			}
			w.pay(t, to.Account.Number, fmt.Sprint("s", i), money.Kobo(100*(i+1)))
			w.clock.Advance(time.Hour)
		}
		for name, c := range map[string]struct {
			filter        customer.TransactionFilter
			offset, limit int
			total         int
			sessions      string
		}{
			"all":                   {customer.TransactionFilter{}, 0, 10, 6, "[s5 s4 s3 s2 s1 s0]"},
			"of one customer":       {customer.TransactionFilter{CustomerID: bob.ID}, 0, 10, 2, "[s5 s2]"},
			"of nobody":             {customer.TransactionFilter{CustomerID: "nobody"}, 0, 10, 0, "[]"},
			"from":                  {customer.TransactionFilter{From: start.Add(4 * time.Hour)}, 0, 10, 2, "[s5 s4]"},
			"before":                {customer.TransactionFilter{To: start.Add(2 * time.Hour)}, 0, 10, 2, "[s1 s0]"},
			"of one, in between":    {customer.TransactionFilter{CustomerID: ada.ID, From: start.Add(time.Hour), To: start.Add(4 * time.Hour)}, 0, 10, 2, "[s3 s1]"},
			"the second page of it": {customer.TransactionFilter{CustomerID: ada.ID}, 2, 2, 4, "[s1 s0]"},
		} {
			list, total, err := w.Transactions(t.Context(), w.company, c.filter, c.offset, c.limit)
			must(t, err)
			sessions := make([]string, 0, len(list))
			for _, one := range list {
				sessions = append(sessions, one.SessionID)
			}
			if total != c.total || fmt.Sprint(sessions) != c.sessions {
				t.Errorf("%s: %d: %v", name, total, sessions)
			}
		}
	})
}

func TestGuessesOfACustomersOTPHaveARate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		made, err := w.Create(t.Context(), w.registration("ada@example.test"))
		must(t, err)
		w.bank.open = func(int) provider.AccountAnswer {
			return provider.AccountAnswer{Answer: provider.Answer{Outcome: provider.Rejected, Message: "Wrong OTP"}}
		}
		for range 10 {
			_, err = w.GenerateAccount(t.Context(), w.request(made.Customer.ID, 0))
			want(t, err, fault.Refused, "Failed to create account. Wrong OTP")
		}
		_, err = w.GenerateAccount(t.Context(), w.request(made.Customer.ID, 0))
		want(t, err, fault.Limited, "Too many attempts. Please wait 30 seconds before trying again")
		if n := len(w.bank.opened); n != 10 {
			t.Errorf("the bank was asked %d times", n)
		}
		w.bank.open = nil
		w.clock.Advance(30 * time.Second)
		c, err := w.GenerateAccount(t.Context(), w.request(made.Customer.ID, 0))
		must(t, err)
		if c.Account == nil {
			t.Error("the customer has no account")
		}
	})
}

func TestACreditLandsWithItsTransactionAndEvent(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		ada := w.served(t, "ada@example.test", 0)
		w.clock.Advance(time.Minute) // both customers have the same BVN, so the second OTP must wait for a minute
		bob := w.served(t, "bob@example.test", w.other.ID)
		for i := range 60 {
			w.pay(t, ada.Account.Number, fmt.Sprint("s", i), money.Kobo(100*(i+1)))
			w.pay(t, ada.Account.Number, fmt.Sprint("s", i), money.Kobo(100*(i+1))) // the bank notifies Kobo twice
		}
		w.pay(t, bob.Account.Number, "b1", 5)
		if w.balance(t, w.main.ID) != 183_000 || w.balance(t, w.other.ID) != 5 {
			t.Errorf("the balances are %s and %s", w.balance(t, w.main.ID), w.balance(t, w.other.ID))
		}
		page, total, err := w.Transactions(t.Context(), w.company, customer.TransactionFilter{}, 0, 2)
		must(t, err)
		if total != 61 || len(page) != 2 || page[0].CustomerID != bob.ID || page[1].Narration != "for s59" || page[1].Customer.FirstName != "Ada" {
			t.Errorf("%d transactions: %+v", total, page)
		}
		page, _, err = w.Transactions(t.Context(), w.company, customer.TransactionFilter{}, 60, 50)
		must(t, err)
		if len(page) != 1 || page[0].SessionID != "s0" {
			t.Errorf("the last page is %+v", page)
		}
		of, err := w.TransactionsOf(t.Context(), w.company, ada.ID)
		must(t, err)
		if len(of) != 50 || of[0].SessionID != "s59" {
			t.Errorf("%d transactions of one customer, from %+v", len(of), of[0])
		}
		one, err := w.Transaction(t.Context(), w.company, ada.ID, of[3].ID)
		must(t, err)
		if one != of[3] {
			t.Errorf("found %+v", one)
		}
		_, err = w.Transaction(t.Context(), w.company, bob.ID, of[3].ID)
		want(t, err, fault.Missing, "Transaction not found")
		if told := w.told(t); len(told) != 4+61 || told[len(told)-1].Kind != "transaction.credit" {
			t.Errorf("%d events", len(told))
		}
	})
}

// If the settlement account that was chosen for a customer is inactive, credits go to the default
// settlement account.
func TestACreditFindsAnActiveSettlementAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		c := w.served(t, "ada@example.test", w.other.ID)
		w.clock.Advance(time.Minute) // the pause between two OTPs
		free := w.served(t, "bob@example.test", 0)
		_, err := w.settlements.SetStatus(t.Context(), me, w.company, w.other.ID, settlement.Inactive, "")
		must(t, err)
		w.pay(t, c.Account.Number, "s1", 700)
		if got := w.balance(t, w.main.ID); got != 700 {
			t.Errorf("the default one holds %s", got)
		}
		_, err = w.settlements.SetStatus(t.Context(), me, w.company, w.main.ID, settlement.Inactive, "")
		must(t, err)
		w.pay(t, c.Account.Number, "s2", 300)
		if got := w.balance(t, w.other.ID); got != 300 {
			t.Errorf("the chosen one holds %s", got)
		}
		// Nobody chose a settlement account for Bob. So the credit goes to the first one.
		w.pay(t, free.Account.Number, "s3", 50)
		if got := w.balance(t, w.main.ID); got != 750 {
			t.Errorf("the first one holds %s", got)
		}
	})
}
