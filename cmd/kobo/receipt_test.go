package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// checked runs kobo receipt verify on a text, from a file and from standard input.
func checked(t *testing.T, key, text string) (out string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "receipt.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{path, "-"} {
		var said bytes.Buffer
		c := root()
		c.SetArgs([]string{"receipt", "verify", from, "--key", key})
		c.SetIn(strings.NewReader(text))
		c.SetOut(&said)
		failed := c.ExecuteContext(t.Context())
		if from == "-" && (said.String() != out || (failed == nil) != (err == nil)) {
			t.Errorf("the file gives %q %v, and standard input %q %v", out, err, said.String(), failed)
		}
		out, err = said.String(), failed
	}
	return out, err
}

// A company checks the receipt of a payment with the key that it stored, and without a server. A
// receipt with another amount is refused.
func TestAReceiptIsCheckedOffline(t *testing.T) {
	p := apptest.Start(t, dbtest.Dialects[0])
	d := &developer{Credentials: p.Credentials, http: &http.Client{Timeout: time.Minute}}
	s := &script{developer: d, ctx: t.Context()}
	var keys struct{ Key string }
	s.get("checkpoints/key", &keys)
	buy("10")(s)
	var page struct {
		Data []struct{ TransactionID string }
	}
	s.get("vtu/transactions?pageSize=1", &page)
	if s.err != nil {
		t.Fatal(s.err)
	}
	var data json.RawMessage
	s.get("receipts/"+page.Data[0].TransactionID, &data)
	if s.err != nil {
		t.Fatal(s.err)
	}
	for _, text := range []string{string(data), `{"status": "success", "data": ` + string(data) + `}`} {
		out, err := checked(t, keys.Key, text)
		for _, want := range []string{"valid: row ", "of company " + p.Reference, "ledger_transfer", "amount_kobo     10000", page.Data[0].TransactionID} {
			if err != nil || !strings.Contains(out, want) {
				t.Errorf("%s is not in %q %v", want, out, err)
			}
		}
	}
	other := strings.Replace(string(data), `"index":`, `"index":1`, 1)
	for name, c := range map[string][3]string{
		"another place": {keys.Key, other, "the receipt is not valid"},
		"no key":        {"", string(data), "--key is not set"},
		"another key":   {keys.Key[:len(keys.Key)-4] + "AAA=", string(data), "the receipt is not valid"},
		"no receipt":    {keys.Key, `{"data": {}}`, "the file is not a receipt: it has no checkpoint"},
		"no JSON":       {keys.Key, "x", "the file is not a receipt"},
	} {
		if _, err := checked(t, c[0], c[1]); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
