package corporate_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// An OTP session belongs to the bank that sent the OTP. If that bank is removed and a second
// bank cannot send an OTP, the second bank does not receive the first bank's session or its OTP.
func TestASessionIsNotShownToAnotherBank(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		sent, err := w.Initiate(t.Context(), w.company, secret.NewText(bvn), nil)
		must(t, err)
		second := &bank{start: provider.Answer{Outcome: provider.Rejected, Message: "no"}}
		w.Identities.Banks = provider.Only[provider.Verifier]("second", second)
		w.clock.Advance(time.Minute)
		if _, err = w.Resend(t.Context(), w.company, sent.SessionID, nil); err == nil || len(second.started) != 1 {
			t.Fatalf("resent by the second bank: %v, %d", err, len(second.started))
		}
		second.sessions = map[string]bool{"session-1": true} // the first bank's session
		_, err = w.Validate(t.Context(), w.company, sent.SessionID, secret.NewText("123456"), nil)
		want(t, err, fault.Refused, "BVN OTP validation failed")
	})
}
