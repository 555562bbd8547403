package app

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/kobo-waas/kobo/internal/secret"
)

// If the program listens on an address beyond loopback, the sandbox controls require the token. If
// no token is configured, the sandbox controls refuse every request.
func TestTheSandboxIsSteeredWithItsToken(t *testing.T) {
	for name, one := range map[string]struct {
		exposed       bool
		token, header string
		want          int
	}{
		"on loopback":                 {false, "", "", 200},
		"beyond it":                   {true, "", "", 403},
		"beyond it, with any token":   {true, "", "Bearer ", 403},
		"without the token":           {true, "t-o-k-e-n", "", 401},
		"with another":                {true, "t-o-k-e-n", "Bearer t-o-k-e", 401},
		"with the token":              {true, "t-o-k-e-n", "Bearer t-o-k-e-n", 200},
		"on loopback without a token": {false, "t-o-k-e-n", "", 401},
		"on loopback with the token":  {false, "t-o-k-e-n", "bearer t-o-k-e-n", 200},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := DevConfig(t.TempDir(), "")
			cfg.SandboxToken = secret.NewText(one.token)
			a, _, err := OpenDev(context.WithoutCancel(t.Context()), cfg, false, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			a.exposed = one.exposed
			h, err := a.Handler()
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(http.MethodGet, "/sandbox/clock", nil)
			r.Host, r.RemoteAddr = "127.0.0.1:8080", "127.0.0.1:4711"
			r.Header.Set("Authorization", one.header)
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != one.want {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}

// Without a configured token, the sandbox controls on loopback serve only programs of this machine.
// They refuse clients behind a proxy, and browsers that reach this machine through a foreign host
// name.
func TestTheSandboxIsSteeredFromHere(t *testing.T) {
	cfg := DevConfig(t.TempDir(), "")
	cfg.TrustedProxies = []string{"127.0.0.2"}
	a, _, err := OpenDev(context.WithoutCancel(t.Context()), cfg, false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	h, err := a.Handler()
	if err != nil {
		t.Fatal(err)
	}
	const here = "127.0.0.1:4711"
	for _, c := range []struct {
		host, from, header, value string
		want                      int
	}{
		{"127.0.0.1:8080", here, "", "", 200},
		{"localhost:8080", here, "", "", 200},
		{"LocalHost", here, "", "", 200},
		{"[::1]:8080", "[::1]:4711", "", "", 200},
		{"[::1]", here, "", "", 200},
		{"evil.example", here, "", "", 403},
		{"evil.example:8080", here, "", "", 403},
		{"127.0.0.1.evil.example", here, "", "", 403},
		{"localhost.evil.example:8080", here, "", "", 403},
		{"203.0.113.1:8080", here, "", "", 403},
		{"", here, "", "", 403},
		{"127.0.0.1:8080", "203.0.113.77:1", "", "", 403},
		{"127.0.0.1:8080", "127.0.0.2:1", "X-Forwarded-For", "203.0.113.77", 403},
		{"127.0.0.1:8080", "127.0.0.2:1", "Forwarded", "for=203.0.113.77", 403},
		{"127.0.0.1:8080", here, "X-Forwarded-For", "203.0.113.77", 403}, // a proxy that is not in trusted_proxies
		{"127.0.0.1:8080", here, "X-Forwarded-For", "127.0.0.1", 403},
	} {
		r := httptest.NewRequest(http.MethodGet, "/sandbox/clock", nil)
		r.Host, r.RemoteAddr = c.host, c.from
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
	}
}

func TestWhatIsLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:80": true, "[::1]:80": true, "127.8.9.1:80": true, "0.0.0.0:80": false, "[::]:80": false, "10.0.0.1:80": false,
	} {
		tcp, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if loopback(tcp) != want {
			t.Errorf("%s: %v", address, !want)
		}
	}
}
