package providertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// page is one file of fixtures. It has what one page of a provider's documentation states, written
// anew. docs/providers/README.md describes the form.
type page struct {
	Page  string   `json:"page"` // the page's address
	Read  string   `json:"read"` // the date on which the page was read
	Cases []played `json:"cases"`
}

// played is one call of a plug, the exchanges that it causes, and its expected result.
type played struct {
	Name   string `json:"name"`
	Status string `json:"status"`           // the evidence for the reply: documented, client or assumed
	Source string `json:"source,omitempty"` // the evidence, if it is not the page of the file
	// Beyond lists the fields of the requests that the page does not have.
	Beyond    []string        `json:"beyond,omitempty"`
	Call      string          `json:"call"`
	Input     json.RawMessage `json:"input,omitempty"`
	Exchanges []exchange      `json:"exchanges,omitempty"`
	Want      json.RawMessage `json:"want"`
}

// exchange is a request that the plug must send, and the provider's reply.
type exchange struct {
	Request struct {
		Method string            `json:"method"`
		Path   string            `json:"path"` // with the query string
		Header map[string]string `json:"header,omitempty"`
		Body   json.RawMessage   `json:"body,omitempty"`
	} `json:"request"`
	Answer struct {
		Status int               `json:"status"` // 0 breaks the connection after the request
		Header map[string]string `json:"header,omitempty"`
		Body   json.RawMessage   `json:"body,omitempty"`
		Text   string            `json:"text,omitempty"` // a body that is not JSON
	} `json:"answer"`
	Times int `json:"times,omitempty"` // how often the plug sends the request; 0 means once
}

// anything stands for a text in a request that differs at each run, such as a signature.
const anything = "*"

// Calls maps the names of calls in fixtures to the methods of a plug.
type Calls map[string]func(ctx context.Context, input json.RawMessage) (any, error)

// Call returns the entry of Calls for a method without a bare error.
func Call[In, Out any](do func(context.Context, In) Out) func(context.Context, json.RawMessage) (any, error) {
	return CallOr(func(ctx context.Context, in In) (Out, error) { return do(ctx, in), nil })
}

// CallOr returns the entry of Calls for a method that may fail. The method reads the input from the
// fixture, whose fields have the names of the Go fields.
func CallOr[In, Out any](do func(context.Context, In) (Out, error)) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, input json.RawMessage) (any, error) {
		var in In
		if len(input) > 0 {
			d := json.NewDecoder(bytes.NewReader(input))
			d.DisallowUnknownFields()
			if err := d.Decode(&in); err != nil {
				panic("providertest: the input of a fixture: " + err.Error())
			}
		}
		return do(ctx, in)
	}
}

// Play plays the fixtures in a folder against a plug. Each case gets a new plug, which begin makes
// for a provider at baseURL. A second run of the case spoils the provider's texts (playNUL). A reply
// in free is sent to each request with its path that the case does not list, such as a request for a token.
func Play(t *testing.T, folder string, free map[string]string, begin func(t *testing.T, baseURL string) Calls) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures in %s (%v)", folder, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, c := range readPage(t, file).Cases {
				t.Run(c.Name, func(t *testing.T) { c.play(t, free, begin) })
				if c.isAnswered() {
					t.Run(c.Name+", with U+0000", func(t *testing.T) { c.playNUL(t, free, begin) })
				}
			}
		})
	}
}

func readPage(t *testing.T, file string) (p page) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		t.Fatal(err)
	}
	if _, err := time.Parse(time.DateOnly, p.Read); err != nil || p.Page == "" || len(p.Cases) == 0 {
		t.Fatalf("the page's address, its date or its cases are missing (%v)", err)
	}
	for _, c := range p.Cases {
		if !slices.Contains([]string{"documented", "client", "assumed"}, c.Status) || c.Name == "" {
			t.Errorf("the case %q has the status %q", c.Name, c.Status)
		}
	}
	return p
}

// play makes the call, and compares its requests and its result with the fixture.
func (c played) play(t *testing.T, free map[string]string, begin func(t *testing.T, baseURL string) Calls) {
	s := &stage{t: t, free: free}
	for _, e := range c.Exchanges {
		for range max(e.Times, 1) {
			s.left = append(s.left, e)
		}
		c.extra(t, e)
	}
	server := httptest.NewServer(s)
	defer server.Close()
	do := begin(t, server.URL)[c.Call]
	if do == nil {
		t.Fatalf("there is no call %q", c.Call)
	}
	got, err := do(t.Context(), c.Input)
	if err != nil {
		got = failure(err)
	}
	if left := s.rest(); left > 0 {
		t.Errorf("%d requests of the fixture were not sent", left)
	}
	if want, is := value(t, c.Want), value(t, encoded(shown(reflect.ValueOf(got)))); !reflect.DeepEqual(is, want) {
		t.Errorf("the plug reads\n  %s\nwant\n  %s", encoded(is), encoded(want))
	}
}

// failure returns an error as the fixtures show it.
func failure(err error) map[string]string {
	e := provider.AsError("", err)
	out := map[string]string{"Error": e.Code, "Message": e.Message}
	var cause *provider.Error
	if errors.As(e.Cause, &cause) {
		out["Cause"] = cause.Code + ": " + cause.Message
	}
	return out
}

// extra reports fields in Beyond that no request of the exchange has.
func (c played) extra(t *testing.T, e exchange) {
	for _, name := range c.Beyond {
		if !bytes.Contains(e.Request.Body, []byte(`"`+name+`"`)) {
			t.Errorf("the request has no field %q", name)
		}
	}
}

// stage is a server that plays the provider's part of a case.
type stage struct {
	t    *testing.T
	free map[string]string
	mu   sync.Mutex
	left []exchange
}

func (s *stage) rest() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.left)
}

// next returns the exchange that the request belongs to.
func (s *stage) next(r *http.Request) (e exchange, free string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if free, is := s.free[r.URL.Path]; is && (len(s.left) == 0 || s.left[0].Request.Path != r.URL.Path) {
		return e, free, true
	}
	if len(s.left) == 0 {
		return e, "", false
	}
	e, s.left = s.left[0], s.left[1:]
	return e, "", true
}

func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	e, free, ok := s.next(r)
	switch {
	case !ok:
		s.t.Errorf("the fixture has no request %s %s %s", r.Method, r.URL.RequestURI(), body)
		w.WriteHeader(http.StatusNotImplemented)
		return
	case free != "":
		_, _ = io.WriteString(w, free)
		return
	}
	if r.Method != e.Request.Method || r.URL.RequestURI() != e.Request.Path {
		s.t.Errorf("the plug sends %s %s, want %s %s", r.Method, r.URL.RequestURI(), e.Request.Method, e.Request.Path)
	}
	for name, want := range e.Request.Header {
		if got := r.Header.Get(name); got != want {
			s.t.Errorf("the plug sends the header %s: %q, want %q", name, got, want)
		}
	}
	if want := value(s.t, e.Request.Body); !same(value(s.t, body), want) {
		s.t.Errorf("the plug sends\n  %s\nwant\n  %s", body, encoded(want))
	}
	if e.Answer.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	for name, text := range e.Answer.Header {
		w.Header().Set(name, text)
	}
	w.WriteHeader(e.Answer.Status)
	_, _ = w.Write(append(e.Answer.Body, e.Answer.Text...)) // the client may stop reading
}

// value decodes a JSON text. An absent text is nil.
func value(t *testing.T, text []byte) (v any) {
	if len(text) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Errorf("%v in %s", err, text)
	}
	return v
}

func encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen, because shown returns only JSON values
	}
	return b
}

// same reports whether a request's body is equal to the fixture's body.
func same(got, want any) bool {
	switch w := want.(type) {
	case string:
		text, is := got.(string)
		return is && (text == w || w == anything && text != "")
	case map[string]any:
		g, is := got.(map[string]any)
		if !is || len(g) != len(w) {
			return false
		}
		for name := range w {
			if _, has := g[name]; !has || !same(g[name], w[name]) {
				return false
			}
		}
		return true
	case []any:
		g, is := got.([]any)
		return is && slices.EqualFunc(g, w, same)
	}
	return reflect.DeepEqual(got, want)
}

// shown returns a result as a JSON value with the names of the Go fields. It leaves out secrets, and
// fields that are zero. An outcome is always shown, because Unknown is its zero value.
func shown(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	switch x := v.Interface().(type) {
	case provider.Outcome:
		return x.String()
	case json.RawMessage:
		return x
	case []byte:
		return string(x)
	case *big.Int:
		return x.String()
	case secret.Text:
		return nil
	case time.Duration:
		return x.String()
	case money.Kobo, time.Time:
		if v.IsZero() {
			return nil
		}
		return x
	}
	switch v.Kind() {
	case reflect.Map:
		return v.Interface()
	case reflect.Pointer, reflect.Interface:
		return shown(v.Elem())
	case reflect.Struct:
		return fields(v)
	case reflect.Slice:
		list := []any{}
		for i := range v.Len() {
			list = append(list, shown(v.Index(i)))
		}
		return list
	}
	if v.IsZero() {
		return nil
	}
	return v.Interface()
}

// conclusions are the fields of a result that a plug concludes for the routes between providers.
// Fixtures leave them out, because no page states them.
var conclusions = provider.Words("Unstarted")

// fields returns the fields of a struct, with those of embedded structs.
func fields(v reflect.Value) map[string]any {
	out := map[string]any{}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || conclusions[field.Name] {
			continue
		}
		one := shown(v.Field(i))
		inner, nested := one.(map[string]any)
		list, listed := one.([]any)
		switch {
		case one == nil, nested && len(inner) == 0, listed && len(list) == 0:
		case nested && field.Anonymous:
			for name, x := range inner {
				out[name] = x
			}
		default:
			out[field.Name] = one
		}
	}
	return out
}
