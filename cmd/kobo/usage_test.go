package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	// What cobra finds wrong, before a command runs.
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

// All that is wrong with a configuration is told at once, in a line each.
func TestAllThatIsWrongIsToldAtOnce(t *testing.T) {
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
		`there is no setting "databse"`, "window", "jobs.workers", "log.level must be", "database is not set", "master_key or master_key_file",
		"traces must be", "live mode needs safehaven.base_url", "live mode needs callback_base",
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
	if len(lines) != 9 {
		t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
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
