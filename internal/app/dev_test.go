package app

import (
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
)

// The API document of a development program names the configured public URL.
func TestADevelopmentProgramHasItsPublicURL(t *testing.T) {
	ctx, log := context.WithoutCancel(t.Context()), slog.New(slog.DiscardHandler)
	t.Setenv("KOBO_PUBLIC_URL", "https://kobo.example.test")
	a, _, err := OpenDev(ctx, DevConfig(t.TempDir(), ""), false, log)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	h, err := a.Handler()
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/openapi.json", nil))
	if body, err := io.ReadAll(w.Body); err != nil || !strings.Contains(string(body), `"url":"https://kobo.example.test"`) {
		t.Errorf("HTTP %d %v: the document names another server", w.Code, err)
	}
	t.Setenv("KOBO_PUBLIC_URL", "https://kobo.example.test/below")
	if _, _, err := OpenDev(ctx, DevConfig(t.TempDir(), ""), false, log); err == nil || !strings.Contains(err.Error(), "public_url") {
		t.Errorf("a path: %v", err)
	}
}
