package customer_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

const held = "Failed to create account. Another customer has this account"

// again creates a customer with the BVN of an earlier one, after the pause between two OTPs.
func (w *world) again(t *testing.T, email string) customer.Customer {
	t.Helper()
	w.clock.Advance(time.Minute)
	c, err := w.Create(t.Context(), w.registration(email))
	must(t, err)
	return c.Customer
}

// The bank gives a person the same account again. It stays the first customer's, and each request of the second one is refused.
func TestAnAccountOfAnotherCustomerIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.bank.open = func(int) provider.AccountAnswer { return account(7) }
		ada := w.served(t, "ada@example.test", 0)
		second := w.again(t, "ada@work.test")
		for range 2 {
			_, err := w.GenerateAccount(t.Context(), w.request(second.ID, 0))
			want(t, err, fault.Refused, held)
			if got := fault.Of(err).Reason(); got != fault.AlreadyExists {
				t.Errorf("the reason is %s", got)
			}
		}
		_, err := w.Create(t.Context(), w.registration("ada@work.test"))
		want(t, err, fault.Refused, "Customer already exists")
		w.pay(t, ada.Account.Number, "s1", 700)
		if list, err := w.TransactionsOf(t.Context(), w.company, ada.ID); err != nil || len(list) != 1 {
			t.Errorf("the first customer has %+v, %v", list, err)
		}
	})
}

// The account is another company's. The company reads what it reads of a bank that refuses without a reason, also if it registers
// the customer again. The bank's reply has the name of the account's owner.
func TestAnAccountOfAnotherCompanyIsRefusedAsByTheBank(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		must(t, w.settlements.Enter(t.Context(), "another", "8000000007", "999240"))
		named := account(7)
		named.Holder = secret.NewText("ADA SAMPLE")
		c := w.again(t, "ada@example.test")
		no := provider.AccountAnswer{Answer: provider.Answer{Outcome: provider.Rejected}}
		for _, said := range []provider.AccountAnswer{named, no} {
			w.bank.open = func(int) provider.AccountAnswer { return said }
			_, err := w.GenerateAccount(t.Context(), w.request(c.ID, 0))
			want(t, err, fault.Refused, "Failed to create account. The bank refused to open it.")
			if got := fault.Of(err).Reason(); got != fault.Declined {
				t.Errorf("the reason is %s", got)
			}
			w.clock.Advance(time.Minute)
			_, err = w.Create(t.Context(), w.registration("ada@example.test"))
			want(t, err, fault.Refused, "Customer already exists")
		}
	})
}

// The reply to the second customer's request is lost, and the job finds the account.
func TestAFoundAccountOfAnotherCustomerIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.bank.open = func(int) provider.AccountAnswer { return account(7) }
		w.served(t, "first@example.test", 0)
		w.clock.Advance(time.Minute)
		w.lost(t)
		c, err := w.Find(t.Context(), w.company, "ada@example.test")
		must(t, err)
		reference, err := db.One(t.Context(), d, db.Value[string], `SELECT reference FROM customer_account WHERE company_id = $1 AND customer_id = $2`, w.company, c.ID)
		must(t, err)
		w.bank.found = account(7)
		j := job.Job{Company: w.company, Kind: customer.ResolveJob, Subject: c.ID + "/" + reference}
		if next := w.look(t, j); !next.IsZero() {
			t.Errorf("it is looked for again at %v", next)
		}
		state, err := db.One(t.Context(), d, db.Value[string], `SELECT state FROM customer_account WHERE company_id = $1 AND customer_id = $2`, w.company, c.ID)
		if must(t, err); state != "FAILED" {
			t.Errorf("the opening is %s", state)
		}
		c, err = w.Find(t.Context(), w.company, c.ID)
		if must(t, err); c.Account != nil || c.Status != customer.PendingOTP || w.generated(t) != 1 {
			t.Errorf("%+v with %+v, told %d times", c, c.Account, w.generated(t))
		}
	})
}

// An erased person registers again. The account is the new customer's then, and earlier credits stay where they are.
func TestTheAccountOfAnErasedCustomerGoesToTheNewOne(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.bank.open = func(int) provider.AccountAnswer { return account(7) }
		ada := w.served(t, "ada@example.test", w.main.ID)
		w.pay(t, ada.Account.Number, "s1", 700)
		u := ledger.For(w.company)
		_, open, err := w.Erase(t.Context(), &u, ada.ID, w.clock.Now())
		if err != nil || len(open) > 0 {
			t.Fatal(open, err)
		}
		must(t, w.book.Commit(t.Context(), u))
		w.pay(t, ada.Account.Number, "s2", 20)
		second := w.again(t, "ada@example.test")
		c, err := w.GenerateAccount(t.Context(), w.request(second.ID, w.other.ID))
		if must(t, err); c.Account == nil || c.Account.Number != ada.Account.Number {
			t.Fatalf("%+v", c)
		}
		w.pay(t, ada.Account.Number, "s3", 5)
		if w.balance(t, w.main.ID) != 720 || w.balance(t, w.other.ID) != 5 {
			t.Errorf("the balances are %s and %s", w.balance(t, w.main.ID), w.balance(t, w.other.ID))
		}
		for customerID, n := range map[string]int{ada.ID: 2, second.ID: 1} {
			if list, err := w.TransactionsOf(t.Context(), w.company, customerID); err != nil || len(list) != n {
				t.Errorf("customer %s has %+v, %v", customerID, list, err)
			}
		}
		if w.generated(t) != 2 {
			t.Errorf("%d accounts were told", w.generated(t))
		}
	})
}
