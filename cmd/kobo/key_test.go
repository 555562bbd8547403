package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/kms/kmstest"
)

// The commands of a rotation work beside a serving program.
func TestKeyCommandsRotateTheMasterKey(t *testing.T) {
	p := apptest.Start(t, db.SQLite)
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		c := root()
		c.SetOut(&out)
		c.SetArgs(append(args, "--data", p.Home.Data, "--database", p.Home.Database))
		err := c.ExecuteContext(t.Context())
		return out.String(), err
	}
	must := func(want string, args ...string) string {
		t.Helper()
		out, err := run(args...)
		if err != nil || !strings.Contains(out, want) {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return out
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if out, err := run(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	state := func() {
		t.Helper()
		if err := p.App.Keyring.State(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	old := regexp.MustCompile(`(?m)^([0-9a-f]{8}) +first +1 of 1`).FindStringSubmatch(must("transaction PINs", "key", "status"))[1]
	next := regexp.MustCompile(`added the line ([0-9a-f]{8}) `).FindStringSubmatch(must("added the line", "key", "add"))[1]
	state()
	must("promoted", "key", "promote", next)
	state()
	must("rows sealed again", "rekey")
	refused("transaction PINs: 1 (at the next use)", "key", "remove", old)
	refused("so the key is not lost", "key", "remove", old, "--lost")
	refused("has no line none", "key", "promote", "none")
	must(next+"  first", "key", "status")
	must("key.promote", "audit")

	sign := regexp.MustCompile(`added the line ([0-9a-f]{8}) `).FindStringSubmatch(must("added the line", "key", "add", "--evidence"))[1]
	state()
	must("promoted", "key", "promote", sign, "--evidence")
	state()
	must(sign+"  first", "key", "status", "--evidence")
	refused("never removed", "key", "remove", sign, "--evidence")
	p.Bought(p.Buy(p.Order(p.Bundle(), "signed with the new line", "10")))
	must("everything adds up", "verify")
}

// A file is wrapped beside a serving program, and all commands work on the wrapped file. A program does
// not start without the KMS. The token never appears in the output, in an error or in the log.
func TestKeyCommandsWorkOnAWrappedFile(t *testing.T) {
	transit := kmstest.Start(t)
	home := apptest.NewHome(t, db.SQLite)
	var log bytes.Buffer
	p := home.Start(t, func(c *app.Config) {
		c.MasterKeyKMS, c.MasterKeyKMSTokenFile, c.MasterKeyKMSCAFile = transit.URI, transit.TokenFile, transit.CAFile
	})
	config := filepath.Join(t.TempDir(), "kobo.yaml")
	write := func(more string) {
		t.Helper()
		text := fmt.Sprintf("mode: sandbox\ndata: %[1]s\ndatabase: %[2]s\nmaster_key_file: %[1]s/master.key\nevidence_key_file: %[1]s/evidence.key\n", home.Data, home.Database)
		if err := os.WriteFile(config, []byte(text+more), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kms := fmt.Sprintf("master_key_kms: %s\nmaster_key_kms_token_file: %s\nmaster_key_kms_ca_file: %s\n", transit.URI, transit.TokenFile, transit.CAFile)
	write(kms)
	run := func(want string, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		c := root()
		c.SetOut(&out)
		c.SetErr(&log)
		c.SetArgs(append(args, "--config", config))
		err := c.ExecuteContext(t.Context())
		text := out.String()
		if err != nil {
			text += err.Error()
		}
		if !strings.Contains(text, want) {
			t.Fatalf("%q: %s", args, text)
		}
		log.WriteString(text)
		return text
	}
	state := func() {
		t.Helper()
		if err := p.App.Keyring.State(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	run("the file is plain", "key", "status")
	run("only the file of the master key can be wrapped", "key", "wrap", "--evidence")
	run("wrapped "+home.Data, "key", "wrap")
	run("wrapped "+home.Data, "key", "wrap")
	run("key.wrap", "audit")
	state()
	run("the file is wrapped", "key", "status")
	transit.Renew(t) // the program reads the new token
	next := regexp.MustCompile(`added the line ([0-9a-f]{8}) `).FindStringSubmatch(run("added the line", "key", "add"))[1]
	state()
	run("promoted", "key", "promote", next)
	state()
	run(next+"  first", "key", "status")
	if p.App.Keyring.Current() != next {
		t.Errorf("the program writes with %s", p.App.Keyring.Current())
	}
	p.Bought(p.Buy(p.Order(p.Bundle(), "signed with the wrapped line", "10")))
	run("everything adds up", "verify")

	p.Stop()
	write("")
	run("is wrapped by a KMS: set master_key_kms", "key", "status")
	write("master_key_kms: aws-kms://arn\nmaster_key_kms_token: x\n")
	run("Kobo supports the transit engine of HashiCorp Vault and OpenBao", "serve")
	write("master_key_kms: " + transit.URI + "\n")
	run("master_key_kms needs master_key_kms_token_file", "serve")
	write(kms)
	transit.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
		kmstest.Refuse(w, http.StatusServiceUnavailable, "Vault is sealed")
		return true
	}
	run("status 503: Vault is sealed", "serve")
	transit.Fault = nil
	run("is plain again", "key", "unwrap")
	write("")
	run(next+"  first", "key", "status")
	if strings.Contains(log.String(), transit.Token()) {
		t.Error("the token is in the output")
	}
}
