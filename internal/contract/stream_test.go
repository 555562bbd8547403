package contract

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// hiding is a response that hides the connection.
type hiding struct{ http.ResponseWriter }

// wrapping is one that does not.
type wrapping struct{ http.ResponseWriter }

func (w wrapping) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// A response that hides the connection cannot move its write deadline, so the server would cut a long body. Stream says so before the
// first byte. A recorder of tests has no connection to cut.
func TestAStreamMovesTheDeadlineOrFails(t *testing.T) {
	said := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var to http.ResponseWriter = wrapping{w}
		if r.URL.Path == "/hidden" {
			to = hiding{w}
		}
		begun, err := Stream(to, func(out io.Writer) error { _, err := io.WriteString(out, "text"); return err })
		if begun != (err == nil) {
			t.Errorf("%s: begun is %v, %v", r.URL.Path, begun, err)
		}
		said <- err
	}))
	t.Cleanup(server.Close)
	for path, want := range map[string]error{"/hidden": http.ErrNotSupported, "/": nil} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close() // nothing of it was read
		if err := <-said; !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	to := httptest.NewRecorder()
	if _, err := Stream(wrapping{to}, func(out io.Writer) error { _, err := io.WriteString(out, "text"); return err }); err != nil || to.Body.String() != "text" {
		t.Errorf("to a recorder: %v, %q", err, to.Body)
	}
}
