package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// bodies compares JSON bodies with the schemas of a document. It compiles each schema once, because
// a compilation takes longer than the request itself.
type bodies struct {
	components any // of the document, to which its schemas refer

	mu       sync.Mutex
	compiled map[*openapi3.SchemaRef]*jsonschema.Schema
}

// answerOf returns a response of the document with the schema of its JSON, or nil if the document has none.
func answerOf(op *openapi3.Operation, method string, status int, header http.Header) (*openapi3.Response, *openapi3.SchemaRef) {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	answer := op.Responses.Status(status)
	if answer == nil {
		answer = op.Responses.Default()
	}
	if err != nil || kind != "application/json" || method == http.MethodHead || answer == nil || answer.Value == nil {
		return nil, nil
	}
	content := answer.Value.Content.Get(kind)
	if content == nil {
		return nil, nil
	}
	return answer.Value, content.Schema
}

// headers returns nil if the headers of a response agree with the document.
func (b *bodies) headers(answer *openapi3.Response, header http.Header) error {
	for name, ref := range answer.Headers {
		text := header.Get(name)
		switch {
		case text == "" && ref.Value.Required:
			return fmt.Errorf("the header %s is missing", name)
		case text == "" || ref.Value.Schema == nil:
			continue
		}
		var value any = text
		compiled, err := b.compile(ref.Value.Schema)
		if is := ref.Value.Schema.Value.Type; err == nil && (is.Includes("integer") || is.Includes("number")) {
			value, err = jsonschema.UnmarshalJSON(strings.NewReader(text))
		}
		if err == nil {
			err = compiled.Validate(value)
		}
		if err != nil {
			return fmt.Errorf("the header %s: %w", name, err)
		}
	}
	return nil
}

// check returns nil if a body agrees with a schema.
func (b *bodies) check(schema *openapi3.SchemaRef, body []byte) error {
	compiled, err := b.compile(schema)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	return compiled.Validate(value)
}

func (b *bodies) compile(schema *openapi3.SchemaRef) (*jsonschema.Schema, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.compiled[schema]; known != nil {
		return known, nil
	}
	own, err := plain(schema)
	if err != nil {
		return nil, err
	}
	root := map[string]any{"allOf": []any{own}, "components": b.components}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	for name, bits := range map[string]int{"int32": 32, "int64": 64} {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: whole(bits)})
	}
	const resource = "response.json"
	if err := c.AddResource(resource, root); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(resource)
	if err == nil {
		b.compiled[schema] = compiled
	}
	return compiled, err
}

// plain returns a part of a document as decoded JSON.
func plain(part any) (any, error) {
	text, err := json.Marshal(part)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

// whole returns the check of a format of numbers that fit into so many bits.
func whole(bits int) func(any) error {
	return func(v any) error {
		n, ok := v.(json.Number)
		if !ok {
			return nil // the type is checked elsewhere
		}
		i, err := n.Int64()
		if err == nil && bits == 32 && int64(int32(i)) != i {
			err = fmt.Errorf("%d does not fit into 32 bits", i)
		}
		return err
	}
}
