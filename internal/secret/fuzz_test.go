package secret_test

import (
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/secret"
)

// A keyring is read or refused, and the error never shows a line of it. What nobody sealed opens nowhere.
func FuzzKeysAreReadOrRefused(f *testing.F) {
	whole := secret.Generate()
	ring, err := secret.Parse(whole)
	if err != nil {
		f.Fatal(err)
	}
	at := secret.Place{Company: "c1", Column: "webhook.secret", Row: "1"}
	sealed, err := ring.Seal(at, "a secret")
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{whole, whole + "\n" + whole, "# a comment\n" + whole, "k1:", ":AAAA", strings.ToUpper(whole), sealed, sealed[:len(sealed)-1], "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := secret.Parse(text)
		if err == nil && (k.Current() == "" || len(k.IDs()) == 0) {
			t.Errorf("%q gives no key", text)
		}
		if _, key, _ := strings.Cut(strings.TrimSpace(text), ":"); err != nil && len(key) > 10 && strings.Contains(err.Error(), key) {
			t.Errorf("the error shows the key: %v", err)
		}
		if opened, err := ring.Open(at, text); err == nil && (text[:20] != sealed[:20] || opened.Reveal() != "a secret") {
			t.Errorf("%q opens as %q", text, opened.Reveal())
		}
		if ring.Verify(text, "purpose", "part") {
			t.Errorf("%q is a MAC that nobody made", text)
		}
	})
}
