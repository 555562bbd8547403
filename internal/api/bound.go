package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/peer"
)

// MaxHeader is how many bytes the first line and the headers of a request may have.
const MaxHeader = 32 << 10

// headerBytes is how long the first line and the headers of a request are, as
// HTTP/1.1 writes them.
func headerBytes(r *http.Request) int {
	n := len(r.Method) + len(r.RequestURI) + len(r.Proto) + len("  \r\n") + len("Host: \r\n") + len(r.Host)
	for name, values := range r.Header {
		for _, value := range values {
			n += len(name) + len(value) + len(": \r\n")
		}
	}
	return n
}

// fits refuses a request whose headers are too long.
func (e *edge) fits(w http.ResponseWriter, r *http.Request) bool {
	if headerBytes(r) <= MaxHeader {
		return true
	}
	callOf(r.Context()).err = fault.New(tooLarge, "the headers are too long")
	w.Header().Set("Connection", "close") // its body is not read
	write(w, http.StatusRequestHeaderFieldsTooLarge, problemBody{"error", "Request headers are larger than 32 KiB"})
	return false
}

// callbacks is where providers tell of what happened. Each of these doors bounds its
// bodies itself.
const callbacks = "/callbacks/"

// bodyFits refuses a request that declares a body above the limit, before anything
// else is asked. In every case the answer is the last on its connection: net/http
// would wait for the body, and answer after it.
func (e *edge) bodyFits(w http.ResponseWriter, r *http.Request) bool {
	if r.ContentLength <= maxBody {
		return true
	}
	w.Header().Set("Connection", "close")
	if strings.HasPrefix(r.URL.Path, callbacks) {
		return true
	}
	dress := account
	if c := callOf(r.Context()); canonical(r.URL.EscapedPath()) {
		_, pattern := e.mux.Handler(r)
		if c.op = e.contract.operations[bare(pattern)]; c.op != nil {
			dress = c.op.family
		}
	}
	refuse(w, r, dress, errTooLarge)
	return false
}

// longAgo is a deadline that has passed, whatever the time is.
var longAgo = time.Unix(1, 0)

// hangUp ends the reading of a request whose answer is the last on its connection.
// Otherwise net/http would wait for the rest of the body before it closes.
func hangUp(w http.ResponseWriter) {
	if w.Header().Get("Connection") == "close" {
		_ = http.NewResponseController(w).SetReadDeadline(longAgo) // a recorder of a test has no connection
	}
}

// allowCallback bounds how often one address calls one callback path, as the mux
// knows paths: a name that a caller invents gets no bucket of its own. Nothing is
// read of a notice that comes too soon; its provider sends it again.
func (e *edge) allowCallback(w http.ResponseWriter, r *http.Request) bool {
	if e.limits == nil || e.limits.Callbacks == (Limit{}) || !strings.HasPrefix(r.URL.Path, callbacks) {
		return true
	}
	_, path := e.mux.Handler(r)
	if path == "/" {
		return true // nobody is there
	}
	s, allowed := e.limits.notices.Take(path+" "+peer.Network(callOf(r.Context()).address), e.limits.Callbacks)
	s.Show(w.Header())
	if !allowed {
		if r.ContentLength != 0 {
			w.Header().Set("Connection", "close") // its body is not read
		}
		refuse(w, r, account, s.Refusal())
	}
	return allowed
}
