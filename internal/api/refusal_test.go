package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/kobo-waas/kobo/internal/fault"
)

// Each operation declares the answer to an unknown query parameter, and to a path with control characters.
func TestTheContractHasTheRefusalsOfEveryAddress(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(Document())
	if err != nil {
		t.Fatal(err)
	}
	spec, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			c := spec.Operations[method+" "+strings.TrimSuffix(path, "/")]
			if !strings.HasPrefix(path, "/api/") {
				continue
			}
			if c == nil {
				t.Fatalf("%s %s is not in the contract of the program", method, path)
			}
			seen++
			declares := func(what string, why *fault.Fault) {
				status, body := family(c.Family).dress(why)
				text, err := json.Marshal(body)
				if err != nil {
					t.Fatal(err)
				}
				var value any
				if err := json.Unmarshal(text, &value); err != nil {
					t.Fatal(err)
				}
				schema := op.Responses.Status(status).Value.Content.Get("application/json").Schema.Value
				if err := schema.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
					t.Errorf("%s, %s: the contract does not have %d %s", op.OperationID, what, status, text)
				}
			}
			if !c.Lenient {
				declares("an unknown query parameter", wrongFields([]string{"x"}, "is not allowed"))
			}
			if strings.Contains(path, "{") {
				declares("a path with control characters", fault.New(fault.Invalid, "The path must be UTF-8 without control characters"))
			}
		}
	}
	if seen < 80 {
		t.Errorf("only %d operations", seen)
	}
}
