package corporate_test

import (
	"sync"
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

// A session that has used all its attempts is closed only by the unit that creates the next
// session. A refused Initiate must not close it.
func TestARefusedInitiationLeavesASpentSessionAsItIs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w, number := newWorld(t, d), secret.NewText(bvn)
		old := w.spent(t, number)
		for range 3 { // in each round a new session replaces the old session
			w.clock.Advance(25 * time.Hour)
			quotas := quota.New(d, ledger.New(d, w.clock), w.clock)
			must(t, quotas.Set(t.Context(), me, w.company, quota.OTP, 1))
			_, err := w.Initiate(t.Context(), w.company, secret.NewText("22212345602"), nil)
			must(t, err)
			for range 2 {
				_, err = w.Initiate(t.Context(), w.company, number, nil)
				want(t, err, fault.Limited, "Daily limit of 1 OTPs reached")
				_, err = w.Resend(t.Context(), w.company, old, nil)
				want(t, err, fault.Limited, tooMany)
				_, err = w.Validate(t.Context(), w.company, old, secret.NewText("000000"), nil)
				want(t, err, fault.Refused, "BVN OTP validation failed")
			}
			must(t, quotas.Set(t.Context(), me, w.company, quota.OTP, 0))
			next := w.spent(t, number)
			if next == old {
				t.Fatal("the spent session was used again")
			}
			_, err = w.Resend(t.Context(), w.company, old, nil)
			want(t, err, fault.Refused, "Session closed")
			_, err = w.Validate(t.Context(), w.company, old, secret.NewText("123456"), nil)
			want(t, err, fault.Refused, "Session not awaiting OTP")
			old = next
		}
	})
}

// spent requests OTPs until a BVN's session has no attempt left, and returns the session's ID.
func (w *world) spent(t *testing.T, number secret.Text) string {
	t.Helper()
	first, err := w.Initiate(t.Context(), w.company, number, nil)
	must(t, err)
	for range 2 {
		w.clock.Advance(time.Minute)
		again, err := w.Initiate(t.Context(), w.company, number, nil)
		must(t, err)
		if again.SessionID != first.SessionID {
			t.Error("the same BVN has begun another session")
		}
	}
	return first.SessionID
}

func TestTwentyAtOnceReplaceASpentSessionOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w, number := newWorld(t, d), secret.NewText(bvn)
		w.spent(t, number)
		w.clock.Advance(24 * time.Hour)
		sent := len(w.bank.started)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, err := w.Initiate(t.Context(), w.company, number, nil); err != nil {
					want(t, err, fault.Limited, tooSoon)
				}
			})
		}
		all.Wait()
		if len(w.bank.started) != sent+1 {
			t.Errorf("%d OTPs were sent", len(w.bank.started)-sent)
		}
	})
}
