package apitest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		want, got string
		fits      bool
	}{
		{`{"a": 1}`, `{"a":1}`, true},
		{`{"a": 1}`, `{"a":1.0}`, false},
		{`{"a": 1, "b": 2}`, `{"b":2,"a":1}`, false},
		{`{"a": 1}`, `{"a":1,"b":2}`, false},
		{`{"a": 1, "<...>": ""}`, `{"c":3,"a":1,"b":2}`, true},
		{`[1, "<...>"]`, `[1,2]`, true},
		{`[1]`, `[1,2]`, false},
		{`{"a": null}`, `{"a":""}`, false},
		{`{"a": "<uuid>"}`, `{"a":"0199c1f2-7b1e-7c0a-9d3e-2f6a1b0c4d5e"}`, true},
		{`{"a": "<uuid>"}`, `{"a":"x"}`, false},
		{`{"a": "<time>"}`, `{"a":"2030-01-02T03:04:05.678Z"}`, true},
		{`{"a": "<time>"}`, `{"a":"2030-01-02T03:04:05Z"}`, false},
		{`{"a": "<integer>"}`, `{"a":"1"}`, false},
		{`{"a": "<number>"}`, `{"a":1500.5}`, true},
		{`{"a": "<decimal>"}`, `{"a":"1500.50"}`, true},
		{`{"a": "<decimal>"}`, `{"a":"1500.5"}`, false},
		{`{"a": "<text>"}`, `{"a":""}`, false},
		{`{"a": "<nonsense>"}`, `{"a":""}`, false},
		{`{"a": "<uuid $id>", "b": "$id"}`, `{"a":"0199c1f2-7b1e-7c0a-9d3e-2f6a1b0c4d5e","b":"other"}`, false},
	} {
		want, err := ordered(c.want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ordered(c.got)
		if err != nil {
			t.Fatal(err)
		}
		if err := (values{}).match("body", want, got); (err == nil) != c.fits {
			t.Errorf("%s against %s: %v", c.want, c.got, err)
		}
	}
}

const document = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/api/things/{id}":{"get":{"operationId":"thing","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
"responses":{"200":{"description":"d","headers":{"X-Request-Id":{"schema":{"type":"string"}}},"content":{"application/json":{"schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}}}}}}}}}`

// A player reports each difference between a response and its transcript. Otherwise a transcript
// that passes would prove nothing.
func TestAPlayerFindsWrongAnswers(t *testing.T) {
	answers := map[string]string{
		"/api/things/good": `{"id":"good"}`, "/api/things/other": `{"id":"more"}`, "/api/things/number": `{"id":5}`, "/api/things/none": `{}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, found := answers[r.URL.Path]
		if r.URL.Path == "/openapi.json" {
			text, found = document, true
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", "1")
		if !found {
			w.WriteHeader(http.StatusTeapot)
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	p := New(t, server.URL, func(testing.TB) map[string]string { return map[string]string{"known": "good"} })
	for exchange, complaint := range map[string]string{
		"GET /api/things/$known\n---\n200\n\n{\"id\": \"good\"}": "",
		"GET /api/things/other\n---\n200\n\n{\"id\": \"other\"}": "body.id: want",
		"GET /api/things/number\n---\n200":                       "against the contract",
		"GET /api/things/none\n---\n200":                         "against the contract",
		"GET /api/things/teapot\n---\n200":                       "want status 200, got 418",
		"GET /api/things/teapot\n---\n418":                       "against the contract",
		"GET /api/nothing\n---\n418":                             "no operation",
		"GET /api/things/$unknown\n---\n200":                     "$unknown is not known here",
		"GET /api/things/good\n---\n200\nX-Other: <any>":         "header X-Other",
	} {
		e, err := parse("title\n" + exchange + "\n")
		if err != nil {
			t.Fatal(err)
		}
		err = p.exchange(t.Context(), e, values{"known": "good"})
		if complaint == "" && err != nil || complaint != "" && (err == nil || !strings.Contains(err.Error(), complaint)) {
			t.Errorf("%s\nwant %q, got %v", exchange, complaint, err)
		}
	}
}

func TestRead(t *testing.T) {
	files := fstest.MapFS{
		"a.txt": {Data: []byte("About.\n\n### One\n# for the reader\n@eventually\nGET /a?b=c\nX-A: 1\n\n{\"a\":\n1}\n---\n200\nX-B: <any>\n\n{}\n\n### Two\nPOST /b\n---\n404\n")},
		"b.txt": {Data: []byte("### One\nGET /a\n200\n")},
	}
	got, err := Read(files, "a.txt")
	if err != nil || len(got) != 2 || !got[0].Eventually || got[0].Target != "/a?b=c" || got[0].Body != "{\"a\":\n1}" || got[0].Header[0] != [2]string{"X-A", "1"} ||
		got[0].Want[0] != [2]string{"X-B", "<any>"} || got[0].Answer != "{}" || got[1].Status != 404 || got[1].Answer != "" {
		t.Errorf("%v %+v", err, got)
	}
	if _, err := Read(files, "b.txt"); err == nil {
		t.Error("a request without an answer was read")
	}
}
