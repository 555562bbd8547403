package books

import (
	"path/filepath"
	"strings"
	"testing"
)

// A notice is sent only if the host of its callback URL is this machine.
func TestNoticesStayOnThisMachine(t *testing.T) {
	for callback, want := range map[string]bool{
		"http://127.0.0.1:8080/x": true, "http://localhost/x": true, "https://[::1]:1/x": true,
		"http://example.test/x": false, "http://10.0.0.1/": false, "http://169.254.169.254/": false, "ftp://127.0.0.1/": false,
		"http://0.0.0.0/": false, "127.0.0.1": false, "": false, "http://127.0.0.1@example.test/": false, "%": false,
	} {
		if IsLocal(callback) != want {
			t.Errorf("%q: %v", callback, !want)
		}
	}
	b, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "s.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	o := &Outbox{Books: b}
	if err := o.SetCallback("http://example.test/"); err == nil || o.Callback() != "" {
		t.Error("a callback elsewhere was accepted")
	}
	status, words := o.send(t.Context(), Notice{URL: "http://203.0.113.1:80/secret"})
	if status != 0 || strings.Contains(words, "secret") || !strings.Contains(words, "only this machine") {
		t.Errorf("%d %q", status, words)
	}
}
