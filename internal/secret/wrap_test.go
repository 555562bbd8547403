package secret_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/kms"
	"github.com/kobo-waas/kobo/internal/kms/kmstest"
	"github.com/kobo-waas/kobo/internal/secret"
)

// wrapping returns a plain file, and the KMS that can wrap it.
func wrapping(t *testing.T) (secret.File, *kmstest.Transit) {
	t.Helper()
	s := kmstest.Start(t)
	f := secret.File{Path: filepath.Join(t.TempDir(), "master.key")}
	if err := os.WriteFile(f.Path, []byte("# the keys of Kobo\n"+oldLine+"\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	var err error
	f.KMS, err = kms.Key(s.URI, kms.Vault{CAFile: s.CAFile, Token: func() (string, error) { return s.Token(), nil }})
	if err != nil {
		t.Fatal(err)
	}
	return f, s
}

func content(t *testing.T, f secret.File) string {
	t.Helper()
	text, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Dir(f.Path)); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
	return string(text)
}

// A wrapped file shows none of its text. Lines are added, promoted and removed in it, and it stays
// wrapped.
func TestAWrappedFileIsEdited(t *testing.T) {
	f, s := wrapping(t)
	before := content(t, f)
	if err := f.Wrap(); err != nil {
		t.Fatal(err)
	}
	ids := func() string {
		t.Helper()
		text := content(t, f)
		_, key, _ := strings.Cut(oldLine, ":")
		if !secret.IsWrapped(text) || strings.Contains(text, strings.TrimSpace(key)) {
			t.Errorf("the file is %q", text)
		}
		if info, err := os.Stat(f.Path); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("the mode is %v, %v", info.Mode(), err)
		}
		k, err := f.Read()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(k.IDs(), " ")
	}
	if got := ids(); got != "old" {
		t.Errorf("wrapped: %s", got)
	}
	next, err := f.AddLine()
	if err != nil || ids() != "old "+next {
		t.Errorf("added: %s, %v", ids(), err)
	}
	if err := f.PromoteLine(next); err != nil || ids() != next+" old" {
		t.Errorf("promoted: %s, %v", ids(), err)
	}
	s.Rotate()
	if err := f.Wrap(); err != nil || ids() != next+" old" {
		t.Errorf("wrapped again: %s, %v", ids(), err)
	}
	if err := f.RemoveLine(next); err != nil || ids() != "old" {
		t.Errorf("removed: %s, %v", ids(), err)
	}
	if err := f.WriteUnwrapped(); err != nil || content(t, f) != strings.TrimSpace(before)+"\n" {
		t.Errorf("unwrapped: %q, %v", content(t, f), err)
	}
	if _, err := f.AddLine(); err != nil || secret.IsWrapped(content(t, f)) {
		t.Errorf("a plain file did not stay plain: %v", err)
	}
}

// If the KMS fails, or does not open what it has encrypted, the file keeps its content.
func TestAFailingKMSLeavesTheFileUnchanged(t *testing.T) {
	f, s := wrapping(t)
	refuse := func(verb string) {
		s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
			wrong := strings.Contains(r.URL.Path, verb)
			if wrong {
				kmstest.Refuse(w, http.StatusForbidden, "permission denied")
			}
			return wrong
		}
	}
	before := content(t, f)
	for _, verb := range []string{"encrypt", "decrypt"} {
		refuse(verb)
		if err := f.Wrap(); err == nil || !strings.Contains(err.Error(), "permission denied") || content(t, f) != before {
			t.Errorf("a failing %s: %v", verb, err)
		}
	}
	s.Fault = nil
	if err := f.Wrap(); err != nil {
		t.Fatal(err)
	}
	before = content(t, f)
	for _, verb := range []string{"encrypt", "decrypt"} {
		refuse(verb)
		for name, act := range map[string]func() error{
			"wrap": f.Wrap,
			"add":  func() error { _, err := f.AddLine(); return err },
		} {
			if err := act(); err == nil || !strings.Contains(err.Error(), "permission denied") || content(t, f) != before {
				t.Errorf("%s of a wrapped file with a failing %s: %v", name, verb, err)
			}
		}
	}
}

// A wrapped file without its KMS, and a damaged one, are refused with an error that says why.
func TestAWrappedFileNeedsItsKMS(t *testing.T) {
	f, _ := wrapping(t)
	other, _ := wrapping(t)
	if err := f.Wrap(); err != nil {
		t.Fatal(err)
	}
	good := content(t, f)
	for want, c := range map[string]struct {
		file    secret.File
		content string
	}{
		"set master_key_kms":            {secret.File{Path: f.Path}, good},
		"message authentication failed": {secret.File{Path: f.Path, KMS: other.KMS}, good},
		"not base64":                    {f, good[:len(good)-3]},
	} {
		if err := os.WriteFile(f.Path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.file.Read(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: read: %v", want, err)
		}
		if _, err := c.file.AddLine(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: edited: %v", want, err)
		}
	}
	if err := (secret.File{Path: other.Path}).Wrap(); err == nil || !strings.Contains(err.Error(), "master_key_kms is not set") {
		t.Error(err)
	}
	if k, err := other.Read(); err != nil || !slices.Equal(k.IDs(), []string{"old"}) {
		t.Errorf("a plain file with a KMS: %v", err)
	}
}
