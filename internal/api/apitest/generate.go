package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

// Request is a generated request. Headers are names, each followed by its value.
type Request struct {
	Method, Target, Body string
	Headers              []string
}

// String returns the request as a failed test shows it.
func (r Request) String() string {
	return fmt.Sprintf("%s %.300s %q\n%.2000s", r.Method, r.Target, r.Headers, r.Body)
}

// Generator makes requests from an OpenAPI document: right ones, and ones with every kind of mistake. It learns
// values from responses, so that later requests name things that exist. Equal seeds and responses give equal
// requests. One goroutine at a time may use it.
type Generator struct {
	operations []operation
	chance     *rand.Rand
	area       string           // of the present request
	known      map[string][]any // by the name of a field in lower case, and by its area and its name
}

// operation is an operation of the document, with its address.
type operation struct {
	method, path string
	*openapi3.Operation
	parameters openapi3.Parameters
}

// Generate returns a generator of requests of all operations that use accepts. The values of known are
// known from the start, by the names of fields.
func (c *Contract) Generate(seed uint64, use func(id string) bool, known map[string]any) *Generator {
	g := &Generator{chance: rand.New(rand.NewPCG(seed, 1)), known: map[string][]any{}}
	for _, path := range slices.Sorted(maps.Keys(c.doc.Paths.Map())) {
		item := c.doc.Paths.Value(path)
		all := item.Operations()
		for _, method := range slices.Sorted(maps.Keys(all)) {
			if o := all[method]; use(o.OperationID) {
				g.operations = append(g.operations, operation{method, path, o, slices.Concat(item.Parameters, o.Parameters)})
			}
		}
	}
	for name, value := range known {
		g.known[strings.ToLower(name)] = []any{value}
	}
	return g
}

// mostKnown is the number of values of a name that the generator remembers.
const mostKnown = 50

// Learn remembers the values of the body that a request got as its answer.
func (g *Generator) Learn(r Request, body []byte) {
	var value any
	if json.Unmarshal(body, &value) == nil {
		g.learn(areaOf(r.Target), "", value)
		if act := stepOf(r.Target, 3); sources[act] != "" {
			g.learn(sources[act], "", value)
		}
	}
}

// sources are the operations whose ids other operations call by another name.
var sources = map[string]string{"validate-account": "verified"}

// idsFrom are the sources of names.
var idsFrom = map[string]string{"verify_id": "verified/id"}

// areaOf returns the third step of an address, such as "card". Ids of one area often fit its other addresses.
func areaOf(path string) string { return stepOf(path, 2) }

// stepOf returns a step of an address, or "".
func stepOf(path string, n int) string {
	steps := strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == '?' })
	if len(steps) <= n {
		return ""
	}
	return steps[n]
}

func (g *Generator) learn(area, name string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			g.learn(area, strings.ToLower(key), v[key])
		}
	case []any:
		for _, one := range v {
			g.learn(area, name, one)
		}
	case string, float64:
		g.remember(name, v)
		g.remember(area+"/"+name, v)
	}
}

func (g *Generator) remember(name string, value any) {
	all := g.known[name]
	switch {
	case slices.Contains(all, value):
	case len(all) < mostKnown:
		g.known[name] = append(all, value)
	default:
		all[g.chance.IntN(mostKnown)] = value
	}
}

// one reports true in one of n cases.
func (g *Generator) one(n int) bool { return g.chance.IntN(n) == 0 }

func pick[T any](g *Generator, all []T) T { return all[g.chance.IntN(len(all))] }

// Next returns a request. About half of the requests have no mistake on purpose.
func (g *Generator) Next() Request {
	o := pick(g, g.operations)
	wrong := g.one(2)
	g.area = areaOf(o.path)
	r := Request{Method: o.method, Target: g.path(o, wrong) + g.query(o, wrong)}
	if wrong && g.one(30) {
		r.Method = pick(g, []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
	}
	if o.RequestBody != nil {
		r.Body = g.body(o.RequestBody.Value, wrong)
		kind := "application/json"
		if wrong && g.one(15) {
			kind = pick(g, []string{"", "text/plain", "application/json; charset=utf-16", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx", ";"})
		}
		r.Headers = append(r.Headers, "Content-Type", kind)
		if wrong && g.one(40) {
			r.Headers = append(r.Headers, "Content-Encoding", "gzip")
		}
	} else if wrong && g.one(10) {
		r.Body = `{"unexpected":true}`
	}
	for _, p := range o.parameters {
		if known := g.known[strings.ToLower(p.Value.Name)]; p.Value.In == openapi3.ParameterInHeader && len(known) > 0 && !(wrong && g.one(3)) {
			r.Headers = append(r.Headers, p.Value.Name, fmt.Sprint(pick(g, known)))
		}
	}
	if r.Method == "POST" && g.one(3) {
		key := "key-" + strconv.Itoa(g.chance.IntN(2000))
		if wrong && g.one(5) {
			key = pick(g, []string{" ", "a b", strings.Repeat("k", 300), "é", "key,key", `"`, "0"})
		}
		r.Headers = append(r.Headers, "Idempotency-Key", key)
	}
	return r
}

// path fills the parameters of an address.
func (g *Generator) path(o operation, wrong bool) string {
	steps := strings.Split(o.path, "/")
	for i, step := range steps {
		if name, is := strings.CutPrefix(step, "{"); is {
			name = strings.TrimSuffix(name, "}")
			value := g.text(name)
			if wrong && g.one(3) {
				value = pick(g, texts)
			}
			if value == "" || value == "." || value == ".." {
				value = "0" // the client of net/http would ask for another address
			}
			steps[i] = url.PathEscape(value)
		}
	}
	return strings.Join(steps, "/")
}

// text returns a value for a parameter of an address.
func (g *Generator) text(name string) string {
	name = strings.ToLower(name)
	for _, n := range []string{g.area + "/" + name, name, g.area + "/id", "id", "reference"} {
		if all := g.known[n]; len(all) > 0 && !g.one(5) {
			return fmt.Sprint(pick(g, all))
		}
	}
	return pick(g, texts[:8])
}

func (g *Generator) query(o operation, wrong bool) string {
	q := url.Values{}
	for _, p := range o.parameters {
		if p.Value.In != openapi3.ParameterInQuery || p.Value.Name == "wait" || !p.Value.Required && !g.one(3) {
			continue // a request that waits would take half a minute
		}
		value := fmt.Sprint(g.value(p.Value.Name, p.Value.Schema, 0))
		if wrong && g.one(3) {
			value = pick(g, texts)
		}
		q.Add(p.Value.Name, value)
		if wrong && g.one(20) {
			q.Add(p.Value.Name, value)
		}
	}
	if wrong && g.one(20) {
		q.Add(pick(g, []string{"x", "", "page[0]", "metadata[a]", "\x00"}), "1")
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// body returns a body, as the schema says or with mistakes.
func (g *Generator) body(b *openapi3.RequestBody, wrong bool) string {
	media := b.Content.Get("application/json")
	if media == nil {
		return ""
	}
	value := g.value("", media.Schema, 0)
	if wrong && g.one(2) {
		for range 1 + g.chance.IntN(3) {
			value = g.spoil(value)
		}
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // the generator makes only values of JSON
	}
	out := strings.ReplaceAll(string(text), `"`+huge+`"`, "1e400")
	if wrong && g.one(6) && out != "" {
		at := g.chance.IntN(len(out))
		out = pick(g, []string{
			out[:at], out[:at] + "\x00" + out[at:], out[:at] + pick(g, []string{"\"", "{", "]", ",", "\xff", `\ud800`, "0"}) + out[at:], out + out, " " + out + "\n",
			strings.Repeat("[", 20_000), "null", `"text"`, "[" + out + "]", strings.Replace(out, "{", `{"amount":1,"amount":2,`, 1), "",
		})
	}
	return out
}

// huge stands for a number that encoding/json cannot write.
const huge = "\u0001a number of 400 digits\u0001"

// Shared lets several goroutines use one generator.
type Shared struct {
	mu sync.Mutex
	g  *Generator
}

// Share returns a generator for several goroutines. Their requests are then no longer a function of the seed alone.
func Share(g *Generator) *Shared { return &Shared{g: g} }

// Next returns a request.
func (s *Shared) Next() Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.g.Next()
}

// Learn remembers the values of the body that a request got as its answer.
func (s *Shared) Learn(r Request, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.g.Learn(r, body)
}
