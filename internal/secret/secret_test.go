package secret_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/secret"
)

// oldLine is the keyring line of the key with the bytes 00 01 02 … 1f. The expected values in these
// tests were computed with a different implementation of HKDF, HMAC and AES-GCM
// (pyca/cryptography).
const oldLine = "old:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\n"

var place = secret.Place{Company: "company", Column: "column", Row: "row"}

func ring(t *testing.T, text string) *secret.Keyring {
	t.Helper()
	k, err := secret.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestVectors(t *testing.T) {
	k := ring(t, oldLine)
	keyID, key := k.Signer("token").Current()
	if got := hex.EncodeToString(key); keyID != "old" || got != "a32efe747266756c2a359bdb025f6def5933dd943bccd9b01624335f43baa40e" {
		t.Errorf("signing key %s %s", keyID, got)
	}
	if got := k.MAC("pin", "company", "1234"); got != "old$334d6d887d0c6d6ee69f5d476de26769861d6ec0c7437bf8e666bc8c73cf7976" {
		t.Errorf("MAC %s", got)
	}
	if got := k.BlindIndex("company", "customer.bvn", "22222222222"); len(got) != 1 ||
		got[0] != "old$07c64eb0acfafd574674e9e42b545ba122b81ed1ca9ee19b609f8f174f360042" {
		t.Errorf("blind index %s", got)
	}
	got, err := k.Open(secret.Place{Company: "company", Column: "customer.bvn"}, "old$AAECAwQFBgcICQoL8t9k98KhhuO_jeDzLvZng_mwVmZICmtKzipB")
	if err != nil || got.Reveal() != "22222222222" {
		t.Errorf("open: %q %v", got.Reveal(), err)
	}
}

func TestRotation(t *testing.T) {
	before := ring(t, oldLine)
	after := ring(t, secret.Generate()+"# the old one still verifies\n\n"+oldLine)
	later := ring(t, secret.Generate())

	tag := before.MAC("pin", "company", "1234")
	sealed, err := before.Seal(place, "value")
	if err != nil {
		t.Fatal(err)
	}
	if !after.Verify(tag, "pin", "company", "1234") || !after.Stale(tag) || before.Stale(tag) {
		t.Error("a hash of the old key must verify and be stale after a rotation")
	}
	if got, err := after.Open(place, sealed); err != nil || got.Reveal() != "value" {
		t.Errorf("a value sealed with the old key does not open: %v", err)
	}
	if _, ok := after.Signer("token").Find("old"); !ok {
		t.Error("the old key does not verify tokens")
	}
	if indexes := after.BlindIndex("company", "c", "v"); len(indexes) != 2 || indexes[1] != before.BlindIndex("company", "c", "v")[0] {
		t.Error("an older row is not found by its index")
	}
	if later.Verify(tag, "pin", "company", "1234") {
		t.Error("a hash of a key that was removed verifies")
	}
	if _, err := later.Open(place, sealed); err == nil {
		t.Error("a value sealed with a key that was removed opens")
	}
}

func TestMACIsBoundToItsPartsAndPurpose(t *testing.T) {
	k := ring(t, oldLine)
	tag := k.MAC("pin", "ab", "c")
	for name, ok := range map[string]bool{
		"other split":   k.Verify(tag, "pin", "a", "bc"),
		"other purpose": k.Verify(tag, "api-key", "ab", "c"),
		"one part":      k.Verify(tag, "pin", "abc"),
		"no key id":     k.Verify(strings.TrimPrefix(tag, "old$"), "pin", "ab", "c"),
		"unknown key":   k.Verify("new"+strings.TrimPrefix(tag, "old"), "pin", "ab", "c"),
		"empty":         k.Verify("", "pin", "ab", "c"),
		"only a key id": k.Verify("none$", "pin", "ab", "c"),
	} {
		if ok {
			t.Errorf("%s: verified", name)
		}
	}
}

func TestSealIsBoundToItsPlace(t *testing.T) {
	k := ring(t, oldLine)
	sealed, err := k.Seal(place, "value")
	if err != nil {
		t.Fatal(err)
	}
	again, err := k.Seal(place, "value")
	if err != nil || again == sealed {
		t.Errorf("sealing twice gives the same text: %v", err)
	}
	flipped := []byte(sealed)
	flipped[len(flipped)-2] ^= 1
	for name, try := range map[string][4]string{
		"other company": {"other", "column", "row", sealed},
		"other column":  {"company", "other", "row", sealed},
		"other row":     {"company", "column", "other", sealed},
		"tampered":      {"company", "column", "row", string(flipped)},
		"cut":           {"company", "column", "row", sealed[:12]},
		"not base64":    {"company", "column", "row", "old$***"},
		"no key":        {"company", "column", "row", "value"},
		"no mark":       {"company", "column", "row", strings.Replace(sealed, "row$", "", 1)},
	} {
		if got, err := k.Open(secret.Place{Company: try[0], Column: try[1], Row: try[2]}, try[3]); err == nil {
			t.Errorf("%s: opened as %q", name, got.Reveal())
		}
	}
}

func TestParseRefusesWithoutShowingKeys(t *testing.T) {
	for name, text := range map[string]string{
		"empty":     "\n# nothing\n",
		"no id":     ":AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
		"no colon":  "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
		"short key": "a:AAECAwQFBgcICQoL",
		"not base":  "a:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh!",
		"twice":     oldLine + oldLine,
	} {
		_, err := secret.Parse(text)
		if err == nil || strings.Contains(err.Error(), "AAEC") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoadOrCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	tags := make([]string, 8)
	var all sync.WaitGroup
	for i := range tags {
		all.Go(func() {
			k, err := secret.LoadOrCreate(path)
			if err != nil {
				t.Error(err)
				return
			}
			tags[i] = k.MAC("x")
		})
	}
	all.Wait()
	for _, tag := range tags {
		if tag != tags[0] {
			t.Error("programs that start together got different keys")
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if _, err := secret.LoadOrCreate(filepath.Join(path, "below", "a", "file")); err == nil {
		t.Error("an impossible path made no error")
	}
}

// A line is added below the first one, promoted to the top and removed. The file keeps its mode and
// its comments.
// Concurrent commands lose no line.
func TestConcurrentEditsLoseNoLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	if err := secret.Create(path); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := (secret.File{Path: path}).AddLine(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	k, err := secret.LoadOrCreate(path)
	if err != nil || len(k.IDs()) != 21 {
		t.Errorf("%d lines, %v", len(k.IDs()), err)
	}
}

func TestTheFileOfAKeyringIsEdited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	if err := os.WriteFile(path, []byte("# the keys of Kobo\n"+oldLine+"\n# older ones\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	next, err := secret.File{Path: path}.AddLine()
	if err != nil {
		t.Fatal(err)
	}
	ids := func() string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 || !strings.HasPrefix(string(text), "# the keys of Kobo\n") {
			t.Errorf("the mode is %v, %v, and the text begins with %.10q", info.Mode(), err, text)
		}
		return strings.Join(ring(t, string(text)).IDs(), " ")
	}
	if got := ids(); got != "old "+next {
		t.Errorf("added: %s", got)
	}
	for range 2 {
		if err := (secret.File{Path: path}).PromoteLine(next); err != nil || ids() != next+" old" {
			t.Errorf("promoted: %s, %v", ids(), err)
		}
	}
	if err := (secret.File{Path: path}).PromoteLine("none"); err == nil {
		t.Error("an unknown line was promoted")
	}
	if err := (secret.File{Path: path}).RemoveLine("old"); err != nil || ids() != next {
		t.Errorf("removed: %s, %v", ids(), err)
	}
	if err := (secret.File{Path: path}).RemoveLine(next); err == nil || ids() != next {
		t.Errorf("the only line was removed: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// Values of older programs are bound to the company and the column only. They still open, and
// Reseal binds them to their rows.
func TestAnUnboundValueIsSealedAgain(t *testing.T) {
	k := ring(t, oldLine)
	k.Become(k, secret.Use{Current: "old", Unbound: true})
	unbound, err := k.Seal(place, "value")
	if err != nil || strings.Contains(unbound, "row") {
		t.Fatal(unbound, err)
	}
	k.Become(k, secret.Use{Current: "old"})
	bound, err := k.Reseal(place, unbound)
	if err != nil || !strings.HasPrefix(bound, "old$row$") {
		t.Fatal(bound, err)
	}
	elsewhere := secret.Place{Company: place.Company, Column: place.Column, Row: "other"}
	if got, err := k.Open(elsewhere, bound); err == nil {
		t.Errorf("opened as %q in a different row", got.Reveal())
	}
	if got, err := k.Open(place, bound); err != nil || got.Reveal() != "value" {
		t.Errorf("%q, %v", got.Reveal(), err)
	}
	if again, err := k.Reseal(place, bound); err != nil || again != bound {
		t.Errorf("a new value was sealed again: %v", err)
	}
}

func TestTextHidesItself(t *testing.T) {
	text := secret.NewText("hunter2")
	holder := struct {
		Name   string
		pin    secret.Text
		Public *secret.Text
	}{"n", text, &text}
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewJSONHandler(&log, nil), slog.NewTextHandler(&log, nil)} {
		slog.New(h).Info("said", "secret", text, "pointer", &text, "holder", holder)
	}
	encoded, err := json.Marshal(map[string]any{"a": text, "b": holder})
	if err != nil {
		t.Fatal(err)
	}
	log.Write(encoded)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&log, verb+" "+verb+"\n", text, holder)
	}
	if strings.Contains(log.String(), "hunter2") || strings.Contains(log.String(), hex.EncodeToString([]byte("hunter2"))) {
		t.Errorf("the secret shows: %s", log.String())
	}
	var read secret.Text
	if err := json.Unmarshal([]byte(`"hunter2"`), &read); err != nil || read.Reveal() != "hunter2" {
		t.Errorf("read %q, %v", read.Reveal(), err)
	}
	if (secret.Text{}).Reveal() != "" {
		t.Error("the zero value holds something")
	}
}
