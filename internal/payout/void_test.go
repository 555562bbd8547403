package payout_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/secret"
)

const void = "Verification no longer valid. Validate the account again."

func TestAPINResetVoidsUnusedVerifications(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		used, unused := w.verify(), w.verify()
		_, err := w.send(used, 100)
		must(t, err)
		must(t, w.companies.SetPIN(t.Context(), me, w.company, secret.NewText(pin))) // even a new PIN with the same digits invalidates the unused verification
		_, err = w.send(unused, 100)
		w.refused(err, void)
		_, err = w.send(used, 100)
		w.refused(err, "Verification already used")
		preview, err := w.Preview(t.Context(), payout.Order{Company: w.company, VerifyID: unused, Amount: 100})
		must(t, err)
		if preview.Refusal != void {
			t.Errorf("the preview says %q", preview.Refusal)
		}
		if len(w.bank.sent) != 1 {
			t.Errorf("the bank was asked for %d payouts", len(w.bank.sent))
		}
		w.holds(map[string]money.Kobo{w.own(): 1000*money.Naira - 100})
		_, err = w.send(w.verify(), 100)
		must(t, err)
	})
}

func TestTheRevocationOfAllKeysVoidsUnusedVerifications(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		second, _, err := w.companies.IssueKey(ctx, me, w.company, w.clock.Now().AddDate(1, 0, 0))
		must(t, err)
		keys, err := w.companies.Keys(ctx, w.company)
		must(t, err)
		first := keys[0]
		verifyID := w.verify()
		must(t, w.companies.RevokeKey(ctx, me, w.company, first.ID))
		_, err = w.send(verifyID, 100) // the second API key still works, so the verification stays valid
		must(t, err)
		verifyID = w.verify()
		must(t, w.companies.RevokeKey(ctx, me, w.company, second.ID))
		_, err = w.send(verifyID, 100)
		w.refused(err, void)
	})
}

// If a company's two API keys are revoked concurrently, its unused verifications are invalidated.
func TestKeysRevokedAtOnceVoidVerifications(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		second, _, err := w.companies.IssueKey(ctx, me, w.company, w.clock.Now().AddDate(1, 0, 0))
		must(t, err)
		keys, err := w.companies.Keys(ctx, w.company)
		must(t, err)
		verifyID := w.verify()
		done := make(chan error, 2)
		for _, k := range []company.Key{keys[0], second} {
			go func() { done <- w.companies.RevokeKey(ctx, me, w.company, k.ID) }()
		}
		must(t, <-done)
		must(t, <-done)
		_, err = w.send(verifyID, 100)
		w.refused(err, void)
	})
}

func TestALockedPINStopsVerificationsUntilItIsUnlocked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		verifyID := w.verify()
		for range 5 {
			err := w.companies.CheckPIN(t.Context(), w.company, "0000")
			w.refused(err, "Invalid PIN")
		}
		_, err := w.send(verifyID, 100)
		w.refused(err, "PIN locked after 5 wrong attempts. Contact support to reset it.")
		must(t, w.companies.UnlockPIN(t.Context(), me, w.company))
		w.refused(w.companies.UnlockPIN(t.Context(), me, w.company), "PIN is not locked")
		if err := w.companies.UnlockPIN(t.Context(), me, "nobody"); !fault.Is(err, fault.Missing) {
			t.Errorf("a company that is none: %v", err)
		}
		_, err = w.send(verifyID, 100)
		must(t, err)
	})
}

// A payout with an invalidated verification is refused without a call to the bank. The refusal
// states that the verification is invalidated. Neither the bank's reply nor an exceeded limit may
// hide this reason.
func TestAVoidVerificationAsksNoBank(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		used, unused := w.verify(), w.verify()
		_, err := w.send(used, 100)
		must(t, err)
		must(t, w.companies.SetPIN(t.Context(), me, w.company, secret.NewText(pin)))
		w.forward(16 * time.Minute)
		asked := w.bank.requests
		w.bank.name = "Chidi Eze"
		_, err = w.send(unused, 100)
		w.refused(err, void)
		_, err = w.send(used, 100)
		w.refused(err, "Verification already used")
		if w.bank.requests != asked {
			t.Errorf("the bank was asked for %d names", w.bank.requests-asked)
		}
		must(t, w.SetLimit(t.Context(), me, w.company, 0, payout.Limit{Amount: 50}))
		_, err = w.send(unused, 100)
		w.refused(err, void)
	})
}
