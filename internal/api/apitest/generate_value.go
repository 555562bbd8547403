package apitest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// spoil replaces, removes or adds one value somewhere in a value.
func (g *Generator) spoil(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 || g.one(6) {
			v[pick(g, []string{"unknown", "", "__proto__", "a.b", "\u0000"})] = g.hostile()
			return v
		}
		name := pick(g, slices.Sorted(maps.Keys(v)))
		if g.one(4) {
			delete(v, name)
		} else {
			v[name] = g.spoil(v[name])
		}
		return v
	case []any:
		if len(v) > 0 && !g.one(3) {
			i := g.chance.IntN(len(v))
			v[i] = g.spoil(v[i])
			return v
		}
	}
	return g.hostile()
}

// texts are values that break careless programs. The first ones are harmless.
var texts = []string{
	"1", "2", "99", "abc", "08030000010", "2030-01-02", "SUCCESS", "019f0000-0000-7000-8000-000000000000",
	"", " ", "0", "-1", "1e9", "NaN", "null", "true", "9223372036854775808", "99999999999999999999", "0x10", "1,000", "٣", "%00", "\x00", "a\nb", "a\x7fb", "\u202eabc", "\ufeff",
	"../../etc", "a/b", "'; DROP TABLE ledger_entry; --", "<script>", "{{7*7}}", "👩‍👩‍👧", "İ", "é", "é", "\xff\xfe", strings.Repeat("a", 5000), "c" + strings.Repeat("0", 24), "9999-99-99", "0000-00-00", "2030-02-30T25:61:61Z",
}

func (g *Generator) hostile() any {
	switch g.chance.IntN(10) {
	case 0:
		return nil
	case 1:
		return g.one(2)
	case 2:
		return []any{}
	case 3:
		return map[string]any{}
	case 4:
		return pick(g, []any{-1, 0, 0.001, 0.1 + 0.2, 1e15, 1e18, math.MaxInt64, math.MinInt64, 1e-9, 100.005, 1e300, huge})
	case 5:
		var deep any = "end"
		for range 200 {
			deep = []any{deep}
		}
		return deep
	}
	return strings.ToValidUTF8(pick(g, texts), "�")
}

// value returns a value that a schema describes. It prefers values that are known for the name.
func (g *Generator) value(name string, ref *openapi3.SchemaRef, depth int) any {
	if ref == nil || ref.Value == nil || depth > 8 {
		return nil
	}
	s := ref.Value
	if len(s.Enum) > 0 {
		return pick(g, s.Enum)
	}
	if some := slices.Concat(s.OneOf, s.AnyOf); len(some) > 0 && len(s.Properties) == 0 {
		return g.value(name, pick(g, some), depth+1)
	}
	if known := g.named(strings.ToLower(name)); len(known) > 0 && !g.one(4) {
		if v := pick(g, known); s.Type == nil || fits(s.Type, v) {
			return v
		}
	}
	properties := maps.Clone(s.Properties)
	for _, part := range s.AllOf {
		if part.Value != nil {
			if properties == nil {
				properties = openapi3.Schemas{}
			}
			maps.Copy(properties, part.Value.Properties)
		}
	}
	switch {
	case len(properties) > 0 || s.Type.Includes("object"):
		out := map[string]any{}
		for _, field := range slices.Sorted(maps.Keys(properties)) {
			if slices.Contains(s.Required, field) || g.one(2) {
				out[field] = g.value(field, properties[field], depth+1)
			}
		}
		return out
	case len(s.AllOf) > 0:
		return g.value(name, s.AllOf[len(s.AllOf)-1], depth+1)
	case s.Type.Includes("array"):
		out := []any{}
		for range 1 + g.chance.IntN(3) {
			out = append(out, g.value(name, s.Items, depth+1))
		}
		return out
	case s.Type.Includes("boolean"):
		return g.one(2)
	case s.Type.Includes("integer"), s.Type.Includes("number"):
		return pick(g, []any{1, 2, 10, 50, 100, 150.5, 1000, 20_000, 0.01})
	}
	return g.word(s)
}

// named returns the values that are known for the name of a field. A name such as verify_id may mean an id of the area.
func (g *Generator) named(name string) []any {
	if from := idsFrom[name]; from != "" {
		return g.known[from]
	}
	if strings.HasSuffix(name, "id") && len(g.known[name]) == 0 {
		return g.known[g.area+"/id"]
	}
	return g.known[name]
}

// fits reports whether a known value has a type that a schema allows.
func fits(t *openapi3.Types, v any) bool {
	_, number := v.(float64)
	if number {
		return t.Includes("number") || t.Includes("integer")
	}
	return t.Includes("string")
}

// word returns a text for a schema.
func (g *Generator) word(s *openapi3.Schema) any {
	switch s.Format {
	case "date":
		return pick(g, []string{"1990-01-02", "2026-11-01", "2030-01-01"})
	case "date-time":
		return pick(g, []string{"2026-11-01T00:00:00Z", "2030-01-01T00:00:00.000Z"})
	case "email":
		return fmt.Sprintf("ada%d@example.com", g.chance.IntN(1000))
	case "uri":
		return pick(g, []string{"https://example.com/hook", "http://127.0.0.1:1/hook"})
	}
	digits := strconv.FormatUint(g.chance.Uint64(), 10)
	switch {
	case strings.Contains(s.Pattern, "11") || s.MaxLength != nil && *s.MaxLength == 11:
		return "080" + (digits + "00000000")[:8]
	case strings.Contains(s.Pattern, "10"):
		return (digits + "0000000000")[:10]
	case strings.Contains(s.Pattern, "0-9") || strings.Contains(s.Pattern, `\d`):
		return digits[:min(len(digits), 6)]
	}
	return pick(g, []string{"Ada", "Obi Foods", "Lagos", "ref-" + digits, digits})
}
