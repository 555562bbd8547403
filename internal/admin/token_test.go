package admin_test

import (
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/secret"
)

// tokenOf checks a response with a token of 24 hours, and returns the token.
func tokenOf(t *testing.T, data map[string]any, field string) string {
	t.Helper()
	token, _ := data[field].(string)
	if token == "" || data["apiKey"] != nil || data["expiresAt"] != "2030-01-03T03:04:05.000Z" {
		t.Errorf("%v", data)
	}
	return token
}

// Where secrets are hidden, an operator gets tokens for the company, and can set no PIN.
func TestHiddenSecretsAreTokens(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, base *db.DB) {
		d := open(t, base, func(c *admin.Config) { c.HideSecrets = true })
		made := d.ok(d.ada, "POST", "/admin/v1/companies", `{"name":"Acme"}`)
		reference, first := made["reference"].(string), tokenOf(t, made, "keyToken")
		path := "/admin/v1/companies/" + reference
		if _, _, err := d.companies.ClaimKey(t.Context(), reference, first); err != nil {
			t.Error(err)
		}
		next := d.ok(d.ada, "POST", path+"/api-keys", "")
		if _, _, err := d.companies.ClaimKey(t.Context(), reference, tokenOf(t, next, "keyToken")); err != nil || next["reference"] != reference {
			t.Error(next, err)
		}
		d.no(d.ada, "POST", path+"/api-keys", `{"expiresAt":"2029-01-01T00:00:00Z"}`, 400, `"expiresAt" must be in the future`)
		d.no(d.ada, "POST", path+"/pin", `{"pin":"1234"}`, 403, "Issue a PIN token with pin-reset")
		d.pin(path, "NOT_SET")
		token := tokenOf(t, d.ok(d.ada, "POST", path+"/pin-reset", ""), "pinToken")
		if err := d.companies.ResetPIN(t.Context(), reference, token, secret.NewText("0042"), nil); err != nil {
			t.Error(err)
		}
		d.pin(path, "SET")
		if all := strings.Join(d.seen, ""); strings.Contains(all, "kobo_test_") {
			t.Errorf("an operator sees an API key: %s", all)
		}
	})
}

// Everywhere else an operator sees the secret, and gets a token on request.
func TestTokensWorkInEveryMode(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		reference := path[len("/admin/v1/companies/"):]
		token := tokenOf(t, d.ok(d.ada, "POST", path+"/api-keys", `{"token":true}`), "keyToken")
		if _, _, err := d.companies.ClaimKey(t.Context(), reference, token); err != nil {
			t.Error(err)
		}
		tokenOf(t, d.ok(d.ada, "POST", path+"/pin-reset", ""), "pinToken")
		d.no(d.ada, "POST", "/admin/v1/companies/cnobody/pin-reset", "", 404, "Company not found")
		d.no(d.ada, "POST", "/admin/v1/companies/cnobody/api-keys", `{"token":true}`, 404, "Company not found")
	})
}
