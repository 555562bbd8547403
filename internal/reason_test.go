package internal_test

import (
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// forCompanies are the packages whose faults a company sees.
var forCompanies = append([]string{
	"internal/api", "internal/contract", "internal/evidence", "internal/event", "internal/idempotency", "internal/identity",
	"internal/limit", "internal/opening", "internal/operation", "internal/quota", "internal/report",
}, slices.DeleteFunc(slices.Clone(businesses), func(dir string) bool { return dir == "internal/operator" })...)

// forOperators are those files of forCompanies whose refusals only operators see. The value is the
// number of these refusals, or all.
var forOperators = map[string]int{
	"internal/card/return.go":           all,
	"internal/company/kyb.go":           all,
	"internal/company/pin.go":           2, // the unlocking of a PIN
	"internal/crypto/key.go":            3, // the keys of networks
	"internal/erasure/erasure.go":       all,
	"internal/event/erase.go":           all,
	"internal/operation/ask.go":         all,
	"internal/operation/case.go":        all,
	"internal/operation/finding.go":     all,
	"internal/payout/beneficiary.go":    all, // people read them in the console
	"internal/person/link.go":           all, // people read them in the console
	"internal/person/passkey.go":        all,
	"internal/person/person.go":         all,
	"internal/person/setting.go":        all,
	"internal/person/two.go":            all,
	"internal/settlement/adjustment.go": all,
	"internal/settlement/assign.go":     all,
	"internal/settlement/attach.go":     all,
	"internal/settlement/found.go":      all,
	"internal/settlement/settlement.go": 2, // attached bank accounts
	"internal/vtu/pair.go":              all,
}

const all = -1

// refusalsHaveReasons complains about a fault of the kind Refused without a word for the header
// Kobo-Reason (fault.Fault.With). The other kinds have a usual word.
func refusalsHaveReasons(sources []source) (complaints []string) {
	bare := map[string][]string{}
	stated := map[ast.Node]bool{}
	each(sources, func(s source, n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || s.test || !slices.Contains(forCompanies, s.dir) {
			return
		}
		if method, ok := call.Fun.(*ast.SelectorExpr); ok {
			if inner, ok := method.X.(*ast.CallExpr); ok {
				stated[inner] = method.Sel.Name == "With" || stated[call]
			}
		}
		made := selects(call.Fun, "fault", "New") || selects(call.Fun, "fault", "Newf")
		if made && selects(call.Args[0], "fault", "Refused") && !stated[call] {
			bare[s.path] = append(bare[s.path], s.at(call.Pos(), "the refusal has no Reason: add .With(fault.…), or name the file in forOperators"))
		}
	})
	for path, found := range bare {
		if most := forOperators[path]; most != all && len(found) != most {
			complaints = append(complaints, found...)
		}
	}
	return complaints
}

func TestRefusalsHaveReasons(t *testing.T) {
	obeys(t, refusalsHaveReasons)
	bites(t, refusalsHaveReasons, map[string]string{
		"internal/payout/a.go":     `package payout; var e = fault.New(fault.Refused, "BREAKS")`,
		"internal/payout/b.go":     `package payout; var e = fault.New(fault.Refused, "x").With(fault.Declined)`,
		"internal/payout/c.go":     `package payout; var e = fault.New(fault.Refused, "x").Because(err).With(fault.Declined)`,
		"internal/payout/d.go":     `package payout; var e = fault.New(fault.Missing, "x")`,
		"internal/payout/e.go":     `package payout; var e = fault.Newf(fault.Refused, "BREAKS").Because(err)`,
		"internal/operator/f.go":   `package operator; var e = fault.New(fault.Refused, "x")`,
		"internal/company/kyb.go":  `package company; var e = fault.New(fault.Refused, "x")`,
		"internal/vtu/api_test.go": `package vtu; var e = fault.New(fault.Refused, "x")`,
	})
}

// reasons returns the words for the header Kobo-Reason by the names of their constants.
func reasons(t *testing.T, sources []source) map[string]string {
	t.Helper()
	out := map[string]string{}
	each(sources, func(s source, n ast.Node) {
		v, ok := n.(*ast.ValueSpec)
		if !ok || s.path != "internal/fault/reason.go" {
			return
		}
		if kind, ok := v.Type.(*ast.Ident); ok && kind.Name == "Reason" {
			out[v.Names[0].Name] = strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`)
		}
	})
	if len(out) < 40 {
		t.Fatalf("only %d words were found", len(out))
	}
	return out
}

// Each word for the header Kobo-Reason is used. The contract and docs/contract.md have the same words.
func TestEveryReasonIsUsedAndDocumented(t *testing.T) {
	sources := house(t)
	words, used := reasons(t, sources), map[string]bool{}
	each(sources, func(s source, n ast.Node) {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "fault" && !s.test {
				used[n.Sel.Name] = true
			}
		case *ast.KeyValueExpr: // the usual words of the kinds
			if word, ok := n.Value.(*ast.Ident); ok && s.path == "internal/fault/reason.go" {
				used[word.Name] = true
			}
		}
	})
	var want []string
	for name, word := range words {
		want = append(want, word)
		if !used[name] {
			t.Errorf("no refusal has the word %s", name)
		}
	}
	slices.Sort(want)
	for _, list := range []struct{ file, begin, end, word string }{
		{"api/openapi.yaml", "schema: &reason\n        type: string\n        enum: [", "]", `\b([a-z_]+)[,\n]`},
		{"../docs/contract.md", "## Reasons", "\n## ", "(?m)^\\| `([a-z_]+)`"},
	} {
		text, err := os.ReadFile(list.file)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), list.begin)
		part, _, found := strings.Cut(rest, list.end)
		var have []string
		for _, m := range regexp.MustCompile(list.word).FindAllStringSubmatch(part, -1) {
			have = append(have, m[1])
		}
		slices.Sort(have)
		if !found || !slices.Equal(have, want) {
			t.Errorf("%s has the words %v, and package fault %v", list.file, have, want)
		}
	}
}
