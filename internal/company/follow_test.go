package company_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/fault"
)

// Follow ends what another process still remembers of a company, although no cached company is old: a
// revoked key by an operator and by the company, the switch, the KYB and the request limit.
func TestFollowAppliesTheChangesOfOtherProcesses(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		elsewhere := h.with(masterKey) // another process on the same database
		by, _ := h.owner()
		access := map[string]string{}
		for _, name := range []string{"first", "second"} {
			k := h.issues(by, name, time.Time{})
			access[k.ID], _ = h.tokens(by.Company, k.Text.Reveal())
		}
		seen := func() (passing int, last error) {
			for _, token := range access {
				h.clock.Advance(time.Millisecond)
				if _, err := elsewhere.Authenticate(ctx, token); err != nil {
					last = err
				} else {
					passing++
				}
			}
			return passing, last
		}
		follow := func() {
			t.Helper()
			if err := elsewhere.Follow(ctx); err != nil {
				t.Fatal(err)
			}
		}
		follow()
		if n, err := seen(); n != 2 {
			t.Fatalf("%d of 2 tokens work: %v", n, err)
		}
		revoke := []func(keyID string) error{
			func(keyID string) error { return h.RevokeKey(ctx, ada, by.Company, keyID) },
			func(keyID string) error { return h.revokes(ctx, by, keyID) },
		}
		for keyID := range access {
			left := len(revoke) - 1
			if err := revoke[left](keyID); err != nil {
				t.Fatal(err)
			}
			revoke = revoke[:left]
			if _, err := h.Authenticate(ctx, access[keyID]); !fault.Is(err, fault.Forbidden) {
				t.Errorf("where it was revoked: %v", err)
			}
			if n, _ := seen(); n != left+1 {
				t.Errorf("%d tokens work before Follow, not %d", n, left+1)
			}
			follow()
			n, err := seen()
			if n != left {
				t.Errorf("%d tokens work after Follow, not %d", n, left)
			}
			refused(t, "revoked", err, fault.Forbidden, badAccess)
		}

		token, _ := h.tokens(by.Company, h.issues(by, "third", time.Time{}).Text.Reveal())
		id, err := elsewhere.Authenticate(ctx, token) // a new key works elsewhere at once
		if err != nil || id.PerSecond != 0 {
			t.Fatalf("%+v, %v", id, err)
		}
		h.clock.Advance(time.Millisecond)
		if _, err := h.SetPerSecond(ctx, ada, by.Company, 7); err != nil {
			t.Fatal(err)
		}
		follow()
		if id, err := elsewhere.Authenticate(ctx, token); err != nil || id.PerSecond != 7 {
			t.Errorf("%+v, %v", id, err)
		}
		h.clock.Advance(time.Millisecond)
		h.live(by.Company, false)
		follow()
		_, err = elsewhere.Authenticate(ctx, token)
		code(t, "switched off", err, "ACCOUNT_DEACTIVATED", "APPROVED")
		h.clock.Advance(time.Millisecond)
		h.live(by.Company, true)
		follow()
		if _, err = elsewhere.Authenticate(ctx, token); err != nil {
			t.Error(err)
		}
		h.clock.Advance(time.Millisecond)
		h.move(by.Company, company.Rejected)
		follow()
		_, err = elsewhere.Authenticate(ctx, token)
		code(t, "rejected", err, "KYB_REQUIRED", "REJECTED")
	})
}
