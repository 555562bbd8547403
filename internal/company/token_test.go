package company_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/secret"
)

const (
	badAccess  = "Invalid or expired access token"
	badRefresh = "Invalid or expired refresh token"
	wrongKey   = "Unauthorized: Invalid API key"
)

func TestTokensForAKey(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		reference, key := h.approved()
		access, refresh := h.tokens(reference, key)
		who, err := h.Authenticate(ctx, access)
		if err != nil || who.Reference != reference {
			t.Errorf("%+v, %v", who, err)
		}
		again, err := h.Refresh(ctx, refresh)
		if err != nil {
			t.Fatal(err)
		}
		if who, err := h.Authenticate(ctx, again); err != nil || who.Reference != reference {
			t.Errorf("refreshed: %+v, %v", who, err)
		}
		if _, err := h.Refresh(ctx, refresh); err != nil {
			t.Errorf("a refresh token works as long as it is the latest: %v", err)
		}
	})
}

// The errors are those of the error catalogue for the endpoint that generates tokens.
func TestGenerateRefusals(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		reference, key := h.approved()
		other, otherKey := h.approved()
		expiring, text, err := h.IssueKey(ctx, ada, reference, h.clock.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		revoked, revokedText, err := h.IssueKey(ctx, ada, reference, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		h.tokens(reference, text.Reveal())
		h.tokens(reference, revokedText.Reveal())
		if err := h.RevokeKey(ctx, ada, reference, revoked.ID); err != nil {
			t.Fatal(err)
		}
		h.clock.Advance(time.Hour)
		for _, c := range []struct {
			what, reference, key string
			kind                 fault.Kind
			message              string
		}{
			{"no key", reference, "", fault.Invalid, "Bad Request: API key is missing"},
			{"unknown reference", id.Cuid(), key, fault.Invalid, "Bad Request: API key is missing"},
			{"not a reference", "x\x00", key, fault.Invalid, "Bad Request: API key is missing"},
			{"wrong key", reference, key + "x", fault.Unauthenticated, wrongKey},
			{"another company's key", reference, otherKey, fault.Unauthenticated, wrongKey},
			{"this key at another company", other, key, fault.Unauthenticated, wrongKey},
			{"revoked", reference, revokedText.Reveal(), fault.Unauthenticated, wrongKey},
			{"expired", reference, text.Reveal(), fault.Unauthenticated, "Bad Request: API KEY EXPIRED"},
		} {
			_, _, err := h.Tokens(ctx, c.reference, c.key)
			refused(t, c.what, err, c.kind, c.message)
		}
		h.tokens(reference, key)
		keys, err := h.Keys(ctx, reference)
		if err != nil || len(keys) != 3 || keys[2].State != "REVOKED" || !keys[1].ExpiresAt.Equal(expiring.ExpiresAt) {
			t.Errorf("%+v, %v", keys, err)
		}
		refused(t, "revoked twice", h.RevokeKey(ctx, ada, reference, revoked.ID), fault.Refused, "API key is revoked already")
		refused(t, "another's", h.RevokeKey(ctx, ada, other, expiring.ID), fault.Missing, "API key not found")
	})
}

func TestOnlyTheLatestRefreshToken(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		reference, key := h.approved()
		access, first := h.tokens(reference, key)
		_, second := h.tokens(reference, key)
		_, err := h.Refresh(ctx, first)
		refused(t, "superseded", err, fault.Unauthenticated, wrongKey)
		if _, err := h.Refresh(ctx, second); err != nil {
			t.Error(err)
		}
		if _, err := h.Authenticate(ctx, access); err != nil {
			t.Errorf("an access token outlives its refresh token: %v", err)
		}
		_, err = h.Refresh(ctx, "")
		refused(t, "missing", err, fault.Invalid, "Bad Request: Refresh token is missing")

		h.clock.Advance(company.RefreshLife)
		_, err = h.Refresh(ctx, second)
		refused(t, "expired", err, fault.Forbidden, badRefresh)
	})
}

func TestRevokingAKeyEndsItsRefreshToken(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		reference, key := h.approved()
		_, refresh := h.tokens(reference, key)
		keys, err := h.Keys(ctx, reference)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.RevokeKey(ctx, ada, reference, keys[0].ID); err != nil {
			t.Fatal(err)
		}
		_, err = h.Refresh(ctx, refresh)
		refused(t, "revoked", err, fault.Unauthenticated, wrongKey)
	})
}

func TestAnExpiredKeyRefreshesNoToken(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		reference, _ := h.approved()
		_, text, err := h.IssueKey(t.Context(), ada, reference, h.clock.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		_, refresh := h.tokens(reference, text.Reveal())
		if _, err := h.Refresh(t.Context(), refresh); err != nil {
			t.Errorf("before the key expires: %v", err)
		}
		h.clock.Advance(time.Hour)
		_, err = h.Refresh(t.Context(), refresh)
		refused(t, "expired", err, fault.Unauthenticated, wrongKey)
	})
}

// forge returns a signed token with the header and the claims that a test chooses.
func forge(t *testing.T, method jwt.SigningMethod, key any, header map[string]any, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	for name, value := range header {
		token.Header[name] = value
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestInvalidTokensAreRefused(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		reference, key := h.approved()
		access, refresh := h.tokens(reference, key)
		ring, err := secret.Parse(masterKey)
		if err != nil {
			t.Fatal(err)
		}
		_, right := ring.Signer("token").Current()
		_, wrong := ring.Signer("other").Current()
		kid := map[string]any{"kid": "old"}
		claims := func(change map[string]any) jwt.MapClaims {
			c := jwt.MapClaims{"sub": reference, "use": "access", "exp": h.clock.Now().Add(time.Minute).Unix()}
			for name, value := range change {
				c[name] = value
				if value == nil {
					delete(c, name)
				}
			}
			return c
		}
		if _, err := h.Authenticate(t.Context(), forge(t, jwt.SigningMethodHS256, right, kid, claims(nil))); err != nil {
			t.Fatalf("the forger cannot even make a good one: %v", err)
		}
		parts := strings.Split(access, ".")
		body := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"` + reference + `","use":"access","exp":99999999999}`))
		for what, token := range map[string]string{
			"garbage":         "x",
			"two parts":       parts[0] + "." + parts[1],
			"none":            forge(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, kid, claims(nil)),
			"no signature":    parts[0] + "." + parts[1] + ".",
			"HS384":           forge(t, jwt.SigningMethodHS384, right, kid, claims(nil)),
			"wrong key":       forge(t, jwt.SigningMethodHS256, wrong, kid, claims(nil)),
			"no kid":          forge(t, jwt.SigningMethodHS256, right, nil, claims(nil)),
			"foreign kid":     forge(t, jwt.SigningMethodHS256, right, map[string]any{"kid": "theirs"}, claims(nil)),
			"kid of no text":  forge(t, jwt.SigningMethodHS256, right, map[string]any{"kid": 1}, claims(nil)),
			"tampered":        parts[0] + "." + body + "." + parts[2],
			"other tail bits": access[:len(access)-1] + string(access[len(access)-1]+1),
			"expired":         forge(t, jwt.SigningMethodHS256, right, kid, claims(map[string]any{"exp": h.clock.Now().Unix()})),
			"no expiry":       forge(t, jwt.SigningMethodHS256, right, kid, claims(map[string]any{"exp": nil})),
			"no use":          forge(t, jwt.SigningMethodHS256, right, kid, claims(map[string]any{"use": nil})),
			"nobody's":        forge(t, jwt.SigningMethodHS256, right, kid, claims(map[string]any{"sub": nil})),
			"unknown company": forge(t, jwt.SigningMethodHS256, right, kid, claims(map[string]any{"sub": id.Cuid()})),
			"refresh token":   refresh,
		} {
			_, err := h.Authenticate(t.Context(), token)
			refused(t, what, err, fault.Forbidden, badAccess)
		}
		for what, token := range map[string]string{
			"access token":    access,
			"garbage":         "a.b.c",
			"unknown company": forge(t, jwt.SigningMethodHS256, right, kid, claims(map[string]any{"sub": id.Cuid(), "use": "refresh"})),
		} {
			_, err := h.Refresh(t.Context(), token)
			refused(t, what, err, fault.Forbidden, badRefresh)
		}
		_, err = h.Authenticate(t.Context(), "")
		refused(t, "no token", err, fault.Unauthenticated, "Access token is missing")
	})
}

func TestAnAccessTokenLivesFifteenMinutes(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		access, _ := h.tokens(h.approved())
		h.clock.Advance(15*time.Minute - time.Second)
		if _, err := h.Authenticate(t.Context(), access); err != nil {
			t.Error(err)
		}
		h.clock.Advance(time.Second)
		_, err := h.Authenticate(t.Context(), access)
		refused(t, "old", err, fault.Forbidden, badAccess)
	})
}

// While the keyring has a new master key above the old master key, all tokens and API keys still
// work. After the old master key is removed, the tokens that it signed stop working. API keys and
// PINs stop working if their hashes were not renewed.
func TestTheMasterKeyRotates(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		reference, key := h.approved()
		idle, idleKey := h.approved()
		if err := h.SetPIN(ctx, ada, reference, secret.NewText("1234")); err != nil {
			t.Fatal(err)
		}
		access, refresh := h.tokens(reference, key)

		fresh := secret.Generate()
		h.Service = h.with(fresh + masterKey)
		if _, err := h.Authenticate(ctx, access); err != nil {
			t.Errorf("the old access token: %v", err)
		}
		renewed, err := h.Refresh(ctx, refresh)
		if err != nil {
			t.Errorf("the old refresh token: %v", err)
		}
		h.tokens(reference, key)
		if err := h.CheckPIN(ctx, reference, "1234"); err != nil {
			t.Errorf("the old PIN: %v", err)
		}

		h.Service = h.with(fresh)
		_, err = h.Authenticate(ctx, access)
		refused(t, "the old access token without its key", err, fault.Forbidden, badAccess)
		if _, err := h.Authenticate(ctx, renewed); err != nil {
			t.Errorf("a token of the new key: %v", err)
		}
		h.tokens(reference, key) // the last use of the API key has replaced its hash
		if err := h.CheckPIN(ctx, reference, "1234"); err != nil {
			t.Errorf("a PIN that was used in between: %v", err)
		}
		_, _, err = h.Tokens(ctx, idle, idleKey)
		refused(t, "a key that was not", err, fault.Unauthenticated, wrongKey)
	})
}

// code fails the test unless err refuses API access with this code and this KYB state.
func code(t *testing.T, what string, err error, code, status string) {
	t.Helper()
	f := fault.Of(err)
	if f == nil || f.Kind != fault.Forbidden || f.Code != code || f.Extra["kybStatus"] != status {
		t.Errorf("%s: %+v; want %s %s", what, f, code, status)
	}
}

func TestTheGate(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		try := func(what, reference, key, wantCode, wantStatus string) {
			t.Helper()
			_, _, err := h.Tokens(t.Context(), reference, key)
			if wantCode == "" && err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if wantCode != "" {
				code(t, what, err, wantCode, wantStatus)
			}
		}
		a, keyA := h.create()
		try("new", a, keyA, "KYB_REQUIRED", "NOT_STARTED")
		h.live(a, true)
		try("live only", a, keyA, "KYB_REQUIRED", "NOT_STARTED")
		h.move(a, company.InProgress, company.Submitted)
		try("submitted", a, keyA, "KYB_REQUIRED", "SUBMITTED")
		h.move(a, company.ChangesRequested)
		try("changes requested", a, keyA, "", "")
		h.live(a, false)
		try("changes requested, off", a, keyA, "KYB_REQUIRED", "CHANGES_REQUESTED")
		h.move(a, company.Submitted, company.Approved)
		try("approved, off", a, keyA, "ACCOUNT_DEACTIVATED", "APPROVED")
		h.live(a, true)
		try("approved, live", a, keyA, "", "")

		b, keyB := h.create()
		h.live(b, true)
		h.move(b, company.InProgress, company.Submitted, company.Rejected)
		try("rejected", b, keyB, "KYB_REQUIRED", "REJECTED")
	})
}

// Without Follow, Authenticate may use a company state that is up to thirty seconds old. Refresh and Tokens
// read the state from the database each time.
func TestTheGateCachesACompanyForThirtySeconds(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		reference, key := h.approved()
		access, refresh := h.tokens(reference, key)
		elsewhere := h.with(masterKey) // another process on the same database
		if _, err := elsewhere.Authenticate(ctx, access); err != nil {
			t.Fatal(err)
		}
		h.live(reference, false)
		_, err := h.Authenticate(ctx, access)
		code(t, "where it was switched off", err, "ACCOUNT_DEACTIVATED", "APPROVED")
		_, err = elsewhere.Refresh(ctx, refresh)
		code(t, "refresh is live", err, "ACCOUNT_DEACTIVATED", "APPROVED")
		_, _, err = elsewhere.Tokens(ctx, reference, key)
		code(t, "generate is live", err, "ACCOUNT_DEACTIVATED", "APPROVED")

		h.clock.Advance(30*time.Second - time.Nanosecond)
		if _, err := elsewhere.Authenticate(ctx, access); err != nil {
			t.Errorf("within thirty seconds: %v", err)
		}
		h.clock.Advance(time.Nanosecond)
		_, err = elsewhere.Authenticate(ctx, access)
		code(t, "after thirty seconds", err, "ACCOUNT_DEACTIVATED", "APPROVED")
	})
}

// Without the database, a cached company can still authenticate. Any other company gets a fault
// of kind Unavailable.
func TestTheGateWithoutItsDatabase(t *testing.T) {
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			d, err := db.Open(t.Context(), dbtest.URL(t, dialect))
			if err != nil {
				t.Fatal(err)
			}
			d.SignWith(dbtest.Evidence)
			h := open(t, d)
			known, _ := h.tokens(h.approved())
			stranger, _ := h.tokens(h.approved())
			if _, err := h.Authenticate(t.Context(), known); err != nil {
				t.Fatal(err)
			}
			d.Close()
			_, err = h.Authenticate(t.Context(), stranger)
			refused(t, "not remembered", err, fault.Unavailable, "Service temporarily unavailable")
			if _, err := h.Authenticate(t.Context(), known); err != nil {
				t.Errorf("remembered: %v", err)
			}
			h.clock.Advance(30 * time.Second)
			_, err = h.Authenticate(t.Context(), known)
			refused(t, "no longer remembered", err, fault.Unavailable, "Service temporarily unavailable")
		})
	}
}
