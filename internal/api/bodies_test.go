package api

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oapi-codegen/runtime"

	"github.com/kobo-waas/kobo/internal/contract"
)

// bodies returns the bodies that the contract takes, by operation, as a library reads them that the API itself does not use.
func bodies(t testing.TB) map[string]*openapi3.MediaType {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(Document())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*openapi3.MediaType{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody == nil {
				continue
			}
			if media := op.RequestBody.Value.Content["application/json"]; media != nil {
				out[method+" "+strings.TrimSuffix(path, "/")] = media
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
	medias := bodies(f)
	names := slices.Sorted(maps.Keys(medias))
	general := []string{`{}`, `null`, `[]`, `{"amount":1e400}`, `{"amount":-1,"metadata":{"a":[{}]}}`, goodPurchase}
	for i, name := range names {
		if spec.Operations[name] == nil {
			f.Fatalf("the contract has no %s", name)
		}
		for _, text := range general {
			f.Add(uint16(i), text)
		}
		whole, err := json.Marshal(filled(medias[name].Schema.Value))
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
		} else if err := medias[name].Schema.Value.VisitJSON(body); err != nil {
			t.Errorf("%s: %q is accepted: %v", name, text, err)
		}
		bind(t, spec.Operations[name].ID, text)
	})
}

// bind reads an accepted body into the Go type of its operation, as the generated handlers do. A handler that cannot answers 500.
func bind(t testing.TB, operationID, text string) {
	t.Helper()
	verbs := reflect.TypeFor[StrictServerInterface]()
	for i := range verbs.NumMethod() {
		verb := verbs.Method(i)
		if !strings.EqualFold(verb.Name, operationID) {
			continue
		}
		field, _ := verb.Type.In(1).FieldByName("Body")
		r := jsonRequest(text)
		_, err := contract.Decode(httptest.NewRecorder(), r, contract.MaxBody, isControl)
		if err == nil {
			err = runtime.BindJSONBody(r, reflect.New(field.Type.Elem()).Interface())
		}
		if err != nil {
			t.Errorf("%s: %s is accepted, and no Go value: %v", operationID, text, err)
		}
		return
	}
	t.Fatalf("no handler is called %s", operationID)
}

// Each number that the rules accept is a number for the handler too, however it is written.
func TestAcceptedNumbersAreRead(t *testing.T) {
	spec, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	spellings := []string{
		"1", "0", "-1", "1000", "12345678901", "2500.0", "2500.00", "2500.000", "0.5", "0.05", "0.005", "1e3", "1E3", "1e+3", "1000e-1", "1.5e3", "1e0",
		"100000000000", "1e11", "9007199254740993", "18446744073709551616", "99999999999999999999.99", "1e30", "1e-30",
	}
	seen := 0
	for name, media := range bodies(t) {
		op := spec.Operations[name]
		for _, place := range numbersIn(media.Schema.Value, nil) {
			accepted := 0
			for _, spelling := range spellings {
				text := withValue(t, media.Example, place, json.Number(spelling))
				if message, _ := read(t, op, "application/json", text); message == "" {
					accepted++
					bind(t, op.ID, text)
				}
			}
			if seen++; accepted == 0 {
				t.Errorf("%s: no number is accepted at %v", name, place)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d numbers were seen", seen)
	}
}

// numbersIn returns the paths of the numbers in bodies of a schema. A "0" is the first element of a list.
func numbersIn(s *openapi3.Schema, path []string) (paths [][]string) {
	for _, branch := range slices.Concat(s.OneOf, s.AllOf) {
		paths = append(paths, numbersIn(branch.Value, path)...)
	}
	if s.Type.Includes("integer") || s.Type.Includes("number") {
		paths = append(paths, slices.Clone(path))
	}
	if s.Items != nil {
		paths = append(paths, numbersIn(s.Items.Value, append(path, "0"))...)
	}
	for name, property := range s.Properties {
		paths = append(paths, numbersIn(property.Value, append(slices.Clone(path), name))...)
	}
	return paths
}

// withValue returns a body as text, with a value at a place.
func withValue(t testing.TB, body any, place []string, value any) string {
	t.Helper()
	text, err := json.Marshal(body)
	var own any
	if err == nil {
		err = json.Unmarshal(text, &own)
	}
	if put(own, place, value); err == nil {
		text, err = json.Marshal(own)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// put writes a value to a place in a body.
func put(body any, path []string, value any) {
	switch at := body.(type) {
	case []any:
		put(at[0], path[1:], value)
	case map[string]any:
		if len(path) == 1 {
			at[path[0]] = value
			return
		}
		put(at[path[0]], path[1:], value)
	}
}

// The fuzzer begins with bodies that most operations accept, or it would compare nothing.
func TestTheFilledBodiesAreMostlyAccepted(t *testing.T) {
	spec, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	var accepted, refused []string
	for name, media := range bodies(t) {
		text, err := json.Marshal(filled(media.Schema.Value))
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
