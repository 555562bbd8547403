package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

// rules are the request schema of one operation. All problems of a body are
// reported together, in the order of the schema (x-order), fields the schema
// does not know after the ones it does, in the order the caller sent them
// (completion.md §1).
type rules struct {
	schema *jsonschema.Schema
	// place is where a field stands in the schema, by its dotted path; for the
	// unknown fields of an object, by its path and unknownFields.
	place map[string]int
	// secret are the fields whose values no message repeats (writeOnly).
	secret map[string]bool
	// past are the fields whose day must not be after today in Lagos (x-past).
	past map[string]bool
	// names are the fields that must show something: their pattern ends with visible.
	names map[string]bool
	clock clock.Clock // nil: every day counts as past
}

const unknownFields = "*"

// schemaNode is what the order of fields is read from.
type schemaNode struct {
	Ref        string                `json:"$ref"`
	Order      int                   `json:"x-order"`
	WriteOnly  bool                  `json:"writeOnly"`
	Past       bool                  `json:"x-past"`
	Pattern    string                `json:"pattern"`
	Properties map[string]schemaNode `json:"properties"`
}

// number gives the fields below path their places, depth first.
func (r *rules) number(path string, node schemaNode, schemas map[string]schemaNode) {
	if node.Ref != "" {
		node = schemas[strings.TrimPrefix(node.Ref, "#/components/schemas/")]
	}
	names := slices.SortedFunc(maps.Keys(node.Properties), func(a, b string) int {
		return node.Properties[a].Order - node.Properties[b].Order
	})
	for _, name := range names {
		p := dotted(path, name)
		r.place[p] = len(r.place)
		r.secret[p], r.past[p] = node.Properties[name].WriteOnly, node.Properties[name].Past
		r.names[p] = strings.HasSuffix(node.Properties[name].Pattern, visible)
		r.number(p, node.Properties[name], schemas)
	}
	r.place[dotted(path, unknownFields)] = len(r.place)
}

func dotted(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// check is nil when the body keeps every rule, or a fault with one line for
// each that it breaks.
func (r *rules) check(b *body) error {
	r.trim(b)
	err := r.schema.Validate(b.value)
	found := r.future(b)
	if err == nil && b.unprintable == nil && found == nil {
		return nil
	}
	for _, path := range b.unprintable {
		if place, known := r.place[path]; known {
			found.add(problem{field: path, place: place, text: "must not contain control characters", alone: true})
		}
	}
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		r.collect(&found, b, invalid)
	}
	if len(found) == 0 {
		return nil
	}
	f := fault.New(fault.Invalid, "Validation error")
	lines, fields := found.lines()
	f.Details, f.Extra = lines, map[string]any{"fields": fields} // one dress names the fields
	return f
}

// future are the days in the body that should be past and are not.
func (r *rules) future(b *body) (found problems) {
	if r.clock == nil {
		return nil
	}
	for path, past := range r.past {
		day, _ := at(b.value, strings.Split(path, ".")).(string)
		t, err := time.ParseInLocation(time.DateOnly, day, clock.Lagos)
		if past && err == nil && t.After(r.clock.Now()) {
			found.add(problem{field: path, place: r.place[path], text: "must not be in the future"})
		}
	}
	return found
}

// collect turns the leaves of a validation error into problems.
func (r *rules) collect(found *problems, b *body, e *jsonschema.ValidationError) {
	path, item := place(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference:
		for _, cause := range e.Causes {
			r.collect(found, b, cause)
		}
	case *kind.OneOf:
		r.collectOneOf(found, b, e)
	case *kind.Required:
		for _, name := range k.Missing {
			field := dotted(path, name)
			found.add(problem{field: field, place: r.place[field], text: "is required"})
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			found.add(problem{
				field: dotted(path, name), place: r.place[dotted(path, unknownFields)],
				sent: slices.Index(b.keys, name), text: "is not allowed",
			})
		}
	default:
		p := problem{field: path + item, place: r.place[path], text: words(k, at(b.value, e.InstanceLocation))}
		if want := pattern(k); want != "" && r.secret[path] {
			p.text = fmt.Sprintf("fails to match the required pattern: /%s/", want)
		}
		if text, ok := at(b.value, e.InstanceLocation).(string); ok && (text == "" || r.names[path] && text == " ") {
			p.text, p.alone = "is not allowed to be empty", true
		}
		found.add(p)
	}
}

// pattern is the pattern that a text does not match, or "".
func pattern(k jsonschema.ErrorKind) string {
	if p, ok := k.(*kind.Pattern); ok {
		return p.Want
	}
	return ""
}

// collectOneOf turns a value that is none of several into the problems of the one
// that has its type. Where none has, the value must be of one of their types.
func (r *rules) collectOneOf(found *problems, b *body, e *jsonschema.ValidationError) {
	types := &kind.Type{}
	for _, branch := range e.Causes {
		wrong := typeOf(branch, e.InstanceLocation)
		if wrong == nil {
			r.collect(found, b, branch)
			return
		}
		types.Got, types.Want = wrong.Got, append(types.Want, wrong.Want...)
	}
	slices.Sort(types.Want)
	r.collect(found, b, &jsonschema.ValidationError{InstanceLocation: e.InstanceLocation, ErrorKind: types})
}

// typeOf is what an error says of the type of the value at a place, if it does.
func typeOf(e *jsonschema.ValidationError, location []string) *kind.Type {
	if k, ok := e.ErrorKind.(*kind.Type); ok && slices.Equal(e.InstanceLocation, location) {
		return k
	}
	for _, cause := range e.Causes {
		if k := typeOf(cause, location); k != nil {
			return k
		}
	}
	return nil
}

// place is a place in the body as a field's dotted path, and which item of it, if
// the field is a list: events and [0].
func place(location []string) (field, item string) {
	if last := len(location) - 1; last > 0 {
		if _, err := strconv.Atoi(location[last]); err == nil {
			return strings.Join(location[:last], "."), "[" + location[last] + "]"
		}
	}
	return strings.Join(location, "."), ""
}

// at is the value at a place in the body.
func at(value any, location []string) any {
	for _, step := range location {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		}
	}
	return value
}

// problem is one broken rule.
type problem struct {
	field string
	place int // where the field stands in the schema
	sent  int // where an unknown field stands in the body
	text  string
	alone bool // says all there is to say about the field
}

type problems []problem

func (p *problems) add(next problem) { *p = append(*p, next) }

// lines are the problems as the caller reads them, and the field of each.
func (p problems) lines() (out, fields []string) {
	slices.SortStableFunc(p, func(a, b problem) int {
		if a.place != b.place {
			return a.place - b.place
		}
		if a.sent != b.sent {
			return a.sent - b.sent
		}
		if a.alone != b.alone && a.alone {
			return -1
		}
		return 0
	})
	settled := map[string]bool{}
	for _, one := range p {
		if settled[one.field] {
			continue
		}
		settled[one.field] = one.alone
		field := one.field
		if field == "" {
			field = "value"
		}
		out, fields = append(out, `"`+field+`" `+one.text), append(fields, field)
	}
	return out, fields
}

// words says a broken rule in the contract's words.
func words(k jsonschema.ErrorKind, value any) string {
	switch k := k.(type) {
	case *kind.Type:
		return typeWords(k)
	case *kind.Enum:
		return "must be one of [" + list(k.Want) + "]"
	case *kind.Const:
		return "must be [" + list([]any{k.Want}) + "]"
	case *kind.MinLength:
		return fmt.Sprintf("length must be at least %d characters long", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("length must be less than or equal to %d characters long", k.Want)
	case *kind.Pattern:
		return fmt.Sprintf(`with value "%v" fails to match the required pattern: /%s/`, value, k.Want)
	case *kind.Minimum:
		return "must be greater than or equal to " + k.Want.RatString()
	case *kind.Maximum:
		return "must be less than or equal to " + k.Want.RatString()
	case *kind.ExclusiveMinimum:
		return "must be greater than " + k.Want.RatString()
	case *kind.ExclusiveMaximum:
		return "must be less than " + k.Want.RatString()
	case *kind.Format:
		return formatWords(k)
	default:
		return "is invalid"
	}
}

func typeWords(k *kind.Type) string {
	if len(k.Want) > 1 {
		return "must be one of [" + strings.Join(k.Want, ", ") + "]"
	}
	switch want := k.Want[0]; {
	case want == "integer" && k.Got == "number":
		return "must be an integer"
	case want == "integer" || want == "number":
		return "must be a number"
	case want == "object":
		return "must be of type object"
	case want == "array":
		return "must be an array"
	default:
		return "must be a " + want
	}
}

func formatWords(k *kind.Format) string {
	switch k.Want {
	case "email":
		return "must be a valid email"
	case "date":
		return "must be in YYYY-MM-DD format"
	case "int64", "naira":
		return k.Err.Error()
	default:
		return "is invalid"
	}
}

func list(values []any) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = fmt.Sprint(v)
	}
	return strings.Join(out, ", ")
}

// maxSafe is the largest whole number that every JSON reader keeps exactly.
const maxSafe = 1<<53 - 1

// wholeNumber is the format of identifiers that are numbers. JSON Schema calls
// 1.0 and 1e0 integers; the contract wants the digits, so the raw token is read.
func wholeNumber(v any) error {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	digits := strings.TrimPrefix(n.String(), "-")
	if strings.ContainsAny(digits, ".eE") {
		return jsonschema.LocalizableError("must be an integer")
	}
	if i, err := strconv.ParseInt(digits, 10, 64); err != nil || i > maxSafe {
		return jsonschema.LocalizableError("must be a safe number")
	}
	return nil
}

// email is the format of e-mail addresses: one address without a name, at a
// domain of at least two labels, the last of which begins with a letter (RFC 5321,
// 4.1.2 and 4.5.3.1; RFC 3696, 2).
func email(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	wrong := jsonschema.LocalizableError("must be a valid email")
	address, err := mail.ParseAddress(text)
	if err != nil || address.Address != text || len(text) > 254 {
		return wrong
	}
	local, domain, _ := strings.Cut(text, "@")
	if len(local) > 64 || !domainName.MatchString(domain) {
		return wrong
	}
	return nil
}

var domainName = regexp.MustCompile(`^([\pL\pN]([\pL\pN-]{0,61}[\pL\pN])?\.)+\pL[\pL\pN-]{0,61}[\pL\pN]$`)

// amount is the format of money that a caller names: naira greater than 0, read
// from the digits that were sent and never through a float.
func amount(v any) error {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	switch k, err := money.Asked(n.String()); {
	case err == nil && k > 0:
		return nil
	case err == nil, errors.Is(err, money.ErrNegative):
		return jsonschema.LocalizableError("must be greater than 0")
	case errors.Is(err, money.ErrSyntax): // what JSON calls a number and we do not
		return jsonschema.LocalizableError("must be written without an exponent")
	case errors.Is(err, money.ErrRange):
		return jsonschema.LocalizableError("must be less than or equal to %s", money.Max.Number())
	default:
		return jsonschema.LocalizableError("%s", err)
	}
}
