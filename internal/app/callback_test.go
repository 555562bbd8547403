package app

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/secret"
)

// Live mode needs an https callback_base, because providers must reach the program over TLS.
func TestLiveModeNeedsACallbackBase(t *testing.T) {
	cfg := Defaults()
	cfg.Database, cfg.MasterKey, cfg.Window = "sqlite:x", secret.NewText(secret.Generate()), 30*time.Second
	cfg.EvidenceKeyFile = filepath.Join(t.TempDir(), "evidence.key")
	if err := secret.Create(cfg.EvidenceKeyFile); err != nil {
		t.Fatal(err)
	}
	cfg.Providers["safehaven"] = SafeHavenConfig{
		BaseURL: "https://api.example.com", ClientID: "c", DebitAccount: "0123456789", Assertion: secret.NewText("a"),
	}
	for base, fits := range map[string]bool{
		"https://kobo.example.com": true, "https://kobo.example.com:8443": true,
		"": false, "http://kobo.example.com": false, "https://": false, "kobo.example.com": false,
		"https://kobo.example.com/": false, "https://kobo.example.com/x": false, "https://me:pw@kobo.example.com": false, "https://k.example.com?a=b": false,
	} {
		cfg.CallbackBase = base
		if err := cfg.check(); (err == nil) != fits || err != nil && !strings.Contains(err.Error(), "callback_base") {
			t.Errorf("%q: %v", base, err)
		}
	}
	cfg.Mode, cfg.Providers = Sandbox, Defaults().Providers
	cfg.CallbackBase = "https://kobo.example.com"
	if err := cfg.check(); err == nil || !strings.Contains(err.Error(), "callback_base") {
		t.Errorf("sandbox mode: %v", err)
	}
}
