package customer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/wire"
)

// owned makes the bank reply with this name of the BVN's owner.
func (w *world) owned(name string) {
	w.bank.holder = secret.NewText(name)
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		first, last, record string
		want                wire.Text
	}{
		{"Ada", "Tester", "TESTER NGOZI ADA", customer.Match},
		{"Ada", "Tester", "ADA NGOZI", customer.Partial},
		{"Ada", "Tester", "Bola Tester", customer.Partial},
		{"Ada", "Tester", "BOLA SAMPLE", customer.Mismatch},
		{"Ada", "Tester", "ADAEZE TESTERS", customer.Mismatch},
		{"Ada", "Tester", " ", ""},
		{"Ada", "Tester", "", ""},
		{"Olúwáṣeun", "Adébáyọ̀", "OLUWASEUN ADEBAYO", customer.Match},
		{"Oluwaseun", "Adebayo", "Olúwáṣeun Adébáyọ̀", customer.Match},
		{"Abdul-Rahman", "Sani", "SANI ABDULRAHMAN", customer.Match},
		{"Abdulrahman", "Sani", "Abdul Rahman Sani", customer.Match},
		{"Mary Jane", "Obi", "JANE MARY OBI", customer.Match},
		{"Chidi", "O'Neil", "CHIDI ONEIL", customer.Match},
		{"Chidi", "O’Neil", "CHIDI O'NEIL.", customer.Match},
		{"ﬁfi", "Ｏｂｉ", "FIFI OBI", customer.Match},
		{"Ɗan", "Ƙasa", "DAN KASA", customer.Match},
		{"--", "Tester", "ADA TESTER", customer.Partial},
	} {
		if got := (customer.Profile{FirstName: c.first, LastName: c.last}).Compare(secret.NewText(c.record)); got != c.want {
			t.Errorf("%s %s and %q: %q, want %q", c.first, c.last, c.record, got, c.want)
		}
	}
}

// By default the account is opened, and the customer, the event and the operators' list show the
// result of the comparison. None of them contains the name in the BVN's record.
func TestANameIsFlagged(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.owned("BOLA NGOZI SAMPLE")
		c := w.served(t, "bola@example.com", 0)
		w.owned("TESTER ADA")
		w.clock.Advance(time.Minute)
		w.served(t, "ada@example.com", 0)
		w.owned("")
		w.clock.Advance(time.Minute)
		null := w.served(t, "none@example.com", 0)
		if c.NameMatch != customer.Mismatch || c.KYCStatus() != "VERIFIED" || null.NameMatch != "" {
			t.Errorf("%+v %+v", c, null)
		}
		if c, err := w.Find(t.Context(), w.company, c.ID); err != nil || c.NameMatch != customer.Mismatch {
			t.Errorf("%+v %v", c, err)
		}
		last := w.told(t)[1]
		if last.Kind != event.AccountGenerated || !strings.Contains(string(last.Data), `"nameMatch":"MISMATCH"`) || strings.Contains(string(last.Data), "SAMPLE") {
			t.Errorf("%s %s", last.Kind, last.Data)
		}
		for _, f := range []struct {
			customer.CheckedFilter
			want int64
		}{
			{customer.CheckedFilter{NameMatch: "MATCH"}, 1},
			{customer.CheckedFilter{}, 0},
			{customer.CheckedFilter{NameMatch: "MISMATCH"}, 1},
			{customer.CheckedFilter{NameMatch: "MISMATCH", Company: w.company}, 1},
			{customer.CheckedFilter{NameMatch: "PARTIAL"}, 0},
			{customer.CheckedFilter{NameMatch: "MISMATCH", Company: "cnobody0000000000000000000"}, 0},
		} {
			list, total, err := w.Checked(t.Context(), f.CheckedFilter, 10, 0)
			if err != nil || total != f.want || len(list) != int(f.want) {
				t.Errorf("%+v: %+v %d %v", f, list, total, err)
			}
			if f.NameMatch == "MISMATCH" && total == 1 && (list[0].ID != c.ID || list[0].Status != "OPEN" || list[0].Company != w.company) {
				t.Errorf("%+v", list[0])
			}
		}
	})
}

// A deployment that refuses names opens no account for a different name. A new registration with
// the same e-mail address corrects the customer, and then the account is opened.
func TestANameIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.RefuseNames = true
		w.owned("SAMPLE ADA")
		made, err := w.Create(t.Context(), w.registration("ada@example.com"))
		must(t, err)
		_, err = w.GenerateAccount(t.Context(), w.request("ada@example.com", 0))
		want(t, err, fault.Refused, "Failed to create account. The name does not match the BVN")
		if len(w.bank.opened) != 0 {
			t.Errorf("the bank was asked: %+v", w.bank.opened)
		}
		if list, _, err := w.Checked(t.Context(), customer.CheckedFilter{NameMatch: "PARTIAL"}, 10, 0); err != nil || len(list) != 1 || list[0].Status != "FAILED" {
			t.Errorf("%+v %v", list, err)
		}
		w.clock.Advance(time.Minute)
		again := w.registration("ada@example.com")
		again.LastName, again.Address = "Sample", nil
		fixed, err := w.Create(t.Context(), again)
		must(t, err)
		if fixed.Customer.ID != made.Customer.ID || !fixed.Customer.CreatedAt.Equal(made.Customer.CreatedAt.Time) {
			t.Errorf("%+v", fixed)
		}
		c, err := w.GenerateAccount(t.Context(), w.request("ada@example.com", 0))
		must(t, err)
		if c.LastName != "Sample" || c.NameMatch != customer.Match || c.Address != nil || len(w.bank.opened) != 1 || !w.bank.opened[0].Proven {
			t.Errorf("%+v %+v", c, w.bank.opened)
		}
		if found, _, err := w.Customers(t.Context(), w.company, "sample", 0, 10); err != nil || len(found) != 1 {
			t.Errorf("the search finds %+v, %v", found, err)
		}
		w.clock.Advance(time.Minute)
		_, err = w.Create(t.Context(), again)
		want(t, err, fault.Refused, "Customer already exists")
		kinds := ""
		for _, e := range w.told(t) {
			kinds += string(e.Kind) + " "
		}
		if kinds != "customer.created customer.account_generated " {
			t.Error(kinds)
		}
	})
}

// A refused name ends no attempt that may have opened the account, and a wrong OTP refuses it.
func TestARefusedNameAndOtherOutcomes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.RefuseNames = true
		w.owned("ADA TESTER")
		_, err := w.Create(t.Context(), w.registration("ada@example.com"))
		must(t, err)
		r := w.request("ada@example.com", 0)
		r.OTP = secret.NewText("000000")
		_, err = w.GenerateAccount(t.Context(), r)
		want(t, err, fault.Refused, "Failed to create account. BVN OTP validation failed")
		w.bank.open = func(int) provider.AccountAnswer { return provider.AccountAnswer{} } // unknown
		_, err = w.GenerateAccount(t.Context(), w.request("ada@example.com", 0))
		want(t, err, fault.Refused, "Failed to create account. The bank has not said whether it was opened. Try again.")
		_, err = w.Create(t.Context(), w.registration("ada@example.com"))
		want(t, err, fault.Refused, "Customer already exists")
		w.clock.Advance(time.Minute)
		w.owned("BOLA SAMPLE")
		w.bank.found = provider.AccountAnswer{Answer: provider.Answer{Missing: true}}
		_, err = w.GenerateAccount(t.Context(), w.request("ada@example.com", 0))
		want(t, err, fault.Refused, "Failed to create account. The name does not match the BVN")
		if word := fault.Of(err).Reason(); word != fault.BeingConfirmed {
			t.Errorf("the word is %s, and the earlier call may have opened the account", word)
		}
		w.bank.found = account(7)
		c, err := w.Find(t.Context(), w.company, "ada@example.com")
		must(t, err)
		subjects, err := db.All(t.Context(), w.db, db.Value[string], `SELECT subject FROM job WHERE kind = $1`, customer.ResolveJob)
		must(t, err)
		w.clock.Advance(time.Minute)
		for _, subject := range subjects {
			_, err = w.Resolve(t.Context(), job.Job{Company: w.company, Subject: subject})
			must(t, err)
		}
		if c, err = w.Find(t.Context(), w.company, c.ID); err != nil || c.Account == nil {
			t.Errorf("%+v %v", c, err)
		}
	})
}

// While the account may have been opened under the earlier name, no registration corrects the
// customer.
func TestACorrectionAndAnOpening(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.RefuseNames = true
		w.owned("SAMPLE ADA")
		_, err := w.Create(t.Context(), w.registration("ada@example.com"))
		must(t, err)
		_, err = w.GenerateAccount(t.Context(), w.request("ada@example.com", 0))
		want(t, err, fault.Refused, "Failed to create account. The name does not match the BVN")
		w.clock.Advance(time.Minute)
		w.RefuseNames = false
		w.bank.open = func(int) provider.AccountAnswer { return provider.AccountAnswer{} } // unknown
		w.bank.starting = func() {
			w.bank.starting = nil
			_, err := w.GenerateAccount(t.Context(), w.request("ada@example.com", 0))
			want(t, err, fault.Refused, "Failed to create account. The bank has not said whether it was opened. Try again.")
		}
		again := w.registration("ada@example.com")
		again.LastName = "Sample"
		_, err = w.Create(t.Context(), again)
		want(t, err, fault.Refused, "Customer already exists")
		if c, err := w.Find(t.Context(), w.company, "ada@example.com"); err != nil || c.LastName != "Tester" || c.Account != nil {
			t.Errorf("%+v %v", c, err)
		}
	})
}

func each(t *testing.T, f func(t *testing.T, w *world)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) { f(t, newWorld(t, d)) })
}
