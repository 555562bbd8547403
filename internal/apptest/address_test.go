package apptest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// limited configures a trusted proxy and the default rate limits for a program.
func limited(c *app.Config) {
	c.Limits.Off = false
	c.TrustedProxies = []string{"127.0.0.0/8"}
}

// A client without credentials that uses the same proxy as a company or an operator does not use up
// their rate limits.
func TestAStrangerBehindTheSameProxy(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect, limited)
		tokens := "/api/v1/auth/generate-token/" + p.Reference
		ask := func(method, path string, headers ...string) apptest.Answer {
			t.Helper()
			a, err := p.Raw(t.Context(), method, path, nil, headers...)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		const stranger, client = "192.0.2.66", "198.51.100.7"
		heard := map[int]int{}
		for range 80 {
			heard[ask(http.MethodPost, tokens, "x-api-key", "wrong", "X-Forwarded-For", stranger).Status]++
			heard[ask(http.MethodGet, "/admin/v1/companies", "Authorization", "Bearer wrong", "X-Forwarded-For", stranger).Status]++
		}
		if heard[http.StatusUnauthorized] < 120 || heard[http.StatusTooManyRequests] == 0 || len(heard) != 2 {
			t.Errorf("the stranger heard %v", heard)
		}
		_, fresh, err := p.App.Companies.IssueKey(t.Context(), tester, p.Reference, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range []string{stranger, client, stranger + ", " + client} {
			if a := ask(http.MethodPost, tokens, "x-api-key", fresh.Reveal(), "X-Forwarded-For", from); a.Status != http.StatusOK {
				t.Errorf("a right key from %s: %s", from, a)
			}
		}
		for _, from := range []string{client, stranger} {
			if a := ask(http.MethodGet, "/admin/v1/companies", "Authorization", "Bearer "+p.AdminKey, "X-Forwarded-For", from); a.Status != http.StatusOK {
				t.Errorf("a right admin key from %s: %s", from, a)
			}
		}
		a := ask(http.MethodGet, "/admin/v1/companies", "Authorization", "Bearer wrong", "X-Forwarded-For", stranger)
		if a.Status == http.StatusTooManyRequests && a.Header.Get("Retry-After") != "1" {
			t.Errorf("%s %v", a, a.Header)
		}
	})
}

// The audit log records the client addresses of operators and companies.
func TestTheAuditLogHasTheAddress(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect, limited)
		forwarded := []string{"Forwarded", `for=6.6.6.6, for="[2001:db8::5]:4711";proto=https`}
		do := func(path string, body any, headers ...string) {
			t.Helper()
			a, err := p.Raw(t.Context(), http.MethodPost, path, body, append(headers, forwarded...)...)
			if err != nil || a.Status != http.StatusOK && a.Status != http.StatusCreated {
				t.Fatalf("%s: %s %v", path, a, err)
			}
		}
		login := bearer(t, p)
		do("/api/v1/webhooks/", map[string]any{"url": "http://127.0.0.1:9/"}, login...)
		do("/api/v1/settlement/accounts", map[string]any{"name": "Second"}, login...)
		do("/admin/v1/companies", map[string]any{"name": "Acme"}, "Authorization", "Bearer "+p.AdminKey)
		lines, _, err := p.App.Operators.Audit(t.Context(), "", 3, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"company.create", "settlement.create", "webhook.create"}
		for i, l := range lines {
			if l.Action != want[i] || l.Details["clientAddress"] != "2001:db8::5" {
				t.Errorf("%+v; want %s", l, want[i])
			}
		}
		if err := p.App.Operators.CloseAccess(t.Context(), tester, "here"); err != nil {
			t.Fatal(err)
		}
		lines, _, err = p.App.Operators.Audit(t.Context(), "", 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, there := lines[0].Details["clientAddress"]; there {
			t.Errorf("nobody sent a request for this: %+v", lines[0])
		}
	})
}
