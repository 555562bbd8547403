package kms_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/kobo-waas/kobo/internal/kms"
	"github.com/kobo-waas/kobo/internal/kms/kmstest"
)

var keyring, purpose = []byte("id:the keyring\n"), []byte("purpose")

// key returns the key of the server, with the token in the server's token file.
func key(t *testing.T, s *kmstest.Transit) tink.AEAD {
	t.Helper()
	k, err := kms.Key(s.URI, kms.Vault{CAFile: s.CAFile, Token: func() (string, error) {
		text, err := os.ReadFile(s.TokenFile)
		return strings.TrimSpace(string(text)), err
	}})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Only the ciphertext with its associated data opens. A ciphertext of an earlier version of the key still
// opens, and so does one that was made with an earlier token.
func TestVaultOpensWhatItHasEncrypted(t *testing.T) {
	s := kmstest.Start(t)
	k := key(t, s)
	sealed, err := k.Encrypt(keyring, purpose)
	if err != nil || !strings.HasPrefix(string(sealed), "vault:v1:") || bytes.Contains(sealed, keyring) {
		t.Fatalf("%s, %v", sealed, err)
	}
	s.Rotate()
	s.Renew(t)
	if text, err := k.Decrypt(sealed, purpose); err != nil || !bytes.Equal(text, keyring) {
		t.Errorf("%q, %v", text, err)
	}
	changed := bytes.Clone(sealed)
	changed[len(changed)-6] ^= 1
	for name, got := range map[string][2][]byte{
		"other associated data": {sealed, []byte("other")}, "no associated data": {sealed, nil}, "a changed ciphertext": {changed, purpose},
	} {
		before := s.Requests.Load()
		if text, err := k.Decrypt(got[0], got[1]); err == nil || len(text) > 0 {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if n := s.Requests.Load() - before; n != 1 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

// A KMS that does not respond, or is not ready, is asked three times. A refusal is asked once.
func TestOnlyABusyVaultIsAskedAgain(t *testing.T) {
	s := kmstest.Start(t)
	k := key(t, s)
	sealed, err := k.Encrypt(keyring, purpose)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		requests   int64
		fault      func(w http.ResponseWriter, r *http.Request, nth int64) bool
	}{
		{"sealed", "status 503: Vault is sealed", 3, func(w http.ResponseWriter, _ *http.Request, _ int64) bool {
			kmstest.Refuse(w, http.StatusServiceUnavailable, "Vault is sealed")
			return true
		}},
		{"a standby that is behind once", "", 2, func(w http.ResponseWriter, _ *http.Request, nth int64) bool {
			if nth == 1 {
				kmstest.Refuse(w, http.StatusPreconditionFailed, "required index state not present")
			}
			return nth == 1
		}},
		{"a broken connection", "cannot decrypt with https://", 3, func(http.ResponseWriter, *http.Request, int64) bool { panic(http.ErrAbortHandler) }},
		{"no permission", "status 403: permission denied", 1, func(w http.ResponseWriter, _ *http.Request, _ int64) bool {
			kmstest.Refuse(w, http.StatusForbidden, "permission denied")
			return true
		}},
		{"an error with the token", "status 400: the token [redacted] is bad", 1, func(w http.ResponseWriter, r *http.Request, _ int64) bool {
			kmstest.Refuse(w, http.StatusBadRequest, "the token "+r.Header.Get("X-Vault-Token")+" is bad")
			return true
		}},
		{"a redirect", "status 307", 1, func(w http.ResponseWriter, r *http.Request, _ int64) bool {
			http.Redirect(w, r, "https://elsewhere.example/", http.StatusTemporaryRedirect)
			return true
		}},
		{"a page of a proxy", "not the JSON", 1, func(w http.ResponseWriter, _ *http.Request, _ int64) bool {
			_, _ = w.Write([]byte("<html>hello</html>"))
			return true
		}},
		{"an empty response", "no plaintext", 1, func(w http.ResponseWriter, _ *http.Request, _ int64) bool {
			_, _ = w.Write([]byte(`{"data":{}}`))
			return true
		}},
	} {
		before := s.Requests.Load()
		s.Fault = func(w http.ResponseWriter, r *http.Request) bool { return c.fault(w, r, s.Requests.Load()-before) }
		text, err := k.Decrypt(sealed, purpose)
		if n := s.Requests.Load() - before; n != c.requests {
			t.Errorf("%s: %d requests", c.name, n)
		}
		if c.want == "" {
			if err != nil || !bytes.Equal(text, keyring) {
				t.Errorf("%s: %q, %v", c.name, text, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && (strings.Contains(err.Error(), s.Token()) || strings.Contains(err.Error(), string(sealed))) {
			t.Errorf("%s: a secret is in %q", c.name, err)
		}
	}
}

// A server whose certificate the program does not trust receives no token.
func TestAnUntrustedServerIsRefused(t *testing.T) {
	s := kmstest.Start(t)
	k, err := kms.Key(s.URI, kms.Vault{Token: func() (string, error) { return "token", nil }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Encrypt(keyring, nil); err == nil || !strings.Contains(err.Error(), "certificate") || s.Requests.Load() != 0 {
		t.Errorf("%d requests, %v", s.Requests.Load(), err)
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("no PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := kms.Key(s.URI, kms.Vault{CAFile: empty}); err == nil || !strings.Contains(err.Error(), "has no certificate") {
		t.Error(err)
	}
}

// The error for an address without a key names the form of the address. It never contains a password.
func TestAnAddressNamesAKey(t *testing.T) {
	for _, uri := range []string{
		"", "kobo", "hcvault://", "hcvault://host", "hcvault://host/transit/kobo", "hcvault://host/transit/keys/", "hcvault:///transit/keys/kobo",
		"hcvault://host/transit/keys/a/b", "hcvault://user:hunter2@host/transit/keys/a", "hcvault://host/transit/keys/a?token=hunter2",
		"aws-kms://arn:aws:kms:us-east-1:1:key/2", "gcp-kms://projects/p",
	} {
		if _, err := kms.Key(uri, kms.Vault{}); err == nil || !strings.Contains(err.Error(), "hcvault://HOST[:PORT]/MOUNT/keys/NAME") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", uri, err)
		}
	}
	for _, uri := range []string{"hcvault://vault.example:8200/transit/keys/kobo", "hcvault://v/team/transit/keys/kobo"} {
		if _, err := kms.Key(uri, kms.Vault{}); err != nil {
			t.Errorf("%q: %v", uri, err)
		}
	}
}
