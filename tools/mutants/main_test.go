package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// small is a module with a function, its tests, and mutants of each fate.
var small = map[string]string{
	"go.mod": "module small\n\ngo 1.26\n",
	"a/a.go": "package a\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n",
	"a/a_test.go": `package a

import "testing"

func TestAdd(t *testing.T) {
	t.Run("small", func(t *testing.T) {
		if Add(1, 2) != 3 {
			t.Error("wrong")
		}
	})
}

func TestNothing(t *testing.T) { _ = Add(1, 2) }

var runs int

func TestSometimes(t *testing.T) {
	if runs++; runs == 2 && Add(1, 2) != 3 {
		t.Error("wrong")
	}
}

func TestSilent(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Fail()
	}
}

func TestLogs(t *testing.T) {
	t.Log("it begins")
	if Add(1, 2) != 3 {
		t.Logf("%d", Add(1, 2))
		t.Fail()
	}
}

func TestWrong(t *testing.T) { t.Error("wrong in any case") }
`,
}

// fates has a patched line in place of the sum, the test, and the beginning of the verdict.
var fates = map[string]struct{ line, test, said string }{
	"caught":    {"\treturn a - b", "TestAdd/small", "yes"},
	"survives":  {"\treturn a - b", "TestNothing", "SURVIVED"},
	"by-chance": {"\treturn a - b", "TestSometimes", "caught by chance: 1 of 3"},
	"crashes":   {"\tpanic(a - b)", "TestAdd/small", "the test does not fail, but crashes"},
	"silent":    {"\treturn a - b", "TestSilent", "the test fails, but no assertion"},
	"only-logs": {"\treturn a - b", "TestLogs", "the test fails, but no assertion"},
	"no-code":   {"\treturn a -", "TestAdd/small", "it does not compile"},
	"no-test":   {"\treturn a - b", "TestAdd/large", "there is no such test"},
	"unsound":   {"\treturn a - b", "TestWrong", "the test does not pass without the mutant"},
	"stale":     {"", "TestAdd/small", "it no longer applies"},
}

func patch(line, test string) string {
	was := "\treturn a + b"
	if line == "" {
		was, line = "\treturn b + a", "\treturn 0"
	}
	return "# It adds\n# wrongly.\n# test: ./a " + test + "\n--- a/a/a.go\n+++ b/a/a.go\n@@ -2,4 +2,4 @@\n \n func Add(a, b int) int {\n-" + was + "\n+" + line + "\n }\n"
}

func save(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestEachFateOfAMutant(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range small {
		save(t, name, text)
	}
	for name, f := range fates {
		save(t, "mutants/"+name+".patch", patch(f.line, f.test))
	}
	list, err := mutants("mutants", nil)
	if err != nil || len(list) != len(fates) {
		t.Fatalf("%+v, %v", list, err)
	}
	b := bench{scratch: t.TempDir(), sound: map[string]error{}}
	for _, m := range list {
		said := "yes"
		first, err := b.try(t.Context(), m)
		if err != nil {
			said = err.Error()
		}
		if want := fates[m.name].said; !strings.HasPrefix(said, want) || m.what != "It adds wrongly." {
			t.Errorf("%s (%s): %s, want %s", m.name, m.what, said, want)
		}
		if caught := said == "yes"; caught != (first == "a_test.go:8: wrong") {
			t.Errorf("%s: %s", m.name, first)
		}
	}
	if text, err := os.ReadFile("a/a.go"); err != nil || string(text) != small["a/a.go"] {
		t.Errorf("the tree has changed: %s, %v", text, err)
	}
}

// The result says how many are caught, and goes between the marks of a page. One that is not caught makes the whole wrong.
func TestTheResultIsKept(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range small {
		save(t, name, text)
	}
	for name, want := range map[string]bool{"caught": true, "survives": false} {
		save(t, "mutants/"+name+".patch", patch(fates[name].line, fates[name].test))
		save(t, "page.md", "before\n"+begin+"old\n"+end+"\nafter\n")
		*write = "page.md"
		all, err := run(t.Context(), []string{name})
		page, readErr := os.ReadFile("page.md")
		text := string(page)
		said := map[bool]string{true: "**1 of 1 caught**", false: "**0 of 1 caught**"}[want]
		if err != nil || readErr != nil || all != want || !strings.Contains(text, said) || !strings.Contains(text, "| `"+name+"` | It adds wrongly. |") ||
			strings.Contains(text, "old") || !strings.HasPrefix(text, "before\n") || !strings.HasSuffix(text, end+"\nafter\n") {
			t.Errorf("%s: %v, %v\n%s", name, all, err, text)
		}
	}
	save(t, "page.md", "no place\n")
	if _, err := run(t.Context(), []string{"caught"}); err == nil {
		t.Error("a page without marks is no error")
	}
	*write = ""
}
