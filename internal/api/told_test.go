package api_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/kobo-waas/kobo/internal/api"
)

// document parses the contract with an OpenAPI library that the API itself does not use.
func document(t testing.TB) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.Document())
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// movesNothing maps each POST operation without an Idempotency-Key to the reason why it needs none.
var movesNothing = map[string]string{
	"approveRequest":     "an approval is decided once, and a second try answers so",
	"rejectRequest":      "an approval is decided once, and a second try answers so",
	"setPayoutApproval":  "the rule is what the last request says, and a weaker one waits",
	"setTwoPeople":       "the rule is on or off, and a second request changes nothing",
	"claimKey":           "the caller has no access token yet, and a token that was used answers so",
	"generateToken":      "a second pair of tokens replaces the first, which the contract says",
	"generateCardToken":  "a token is a pass for two minutes that is never stored, so there is nothing to give again",
	"refreshAccessToken": "a second access token is as good as the first",
}

// Every POST operation takes an Idempotency-Key (completion.md §4.1), except for those in
// movesNothing. A new POST operation needs x-idempotent in the contract, or a reason in
// movesNothing.
func TestEveryPOSTThatMovesSomethingTakesAKey(t *testing.T) {
	known := contract(t).Operations()
	for id := range movesNothing {
		if !slices.Contains(known, id) {
			t.Errorf("%s is on the list of those that move nothing, and is no operation", id)
		}
	}
	for path, item := range document(t).Paths.Map() {
		for method, op := range item.Operations() {
			keyed := op.Extensions["x-idempotent"] == true
			named := slices.ContainsFunc(op.Parameters, func(p *openapi3.ParameterRef) bool { return p.Value.Name == "Idempotency-Key" })
			switch {
			case method != "POST" && (keyed || named):
				t.Errorf("%s %s takes an Idempotency-Key and is no POST", method, path)
			case method != "POST":
			case movesNothing[op.OperationID] != "":
				if keyed {
					t.Errorf("%s takes an Idempotency-Key, and is on the list of those that need none", op.OperationID)
				}
			case !keyed:
				t.Errorf("POST %s (%s) creates or moves something: say x-idempotent: true, or in movesNothing why not", path, op.OperationID)
			case !named:
				t.Errorf("%s takes an Idempotency-Key and does not say so in its parameters", op.OperationID)
			default:
				for _, status := range []int{409, 422} {
					if op.Responses.Status(status) == nil {
						t.Errorf("%s takes an Idempotency-Key and has no answer %d", op.OperationID, status)
					}
				}
			}
		}
	}
}

// kinds returns all kinds of events. It reads them from the constants of package event.
func kinds(t testing.TB) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../event/event.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		if d, ok := n.(*ast.GenDecl); ok && d.Tok != token.CONST {
			return false
		}
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil && strings.Contains(text, ".") {
				out = append(out, text)
			}
		}
		return true
	})
	if len(out) == 0 {
		t.Fatal("no kinds found: the search is broken")
	}
	return out
}

// The contract describes the payload of every kind of event. A webhook can subscribe to each kind.
func TestEveryKindOfEventIsInTheContract(t *testing.T) {
	doc := document(t)
	var choice []string
	for _, k := range doc.Components.Schemas["EventKind"].Value.Enum {
		choice = append(choice, k.(string))
	}
	have := kinds(t)
	for _, kind := range have {
		if !slices.Contains(choice, kind) {
			t.Errorf("%s: a webhook cannot ask for it (EventKind)", kind)
		}
		if doc.Webhooks[kind] == nil {
			t.Errorf("%s: the section webhooks does not say what it carries", kind)
		}
	}
	for kind := range doc.Webhooks {
		if !slices.Contains(have, kind) {
			t.Errorf("%s is in the section webhooks, and is no kind of package event", kind)
		}
	}
}

// secretly matches text that no example may show: a bank verification number, a card number, or
// a field that contains a secret.
var secretly = regexp.MustCompile(`"22\d{9}"|"\d{13,17}"|"\d{19}"|(?i:"(bvn|pin|pan|cvv|otp|apiKey|secret)":)`)

// Every kind of event has one example. The tests of `kobo trigger` compare the fields of
// the examples with real events.
func TestEveryKindOfEventHasAnExample(t *testing.T) {
	c, ids, numbers := contract(t), map[string]bool{}, map[int64]bool{}
	for _, kind := range c.EventKinds() {
		text, err := c.EventExample(kind)
		if err == nil {
			err = c.CheckEvent(text)
		}
		var e struct {
			ID, Event string
			Sequence  int64
		}
		if err := errors.Join(err, json.Unmarshal(text, &e)); err != nil {
			t.Errorf("%s: %v: %s", kind, err, text)
		}
		if e.Event != kind || ids[e.ID] || numbers[e.Sequence] {
			t.Errorf("%s: the example is of %s, or another one has its id or number", kind, e.Event)
		}
		ids[e.ID], numbers[e.Sequence] = true, true
		if what := secretly.FindString(string(text)); what != "" {
			t.Errorf("%s: the example shows %s", kind, what)
		}
	}
}

// An event that differs from the contract fails the check that the transcripts use.
func TestAWrongEventIsFound(t *testing.T) {
	c := contract(t)
	const frame = `{"id":"a","sequence":1,"createdAt":"2030-01-02T03:04:05.678Z","companyId":"c","environment":"dev","event":`
	for text, fits := range map[string]bool{
		frame + `"kyb.changed","data":{"companyId":"c","kybStatus":"APPROVED"}}`:                                        true,
		frame + `"kyb.changed","data":{"companyId":"c"}}`:                                                               false,
		frame + `"kyb.changed","data":{"companyId":"c","kybStatus":"APPROVED","x":"y"}}`:                                false,
		frame + `"kyb.lost","data":{}}`:                                                                                 false,
		`{"event":"kyb.changed","data":{"companyId":"c","kybStatus":"APPROVED"}}`:                                       false,
		strings.Replace(frame, `"dev"`, `"test"`, 1) + `"kyb.changed","data":{"companyId":"c","kybStatus":"APPROVED"}}`: false,
	} {
		if err := c.CheckEvent([]byte(text)); (err == nil) != fits {
			t.Errorf("%s: %v", text, err)
		}
	}
}
