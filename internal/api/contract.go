package api

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

//go:embed openapi.yaml
var source []byte

// contract is openapi.yaml as the edge uses it.
type contract struct {
	operations map[string]*operation // by "METHOD /path", without a last slash
	json       []byte                // with what its x- fields say to us
	before     []byte                // what others read, up to the address of the server
	after      []byte
}

// at is the document as others read it, for a server at this address.
func (c *contract) at(address string) ([]byte, error) {
	url, err := json.Marshal(address)
	return slices.Concat(c.before, url, c.after), err
}

// operation is one operation of the document and what its x- fields say.
type operation struct {
	id         string
	path       string
	family     family
	open       bool     // needs no access token
	tokens     bool     // gives tokens: limited by address and reference
	idempotent bool     // takes an Idempotency-Key
	dry        bool     // can be tried with dry_run
	texts      []string // query parameters that are looked for as they are sent
	query      []string // all query parameters that it knows
	lenient    bool     // ignores the others, as the specification's own operations do (x-specified)
	rules      *rules   // nil: takes no body
}

// document is the part of OpenAPI that the edge reads.
type document struct {
	Paths map[string]map[string]struct {
		OperationID string             `json:"operationId"`
		Tags        []string           `json:"tags"`
		Family      family             `json:"x-family"`
		Limit       string             `json:"x-limit"`
		Idempotent  bool               `json:"x-idempotent"`
		Specified   bool               `json:"x-specified"`
		Security    []map[string][]any `json:"security"`
		Parameters  []parameter        `json:"parameters"`
		RequestBody *struct {
			Content map[string]struct {
				Schema struct {
					Ref string `json:"$ref"`
				} `json:"schema"`
			} `json:"content"`
		} `json:"requestBody"`
	} `json:"paths"`
	Components struct {
		Schemas    map[string]schemaNode `json:"schemas"`
		Parameters map[string]parameter  `json:"parameters"`
	} `json:"components"`
}

// parameter is a component's, or one of the operation's own.
type parameter struct {
	Ref    string `json:"$ref"`
	Name   string `json:"name"`
	In     string `json:"in"`
	Schema struct {
		Type string   `json:"type"`
		Enum []string `json:"enum"`
	} `json:"schema"`
}

func isDryRun(p parameter) bool { return p.Ref == "#/components/parameters/DryRun" }

// texts are the names of the query parameters that may be any text.
func texts(all []parameter) []string {
	var names []string
	for _, p := range all {
		if p.In == "query" && p.Schema.Type == "string" && p.Schema.Enum == nil {
			names = append(names, p.Name)
		}
	}
	return names
}

// queries are the names of an operation's query parameters.
func queries(all []parameter, components map[string]parameter) []string {
	var names []string
	for _, p := range all {
		if p.Ref != "" {
			p = components[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
		}
		if p.In == "query" {
			names = append(names, p.Name)
		}
	}
	return names
}

// readContract reads the document. A mistake in it stops the program at start,
// not at the first request.
func readContract(text []byte) (*contract, error) {
	rendered, err := yamlToJSON(text, "x-go-")
	if err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	public, err := yamlToJSON(text, "x-")
	if err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	var doc document
	if err := json.Unmarshal(rendered, &doc); err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	compile, err := ruleCompiler(rendered)
	if err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	c := &contract{operations: map[string]*operation{}, json: rendered}
	const server = `"servers":[{"url":`
	var found bool
	if c.before, c.after, found = bytes.Cut(public, []byte(server+`"/"`)); !found {
		return nil, errors.New("contract: the document names no server /")
	}
	c.before = append(c.before, server...)
	for path, methods := range doc.Paths {
		for method, o := range methods {
			op := &operation{
				id: o.OperationID, path: path, family: o.Family, idempotent: o.Idempotent, tokens: o.Limit == "token",
				dry: slices.ContainsFunc(o.Parameters, isDryRun), texts: texts(o.Parameters),
				query: queries(o.Parameters, doc.Components.Parameters), lenient: o.Specified,
				open: o.Security != nil && !slices.ContainsFunc(o.Security, func(s map[string][]any) bool { return s["accessToken"] != nil }),
			}
			if !slices.Contains(families, op.family) {
				return nil, fmt.Errorf("contract: %s has the unknown family %q", op.id, op.family)
			}
			if o.RequestBody != nil {
				ref := o.RequestBody.Content["application/json"].Schema.Ref
				if op.rules, err = compile(ref, doc.Components.Schemas); err != nil {
					return nil, fmt.Errorf("contract: %s: %w", op.id, err)
				}
			}
			c.operations[strings.ToUpper(method)+" "+strings.TrimSuffix(path, "/")] = op
		}
	}
	return c, nil
}

// ruleCompiler returns a function that compiles the request schema behind a
// reference, such as #/components/schemas/DataPurchase.
func ruleCompiler(rendered []byte) (func(ref string, schemas map[string]schemaNode) (*rules, error), error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(rendered))
	if err != nil {
		return nil, err
	}
	const name = "openapi.json"
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "int64", Validate: wholeNumber})
	c.RegisterFormat(&jsonschema.Format{Name: "naira", Validate: amount})
	c.RegisterFormat(&jsonschema.Format{Name: "email", Validate: email})
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return func(ref string, schemas map[string]schemaNode) (*rules, error) {
		node, ok := schemas[strings.TrimPrefix(ref, "#/components/schemas/")]
		if !ok {
			return nil, fmt.Errorf("the body's schema %q must be a reference to a component", ref)
		}
		s, err := c.Compile(name + ref)
		if err != nil {
			return nil, err
		}
		r := &rules{schema: s, place: map[string]int{}, secret: map[string]bool{}, past: map[string]bool{}, names: map[string]bool{}}
		r.number("", node, schemas)
		return r, nil
	}, nil
}

// yamlToJSON renders YAML as JSON with the keys in the order of the text, which
// is the order people read the reference in. Keys that begin with ours are left
// out: they are for us, and tell readers nothing.
func yamlToJSON(text []byte, ours string) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err := writeNode(&out, &root, ours)
	return out.Bytes(), err
}

func writeNode(out *bytes.Buffer, n *yaml.Node, ours string) error {
	switch n.Kind {
	case yaml.DocumentNode:
		return writeNode(out, n.Content[0], ours)
	case yaml.AliasNode:
		return writeNode(out, n.Alias, ours)
	case yaml.MappingNode:
		return writeMany(out, n, '{', '}', 2, ours)
	case yaml.SequenceNode:
		return writeMany(out, n, '[', ']', 1, ours)
	default:
		var v any
		if err := n.Decode(&v); err != nil {
			return err
		}
		return writeValue(out, v)
	}
}

// writeMany writes the children of a list (step 1) or a map (step 2: keys and
// values in turn).
func writeMany(out *bytes.Buffer, n *yaml.Node, open, shut byte, step int, ours string) error {
	out.WriteByte(open)
	first := true
	for i := 0; i < len(n.Content); i += step {
		if step == 2 && strings.HasPrefix(n.Content[i].Value, ours) {
			continue
		}
		if !first {
			out.WriteByte(',')
		}
		first = false
		if step == 2 {
			if err := writeValue(out, n.Content[i].Value); err != nil {
				return err
			}
			out.WriteByte(':')
		}
		if err := writeNode(out, n.Content[i+step-1], ours); err != nil {
			return err
		}
	}
	out.WriteByte(shut)
	return nil
}

func writeValue(out *bytes.Buffer, v any) error {
	b, err := json.Marshal(v)
	out.Write(b)
	return err
}
