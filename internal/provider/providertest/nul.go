package providertest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// withNUL ends each text of a decoded JSON value with the character U+0000.
func withNUL(v any) any {
	switch x := v.(type) {
	case string:
		return x + "\x00"
	case map[string]any:
		for name, one := range x {
			x[name] = withNUL(one)
		}
	case []any:
		for i, one := range x {
			x[i] = withNUL(one)
		}
	}
	return v
}

// isAnswered reports whether the provider answers each request of the case. A reply that is lost has no text.
func (c played) isAnswered() bool {
	for _, e := range c.Exchanges {
		if s := e.Answer.Status; s == 0 || s == http.StatusRequestTimeout || s == http.StatusTooManyRequests || s >= 500 {
			return false
		}
	}
	return true
}

// playNUL makes the call while each text of the provider ends with U+0000. PostgreSQL stores no such text, so one in
// the result would hold back the commit. The requests and the outcome may differ from the fixture.
func (c played) playNUL(t *testing.T, free map[string]string, begin func(t *testing.T, baseURL string) Calls) {
	s := &spoilt{t: t, free: free, left: c.Exchanges}
	server := httptest.NewServer(s)
	defer server.Close()
	got, err := begin(t, server.URL)[c.Call](t.Context(), spoiltInput(t, c.Input))
	if err != nil {
		got = failure(err)
	}
	if text := encoded(shown(reflect.ValueOf(got))); bytes.Contains(text, []byte(`\u0000`)) {
		t.Errorf("the plug passes on a character that no database stores:\n  %s", text)
	}
}

// spoiltInput returns the input of a call. The body of an unsigned notification is spoilt.
func spoiltInput(t *testing.T, input json.RawMessage) json.RawMessage {
	fields, _ := value(t, input).(map[string]any)
	body, is := fields["Body"].(map[string]any)
	if !is {
		return input
	}
	fields["Body"] = withNUL(body)
	return encoded(fields)
}

// spoilt is a server whose replies are those of a case, with U+0000 at the end of each text.
type spoilt struct {
	t    *testing.T
	free map[string]string
	mu   sync.Mutex
	left []exchange
}

// ServeHTTP sends the next reply to a request with this path. It repeats the last one.
func (s *spoilt) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []int
	for i, e := range s.left {
		if path, _, _ := strings.Cut(e.Request.Path, "?"); path == r.URL.Path {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		if free, is := s.free[r.URL.Path]; is {
			_, _ = io.WriteString(w, free) // the client may stop reading
			return
		}
		say(w, http.StatusBadRequest, "{}")
		return
	}
	answer := s.left[found[0]].Answer
	if len(found) > 1 {
		s.left = append(s.left[:found[0]:found[0]], s.left[found[0]+1:]...)
	}
	body := answer.Text
	if len(answer.Body) > 0 {
		body = string(encoded(withNUL(value(s.t, answer.Body)))) + body
	}
	say(w, answer.Status, body)
}
