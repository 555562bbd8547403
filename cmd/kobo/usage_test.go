package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/fault"
)

func TestExitCodes(t *testing.T) {
	for err, want := range map[error]int{
		errors.New("away"):                                                1,
		fault.New(fault.Missing, "gone"):                                  1,
		fault.New(fault.Invalid, "no such status"):                        2,
		usagef("--days must be at least 1"):                               2,
		fmt.Errorf("nothing was restored: %w", usagef("--data is empty")): 2,
	} {
		if got := codeOf(err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
	// Each of these command lines is refused before its command runs.
	for _, args := range [][]string{
		{"nonsense"},
		{"company"},
		{"company", "nonsense"},
		{"company", "create"},
		{"verify", "x"},
		{"verify", "--nonsense"},
		{"company", "list", "--data", "d", "--config", "c"},
		{"reconcile", "--days", "0"},
		{"listen"},
		{"company", "create", "Ac\xffme"},
		{"company", "kyb", "c", "APPROVED", "--reason", "one\ntwo"},
	} {
		c := root()
		c.SetArgs(args)
		if err := c.ExecuteContext(t.Context()); err == nil || codeOf(err) != 2 {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// One run prints all errors of a configuration, each error on one line.
func TestAllErrorsOfAConfigurationArePrinted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kobo.yaml")
	text := "databse: x\nwindow: soon\nlog: {level: loud}\ntraces: collector\njobs: {workers: many}\nsafehaven: {base_url: 'http://x'}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := root()
	c.SetArgs([]string{"serve", "--config", file})
	err := c.ExecuteContext(t.Context())
	if err == nil {
		t.Fatal("it serves")
	}
	lines := strings.Split("kobo: "+said(err), "\n")
	for _, want := range []string{
		`there is no setting "databse"`, "window", "jobs.workers", "log.level must be", "database is not set", "master_key or master_key_file", "evidence_key_file is not set",
		"traces must be", "safehaven.base_url must be an https URL", "safehaven: the client id", "safehaven: the debit account",
		"either safehaven.private_key_file", "live mode needs callback_base",
	} {
		n := 0
		for _, line := range lines {
			if strings.HasPrefix(line, "kobo: configuration: ") && strings.Contains(line, want) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: in %d lines of\n%s", want, n, strings.Join(lines, "\n"))
		}
	}
	if len(lines) != 13 {
		t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	}
}

// wrongEverywhere is a configuration with at least one error in each group of settings. The
// program must print exactly the lines of wrongLines.
const wrongEverywhere = `
listen: nowhere
database: mysql://x
master_key: no-keyring
public_url: ftp://x
trusted_proxies: [proxy, 0.0.0.0/0]
traces: collector
epoch: x
epoch_file: no-such-folder/kobo.epoch
window: 1ms
webhooks: {keep_days: 0}
events: {keep_months: 2}
serve: {drain: 11m}
limits: {company_burst: 0, token_per_minute: -1}
jobs: {workers: 1, inbox: 0, per_provider: 300}
log: {level: loud, format: xml}
issuer: {name: "a\nb", support: "a\nb", logo: no-such-file}
vtu: {routes: "DATA, POSTAGE=vtpass, TV=x, AIRTIME=nobody"}
crypto: {evm_xpub: e, tron_xpub: t, bitcoin_xpub: b, nodes: "mars=https://x.example, ethereum-mainnet=ftp://x, https://x/?key=abc"}
callback_base: http://x
safehaven: {base_url: "http://x", private_key_file: no-such-file, amount_unit: dollar}
vtpass: {base_url: "https://sandbox.vtpass.com", api_key: k}
sudo: {base_url: "http://x", vault_url: "https://sandbox.x", amount_unit: dollar}
tatum: {api_key: k, base_url: "http://x", hmac_secret: short}
`

var wrongLines = []string{
	"there is no setting \"epoch\"", "epoch_file: stat no-such-folder", "listen: address nowhere", "database: db: the database URL", "master_key: secret: line 1", "evidence_key_file is not set", "public_url must be",
	"trusted_proxies: \"proxy\" is no network", "trusted_proxies: \"0.0.0.0/0\" is everybody", "traces must be", "window must be", "webhooks.keep_days must be", "events.keep_months must be",
	"serve.drain must be", "limits.company_…: ", "limits.token_…: ", "jobs.workers must be", "jobs.inbox must be", "jobs.per_provider must be",
	"log.level must be", "log.format must be", "issuer.name has 2 lines", "issuer.support has 2 lines", "issuer.logo: open no-such-file",
	"vtu.routes: a route is written", "\"POSTAGE=vtpass\" names no kind", "\"TV=x\" names no kind", "vtu.routes names \"nobody\"",
	"crypto.evm_xpub: ", "crypto.tron_xpub: ", "crypto.bitcoin_xpub: ", "crypto.nodes: there is no network \"mars\"", "crypto.nodes: ethereum-mainnet: ",
	"crypto.nodes: a node is written network=https://…",
	"live mode needs callback_base", "safehaven.base_url must be an https URL", "safehaven.private_key_file: open no-such-file",
	"safehaven.private_key_file needs safehaven.issuer", "safehaven: the client id", "safehaven: the debit account", "safehaven: the amount unit",
	"vtpass.base_url is a sandbox", "vtpass: the API key, the public key", "vtpass: the phone number",
	"sudo.base_url must be an https URL", "sudo.vault_url is a sandbox", "sudo: the API key", "sudo: the debit account", "sudo: the amount unit",
	"sudo: the Authorization header", "tatum: the HMAC secret", "tatum: the provider's base URL",
}

// One run prints every error of every group of settings. This is true for kobo serve, and for a
// command that works on a database.
func TestTheErrorsOfAllGroupsArePrinted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kobo.yaml")
	if err := os.WriteFile(file, []byte(wrongEverywhere), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve"}, {"company", "list"}} {
		c := root()
		c.SetArgs(append(args, "--config", file))
		err := c.ExecuteContext(t.Context())
		if err == nil {
			t.Fatalf("%v runs", args)
		}
		told := strings.Split("kobo: "+said(err), "\n")
		for _, want := range wrongLines {
			if n := len(slices.DeleteFunc(slices.Clone(told), func(line string) bool {
				return !strings.HasPrefix(line, "kobo: configuration: ") || !strings.Contains(line, want)
			})); n != 1 {
				t.Errorf("%v: %s: in %d lines", args, want, n)
			}
		}
		if len(told) != len(wrongLines) {
			t.Errorf("%v: %d lines, not %d:\n%s", args, len(told), len(wrongLines), strings.Join(told, "\n"))
		}
	}
}

// If no setting names the database, the commands print this error together with all other errors.
// They also explain how to name a database.
func TestAMissingDatabaseHidesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kobo.yaml")
	if err := os.WriteFile(file, []byte("mode: sandbox\nepoch: 1\nlog: {level: loud}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, lines := range map[string][]string{
		"company list": {"no setting \"epoch\"", "--database names one", "log.level must be", "master_key or master_key_file"},
		"migrate":      {"no setting \"epoch\"", "--database names one"}, // migrate needs only the database
	} {
		c := root()
		c.SetArgs(append(strings.Fields(command), "--config", file))
		err := c.ExecuteContext(t.Context())
		if err == nil {
			t.Fatal("it runs")
		}
		told := strings.Split(said(err), "\n")
		for i, want := range lines {
			if len(told) != len(lines) || !strings.Contains(told[i], want) {
				t.Errorf("%s: %s is not line %d of %q", command, want, i+1, told)
			}
		}
	}
}

func TestAnErrorIsOneLine(t *testing.T) {
	cause := errors.New("failed to connect:\n\tto a\n\tto b")
	for err, want := range map[error]string{
		errors.Join(errors.New("one"), errors.New("two")):      "one; two",
		fault.New(fault.Unavailable, "Away").Because(cause):    "Away: failed to connect: to a; to b",
		fmt.Errorf("first: %w", fault.New(fault.Missing, "x")): "first: missing: x",
	} {
		if got := said(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
