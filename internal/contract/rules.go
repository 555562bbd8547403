package contract

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
)

// Style is how one API judges and words bodies.
type Style struct {
	// Words describes a broken rule of a field. An empty text leaves the rule to the
	// business. isAlone hides the other problems of the field.
	Words func(k jsonschema.ErrorKind, f Field) (text string, isAlone bool)
	// Formats judge values by the format of their schema, by its name.
	Formats map[string]func(value any) error
	// Trim cleans texts of the format Trimmed before the rules apply; nil for none.
	Trim    func(text string) string
	Trimmed string
	// Clock is for days that must not be in the future (x-past). With nil each day
	// counts as past.
	Clock clock.Clock
}

// Field is a field of a body that breaks a rule.
type Field struct {
	Value      any
	Format     string
	IsSecret   bool // writeOnly: no message repeats the value
	IsNullable bool
	name       string // as callers read it: bands[0].from
	isKnown    bool   // a field that the schema has
	// place orders the problems. It has the order numbers (x-order) and the indexes on
	// the way to the field. Unknown fields come last, in the order of the body.
	place []int
}

// node is the part of a schema that finds fields.
type node struct {
	Ref        string           `json:"$ref"`
	Type       any              `json:"type"`
	Order      int              `json:"x-order"`
	WriteOnly  bool             `json:"writeOnly"`
	Past       bool             `json:"x-past"`
	Format     string           `json:"format"`
	Properties map[string]*node `json:"properties"`
	Items      *node            `json:"items"`
}

// rules are the request schema of one operation. Check reports all problems of a body
// together, in the order of the schema. Unknown fields come last, in the order of the
// body.
type rules struct {
	schema *jsonschema.Schema
	root   *node
	nodes  map[string]*node // the components
	past   [][]string       // the fields with x-past
	names  [][]string       // the fields to trim
	style  Style
}

func (r *rules) resolve(n *node) *node {
	for n != nil && n.Ref != "" {
		n = r.nodes[strings.TrimPrefix(n.Ref, schemas)]
	}
	return n
}

// mark finds the fields below a path with checks beyond the schema: days and names.
func (r *rules) mark(path []string, n *node) {
	for name, child := range r.resolve(n).Properties {
		at := append(slices.Clone(path), name)
		if child.Past {
			r.past = append(r.past, at)
		}
		if r.style.Trim != nil && child.Format == r.style.Trimmed {
			r.names = append(r.names, at)
		}
		r.mark(at, child)
	}
}

// field finds the schema of a place in a body.
func (r *rules) field(b *Body, location []string) Field {
	f, n := Field{Value: b.Value, isKnown: len(location) > 0}, r.root
	for _, step := range location {
		n = r.resolve(n)
		if list, ok := f.Value.([]any); ok && n != nil {
			if i, err := strconv.Atoi(step); err == nil && i < len(list) {
				f.name, f.place, f.Value, n = f.name+"["+step+"]", append(f.place, i), list[i], n.Items
				continue
			}
		}
		object, _ := f.Value.(map[string]any)
		f.name, f.Value = dotted(f.name, step), object[step]
		var child *node
		if n != nil {
			child = n.Properties[step]
		}
		if n = child; n == nil {
			f.isKnown, f.place = false, append(f.place, b.last(location)...)
			continue
		}
		f.place, f.IsSecret, f.Format = append(f.place, n.Order), n.WriteOnly, n.Format
	}
	if n != nil {
		types, _ := n.Type.([]any)
		f.IsNullable = slices.Contains(types, any("null"))
	}
	return f
}

// last returns the place of an unknown field: after all known fields of its object.
func (b *Body) last(location []string) []int {
	return []int{math.MaxInt, slices.Index(b.keys, location[len(location)-1])}
}

func dotted(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Check returns nil if the body follows every rule of the operation. Otherwise it returns
// a fault with one line for each broken rule.
func (o *Operation) Check(b *Body) error {
	r := o.rules
	r.trim(b)
	err := r.schema.Validate(b.Value)
	found := r.future(b)
	if err == nil && b.unprintable == nil && found == nil {
		return nil
	}
	for _, location := range b.unprintable {
		if f := r.field(b, location); f.isKnown {
			found.add(f, "must not contain control characters", true)
		}
	}
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		r.collect(&found, b, invalid)
	}
	if len(found) == 0 {
		return nil
	}
	lines, fields := found.lines()
	f := Invalid(lines...)
	f.Extra = map[string]any{"fields": fields} // one family names the fields
	return f
}

func (r *rules) trim(b *Body) {
	for _, location := range r.names {
		last := len(location) - 1
		object, _ := r.field(b, location[:last]).Value.(map[string]any)
		if text, _ := object[location[last]].(string); text != "" {
			object[location[last]] = r.style.Trim(text)
		}
	}
}

// Invalid returns the fault of a request that breaks these rules.
func Invalid(lines ...string) *fault.Fault {
	f := fault.New(fault.Invalid, "Validation error")
	f.Details = lines
	return f
}

// future finds the days in the body that must not be in the future, and are.
func (r *rules) future(b *Body) (found problems) {
	if r.style.Clock == nil {
		return nil
	}
	for _, location := range r.past {
		f := r.field(b, location)
		day, _ := f.Value.(string)
		if t, err := time.ParseInLocation(time.DateOnly, day, clock.Lagos); err == nil && t.After(r.style.Clock.Now()) {
			found.add(f, "must not be in the future", false)
		}
	}
	return found
}

// collect turns the leaves of a validation error into problems.
func (r *rules) collect(found *problems, b *Body, e *jsonschema.ValidationError) {
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference:
		for _, cause := range e.Causes {
			r.collect(found, b, cause)
		}
	case *kind.OneOf:
		r.collectOneOf(found, b, e)
	case *kind.Required:
		for _, name := range k.Missing {
			found.add(r.field(b, append(slices.Clip(e.InstanceLocation), name)), "is required", false)
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			found.add(r.field(b, append(slices.Clip(e.InstanceLocation), name)), "is not allowed", false)
		}
	case *kind.Not: // another field makes this one unknown
		f := r.field(b, e.InstanceLocation)
		f.place = append(f.place[:len(f.place)-1], b.last(e.InstanceLocation)...)
		*found = slices.DeleteFunc(*found, func(p problem) bool { return p.field.name == f.name })
		found.add(f, "is not allowed", true)
	default:
		f := r.field(b, e.InstanceLocation)
		if text, isAlone := r.style.Words(k, f); text != "" {
			found.add(f, text, isAlone)
		}
	}
}

// collectOneOf reports a value that fits none of several schemas. The problems are
// those of the schema with the type of the value. If no schema has this type, the
// problem is the type.
func (r *rules) collectOneOf(found *problems, b *Body, e *jsonschema.ValidationError) {
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

// typeOf returns the error's complaint about the type of the value at a place, or nil.
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

// problem is one broken rule.
type problem struct {
	field   Field
	text    string
	isAlone bool // hides the other problems of the field
}

type problems []problem

func (p *problems) add(f Field, text string, isAlone bool) {
	*p = append(*p, problem{f, text, isAlone})
}

// lines returns the problems as the caller reads them, and the field of each.
func (p problems) lines() (out, fields []string) {
	slices.SortStableFunc(p, func(a, b problem) int {
		order := slices.Compare(a.field.place, b.field.place)
		if order == 0 && a.isAlone != b.isAlone && a.isAlone {
			return -1
		}
		return order
	})
	settled := map[string]bool{}
	for _, one := range p {
		name := one.field.name
		if settled[name] {
			continue
		}
		settled[name] = one.isAlone
		if name == "" {
			name = "value"
		}
		out, fields = append(out, `"`+name+`" `+one.text), append(fields, name)
	}
	return out, fields
}
