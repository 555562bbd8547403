package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this test binary serve as the command kobo in the test scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kobo": main})
}

// The scripts in testdata run the commands of an operator, and compare the output with the expected
// text.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"appears":    appears,
			"reference":  keeps("REFERENCE", `c[0-9a-z]{9}`),
			"adjustment": keeps("ADJUSTMENT", `\S+`),
			"digest":     keeps("DIGEST", `\b[0-9a-f]{64}\b`),
			"proposal":   keeps("PROPOSAL", `\b[0-9a-z-]{20,}\b`),
		},
	})
}

// keeps returns a command for the test scripts. The command finds the first match of the pattern in
// a file, such as stdout, and stores the match in a variable.
func keeps(name, pattern string) func(*testscript.TestScript, bool, []string) {
	find := regexp.MustCompile(pattern)
	return func(s *testscript.TestScript, _ bool, args []string) {
		found := find.FindString(s.ReadFile(args[0]))
		if found == "" {
			s.Fatalf("nothing in %s matches %s", args[0], pattern)
		}
		s.Setenv(name, found)
	}
}

// appears is a command of the test scripts. It waits until a program in the background has written
// a file.
func appears(s *testscript.TestScript, _ bool, args []string) {
	limit := time.After(30 * time.Second)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		if _, err := os.Stat(s.MkAbs(args[0])); err == nil {
			return
		}
		select {
		case <-look.C:
		case <-limit:
			s.Fatalf("%s does not appear", args[0])
		}
	}
}
