package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
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
