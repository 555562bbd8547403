package company_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

const lockedPIN = "PIN locked after 5 wrong attempts. Contact support to reset it."

func (h *house) pin(reference, text string) {
	h.t.Helper()
	if err := h.SetPIN(h.t.Context(), ada, reference, secret.NewText(text)); err != nil {
		h.t.Fatal(err)
	}
}

func TestThePIN(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		reference, _ := h.create()
		other, _ := h.create()
		refused(t, "none", h.CheckPIN(ctx, reference, "1234"), fault.Refused, "PIN not set up")
		for _, bad := range []string{"", "123", "12345", "12a4", "１２３４", " 123", "1234\n"} {
			err := h.SetPIN(ctx, ada, reference, secret.NewText(bad))
			refused(t, "shape", err, fault.Invalid, `"pin" must be exactly 4 digits`)
		}
		refused(t, "nobody's", h.SetPIN(ctx, ada, id.Cuid(), secret.NewText("1234")), fault.Missing, "Company not found")
		h.pin(reference, "1234")
		h.pin(other, "1234")
		if err := h.CheckPIN(ctx, reference, "1234"); err != nil {
			t.Error(err)
		}
		for range 3 { // after four wrong tries, a right try sets the count to zero
			for range 4 {
				refused(t, "wrong", h.CheckPIN(ctx, reference, "4321"), fault.Refused, "Invalid PIN")
			}
			if err := h.CheckPIN(ctx, reference, "1234"); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			refused(t, "wrong", h.CheckPIN(ctx, reference, ""), fault.Refused, "Invalid PIN")
		}
		refused(t, "the right one, too late", h.CheckPIN(ctx, reference, "1234"), fault.Refused, lockedPIN)
		if err := h.CheckPIN(ctx, other, "1234"); err != nil {
			t.Errorf("another company: %v", err)
		}
		h.pin(reference, "9876")
		if err := h.CheckPIN(ctx, reference, "9876"); err != nil {
			t.Errorf("after the reset: %v", err)
		}
		refused(t, "the one before", h.CheckPIN(ctx, reference, "1234"), fault.Refused, "Invalid PIN")
	})
}

// An operator who holds the company's tokens cannot guess the PIN by unlocking it again and again. After
// an unlock, the next lock opens only by a new PIN, unless the right PIN was presented in between.
func TestOneUnlockGivesFiveMoreTries(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		reference, _ := h.create()
		h.pin(reference, "1234")
		lock := func() {
			t.Helper()
			for range 5 {
				refused(t, "wrong", h.CheckPIN(ctx, reference, "4321"), fault.Refused, "Invalid PIN")
			}
			refused(t, "locked", h.CheckPIN(ctx, reference, "1234"), fault.Refused, lockedPIN)
		}
		unlock := func() {
			t.Helper()
			if err := h.UnlockPIN(ctx, ada, reference); err != nil {
				t.Fatal(err)
			}
		}
		lock()
		unlock()
		if err := h.CheckPIN(ctx, reference, "1234"); err != nil {
			t.Fatal(err)
		}
		lock()
		unlock()
		lock()
		refused(t, "the second unlock", h.UnlockPIN(ctx, ada, reference), fault.Refused,
			"PIN was locked again without a right try since the last unlock: issue a PIN token (pin-reset)")
		token, err := h.IssuePINToken(ctx, ada, reference)
		if err == nil {
			err = h.ResetPIN(ctx, reference, token.Text.Reveal(), secret.NewText("9876"), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := h.CheckPIN(ctx, reference, "9876"); err != nil {
			t.Error(err)
		}
		lock()
		unlock()
	})
}

func TestConcurrentGuessesAreFiveTries(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		reference, _ := h.create()
		h.pin(reference, "1234")
		var all sync.WaitGroup
		answers := make(chan string, 20)
		for range 20 {
			all.Go(func() {
				if f := fault.Of(h.CheckPIN(context.Background(), reference, "0000")); f != nil {
					answers <- f.Message
				}
			})
		}
		all.Wait()
		close(answers)
		count := map[string]int{}
		for m := range answers {
			count[m]++
		}
		if count["Invalid PIN"] != 5 || count[lockedPIN] != 15 {
			t.Errorf("%v", count)
		}
	})
}

func TestConcurrentRightPINsAreAllAccepted(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		reference, _ := h.create()
		h.pin(reference, "1234")
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := h.CheckPIN(context.Background(), reference, "1234"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
}

// Tries that got into each other's way run one after the other. Without that, each would begin again after each
// other one, and an unlucky one would use up its time.
func TestConcurrentTriesBeginAgainRarely(t *testing.T) {
	const callers = 24
	each(t, func(t *testing.T, h *house) {
		reference, _ := h.create()
		h.pin(reference, "1234")
		var all sync.WaitGroup
		for i := range callers {
			text := "1234"
			if i%3 == 0 {
				text = "0000"
			}
			all.Go(func() {
				if err := h.CheckPIN(context.Background(), reference, text); err != nil && fault.Of(err) == nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := refusals(t, h); n > 2*callers {
			t.Errorf("%d tries began again %v times", callers, n)
		}
	})
}

// refusals returns the number of units that the ledger has refused because a row had changed.
func refusals(t *testing.T, h *house) float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(h.book.Metrics()...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "kobo_ledger_refusals_total" && m.GetLabel()[0].GetValue() == string(ledger.Moved) {
				return m.GetCounter().GetValue()
			}
		}
	}
	t.Fatal("the ledger does not count its refusals")
	return 0
}

// No API key and no PIN can be read from the database. The stored hashes of two companies with the
// same PIN differ.
func TestOnlyHashesAreStored(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		reference, key := h.create()
		other, _ := h.create()
		h.pin(reference, "1234")
		h.pin(other, "1234")
		stored, err := db.All(t.Context(), h.db, db.Value[string], `SELECT hash FROM company_api_key UNION ALL SELECT hash FROM company_pin`)
		if err != nil || len(stored) != 4 {
			t.Fatalf("%d rows, %v", len(stored), err)
		}
		for i, s := range stored {
			if !strings.HasPrefix(s, "old$") || len(s) != len("old$")+64 || strings.Contains(s, key) || slices.Contains(stored[:i], s) {
				t.Errorf("stored: %q", s)
			}
		}
	})
}
