package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/app"
)

// The command fails unless /readyz answers 200, also over TLS with a certificate of another name.
func TestReadyIsTheExitCode(t *testing.T) {
	status := http.StatusOK
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"status":"…"}`)
	})
	plain, secure := httptest.NewServer(serve), httptest.NewTLSServer(serve)
	defer plain.Close()
	defer secure.Close()
	ask := func(args ...string) (string, error) {
		var out strings.Builder
		c := root()
		c.SetArgs(append([]string{"ready"}, args...))
		c.SetOut(&out)
		err := c.ExecuteContext(t.Context())
		return out.String(), err
	}
	for _, status = range []int{http.StatusOK, http.StatusServiceUnavailable} {
		for _, url := range []string{plain.URL, secure.URL} {
			out, err := ask("--url", url+"/readyz")
			if (err == nil) != (status == http.StatusOK) || out != `{"status":"…"}` {
				t.Errorf("%d: %q, %v", status, out, err)
			}
		}
		t.Setenv("KOBO_LISTEN", strings.TrimPrefix(plain.URL, "http://"))
		if _, err := ask(); (err == nil) != (status == http.StatusOK) {
			t.Errorf("%d by the settings: %v", status, err)
		}
	}
	plain.Close()
	if _, err := ask("--url", plain.URL+"/readyz"); err == nil {
		t.Error("a program that does not run is ready")
	}
}

// The address comes from the settings. An address for all interfaces means this machine.
func TestReadyFindsItsProgram(t *testing.T) {
	for want, cfg := range map[string]app.Config{
		"http://127.0.0.1:8080/readyz":  {Listen: ":8080"},
		"https://127.0.0.1:8443/readyz": {Listen: "0.0.0.0:8443", TLS: app.TLSConfig{CertFile: "c"}},
		"http://10.0.0.7:9/readyz":      {Listen: ":8443", TLS: app.TLSConfig{CertFile: "c"}, MetricsListen: "10.0.0.7:9"},
		"https://[::1]:9/readyz":        {Listen: ":8080", TLS: app.TLSConfig{MetricsCertFile: "c"}, MetricsListen: "[::1]:9"},
	} {
		if got, err := readyURL(cfg); err != nil || got != want {
			t.Errorf("%s: %s, %v", want, got, err)
		}
	}
}
