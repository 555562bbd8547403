// Package contract reads an OpenAPI document for the API that it describes.
//
// The companies' API and the admin API each have an openapi.yaml. The command in the folder
// render turns each document into two JSON files: one for the program and one for callers. This
// package reads the file for the program. It finds the operations, their parameters and the
// validation rules of their bodies. It reads bodies strictly and reports every broken rule. Each
// API decides how to word its error messages, and what form its error responses have.
package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kobo-waas/kobo/internal/clock"
)

// Contract is an OpenAPI document in the form in which an API uses it.
type Contract struct {
	Operations map[string]*Operation // by "METHOD /path", without a trailing slash
}

// With returns the contract with a clock for days that must not be in the future (x-past). Without a clock, every day counts as past.
func (c *Contract) With(k clock.Clock) *Contract {
	out := &Contract{Operations: map[string]*Operation{}}
	for name, op := range c.Operations {
		own := *op
		if op.rules != nil {
			rules := *op.rules
			rules.clock, own.rules = k, &rules
		}
		out.Operations[name] = &own
	}
	return out
}

// Operation is one operation of the document, with the values of its x- fields.
type Operation struct {
	ID         string
	Path       string
	Family     string // x-family: names the format of the operation's error responses
	Open       bool   // the operation needs no access token
	Tokens     bool   // x-limit: token. The operation issues tokens, with limits per address and per company
	Idempotent bool   // the operation accepts an Idempotency-Key
	Personal   bool   // x-personal: the response shows personal data, and the audit log says who read it
	Role       string // x-role: the least role of an operator that may use the operation
	FourEyes   string // x-four-eyes: when the operation needs a second operator; "" for never
	Lenient    bool   // x-specified: it ignores unknown query parameters, as the specification requires
	MaxBody    int64  // x-max-body: the largest accepted size of a body, in bytes
	Query      []Parameter
	rules      *rules // nil if the operation takes no body
}

// HasBody reports whether the operation takes a body.
func (o *Operation) HasBody() bool { return o.rules != nil }

// Parameter is a query parameter.
type Parameter struct {
	Name    string
	Enum    []string // nil if any value is allowed
	Default string
	IsText  bool // any text is allowed, and not the whole path but the operation declares the parameter
	// IsObject means that the query has the members of an object, such as metadata[branch].
	IsObject bool
}

// Find returns the operation's query parameter that has the given name.
func (o *Operation) Find(name string) (p Parameter, found bool) {
	i := slices.IndexFunc(o.Query, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		return Parameter{}, false
	}
	return o.Query[i], true
}

// Unknown returns the names of query parameters that the operation does not have, in the order
// of the query, at most MostLines. A name with control characters stays escaped.
func (o *Operation) Unknown(query string) []string {
	return named(query, func(name, _ string) bool { return !o.knows(name) })
}

// Unreadable returns the names of the operation's query parameters with a value that url.Values leaves out, such as
// from=%zz or from=1;2, like Unknown. Without them a list would be answered as if nothing was filtered. The parameters
// page and pageSize are not among them, because any wrong value of them counts as missing.
func (o *Operation) Unreadable(query string) []string {
	asked, err := url.ParseQuery(query)
	if err == nil {
		return nil
	}
	return named(query, func(name, pair string) bool {
		if !o.knows(name) || name == "page" || name == "pageSize" {
			return false
		}
		_, err := url.ParseQuery(pair)
		return err != nil || !asked.Has(name) // of a query with too many parameters, everything is left out
	})
}

// named returns the names of the pairs in a query for which is returns true, each once, at most MostLines.
func named(query string, is func(name, pair string) bool) (names []string) {
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil && utf8.ValidString(plain) && !strings.ContainsFunc(plain, unicode.IsControl) {
			name = plain
		}
		if name == "" || seen[name] || !is(name, pair) {
			continue
		}
		seen[name] = true
		if names = append(names, name); len(names) == MostLines {
			break
		}
	}
	return names
}

// knows reports whether the operation has a query parameter with this name, or an object with a
// member of this name.
func (o *Operation) knows(name string) bool {
	object, member, isMember := strings.Cut(name, "[")
	p, found := o.Find(object)
	return found && p.IsObject == (isMember && len(member) > 1 && strings.HasSuffix(member, "]"))
}

// document is the part of an OpenAPI document that this package reads.
type document struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas    map[string]*node     `json:"schemas"`
		Parameters map[string]parameter `json:"parameters"`
	} `json:"components"`
}

type operation struct {
	OperationID string             `json:"operationId"`
	Family      string             `json:"x-family"`
	Limit       string             `json:"x-limit"`
	Idempotent  bool               `json:"x-idempotent"`
	Role        string             `json:"x-role"`
	FourEyes    string             `json:"x-four-eyes"`
	Specified   bool               `json:"x-specified"`
	Personal    bool               `json:"x-personal"`
	MaxBody     int64              `json:"x-max-body"`
	Security    []map[string][]any `json:"security"`
	Parameters  []parameter        `json:"parameters"`
	RequestBody *struct {
		Content map[string]struct {
			Schema node `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
}

type parameter struct {
	Ref    string `json:"$ref"`
	Name   string `json:"name"`
	In     string `json:"in"`
	Style  string `json:"style"`
	Schema struct {
		Type    string   `json:"type"`
		Enum    []string `json:"enum"`
		Default any      `json:"default"`
	} `json:"schema"`
}

// Read reads a contract.json. A mistake in the document makes Read fail, so the program stops at
// its start and not at the first request.
func Read(text []byte, style Style) (*Contract, error) {
	var doc document
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	compiler, err := newCompiler(text, style)
	if err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	c := &Contract{Operations: map[string]*Operation{}}
	for path, methods := range doc.Paths {
		for method, raw := range methods {
			if method == "parameters" {
				continue // parameters that a whole path declares are never query parameters
			}
			op, err := doc.operation(path, raw, compiler, style)
			if err != nil {
				return nil, fmt.Errorf("contract: %s %s: %w", method, path, err)
			}
			c.Operations[strings.ToUpper(method)+" "+strings.TrimSuffix(path, "/")] = op
		}
	}
	return c, nil
}

func (d *document) operation(path string, raw []byte, compiler *jsonschema.Compiler, style Style) (*Operation, error) {
	var o operation
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, err
	}
	op := &Operation{
		ID: o.OperationID, Path: path, Family: o.Family, Tokens: o.Limit == "token", Idempotent: o.Idempotent, Lenient: o.Specified,
		Personal: o.Personal, MaxBody: cmp.Or(o.MaxBody, MaxBody), Role: o.Role, FourEyes: o.FourEyes,
		Open: o.Security != nil && !slices.ContainsFunc(o.Security, func(s map[string][]any) bool { return s["accessToken"] != nil }),
	}
	for _, p := range o.Parameters {
		own := p.Ref == ""
		if !own {
			p = d.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
		}
		if p.In == "query" {
			isText := own && p.Schema.Type == "string" && p.Schema.Enum == nil
			usual, _ := p.Schema.Default.(string)
			op.Query = append(op.Query, Parameter{p.Name, p.Schema.Enum, usual, isText, p.Style == "deepObject"})
		}
	}
	if o.RequestBody == nil {
		return op, nil
	}
	ref := o.RequestBody.Content["application/json"].Schema.Ref
	root, ok := d.Components.Schemas[strings.TrimPrefix(ref, schemas)]
	if !ok {
		return nil, fmt.Errorf("the body's schema %q must be a reference to a component", ref)
	}
	schema, err := compiler.Compile(resource + ref)
	if err != nil {
		return nil, err
	}
	op.rules = &rules{schema: schema, root: root, nodes: d.Components.Schemas, style: style}
	op.rules.mark(nil, root)
	return op, nil
}

const (
	resource = "openapi.json"
	schemas  = "#/components/schemas/"
)

func newCompiler(text []byte, style Style) (*jsonschema.Compiler, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for name, validate := range style.Formats {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: validate})
	}
	return c, c.AddResource(resource, doc)
}
