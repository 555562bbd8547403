package contract

import (
	"errors"
	"maps"
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

// Style is how one API checks bodies and words its error messages.
type Style struct {
	// Words returns the message for a broken rule of a field. If the message is empty, the body is
	// not refused, because the business service checks the rule. If isAlone is true, the other
	// problems of the field are not reported.
	Words func(k jsonschema.ErrorKind, f Field) (text string, isAlone bool)
	// Formats maps the name of a schema's format to the function that checks values.
	Formats map[string]func(value any) error
	// Trim cleans texts of the format Trimmed before the rules apply. nil cleans nothing.
	Trim    func(text string) string
	Trimmed string
}

// Field is a field of a body that breaks a rule.
type Field struct {
	Value      any
	Format     string
	IsSecret   bool // writeOnly: no message may repeat the value
	IsNullable bool
	name       string // as the caller reads it, such as bands[0].from
	isKnown    bool   // true if the schema has the field
	// place is the sort key of the field's problems. It consists of the order numbers (x-order)
	// and the indexes along the path to the field. Unknown fields come last, in the order of the
	// body.
	place []int
}

// node is the part of a schema that is needed to find fields.
type node struct {
	Ref        string           `json:"$ref"`
	Type       any              `json:"type"`
	Order      int              `json:"x-order"`
	WriteOnly  bool             `json:"writeOnly"`
	Past       bool             `json:"x-past"`
	Format     string           `json:"format"`
	Properties map[string]*node `json:"properties"`
	Items      *node            `json:"items"`
	MaxItems   int              `json:"maxItems"`
}

// rules check the bodies of one operation against its request schema. Check reports all problems
// of a body together, in the order of the schema. Unknown fields come last, in the order of the
// body.
type rules struct {
	schema *jsonschema.Schema
	root   *node
	nodes  map[string]*node // the schemas of the document's components
	past   [][]string       // the paths of the fields with x-past
	names  [][]string       // the paths of the fields to trim
	style  Style
	clock  clock.Clock // for days that must not be in the future; if nil, every day counts as past
}

func (r *rules) resolve(n *node) *node {
	for n != nil && n.Ref != "" {
		n = r.nodes[strings.TrimPrefix(n.Ref, schemas)]
	}
	return n
}

// mark records the paths of fields that need more than the schema check, below the path of n. These
// fields are the days that must not be in the future (x-past) and the names to trim.
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

// The method field returns the field at a location in a body, with its name, its value and its
// properties from the schema. A location below an unknown field stands for the unknown field.
func (r *rules) field(b *Body, location []string) Field {
	f, n := Field{Value: b.Value, isKnown: len(location) > 0}, r.root
	for at, step := range location {
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
			f.isKnown, f.place = false, append(f.place, b.last(location[:at+1])...)
			break
		}
		f.place, f.IsSecret, f.Format = append(f.place, n.Order), n.WriteOnly, n.Format
	}
	if n != nil {
		types, _ := n.Type.([]any)
		f.IsNullable = slices.Contains(types, any("null"))
	}
	return f
}

// last returns the place of an unknown field, which is after all known fields of its object.
func (b *Body) last(location []string) []int {
	if b.firsts == nil {
		b.firsts = make(map[string]int, len(b.keys))
		for i, key := range b.keys {
			if _, seen := b.firsts[key]; !seen {
				b.firsts[key] = i
			}
		}
	}
	return []int{math.MaxInt, b.firsts[location[len(location)-1]]}
}

func dotted(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Check returns nil if the body follows every rule of the operation. Otherwise it returns a fault
// with one line for each broken rule, at most MostLines.
func (o *Operation) Check(b *Body) error {
	r := o.rules
	r.trim(b)
	err := r.schema.Validate(r.shortened(b))
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
	f.Extra = map[string]any{"fields": fields} // some endpoints show the names of the fields
	return f
}

// shortened returns the body for the schema check. A list of the body that is too long, and is refused for it, ends after the first
// element too many. So the check costs no more than for the longest list that is allowed.
func (r *rules) shortened(b *Body) any {
	object, _ := b.Value.(map[string]any)
	isCopy := false
	for name, n := range r.resolve(r.root).Properties {
		items, _ := object[name].([]any)
		if n.MaxItems == 0 || len(items) <= n.MaxItems {
			continue
		}
		if text, _ := r.style.Words(&kind.MaxItems{Got: len(items), Want: n.MaxItems}, Field{Value: items}); text == "" {
			continue // the business service refuses the list, after the check of all its elements
		}
		if !isCopy {
			object, isCopy = maps.Clone(object), true
		}
		object[name] = items[:n.MaxItems+1]
	}
	if isCopy {
		return object
	}
	return b.Value
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

// Invalid returns the fault for a request that breaks rules, with one line for each broken rule.
func Invalid(lines ...string) *fault.Fault {
	f := fault.New(fault.Invalid, "Validation error")
	f.Details = lines
	return f
}

// future returns a problem for each x-past day in the body that is in the future.
func (r *rules) future(b *Body) (found problems) {
	if r.clock == nil {
		return nil
	}
	for _, location := range r.past {
		f := r.field(b, location)
		day, _ := f.Value.(string)
		if t, err := time.ParseInLocation(time.DateOnly, day, clock.Lagos); err == nil && t.After(r.clock.Now()) {
			found.add(f, "must not be in the future", false)
		}
	}
	return found
}

// collect adds a problem for each innermost cause of a validation error.
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
	case *kind.Not: // this field must not be sent with the value of a different field
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

// collectOneOf reports the problems of a value that does not fit any of several schemas. It reports
// the problems with the schema that allows the value's type. If there is no such schema, it reports
// a wrong type.
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

// typeOf finds the cause of the error e that reports a wrong type for the value at a location. If
// there is no such cause, it returns nil.
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
	isAlone bool // the other problems of the field are not reported
}

type problems []problem

const (
	// MostLines is the most broken rules of a request that its answer lists.
	MostLines = 100
	// mostKept is the most problems that are kept for the answer. No field has so many problems that the
	// lines of the answer are not among them.
	mostKept = 10 * MostLines
)

// add adds a problem. Beyond mostKept, the last problems in the order of the answer are dropped, so a large body
// costs no more memory than a small one.
func (p *problems) add(f Field, text string, isAlone bool) {
	*p = append(*p, problem{f, text, isAlone})
	if len(*p) == 2*mostKept {
		p.sort()
		*p = (*p)[:mostKept]
	}
}

// sort brings the problems into the order of the answer.
func (p problems) sort() {
	slices.SortStableFunc(p, func(a, b problem) int {
		order := slices.Compare(a.field.place, b.field.place)
		if order == 0 && a.isAlone != b.isAlone && a.isAlone {
			return -1
		}
		return order
	})
}

// The method lines returns the problems in the form that the caller reads, and the field of each
// problem.
func (p problems) lines() (out, fields []string) {
	p.sort()
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
		if out, fields = append(out, `"`+name+`" `+one.text), append(fields, name); len(out) == MostLines {
			break
		}
	}
	return out, fields
}
