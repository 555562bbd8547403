package internal_test

import (
	"encoding/json"
	"os"
	"path"
	"strings"
	"testing"
)

// bodySchema is the part of a schema that says where the numbers of a body are.
type bodySchema struct {
	Ref                 string                `json:"$ref"`
	Type                any                   `json:"type"` // a name or a list of names
	Format              string                `json:"format"`
	Properties          map[string]bodySchema `json:"properties"`
	Items               *bodySchema           `json:"items"`
	OneOf, AllOf, AnyOf []bodySchema
}

// numbers calls see for each number of a body, with its place and its schema.
func (s bodySchema) numbers(place string, schemas map[string]bodySchema, see func(place string, s bodySchema)) {
	if s.Ref != "" {
		s = schemas[path.Base(s.Ref)]
	}
	types, _ := s.Type.([]any)
	for _, name := range append(types, s.Type) {
		if name == "number" || name == "integer" {
			see(place, s)
		}
	}
	for name, property := range s.Properties {
		property.numbers(place+"."+name, schemas, see)
	}
	if s.Items != nil {
		s.Items.numbers(place+"[]", schemas, see)
	}
	for _, branches := range [][]bodySchema{s.OneOf, s.AllOf, s.AnyOf} {
		for _, branch := range branches {
			branch.numbers(place, schemas, see)
		}
	}
}

// Each number of a request has a format. JSON Schema alone takes 1e3 and 2500.0 as integers, and neither an int64 nor an amount reads them.
func TestNumbersOfRequestsHaveAFormat(t *testing.T) {
	for _, name := range []string{"api", "admin"} {
		text, err := os.ReadFile(name + "/contract.json")
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Paths      map[string]map[string]json.RawMessage
			Components struct{ Schemas map[string]bodySchema }
		}
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for route, methods := range doc.Paths {
			for method, raw := range methods {
				var operation struct {
					RequestBody struct {
						Content map[string]struct{ Schema bodySchema }
					}
				}
				if method == "parameters" {
					continue
				}
				if err := json.Unmarshal(raw, &operation); err != nil {
					t.Fatal(err)
				}
				place := strings.ToUpper(method) + " " + route
				operation.RequestBody.Content["application/json"].Schema.numbers(place, doc.Components.Schemas, func(place string, s bodySchema) {
					if seen++; s.Format == "" {
						t.Errorf("%s: %s is a number without a format", name, place)
					}
				})
			}
		}
		if seen < 14 {
			t.Errorf("%s: only %d numbers were seen", name, seen)
		}
	}
}
