package corporate_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/secret"
)

func TestTheQuotaOfOTPs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		must(t, quota.New(d, ledger.New(d, w.clock), w.clock).Set(t.Context(), me, w.company, quota.OTP, 2))
		ask := func(bvn string) error {
			_, err := w.Initiate(t.Context(), w.company, secret.NewText(bvn), nil)
			return err
		}
		must(t, ask("22212345601"))
		must(t, ask("22212345602"))
		const reached = "Daily limit of 2 OTPs reached"
		want(t, ask("22212345603"), fault.Limited, reached)
		w.clock.Advance(time.Minute)
		err := ask("22212345601")
		want(t, err, fault.Limited, reached)
		if sent := len(w.bank.started); sent != 2 {
			t.Errorf("%d OTPs were sent", sent)
		}
		if t.Failed() {
			return
		}
		w.clock.Advance(fault.Of(err).Retry)
		must(t, ask("22212345603"))
		must(t, ask("22212345601"))
	})
}
