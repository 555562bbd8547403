package company_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/secret"
)

const (
	rightPIN = "1234"
	lastKey  = "This is the last working API key. Issue another one first."
)

// logsIn exchanges a key and returns what the company then presents, with the right PIN.
func (h *house) logsIn(reference, apiKey string) company.Access {
	h.t.Helper()
	access, _ := h.tokens(reference, apiKey)
	who, err := h.Authenticate(h.t.Context(), access)
	if err != nil || who.KeyID == "" {
		h.t.Fatalf("%+v, %v", who, err)
	}
	return company.Access{Company: reference, KeyID: who.KeyID, PIN: secret.NewText(rightPIN)}
}

// owner returns a company with a PIN, and what it presents.
func (h *house) owner() (company.Access, string) {
	h.t.Helper()
	reference, apiKey := h.approved()
	h.pin(reference, rightPIN)
	return h.logsIn(reference, apiKey), apiKey
}

// issues issues a key without an Idempotency-Key.
func (h *house) issues(by company.Access, name string, expiresAt time.Time) company.IssuedKey {
	h.t.Helper()
	k, err := h.IssueOwnKey(h.t.Context(), by, name, expiresAt, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return k.IssuedKey
}

// revokes revokes a key, of a company that does not require two people.
func (h *house) revokes(ctx context.Context, by company.Access, keyID string) error {
	waits, err := h.RevokeOwnKey(ctx, by, keyID)
	if waits != nil {
		h.t.Errorf("%+v waits", waits)
	}
	return err
}

func (h *house) working(reference string) int {
	h.t.Helper()
	list, err := h.Working(h.t.Context(), reference)
	if err != nil {
		h.t.Fatal(err)
	}
	return len(list)
}

func with(by company.Access, pin string) company.Access {
	by.PIN = secret.NewText(pin)
	return by
}

// A company replaces its key by itself. The events and the audit log tell it, and nothing keeps the
// text of the key.
func TestACompanyReplacesItsKey(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		by, first := h.owner()
		ctx := peer.With(t.Context(), "192.0.2.7")
		k, err := h.IssueOwnKey(ctx, by, "Shop", h.clock.Now().Add(time.Hour), nil)
		if err != nil || k.Name != "Shop" || k.Ending != k.Text.Reveal()[len(k.Text.Reveal())-4:] || k.Others != 1 {
			t.Fatalf("%+v, %v", k, err)
		}
		mine := h.logsIn(by.Company, k.Text.Reveal())
		if err := h.revokes(ctx, mine, by.KeyID); err != nil {
			t.Fatal(err)
		}
		_, _, err = h.Tokens(ctx, by.Company, first)
		refused(t, "the old key", err, fault.Unauthenticated, wrongKey)
		list, _, err := event.NewService(h.db, h.book).Feed(t.Context(), by.Company, 0, 100, 0)
		if err != nil {
			t.Fatal(err)
		}
		told := map[string]map[string]any{}
		for _, e := range list {
			if strings.Contains(string(e.Data), k.Text.Reveal()) || strings.Contains(string(e.Data), rightPIN) {
				t.Errorf("the event %s shows a secret", e.Kind)
			}
			var data map[string]any
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
			told[e.Kind] = data
		}
		if d := told[event.APIKeyIssued]; d["id"] != k.ID || d["name"] != "Shop" || d["by"] != "company" || d["sourceAddress"] != "192.0.2.7" || d["otherKeys"] != 1.0 {
			t.Errorf("issued: %v", d)
		}
		if d := told[event.APIKeyRevoked]; d["id"] != by.KeyID || d["by"] != "company" || d["sourceAddress"] != "192.0.2.7" {
			t.Errorf("revoked: %v", d)
		}
		acts := h.noted(by.Company)
		for _, want := range []string{"company: company.key.issue", "company: company.key.revoke"} {
			if !slices.Contains(acts, want) {
				t.Errorf("the audit log has no %q: %q", want, acts)
			}
		}
	})
}

// The last working key stays for the company, but not for operators. So a thief of a key and of the PIN,
// who has revoked all other keys, loses the key by one act of an operator.
func TestTheLastKeyStaysForTheCompanyOnly(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		by, _ := h.owner()
		refused(t, "the only key", h.revokes(ctx, by, by.KeyID), fault.Refused, lastKey)
		short := h.issues(by, "", h.clock.Now().Add(time.Minute))
		h.clock.Advance(time.Minute)
		refused(t, "the only one that works", h.revokes(ctx, by, by.KeyID), fault.Refused, lastKey)
		if err := h.revokes(ctx, by, short.ID); err != nil {
			t.Errorf("a key that has expired: %v", err)
		}
		refused(t, "revoked already", h.revokes(ctx, by, short.ID), fault.Refused, "API key is revoked already")
		thief := h.logsIn(by.Company, h.issues(by, "", time.Time{}).Text.Reveal())
		if err := h.revokes(ctx, thief, by.KeyID); err != nil {
			t.Fatal(err)
		}
		before, err := h.Credentials(ctx, by.Company)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.RevokeKey(ctx, ada, by.Company, thief.KeyID); err != nil {
			t.Errorf("an operator cannot revoke the thief's key: %v", err)
		}
		_, err = h.IssueOwnKey(ctx, thief, "", time.Time{}, nil)
		refused(t, "the thief", err, fault.Forbidden, badAccess)
		if after, err := h.Credentials(ctx, by.Company); err != nil || after != before+1 {
			t.Errorf("%d permissions of the PIN after %d, %v", after, before, err)
		}
		if _, _, err := h.IssueKey(ctx, ada, by.Company, time.Time{}); err != nil {
			t.Errorf("an operator cannot issue a key: %v", err)
		}
	})
}

// A wrong PIN counts as a wrong try and changes nothing else. A company's keys are out of reach of a
// caller without the PIN, with the token of a revoked key, or of another company.
func TestNobodyElseChangesTheKeys(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		by, _ := h.owner()
		other, _ := h.owner()
		second := h.issues(by, "", time.Time{})
		old := h.logsIn(by.Company, second.Text.Reveal())
		if err := h.revokes(ctx, by, second.ID); err != nil {
			t.Fatal(err)
		}
		third := h.issues(by, "", time.Time{})
		try := func(what string, by company.Access, kind fault.Kind, message string) {
			t.Helper()
			_, err := h.IssueOwnKey(ctx, by, "", time.Time{}, nil)
			refused(t, what, err, kind, message)
			refused(t, what, h.revokes(ctx, by, third.ID), kind, message)
		}
		try("a revoked key", old, fault.Forbidden, badAccess)
		try("no key", company.Access{Company: by.Company, PIN: by.PIN}, fault.Forbidden, badAccess)
		try("another company's key", company.Access{Company: by.Company, KeyID: other.KeyID, PIN: by.PIN}, fault.Forbidden, badAccess)
		// A caller without a working key learns nothing about the PIN, and cannot lock it.
		try("a revoked key with a wrong PIN", with(old, "0000"), fault.Forbidden, badAccess)
		try("a wrong PIN", with(by, "0000"), fault.Refused, "Invalid PIN")
		refused(t, "another company's", h.revokes(ctx, other, third.ID), fault.Missing, "API key not found")
		_, err := h.IssueOwnKey(ctx, by, "", h.clock.Now(), nil)
		refused(t, "the past", err, fault.Invalid, `"expiresAt" must be in the future`)
		_, err = h.IssueOwnKey(ctx, by, "", time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -3600)), nil)
		refused(t, "no year of JSON", err, fault.Invalid, `"expiresAt" must be before the year 10000`)
		if n := h.working(by.Company); n != 2 {
			t.Errorf("%d keys work", n)
		}
		for range 3 {
			refused(t, "a wrong PIN", h.revokes(ctx, with(by, "0000"), third.ID), fault.Refused, "Invalid PIN")
		}
		try("locked", by, fault.Refused, lockedPIN)
	})
}

// A refreshed access token comes from the same key as its refresh token.
func TestARefreshedTokenKeepsItsKey(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		by, apiKey := h.owner()
		_, refresh := h.tokens(by.Company, apiKey)
		access, err := h.Refresh(t.Context(), refresh)
		if err != nil {
			t.Fatal(err)
		}
		if who, err := h.Authenticate(t.Context(), access); err != nil || who.KeyID != by.KeyID {
			t.Errorf("%+v, %v", who, err)
		}
	})
}

// The number of working keys, and of new keys of a day, is limited for the company and not for
// operators. Concurrent requests do not exceed it.
func TestTheNumberOfKeysIsLimited(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		by, _ := h.owner()
		var made atomic.Int64
		var all sync.WaitGroup
		for range 30 {
			all.Go(func() {
				switch _, err := h.IssueOwnKey(context.WithoutCancel(ctx), by, "", time.Time{}, nil); {
				case err == nil:
					made.Add(1)
				case fault.Of(err).Reason() != fault.QuotaReached:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := h.working(by.Company); n != 20 || made.Load() != 19 {
			t.Fatalf("%d keys work, and %d were made", n, made.Load())
		}
		_, err := h.IssueOwnKey(ctx, by, "", time.Time{}, nil)
		refused(t, "the 21st", err, fault.Refused, "At most 20 API keys can work. Revoke one first.")
		keys, err := h.Working(ctx, by.Company)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			if k.ID != by.KeyID {
				if err := h.revokes(ctx, by, k.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		h.issues(by, "", time.Time{}) // the 20th of this day
		_, err = h.IssueOwnKey(ctx, by, "", time.Time{}, nil)
		refused(t, "the 21st of this day", err, fault.Refused, "At most 20 API keys can be issued on a day")
		if _, _, err := h.IssueKey(ctx, ada, by.Company, time.Time{}); err != nil {
			t.Errorf("an operator: %v", err)
		}
		h.clock.Advance(24 * time.Hour)
		h.issues(by, "", time.Time{})
	})
}

// Of two keys that revoke each other at the same time, one stays.
func TestTwoKeysDoNotRevokeEachOther(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		by, _ := h.owner()
		for turn := range 5 {
			second := h.logsIn(by.Company, h.issues(by, fmt.Sprint(turn), time.Time{}).Text.Reveal())
			errs := make([]error, 2)
			var both sync.WaitGroup
			both.Go(func() { errs[0] = h.revokes(context.Background(), by, second.KeyID) })
			both.Go(func() { errs[1] = h.revokes(context.Background(), second, by.KeyID) })
			both.Wait()
			if n := h.working(by.Company); n != 1 || (errs[0] == nil) == (errs[1] == nil) {
				t.Fatalf("%d keys work, %v", n, errors.Join(errs...))
			}
			if errs[0] != nil {
				by = second
			}
		}
	})
}
