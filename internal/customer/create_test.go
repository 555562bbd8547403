package customer_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

const tooSoon = "Please wait 60 seconds before requesting another OTP"

func TestACustomerIsFoundByIDAndAddress(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		made, err := w.Create(t.Context(), w.registration("Ada@Example.test"))
		must(t, err)
		if made.Message != "OTP sent" || made.Customer.Status != customer.PendingOTP || made.Customer.KYCStatus() != "PENDING" {
			t.Errorf("created %+v", made)
		}
		for _, who := range []string{made.Customer.ID, "Ada@Example.test", "ada@example.TEST"} {
			c, err := w.Find(t.Context(), w.company, who)
			must(t, err)
			if c.ID != made.Customer.ID || c.Email != "Ada@Example.test" || c.Address.City != "Lagos" || c.Account != nil {
				t.Errorf("%s: %+v", who, c)
			}
		}
		_, err = w.Find(t.Context(), "another", made.Customer.ID)
		want(t, err, fault.Missing, "Customer not found")
		_, err = w.Create(t.Context(), w.registration("ADA@example.test"))
		want(t, err, fault.Refused, "Customer already exists")
		shown, err := json.Marshal(made.Customer)
		must(t, err)
		told := w.told(t)
		if len(told) != 1 || told[0].Kind != "customer.created" || string(told[0].Data) != string(shown) || strings.Contains(string(shown), bvn) {
			t.Errorf("the events are %+v", told)
		}
	})
}

func TestWithoutAnOTPThereIsNoCustomer(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		r := w.registration("ada@example.test")
		w.bank.start = provider.Answer{Outcome: provider.Rejected, Message: "No such number"}
		_, err := w.Create(t.Context(), r)
		want(t, err, fault.Refused, "No such number")
		_, err = w.Find(t.Context(), w.company, "ada@example.test")
		want(t, err, fault.Missing, "Customer not found")
		w.bank.start = provider.Answer{}
		_, err = w.Create(t.Context(), r) // the same BVN must wait for the cooldown
		want(t, err, fault.Limited, tooSoon)
		r.BVN, r.FirstName = secret.NewText("22212345679"), "Adaeze"
		made, err := w.Create(t.Context(), r) // a different BVN has no cooldown
		must(t, err)
		list, total, err := w.Customers(t.Context(), w.company, "", 0, 50)
		must(t, err)
		if total != 1 || len(list) != 1 || list[0].ID != made.Customer.ID || list[0].FirstName != "Adaeze" || len(w.told(t)) != 1 {
			t.Errorf("%d customers: %+v", total, list)
		}
		if got := w.bank.started[1].BVN.Reveal(); got != "22212345679" {
			t.Errorf("the OTP went to the phone of %s", got)
		}
	})
}

func TestTwentyCreationsAtOnceSendOneOTP(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		var all sync.WaitGroup
		var mu sync.Mutex
		made := 0
		for range 20 {
			all.Go(func() {
				_, err := w.Create(t.Context(), w.registration("ada@example.test"))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					made++
				} else if !fault.Is(err, fault.Limited) && !fault.Is(err, fault.Refused) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if made != 1 || len(w.bank.started) != 1 || len(w.told(t)) != 1 {
			t.Errorf("%d were created, %d OTPs sent, %d events told", made, len(w.bank.started), len(w.told(t)))
		}
	})
}

func TestCreationsAtOnceWithDifferentBVNsMakeOneCustomer(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		for round := range 40 {
			var all sync.WaitGroup
			for n := range 8 {
				all.Go(func() {
					r := w.registration(fmt.Sprintf("ada%d@example.test", round))
					r.BVN = secret.NewText(fmt.Sprint(22200000000 + 100*round + n))
					_, err := w.Create(t.Context(), r)
					if err != nil && !fault.Is(err, fault.Limited) && !fault.Is(err, fault.Refused) {
						t.Error(err)
					}
				})
			}
			all.Wait()
		}
		if told := len(w.told(t)); told != 40 {
			t.Errorf("%d events told of 40 customers", told)
		}
	})
}

func TestAnOTPIsSentAgainTwice(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		_, err := w.Create(t.Context(), w.registration("ada@example.test"))
		must(t, err)
		_, err = w.Resend(t.Context(), w.company, "ada@example.test", nil)
		want(t, err, fault.Limited, tooSoon)
		for range 2 {
			w.clock.Advance(time.Minute)
			again, err := w.Resend(t.Context(), w.company, "ada@example.test", nil)
			must(t, err)
			if !strings.Contains(again.CustomerID, "-") {
				t.Errorf("sent to %q", again.CustomerID)
			}
		}
		w.clock.Advance(time.Minute)
		_, err = w.Resend(t.Context(), w.company, "ada@example.test", nil)
		want(t, err, fault.Limited, "Maximum OTP attempts reached")
		_, err = w.Resend(t.Context(), w.company, "nobody", nil)
		want(t, err, fault.Missing, "Customer not found")
		_, err = w.GenerateAccount(t.Context(), w.request("ada@example.test", 0)) // the latest OTP session proves the identity
		must(t, err)
		_, err = w.Resend(t.Context(), w.company, "ada@example.test", nil)
		want(t, err, fault.Refused, "An account generated already")
	})
}

// OTPs are counted per BVN, even if several customers with different e-mail addresses have the
// same BVN (completion.md §2).
func TestOTPsToOnePersonCountWhateverTheCustomer(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		var all sync.WaitGroup
		results := make([]error, 25)
		for i := range results {
			all.Go(func() {
				_, results[i] = w.Create(t.Context(), w.registration(fmt.Sprintf("person_%d@example.test", i)))
			})
		}
		all.Wait()
		made := 0
		for i, err := range results {
			if err == nil {
				made++
				continue
			}
			want(t, err, fault.Limited, tooSoon)
			_, err = w.Find(t.Context(), w.company, fmt.Sprintf("person_%d@example.test", i))
			want(t, err, fault.Missing, "Customer not found") // a request that gets a 429 creates no customer
		}
		if made != 1 || len(w.bank.started) != 1 {
			t.Errorf("%d customers were created and %d OTPs were sent", made, len(w.bank.started))
		}
		for _, email := range []string{"second@example.test", "third@example.test"} {
			w.clock.Advance(time.Minute)
			_, err := w.Create(t.Context(), w.registration(email))
			must(t, err)
		}
		w.clock.Advance(23 * time.Hour)
		_, err := w.Create(t.Context(), w.registration("fourth@example.test"))
		want(t, err, fault.Limited, "Maximum OTP attempts reached")
		if wait := fault.Of(err).Retry; wait != time.Hour {
			t.Errorf("the next OTP may be asked for after %s", wait)
		}
		_, err = w.Resend(t.Context(), w.company, "second@example.test", nil)
		want(t, err, fault.Limited, "Maximum OTP attempts reached")
		w.clock.Advance(time.Hour)
		_, err = w.Create(t.Context(), w.registration("fourth@example.test"))
		must(t, err) // the count starts again at zero, a day after the last OTP
	})
}

// OTPs that a program of an earlier release sent still count towards the limit. Before database
// schema 39, programs counted OTPs per customer and not per BVN.
func TestOTPsOfOlderProgramsCount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		_, err := w.Create(t.Context(), w.registration("ada@example.test"))
		must(t, err)
		older := func() {
			t.Helper()
			_, err := d.Exec(t.Context(), `DELETE FROM identity_attempt WHERE company_id = $1`, w.company)
			must(t, err)
		}
		older()
		_, err = w.Resend(t.Context(), w.company, "ada@example.test", nil)
		want(t, err, fault.Limited, tooSoon)
		for range 2 {
			w.clock.Advance(time.Minute)
			_, err = w.Resend(t.Context(), w.company, "ada@example.test", nil)
			must(t, err)
			older()
		}
		w.clock.Advance(23 * time.Hour)
		_, err = w.Resend(t.Context(), w.company, "ada@example.test", nil)
		want(t, err, fault.Limited, "Maximum OTP attempts reached")
		w.clock.Advance(time.Hour)
		_, err = w.Resend(t.Context(), w.company, "ada@example.test", nil)
		must(t, err)
		// A program of an earlier release that still runs counts its OTPs only in the session's
		// row.
		w.clock.Advance(time.Minute)
		_, err = d.Exec(t.Context(), `UPDATE identity_session SET attempts = 3, asked_at = $2, turn = '9' WHERE company_id = $1`,
			w.company, clock.Micros(w.clock.Now()))
		must(t, err)
		w.clock.Advance(time.Minute)
		_, err = w.Resend(t.Context(), w.company, "ada@example.test", nil)
		want(t, err, fault.Limited, "Maximum OTP attempts reached")
	})
}

func TestAPageOfCustomersIsARangeOfNumbers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		for i := range 7 {
			r := w.registration(fmt.Sprintf("person_%d@example.test", i))
			r.LastName, r.BVN = fmt.Sprint("Number", i), secret.NewText(fmt.Sprint(22212345670+i))
			_, err := w.Create(t.Context(), r)
			must(t, err)
		}
		for _, c := range []struct {
			search        string
			offset, limit int
			total         int
			last          string
		}{
			{"", 0, 3, 7, "Number6 Number5 Number4"},
			{"", 6, 3, 7, "Number0"},
			{"", 9, 3, 7, ""},
			{"NUMBER3", 0, 3, 1, "Number3"},
			{"ada number2", 0, 3, 1, "Number2"},
			{"person_", 2, 2, 7, "Number4 Number3"},
			{"%", 0, 3, 0, ""},
			{strings.Repeat("_", 25_000), 0, 3, 0, ""},
		} {
			list, total, err := w.Customers(t.Context(), w.company, c.search, c.offset, c.limit)
			must(t, err)
			if after, err := w.After(t.Context(), w.company, c.search, "", 7); err != nil || len(after) != total {
				t.Errorf("%.40q after a cursor: %d, %v", c.search, len(after), err)
			}
			var names []string
			for _, one := range list {
				names = append(names, one.LastName)
			}
			if got := strings.Join(names, " "); total != c.total || got != c.last {
				t.Errorf("%.40q: %d, %s", c.search, total, got)
			}
		}
	})
}
