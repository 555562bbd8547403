package apptest_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// The tests of this file send every POST that takes an Idempotency-Key. A test of package api
// checks that each POST with an effect takes an Idempotency-Key.
func TestEveryPostWithAKeyIsTried(t *testing.T) {
	t.Parallel()
	var doc struct {
		Paths map[string]map[string]struct {
			Idempotent bool `json:"x-idempotent"`
		}
	}
	if err := json.Unmarshal(api.Document(), &doc); err != nil {
		t.Fatal(err)
	}
	for path, methods := range doc.Paths {
		tried := slices.ContainsFunc(posts, func(p post) bool { return p.path == strings.TrimSuffix(path, "/") })
		if o := methods["post"]; o.Idempotent != tried {
			t.Errorf("POST %s takes a key: %v, and is among the posts that are tried: %v", path, o.Idempotent, tried)
		}
	}
	for _, p := range posts {
		if _, is := doc.Paths[p.path]["post"]; !is {
			t.Errorf("there is no POST %s", p.path)
		}
	}
}

// If a POST is repeated, it gets the same response, byte for byte, also from a second program. A
// different request with the same Idempotency-Key is refused.
func TestEveryPostAnswersOnce(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		power := apptest.Routes("UTILITY=vtpass")
		p, other := home.Start(t, power), home.Start(t, power)
		hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
		t.Cleanup(hook.Close)
		s := newStory(t, p, hook.URL)
		s.kept["meter"] = p.Verify(t, p.Category("Utility", "Ikeja Electric Payment - IKEDC"), "45012345610")
		for _, o := range posts {
			if o.wait > 0 {
				p.Advance(o.wait)
				other.Advance(time.Millisecond) // otherwise it follows this move within a second
			}
			path, body := s.request(o)
			key := "key of " + o.path
			for _, bad := range []string{"", strings.Repeat("k", 256), "naïve", "tab\there"} {
				if a := p.Do(http.MethodPost, path, body, header, bad); a.Status != http.StatusBadRequest || !strings.Contains(a.Body, "Idempotency-Key must be") {
					t.Errorf("%s: the key %q: %s", o.path, bad, a)
				}
			}
			first := p.Do(http.MethodPost, path, body, header, key)
			if first.Status != http.StatusOK {
				t.Fatalf("%s: %s", path, first)
			}
			same(t, o.path, first, other.Do(http.MethodPost, path, body, header, key))
			same(t, o.path+"/", first, other.Do(http.MethodPost, path+"/?dry_run=false", respelled(t, body), header, key))
			if cc := first.Header.Get("Cache-Control"); cc != p.Do(http.MethodPost, path, body, header, key).Header.Get("Cache-Control") {
				t.Errorf("%s: Cache-Control was %q", o.path, cc)
			}
			p.Do(http.MethodPost, "/api/v1/settlement/accounts", `{"name": "Under another's key"}`, header, key).Want(t, http.StatusUnprocessableEntity)
			s.shown(p, key, first)
			s.took(p, o, first)
		}
		holdsTogether(t, p)
	})
}

// respelled returns the same JSON body in a different spelling. It changes escapes, white space
// and the order of fields, and adds a zero fraction to numbers.
func respelled(t *testing.T, body any) any {
	text, is := body.(string)
	if !is {
		return body
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var fields map[string]any
	if err := d.Decode(&fields); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	out.WriteString("{ ")
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	slices.Reverse(names)
	for i, name := range names {
		if i > 0 {
			out.WriteString(" ,\n")
		}
		value, err := json.Marshal(fields[name])
		if err != nil {
			t.Fatal(err)
		}
		if n, is := fields[name].(json.Number); is && strings.Contains(n.String(), ".") {
			value = append(value, '0')
		}
		escaped := strings.NewReplacer("a", `\u0061`, "1", `\u0031`)
		if value[0] == '"' {
			value = []byte(escaped.Replace(string(value)))
		}
		out.WriteString(`"` + escaped.Replace(name) + `" : ` + string(value))
	}
	return out.String() + " }"
}

// shown fails the test unless GET /idempotency shows the same response for the Idempotency-Key.
func (s *story) shown(p *apptest.Program, key string, want apptest.Answer) {
	s.t.Helper()
	var use struct {
		Status         string
		ResponseStatus int
		Response       json.RawMessage
	}
	a := p.Do(http.MethodGet, "/api/v1/idempotency/"+url.PathEscape(key), nil).Want(s.t, http.StatusOK)
	a.Into(s.t, &struct{ Data any }{&use})
	if a.Header.Get("Cache-Control") != "no-store" {
		s.t.Errorf("%s: what may show a secret may be kept: %v", key, a.Header)
	}
	if use.Status != "DONE" || use.ResponseStatus != want.Status || len(use.Response) == 0 {
		s.t.Errorf("%s: %+v", key, use)
	}
}

// A program is killed after a request has had its effect, but before the response. The next request
// with the same Idempotency-Key gets the outcome of the first request. Nothing is executed twice.
func TestADeathBetweenEffectAndAnswer(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		for _, dies := range []apptest.Moment{apptest.FirstCommit, apptest.SecondCommit} {
			t.Run(string(dies), func(t *testing.T) {
				t.Parallel()
				home := apptest.NewHome(t, dialect)
				p := home.Start(t)
				s := newStory(t, p, "http://127.0.0.1:9")
				for _, o := range posts {
					if o.wait > 0 {
						p.Advance(o.wait)
					}
					path, body := s.request(o)
					if strings.HasPrefix(o.path, "/api/v1/webhooks/") || o.path == "/api/v1/vtu/purchase-utility" {
						continue
					}
					if !o.crash {
						s.took(p, o, p.Do(http.MethodPost, path, body, header, o.path).Want(t, http.StatusOK))
						continue
					}
					p.Stop()
					child := home.Spawn(t, dies, time.Second)
					died, err := child.Try(t.Context(), http.MethodPost, path, body, header, o.path)
					child.Kill()
					p = home.Start(t)
					p.Advance(time.Minute)
					first := p.Do(http.MethodPost, path, body, header, o.path)
					t.Logf("%s: %v %v, then %q %s", o.path, died, err, first.Header.Get(replayed), first)
					if err == nil && first.Body != died.Body {
						t.Errorf("%s was answered %s, and then %s", o.path, died, first)
					}
					same(t, o.path, stripped(first), p.Do(http.MethodPost, path, body, header, o.path))
					if first.Status != http.StatusOK {
						// A status other than 200 means that the request did nothing, or that its outcome comes
						// later. So the test sends it again later, under a new Idempotency-Key.
						if strings.Contains(o.path, "/card/") {
							p.Advance(time.Hour)
						} else {
							p.Advance(61 * time.Second) // an OTP stays valid for ten minutes
						}
						first = p.Do(http.MethodPost, path, body, header, o.path+" again")
					}
					if first.Status == http.StatusTooManyRequests && strings.HasSuffix(o.path, "-otp") {
						continue // the interrupted request counts towards the limit of OTP requests
					}
					s.took(p, o, first.Want(t, http.StatusOK))
				}
				p.Advance(time.Hour)
				holdsTogether(t, p)
				for _, sale := range p.Sales() {
					if sale.Executions > 1 {
						t.Errorf("%s was executed %d times", sale.Reference, sale.Executions)
					}
				}
				resolved(t, p.Client)
			})
		}
	})
}

// A POST that calls no provider stores its effect and its response in the same commit. If the
// program is killed right after that commit, the response is still stored.
func TestADeathRightAfterTheOnlyCommit(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		p := home.Start(t)
		hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
		t.Cleanup(hook.Close)
		s := newStory(t, p, hook.URL)
		for _, o := range posts {
			if o.path == "/api/v1/vtu/purchase-utility" {
				continue
			}
			if o.wait > 0 {
				p.Advance(o.wait)
			}
			path, body := s.request(o)
			// The child's biller does not implement VerifyEntity. The jobs of a bulk payout commit too, so the child
			// could die in them before it hears of the cancellation.
			if o.crash || o.path == "/api/v1/vtu/verify-entity" || o.path == "/api/v1/settlement/bulk-payout/{bulkId}/cancel" {
				s.took(p, o, p.Do(http.MethodPost, path, body, header, o.path).Want(t, http.StatusOK))
				continue
			}
			p.Stop()
			child := home.Spawn(t, apptest.FirstCommit, time.Second)
			if died, err := child.Try(t.Context(), http.MethodPost, path, body, header, o.path); err == nil {
				t.Errorf("%s was answered %s before its commit", o.path, died)
			}
			child.Kill()
			p = home.Start(t)
			first := p.Do(http.MethodPost, path, body, header, o.path).Want(t, http.StatusOK)
			if first.Header.Get(replayed) != "true" {
				t.Errorf("%s was done again: %s", o.path, first)
			}
			s.took(p, o, first)
		}
		holdsTogether(t, p)
	})
}
