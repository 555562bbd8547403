package console

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/contract"
)

// connection is a response whose write deadline can be moved.
type connection struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (c *connection) SetWriteDeadline(at time.Time) error {
	c.until = at
	return nil
}

// A statement that a page passes on moves the write deadline of the browser's connection. Otherwise the server cuts it.
func TestAFileOfTheCompanysAPIMovesTheDeadline(t *testing.T) {
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := contract.Stream(w, func(out io.Writer) error { _, err := io.WriteString(out, "text"); return err }); err != nil {
			t.Error(err)
		}
	})
	to := &connection{ResponseRecorder: httptest.NewRecorder()}
	v := &visit{Request: httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/app/money/statement", nil), w: to, console: &console{Config: Config{Company: api}}}
	if err := v.deliver("/api/v1/settlement/statement", func() error { return nil }); err != nil || to.Body.String() != "text" || !to.until.After(time.Now()) {
		t.Errorf("%v, %q, the deadline is %s", err, to.Body, to.until)
	}
}
