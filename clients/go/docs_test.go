package kobo_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var margin = regexp.MustCompile(`(?m)^[\t ]+`)

// Each Go snippet of docs/clients.md stands in the examples, which compile.
func TestDocs(t *testing.T) {
	page := string(must(os.ReadFile("../../docs/clients.md"))(t))
	examples := margin.ReplaceAllString(string(must(os.ReadFile("example_test.go"))(t)), "")
	parts := strings.Split(page, "```go\n")
	if len(parts) < 7 {
		t.Errorf("the page has %d snippets", len(parts)-1)
	}
	for _, part := range parts[1:] {
		snippet, _, _ := strings.Cut(part, "```")
		if !strings.Contains(examples, margin.ReplaceAllString(snippet, "")) {
			t.Errorf("not in example_test.go:\n%s", snippet)
		}
	}
}

// The client knows each word of the contract. A word that it does not know leaves a payment open.
func TestEveryReasonIsKnown(t *testing.T) {
	types := string(must(os.ReadFile("api/spec.gen.go"))(t))
	words, own := regexp.MustCompile(`(?m)^\t(\w+) +Reason = `).FindAllStringSubmatch(types, -1), string(must(os.ReadFile("refusal.go"))(t))
	if len(words) < 40 {
		t.Fatalf("%d words in the contract", len(words))
	}
	for _, w := range words {
		if !regexp.MustCompile(`(?s)var known = .*\bapi\.` + w[1] + `\b.*// undecided`).MatchString(own) {
			t.Errorf("known lacks api.%s", w[1])
		}
	}
}

// No type of the client has a float, because a float cannot hold every amount.
func TestNoFloats(t *testing.T) {
	types := string(must(os.ReadFile("api/spec.gen.go"))(t))
	if strings.Contains(types, "float32") || strings.Contains(types, "float64") || !strings.Contains(types, "Balance Kobo") {
		t.Error("api/spec.gen.go has a float; name its amount in internal/contract")
	}
}
