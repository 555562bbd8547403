package apitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// kinds maps each kind of matcher to the pattern that its values must match.
var kinds = map[string]*regexp.Regexp{
	"any":       regexp.MustCompile(`(?s).*`),
	"text":      regexp.MustCompile(`(?s)^".+"$`),
	"uuid":      regexp.MustCompile(`^"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"$`),
	"reference": regexp.MustCompile(`^"[a-z2-7]{20}"$`),
	"time":      regexp.MustCompile(`^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"$`),
	"jwt":       regexp.MustCompile(`^"[\w-]+\.[\w-]+\.[\w-]+"$`),
	"decimal":   regexp.MustCompile(`^"\d+\.\d\d"$`),
	"number":    regexp.MustCompile(`^-?\d+(\.\d{1,2})?$`),
	"integer":   regexp.MustCompile(`^-?\d+$`),
	"boolean":   regexp.MustCompile(`^(true|false)$`),
}

var (
	matcher  = regexp.MustCompile(`^<(\w+)(?: \$(\w+))?>$`)
	mention  = regexp.MustCompile(`<[^<>]*>|\$\w+`)
	repeated = regexp.MustCompile(`<repeat (.) (\d+)>`)
)

// rest is the matcher that accepts any further items or fields.
const rest = "<...>"

// values maps each $name in a transcript to its value.
type values map[string]string

// fill replaces each $name by its value. It leaves matchers unchanged.
func (v values) fill(text string) (string, error) {
	var missing error
	text = mention.ReplaceAllStringFunc(text, func(m string) string {
		if m[0] == '<' {
			return m
		}
		value, known := v[m[1:]]
		if !known {
			missing = fmt.Errorf("%s is not known here", m)
		}
		return value
	})
	return text, missing
}

// object is a JSON object that remembers the order of its fields.
type object struct {
	keys   []string
	fields map[string]any
}

// ordered decodes JSON into object, []any, json.Number, string, bool or nil.
func ordered(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := orderedNext(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data after the end")
	}
	return v, nil
}

func orderedNext(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		o := object{fields: map[string]any{}}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			name := key.(string) // the decoder allows only strings as keys
			o.keys = append(o.keys, name)
			if o.fields[name], err = orderedNext(d); err != nil {
				return nil, err
			}
		}
		_, err = d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			item, err := orderedNext(d)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err = d.Token()
		return list, err
	}
	return token, nil
}

// match compares a response value with the wanted value, and stores captured values in v. where is
// the position of the value, for error messages.
func (v values) match(where string, want, got any) error {
	switch want := want.(type) {
	case string:
		if m := matcher.FindStringSubmatch(want); m != nil {
			return v.capture(where, m[1], m[2], got)
		}
	case object:
		got, ok := got.(object)
		if !ok {
			return fmt.Errorf("%s: want an object, got %s", where, shown(got))
		}
		return v.matchObject(where, want, got)
	case []any:
		got, ok := got.([]any)
		if !ok {
			return fmt.Errorf("%s: want a list, got %s", where, shown(got))
		}
		return v.matchList(where, want, got)
	}
	if want != got {
		return fmt.Errorf("%s: want %s, got %s", where, shown(want), shown(got))
	}
	return nil
}

func (v values) matchObject(where string, want, got object) error {
	keys := want.keys
	open := len(keys) > 0 && keys[len(keys)-1] == rest
	if open {
		keys = keys[:len(keys)-1]
	}
	if open && len(got.keys) > len(keys) {
		got.keys = slices.DeleteFunc(slices.Clone(got.keys), func(k string) bool { return !slices.Contains(keys, k) })
	}
	if !slices.Equal(keys, got.keys) {
		return fmt.Errorf("%s: want the fields %q, got %q", where, keys, got.keys)
	}
	for _, k := range keys {
		if err := v.match(where+"."+k, want.fields[k], got.fields[k]); err != nil {
			return err
		}
	}
	return nil
}

func (v values) matchList(where string, want, got []any) error {
	if n := len(want); n > 0 && want[n-1] == rest {
		want = want[:n-1]
		got = got[:min(len(got), len(want))]
	}
	if len(want) != len(got) {
		return fmt.Errorf("%s: want %d items, got %d", where, len(want), len(got))
	}
	for i := range want {
		if err := v.match(fmt.Sprintf("%s[%d]", where, i), want[i], got[i]); err != nil {
			return err
		}
	}
	return nil
}

// capture checks the kind of a value. It stores the value if the matcher has a name.
func (v values) capture(where, kind, name string, got any) error {
	pattern, known := kinds[kind]
	if !known {
		return fmt.Errorf("%s: there is no kind <%s>", where, kind)
	}
	text := shown(got)
	if !pattern.MatchString(text) {
		return fmt.Errorf("%s: want <%s>, got %s", where, kind, text)
	}
	if name == "" {
		return nil
	}
	if s, ok := got.(string); ok {
		text = s
	}
	v[name] = text
	return nil
}

// shown encodes a decoded value as JSON.
func shown(v any) string {
	switch v := v.(type) {
	case object:
		var b bytes.Buffer
		for i, k := range v.keys {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%q: %s", k, shown(v.fields[k]))
		}
		return "{" + b.String() + "}"
	case []any:
		items := make([]string, len(v))
		for i := range v {
			items[i] = shown(v[i])
		}
		return "[" + strings.Join(items, ", ") + "]"
	case string:
		return `"` + v + `"`
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return err.Error()
		}
		return string(b)
	}
}
