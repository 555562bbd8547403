package api

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// bodies returns the schemas of the bodies that the contract takes, by operation, as a library reads them that the API itself does not use.
func bodies(t testing.TB) map[string]*openapi3.Schema {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(Document())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*openapi3.Schema{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody == nil {
				continue
			}
			if media := op.RequestBody.Value.Content["application/json"]; media != nil {
				out[method+" "+strings.TrimSuffix(path, "/")] = media.Schema.Value
			}
		}
	}
	return out
}

// FuzzBodiesOfEachOperation sends bodies to all operations. An accepted body has the form that the contract describes, in the eyes of
// another library. A refused one gets at least one reason.
func FuzzBodiesOfEachOperation(f *testing.F) {
	spec, err := readContract()
	if err != nil {
		f.Fatal(err)
	}
	schemas := bodies(f)
	names := slices.Sorted(maps.Keys(schemas))
	general := []string{`{}`, `null`, `[]`, `{"amount":1e400}`, `{"amount":-1,"metadata":{"a":[{}]}}`, goodPurchase}
	for i, name := range names {
		if spec.Operations[name] == nil {
			f.Fatalf("the contract has no %s", name)
		}
		for _, text := range general {
			f.Add(uint16(i), text)
		}
		whole, err := json.Marshal(filled(schemas[name]))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint16(i), string(whole))
	}
	f.Fuzz(func(t *testing.T, i uint16, text string) {
		name := names[int(i)%len(names)]
		message, details := read(t, spec.Operations[name], "application/json", text)
		if message == "" && details != nil || message == "Validation error" && len(details) == 0 {
			t.Errorf("%s: %q: %q %q", name, text, message, details)
		}
		if message != "" || text == "" { // some operations need no body
			return
		}
		var body any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&body); err != nil {
			t.Errorf("%s: %q is accepted: %v", name, text, err)
		} else if err := schemas[name].VisitJSON(body); err != nil {
			t.Errorf("%s: %q is accepted: %v", name, text, err)
		}
	})
}

// The fuzzer begins with bodies that most operations accept, or it would compare nothing.
func TestTheFilledBodiesAreMostlyAccepted(t *testing.T) {
	spec, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	var accepted, refused []string
	for name, schema := range bodies(t) {
		text, err := json.Marshal(filled(schema))
		if err != nil {
			t.Fatal(err)
		}
		if message, details := read(t, spec.Operations[name], "application/json", string(text)); message == "" {
			accepted = append(accepted, name)
		} else {
			refused = append(refused, name+": "+strings.Join(details, "; "))
		}
	}
	if len(accepted) < 4*len(refused) {
		t.Errorf("%d are accepted, and refused are:\n%s", len(accepted), strings.Join(refused, "\n"))
	}
}

// filled returns a value of the form of a schema, for the fuzzer to begin with. Rules such as those of formats may refuse it.
func filled(s *openapi3.Schema) any {
	switch {
	case s.Example != nil:
		return s.Example
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.OneOf) > 0:
		return filled(s.OneOf[0].Value)
	case len(s.AllOf) > 0:
		return filled(s.AllOf[0].Value)
	case s.Type.Is("array"):
		return []any{filled(s.Items.Value)}
	case s.Type.Includes("integer"), s.Type.Includes("number"):
		if s.Min != nil {
			return *s.Min
		}
		return 1
	case s.Type.Includes("boolean"):
		return true
	case s.Type.Includes("string"):
		text := strings.Repeat("12345678901", 1+int(s.MinLength)/11)
		if s.MaxLength != nil {
			text = text[:min(len(text), int(*s.MaxLength))]
		}
		return text
	}
	out := map[string]any{}
	for name, one := range s.Properties {
		out[name] = filled(one.Value)
	}
	return out
}
