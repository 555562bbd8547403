package internal_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	plants = regexp.MustCompile(`^(?:# .+\n)+# test: \./(\S+) (Test\w+)(?:/\S+)?\n---`)
	hunk   = regexp.MustCompile(`(?m)^@@ .*\n`)
)

// staleMutants returns a complaint for each planted bug (tools/mutants) that does not apply to the
// code any more, or whose test does not exist.
func staleMutants(texts map[string]string) (complaints []string) {
	for name, text := range texts {
		if !strings.HasPrefix(name, "mutants/") {
			continue
		}
		named := plants.FindStringSubmatch(text)
		if named == nil || !strings.HasSuffix(name, ".patch") {
			complaints = append(complaints, name+": it does not begin with what it plants, and its test")
			continue
		}
		if !hasTest(texts, named[1], named[2]) {
			complaints = append(complaints, fmt.Sprintf("%s: there is no %s in %s", name, named[2], named[1]))
		}
		for _, part := range strings.Split(text, "\n--- a/")[1:] {
			file, rest, _ := strings.Cut(part, "\n")
			for _, h := range hunk.Split(rest, -1)[1:] {
				if strings.Count(texts[file], before(h)) != 1 {
					complaints = append(complaints, fmt.Sprintf("%s: it does not apply to %s: make it again, or remove it", name, file))
				}
			}
		}
	}
	slices.Sort(complaints)
	return complaints
}

// before returns the lines of a hunk as they are without the patch.
func before(hunk string) string {
	var b strings.Builder
	for _, line := range strings.SplitAfter(hunk, "\n") {
		if line != "" && line[0] != '+' {
			b.WriteString(line[1:])
		}
	}
	return b.String()
}

func hasTest(texts map[string]string, dir, test string) bool {
	for name, text := range texts {
		if file, inside := strings.CutPrefix(name, dir+"/"); inside && !strings.Contains(file, "/") && strings.Contains(text, "\nfunc "+test+"(t *testing.T)") {
			return true
		}
	}
	return false
}

// Each planted bug of the folder mutants still applies. `make mutants` shows that its test catches it.
func TestMutantsApply(t *testing.T) {
	const patch = "# It pays twice.\n# test: ./internal/a TestOnce/postgres\n--- a/internal/a/a.go\n+++ b/internal/a/a.go\n@@ -1,3 +1,3 @@\n a\n-once\n+twice\n b\n"
	sound := map[string]string{"internal/a/a.go": "a\nonce\nb\n", "internal/a/a_test.go": "x\nfunc TestOnce(t *testing.T) {}\n", "mutants/a.patch": patch}
	if complaints := staleMutants(sound); len(complaints) > 0 {
		t.Errorf("a sound one: %q", complaints)
	}
	for what, change := range map[string][2]string{
		"changed code": {"internal/a/a.go", "a\never\nb\n"}, "no code": {"internal/a/a.go", ""},
		"code that is there twice": {"internal/a/a.go", "a\nonce\nb\na\nonce\nb\n"},
		"no test":                  {"internal/a/a_test.go", "x\nfunc TestTwice(t *testing.T) {}\n"},
		"no word of its test":      {"mutants/a.patch", strings.Replace(patch, "# test", "# text", 1)},
	} {
		stale := map[string]string{}
		for name, text := range sound {
			stale[name] = text
		}
		if stale[change[0]] = change[1]; len(staleMutants(stale)) != 1 {
			t.Errorf("%s: %q", what, staleMutants(stale))
		}
	}
	texts, count := files(t), 0
	for name := range texts {
		if strings.HasPrefix(name, "mutants/") {
			count++
		}
	}
	if count < 30 {
		t.Errorf("there are %d mutants", count)
	}
	for _, complaint := range staleMutants(texts) {
		t.Error(complaint)
	}
}
