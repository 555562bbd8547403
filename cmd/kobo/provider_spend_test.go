package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// purse is a running program whose company's money a test spends.
type purse struct {
	*apptest.Program
	t       *testing.T
	script  *script
	options spendOptions
}

func newPurse(t *testing.T, dialect db.Dialect) *purse {
	p := apptest.Start(t, dialect)
	d := &developer{Credentials: p.Credentials, http: &http.Client{Timeout: time.Minute}}
	u := &purse{Program: p, t: t, script: &script{developer: d, ctx: t.Context()}}
	keep := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	u.options = spendOptions{
		amount: "200", company: d.Reference, server: d.BaseURL, apiKeyFile: keep("key", d.APIKey), pinFile: keep("pin", d.PIN),
		phone: "08031234510", to: "000014:" + u.script.beneficiary("000014", "10"), yes: true,
		state: filepath.Join(t.TempDir(), "kobo", "spend.json"),
	}
	return u
}

// spend runs spend with changed options and a typed line. It returns the output.
func (u *purse) spend(typed string, change func(*spendOptions)) (string, error) {
	u.t.Helper()
	o := u.options
	change(&o)
	var out strings.Builder
	err := spend(u.t.Context(), strings.NewReader(typed), &out, &o)
	if text := out.String(); strings.Contains(text, u.APIKey) || err != nil && strings.Contains(err.Error(), u.APIKey) {
		u.t.Errorf("an API key is shown: %s", text)
	}
	return out.String(), err
}

func (u *purse) balance() string {
	u.t.Helper()
	var all []struct{ Balance json.Number }
	if u.script.get("settlement/accounts", &all); u.script.err != nil || len(all) == 0 {
		u.t.Fatal(u.script.err)
	}
	return all[0].Balance.String()
}

// The command buys airtime, pays out and funds the company's card, and prints each with its outcome.
// All cost the amount that is allowed, and one kobo less spends nothing.
func TestSpendRunsTheSmallestOperations(t *testing.T) {
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			u := newPurse(t, dialect)
			if u.options.card = u.script.card(); u.script.err != nil {
				t.Fatal(u.script.err)
			}
			before := u.balance()
			nothing := func(want, typed string, change func(*spendOptions)) {
				t.Helper()
				if out, err := u.spend(typed, change); err == nil || !strings.Contains(err.Error(), want) || codeOf(err) != failed {
					t.Errorf("%v, want %s:\n%s", err, want, out)
				}
				if now := u.balance(); now != before {
					t.Errorf("%s was spent of %s", now, before)
				}
			}
			nothing("cost ₦200.00 together", "", func(o *spendOptions) { o.amount = "199.99" })
			nothing("not confirmed", "spend 100.00\n", func(o *spendOptions) { o.yes = false })
			nothing("not confirmed", "", func(o *spendOptions) { o.yes = false })
			nothing("name enquiry", "", func(o *spendOptions) { o.to = "999998:0123456789" })
			nothing("no airtime of the network", "", func(o *spendOptions) { o.network = "NOBODY" })
			nothing("no active settlement account", "", func(o *spendOptions) { o.settlement = 99 })
			nothing("Card not found", "", func(o *spendOptions) { o.card = "nobody" })

			out, err := u.spend("spend 200.00\n", func(o *spendOptions) { o.yes = false })
			if err != nil || strings.Count(out, "SUCCESS") != 3 || !strings.Contains(out, "(dev)") || !strings.Contains(out, "from its settlement account 1 (") {
				t.Errorf("%v:\n%s", err, out)
			}
			u.settled()
			if u.balance() != "999800" {
				t.Errorf("the balance was %s and is %s", before, u.balance())
			}
			u.Sound(t)

			if out, err = u.spend("", func(o *spendOptions) { o.card, o.to = "", "" }); err != nil || strings.Contains(out, "card") || u.balance() != "999750" {
				t.Errorf("a card was funded unasked: %v:\n%s", err, out)
			}
		})
	}
}

// settled checks that no order is left in the state file.
func (u *purse) settled() {
	u.t.Helper()
	if _, err := os.Stat(u.options.state); !errors.Is(err, fs.ErrNotExist) {
		u.t.Errorf("the state file is left: %v", err)
	}
}

// An operation that the provider refuses costs nothing and is a failure. An operation without an outcome
// stops all further spending, and has an exit code of its own.
func TestSpendTellsFailedFromUnknown(t *testing.T) {
	u := newPurse(t, dbtest.Dialects[0])
	out, err := u.spend("", func(o *spendOptions) { o.phone = "08031234501" })
	if codeOf(err) != failed || !strings.Contains(err.Error(), "no money is gone") || strings.Count(out, "SUCCESS") != 1 {
		t.Errorf("%v:\n%s", err, out)
	}
	if u.balance() != "999950" {
		t.Errorf("only the payout has success, and the balance is %s", u.balance())
	}
	out, err = u.spend("", func(o *spendOptions) { o.phone = "08031234504" })
	var open still
	if codeOf(err) != unknown || !errors.As(err, &open) || !strings.Contains(out, "UNKNOWN") || strings.Contains(out, "SUCCESS") {
		t.Fatalf("%v:\n%s", err, out)
	}
	_, reference, found := strings.Cut(err.Error(), "/api/v1/outcomes/")
	reference, _, _ = strings.Cut(reference, ";")
	if !found || !strings.Contains(out, reference) || u.balance() != "999900" {
		t.Fatalf("%q, %s:\n%s", reference, u.balance(), out)
	}
	u.script.advance("1h")
	o := u.options
	s, err := o.spender(1, &strings.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	did, err := s.follow(t.Context(), order{What: "airtime", Show: "vtu/transaction/", Cost: smallestAirtime}, reference, time.Now().Add(20*time.Second))
	if err != nil || did.status != "SUCCESS" || did.reference != reference {
		t.Errorf("not followed to its end: %+v, %v", did, err)
	}
}

// Options that do not say exactly whose money goes where are refused before any request is sent.
func TestSpendRefusesUnclearOptions(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("k"), 0o600); err != nil {
		t.Fatal(err)
	}
	whole := spendOptions{amount: "100", company: "c", server: "http://127.0.0.1:1", apiKeyFile: key, pinFile: key, to: "000014:0123456789"}
	for want, change := range map[string]func(*spendOptions){
		`--spend "10.001"`:            func(o *spendOptions) { o.amount = "10.001" },
		`--spend "1e3"`:               func(o *spendOptions) { o.amount = "1e3" },
		`--spend "-5"`:                func(o *spendOptions) { o.amount = "-5" },
		`--spend ""`:                  func(o *spendOptions) { o.amount = "" },
		"needs --company":             func(o *spendOptions) { o.company = "" },
		"needs --server":              func(o *spendOptions) { o.server = "" },
		"must be an https:// URL":     func(o *spendOptions) { o.server = "http://kobo.example.com" },
		"needs --api-key-file":        func(o *spendOptions) { o.apiKeyFile = "" },
		"--to needs --pin-file":       func(o *spendOptions) { o.pinFile = "" },
		"BANK:ACCOUNT":                func(o *spendOptions) { o.to = "0123456789" },
		"needs --phone, --to or":      func(o *spendOptions) { o.to = "" },
		"--wait must not be negative": func(o *spendOptions) { o.wait = -time.Second },
	} {
		o := whole
		change(&o)
		if err := spend(t.Context(), strings.NewReader(""), &strings.Builder{}, &o); err == nil || codeOf(err) != misused || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
