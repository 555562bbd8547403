package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/api/apitest"
	"github.com/kobo-waas/kobo/internal/peer"
)

// served returns the body of /openapi.json. The function change, unless nil, edits the API's
// configuration, and ask edits the request.
func served(t testing.TB, change func(*api.Config), ask func(*http.Request)) []byte {
	t.Helper()
	config, _ := broken{func() error { return nil }}.config()
	if change != nil {
		change(&config)
	}
	h, err := api.New(config)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/openapi.json", nil)
	if ask != nil {
		ask(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%d %s", w.Code, w.Header())
	}
	text, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func decoded(t testing.TB, text []byte) (doc map[string]any) {
	t.Helper()
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// each calls the function see for every object in the document, except for examples.
func each(path string, node any, see func(path string, object map[string]any)) {
	switch n := node.(type) {
	case map[string]any:
		see(path, n)
		for _, key := range slices.Sorted(maps.Keys(n)) {
			if key != "example" && key != "examples" && key != "value" {
				each(path+"/"+key, n[key], see)
			}
		}
	case []any:
		for i, item := range n {
			each(fmt.Sprint(path, "/", i), item, see)
		}
	}
}

func TestThePublicDocumentIsComplete(t *testing.T) {
	doc := decoded(t, served(t, nil, nil))
	properties := 0
	each("", doc, func(path string, object map[string]any) {
		for key, value := range object {
			if strings.HasPrefix(key, "x-") {
				t.Errorf("%s: %s is ours", path, key)
			}
			if kinds, several := value.([]any); several && key == "type" && (len(kinds) != 2 || !slices.Contains(kinds, any("null"))) {
				t.Errorf("%s: a value of %v is no type of most languages: say oneOf", path, kinds)
			}
		}
		if !strings.HasSuffix(path, "/properties") {
			return
		}
		for name, property := range object {
			properties++
			if text, _ := property.(map[string]any)["description"].(string); len(text) < 4 {
				t.Errorf("%s/%s has no description", path, name)
			}
		}
	})
	if properties < 700 {
		t.Errorf("only %d properties were seen", properties)
	}
	if licence := doc["info"].(map[string]any)["license"]; fmt.Sprint(licence) != "map[identifier:Apache-2.0 name:Apache License 2.0]" {
		t.Errorf("the licence is %v", licence)
	}
}

// A company may use an idempotencyKey for one purchase only, whatever type of product it buys
// (testdata/vtu_purchase_data.txt). Every description of the field idempotencyKey in /openapi.json
// states this rule.
func TestTheDocumentStatesTheScopeOfAKey(t *testing.T) {
	seen := 0
	each("", decoded(t, served(t, nil, nil)), func(path string, object map[string]any) {
		key, there := object["idempotencyKey"].(map[string]any)
		if !there || !strings.HasSuffix(path, "/properties") {
			return
		}
		seen++
		if text, _ := key["description"].(string); !strings.Contains(text, "over all kinds") {
			t.Errorf("%s: %q does not say the scope", path, text)
		}
	})
	if seen < 5 {
		t.Errorf("%d keys were seen", seen)
	}
}

// The example of every request is a valid body with all fields. Only a field that cannot be
// combined with the example's other fields is absent.
func TestEveryRequestHasAWholeExample(t *testing.T) {
	c, doc := contract(t), decoded(t, served(t, nil, nil))
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	left := map[string]string{
		"validateCorporateKyc": "kyc_id",   // sent only if session_id is absent
		"generateCard":         "number",   // only for a physical card
		"setPIN":               "pinToken", // only without currentPin
	}
	bodies := 0
	for path, item := range doc["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			o := operation.(map[string]any)
			body, takes := o["requestBody"].(map[string]any)
			if !takes {
				continue
			}
			bodies++
			id := o["operationId"].(string)
			media := body["content"].(map[string]any)["application/json"].(map[string]any)
			example, _ := media["example"].(map[string]any)
			name := strings.TrimPrefix(media["schema"].(map[string]any)["$ref"].(string), "#/components/schemas/")
			for field := range schemas[name].(map[string]any)["properties"].(map[string]any) {
				if _, there := example[field]; !there && left[id] != field {
					t.Errorf("the example of %s is without %s", id, field)
				}
			}
			text, err := json.Marshal(example)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequestWithContext(t.Context(), strings.ToUpper(method), path, nil)
			r.Header.Set("Content-Type", "application/json")
			if err := c.Takes(r, string(text)); err != nil {
				t.Errorf("the example of %s: %v", id, err)
			}
			if err := api.KeepsTheRules(r.Method, path, string(text)); err != nil {
				t.Errorf("the example of %s: %v", id, err)
			}
		}
	}
	if bodies != 36 {
		t.Errorf("%d operations take a body", bodies)
	}
}

// In /openapi.json, every response lists its headers. The transcripts check this only for the
// responses that they contain, and this test checks it for all responses.
func TestEveryAnswerNamesItsHeaders(t *testing.T) {
	doc := decoded(t, served(t, nil, nil))
	shared := doc["components"].(map[string]any)["responses"].(map[string]any)
	limited := []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}
	for path, item := range doc["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			for status, answer := range operation.(map[string]any)["responses"].(map[string]any) {
				a := answer.(map[string]any)
				if ref, is := a["$ref"].(string); is {
					a = shared[strings.TrimPrefix(ref, "#/components/responses/")].(map[string]any)
				}
				want := []string{"X-Request-Id"}
				if strings.HasPrefix(path, "/api/") && status != "401" && status != "431" {
					want = append(want, limited...)
				}
				if strings.HasPrefix(path, "/api/") && status >= "400" {
					want = append(want, "Kobo-Reason")
				}
				if status == "429" || status == "503" {
					want = append(want, "Retry-After")
				}
				headers, _ := a["headers"].(map[string]any)
				for _, name := range want {
					if headers[name] == nil {
						t.Errorf("%s %s %s does not say %s", method, path, status, name)
					}
				}
			}
		}
	}
}

func TestTheDocumentNamesItsServer(t *testing.T) {
	trusted, err := peer.Parse([]string{"10.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]struct {
		public  string
		host    string
		forward string
		from    string
		header  [2]string
	}{
		"https://api.y.com":       {host: "10.0.0.9:8080", from: "10.0.0.1:1", header: [2]string{"Forwarded", "for=203.0.113.9;proto=https;host=api.y.com"}},
		"https://api.z.com":       {host: "10.0.0.9:8080", forward: "https", from: "10.0.0.1:1", header: [2]string{"X-Forwarded-Host", "api.z.com"}},
		"http://not.heeded":       {host: "not.heeded", from: "203.0.113.9:1", header: [2]string{"X-Forwarded-Host", "api.z.com"}},
		"http://127.0.0.1:8080":   {host: "127.0.0.1:8080"},
		"http://[::1]:8080":       {host: "[::1]:8080"},
		"http://pay.example.com":  {host: "pay.example.com", forward: "ftp", from: "10.0.0.1:1"},
		"https://pay.example.com": {host: "pay.example.com", forward: "https", from: "10.0.0.1:1"},
		"http://own.example.com":  {host: "own.example.com", forward: "https", from: "203.0.113.9:1"}, // the proxy is not trusted
		"https://api.example.com": {public: "https://api.example.com", host: "10.0.0.1"},
		"/":                       {host: `evil"}],"x":[{"`},
	} {
		doc := decoded(t, served(t, func(config *api.Config) { config.PublicURL, config.Proxies = c.public, trusted }, func(r *http.Request) {
			r.Host, r.RemoteAddr = c.host, c.from
			r.Header.Set("X-Forwarded-Proto", c.forward)
			r.Header.Set(c.header[0], c.header[1])
		}))
		if got := doc["servers"].([]any)[0].(map[string]any)["url"]; got != want || len(doc["servers"].([]any)) != 1 {
			t.Errorf("the server is %v, not %s", got, want)
		}
	}
}

// A widely used generator makes a client from /openapi.json, and the client compiles.
func TestAGeneratorMakesAClientFromTheDocument(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	run := func(name string, args ...string) {
		if text, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	document := write("openapi.json", served(t, nil, nil))
	config := write("client.yaml", []byte("package: client\ngenerate: {models: true, client: true}\n"))
	client := filepath.Join(folder, "client.go")
	run("go", "tool", "oapi-codegen", "-config", config, "-o", client, document)
	// With the overlay, the compiler sees the client as a folder of this module. No file is added.
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "client", "client.go"): client}})
	if err != nil {
		t.Fatal(err)
	}
	run("go", "build", "-overlay", write("overlay.json", overlay), "./client")
}

// The check of a response fails if the response has a header that the document does not list.
func TestAnUndocumentedHeaderIsFound(t *testing.T) {
	c, err := apitest.ReadContract([]byte(strings.ReplaceAll(string(served(t, nil, nil)), `"Retry-After":`, `"Retry-Never":`)))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/api/v1/settlement/accounts", nil)
	header := http.Header{"X-Request-Id": {"1"}, "Content-Type": {"application/json"}, "Retry-After": {"1"}, "Kobo-Reason": {"rate_limited"}}
	err = c.Check(r, http.StatusTooManyRequests, header, []byte(`{"status":"error","message":"Too many requests"}`))
	if err == nil || !strings.Contains(err.Error(), "may answer 429 with Retry-After") {
		t.Error(err)
	}
}

// unmarked are the numbers of the contract that look like money in naira and are none.
var unmarked = map[string]string{
	"CryptoTransaction/amount": "units of a coin",
	"CryptoLatestMeta/total":   "a number of transactions",
	"bands/percent":            "a part of an amount",
}

// Every amount of money has a Go type of the package money in the contract: this is the mark by which the
// generated clients read it as kobo, and never as a float. A number with decimals is money, and so is an
// integer whose name or description says so.
func TestEveryAmountIsMarked(t *testing.T) {
	called := regexp.MustCompile(`(?i)(amount|balance|fee|total|price|cap|flat)$`)
	said := regexp.MustCompile(`\b([Nn]aira|kobo)\b`)
	marked, used := 0, map[string]bool{}
	text, err := os.ReadFile("contract.json")
	if err != nil {
		t.Fatal(err)
	}
	each("", decoded(t, text), func(path string, schema map[string]any) {
		properties, _ := schema["properties"].(map[string]any)
		for name, property := range properties {
			p, _ := property.(map[string]any)
			types := fmt.Sprint(p["type"])
			if goType, _ := p["x-go-type"].(string); strings.HasPrefix(goType, "money.") {
				marked++
				continue
			}
			description, _ := p["description"].(string)
			isAmount := strings.Contains(types, "number") ||
				strings.Contains(types, "integer") && (called.MatchString(name) || said.MatchString(description))
			if !isAmount {
				continue
			}
			parts := strings.Split(strings.TrimSuffix(path, "/items"), "/")
			short := parts[len(parts)-1] + "/" + name
			if used[short] = true; unmarked[short] == "" {
				t.Errorf("%s/properties/%s is an amount without x-go-type: money.Kobo", path, name)
			}
		}
	})
	if marked < 80 {
		t.Errorf("%d marked amounts: the search is broken", marked)
	}
	for short := range unmarked {
		if !used[short] {
			t.Errorf("%s is excused, and there is none", short)
		}
	}
}
