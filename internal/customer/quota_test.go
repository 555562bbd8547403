package customer_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/secret"
)

// An OTP beyond the quota is not sent. The refused request writes no row, and uses none of the
// BVN's three attempts.
func TestTheQuotaOfOTPs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		must(t, quota.New(d, w.book, w.clock).Set(t.Context(), me, w.company, quota.OTP, 2))
		ask := func(email, bvn string) (string, error) {
			r := w.registration(email)
			r.BVN = secret.NewText(bvn)
			made, err := w.Create(t.Context(), r)
			return made.Customer.ID, err
		}
		first, err := ask("ada@example.com", "22212345601")
		must(t, err)
		w.clock.Advance(time.Hour)
		_, err = w.Resend(t.Context(), w.company, first, nil)
		must(t, err)
		const reached = "Daily limit of 2 OTPs reached"
		_, err = ask("bob@example.com", "22212345602")
		want(t, err, fault.Limited, reached)
		w.clock.Advance(time.Hour)
		_, err = w.Resend(t.Context(), w.company, first, nil)
		want(t, err, fault.Limited, reached)
		if _, total, err := w.Customers(t.Context(), w.company, "", 0, 10); err != nil || total != 1 {
			t.Errorf("%d customers, %v", total, err)
		}
		if sent := len(w.bank.started); sent != 2 {
			t.Errorf("%d OTPs were sent", sent)
		}
		if t.Failed() {
			return
		}
		w.clock.Advance(fault.Of(err).Retry)
		_, err = ask("bob@example.com", "22212345602")
		must(t, err)
		_, err = w.Resend(t.Context(), w.company, first, nil) // the third and last OTP for this BVN
		must(t, err)
	})
}
