package apptest_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
)

const (
	accounts = "/api/v1/settlement/accounts"
	badToken = "Invalid or expired access token"
)

// knock sends a request with a bearer token. If token is "", the request has no token.
func knock(t *testing.T, c *apptest.Client, token string) apptest.Answer {
	t.Helper()
	var headers []string
	if token != "" {
		headers = []string{"Authorization", "Bearer " + token}
	}
	a, err := c.Raw(t.Context(), http.MethodGet, accounts, nil, headers...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func tokens(t *testing.T, c *apptest.Client) apptest.Tokens {
	t.Helper()
	got, a, err := c.Tokens(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a.Want(t, http.StatusOK)
	return got
}

// forged returns a token with the given header and the claims of the token real. The function sign
// returns the signature of the new token.
func forged(t *testing.T, real string, header map[string]any, sign func(text string) string) string {
	t.Helper()
	parts := strings.Split(real, ".")
	b, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	text := base64.RawURLEncoding.EncodeToString(b) + "." + parts[1]
	return text + "." + sign(text)
}

func TestForgedTokensOpenNothing(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		got := tokens(t, p.Client)
		real, parts := got.AccessToken, strings.Split(got.AccessToken, ".")
		head, _, err := jwt.NewParser().ParseUnverified(real, jwt.MapClaims{})
		if err != nil {
			t.Fatal(err)
		}
		keep := func(string) string { return parts[2] }
		none := func(string) string { return "" }
		hs := func(text string) string {
			signature, err := jwt.SigningMethodHS256.Sign(text, []byte("a key of the forger's"))
			if err != nil {
				t.Fatal(err)
			}
			return base64.RawURLEncoding.EncodeToString(signature)
		}
		kid := head.Header["kid"]
		for name, token := range map[string]string{
			"alg none":             forged(t, real, map[string]any{"alg": "none", "typ": "JWT", "kid": kid}, none),
			"alg None":             forged(t, real, map[string]any{"alg": "None", "typ": "JWT", "kid": kid}, none),
			"alg none, signed":     forged(t, real, map[string]any{"alg": "none", "typ": "JWT", "kid": kid}, keep),
			"alg HS512":            forged(t, real, map[string]any{"alg": "HS512", "typ": "JWT", "kid": kid}, keep),
			"no alg":               forged(t, real, map[string]any{"typ": "JWT", "kid": kid}, keep),
			"another key":          forged(t, real, map[string]any{"alg": "HS256", "typ": "JWT", "kid": kid}, hs),
			"another key id":       forged(t, real, map[string]any{"alg": "HS256", "typ": "JWT", "kid": "mine"}, hs),
			"no key id":            forged(t, real, map[string]any{"alg": "HS256", "typ": "JWT"}, keep),
			"another company":      parts[0] + "." + claimsOf(t, parts[1], "sub", id.Cuid()) + "." + parts[2],
			"a longer life":        parts[0] + "." + claimsOf(t, parts[1], "exp", 4102444800) + "." + parts[2],
			"the refresh token":    got.RefreshToken,
			"without a signature":  parts[0] + "." + parts[1] + ".",
			"two parts":            parts[0] + "." + parts[1],
			"rubbish":              "rubbish",
			"an API key":           p.APIKey,
			"the admin's key":      p.AdminKey,
			"a null byte":          "a%00b",
			"very long":            strings.Repeat("a", 4000),
			"a tail":               real + "x",
			"base64 with its tail": real + "=",
		} {
			if a := knock(t, p.Client, token); a.Status != http.StatusForbidden || a.Body != `{"message":"`+badToken+`"}`+"\n" {
				t.Errorf("%s: %s", name, a)
			}
		}
		if a := knock(t, p.Client, ""); a.Status != http.StatusUnauthorized || a.Message() != "Access token is missing" {
			t.Errorf("no token: %s", a)
		}
		knock(t, p.Client, real).Want(t, http.StatusOK)
	})
}

// claimsOf returns the encoded claims of a token, after it has changed one of them.
func claimsOf(t *testing.T, part, name string, value any) string {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(part)
	claims := map[string]any{}
	if err == nil {
		err = json.Unmarshal(b, &claims)
	}
	claims[name] = value
	if err == nil {
		b, err = json.Marshal(claims)
	}
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func TestTokensLiveAndDieAsTheContractSays(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		first := tokens(t, p.Client)
		refresh := func(token string) apptest.Answer {
			a, err := p.Raw(t.Context(), http.MethodPost, "/api/v1/auth/refresh-access-token/", map[string]string{"refreshToken": token})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		if a := refresh(first.AccessToken); a.Status != http.StatusForbidden || a.Message() != "Invalid or expired refresh token" {
			t.Errorf("an access token for a refresh token: %s", a)
		}
		p.Advance(14 * time.Minute)
		knock(t, p.Client, first.AccessToken).Want(t, http.StatusOK)
		p.Advance(time.Minute)
		if a := knock(t, p.Client, first.AccessToken); a.Status != http.StatusForbidden || a.Message() != badToken {
			t.Errorf("after fifteen minutes: %s", a)
		}
		var fresh apptest.Tokens
		refresh(first.RefreshToken).Want(t, http.StatusOK).Into(t, &fresh)
		knock(t, p.Client, fresh.AccessToken).Want(t, http.StatusOK)
		second := tokens(t, p.Client)
		if a := refresh(first.RefreshToken); a.Status != http.StatusUnauthorized || a.Message() != "Unauthorized: Invalid API key" {
			t.Errorf("a superseded refresh token: %s", a)
		}
		refresh(second.RefreshToken).Want(t, http.StatusOK)
		p.Advance(31 * 24 * time.Hour)
		if a := refresh(second.RefreshToken); a.Status != http.StatusForbidden || a.Message() != "Invalid or expired refresh token" {
			t.Errorf("a refresh token after a month: %s", a)
		}
	})
}

// If a company requests an object of a different company, it gets the same response, byte for byte,
// as for an object that does not exist.
func TestAnotherCompanysThingsDoNotExist(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		other := p.Company(apptest.DevFloat)
		bundle := p.Bundle()
		theirs := other.Bought(other.Buy(other.Order(bundle, "theirs", "04")))
		event := other.Events(0)[0].ID
		for path, foreign := range map[string]string{
			"/api/v1/vtu/transaction/": theirs.TransactionID,
			"/api/v1/outcomes/":        theirs.TransactionID,
			"/api/v1/events/":          event,
		} {
			mine, absent := p.Do(http.MethodGet, path+url.PathEscape(foreign), nil), p.Do(http.MethodGet, path+id.New(), nil)
			other.Do(http.MethodGet, path+url.PathEscape(foreign), nil).Want(t, http.StatusOK)
			if mine.Status != http.StatusBadRequest || mine.String() != absent.String() {
				t.Errorf("%s: another company's is %s, none is %s", path, mine, absent)
			}
		}
		byKey := p.Do(http.MethodGet, "/api/v1/vtu/transaction/theirs", nil)
		if noKey := p.Do(http.MethodGet, "/api/v1/vtu/transaction/nobodys", nil); byKey.Status != http.StatusBadRequest || byKey.String() != noKey.String() {
			t.Errorf("another company's key: %s, nobody's: %s", byKey, noKey)
		}
		order := p.Order(bundle, "theirs", "10")
		second := p.Account(other, 0).SettlementID // an account of a different company
		order.SettlementID = second
		foreign := p.Buy(order)
		order.SettlementID = 987654321
		if absent := p.Buy(order); foreign.Status != http.StatusBadRequest || foreign.String() != absent.String() {
			t.Errorf("another company's account: %s, none: %s", foreign, absent)
		}
		keyOf := func(c *apptest.Client) string {
			var list struct {
				Data struct{ Data []struct{ ID string } }
			}
			c.Do(http.MethodGet, "/api/v1/company/api-keys", nil).Into(t, &list)
			return list.Data.Data[0].ID
		}
		revoke := func(key string) apptest.Answer {
			return p.Do(http.MethodDelete, "/api/v1/company/api-keys/"+key, map[string]string{"pin": p.PIN})
		}
		if foreign, absent := revoke(keyOf(other)), revoke(id.New()); foreign.Status != http.StatusBadRequest || foreign.String() != absent.String() {
			t.Errorf("another company's API key: %s, none: %s", foreign, absent)
		}
		for _, path := range []string{"/api/v1/vtu/transactions?settlementId=" + strconv.FormatInt(second, 10), "/api/v1/outcomes"} {
			var list struct{ Data []json.RawMessage }
			if p.Data(path, &list); len(list.Data) != 0 {
				t.Errorf("%s shows %s", path, list.Data)
			}
		}
		for _, e := range p.Events(0) {
			if strings.Contains(string(e.Data), theirs.TransactionID) {
				t.Errorf("our feed tells of theirs: %s", e.Data)
			}
		}
		p.Advance(10 * time.Second)
		other.Audit(t, apptest.DevFloat)
	})
}
