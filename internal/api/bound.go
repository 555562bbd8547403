package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/peer"
)

// MaxHeader is the largest size of a request's first line and headers, in bytes.
const MaxHeader = 32 << 10

// headerBytes counts the first line and the headers of a request as HTTP/1.1 writes them.
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
	callOf(r.Context()).err = fault.New(contract.TooLarge, "the headers are too long")
	w.Header().Set("Connection", "close") // the body is not read
	contract.Write(w, http.StatusRequestHeaderFieldsTooLarge, problem("Request headers are larger than 32 KiB"))
	return false
}

// callbacks is the path of the providers' notifications. Each handler there limits its
// bodies itself.
const callbacks = "/callbacks/"

// bodyFits refuses a request that declares a body above the limit, before all other
// checks. Each answer to such a request is the last on its connection. Otherwise net/http
// would wait for the body before it answers.
func (e *edge) bodyFits(w http.ResponseWriter, r *http.Request) bool {
	if r.ContentLength <= contract.MaxBody {
		return true
	}
	w.Header().Set("Connection", "close")
	if strings.HasPrefix(r.URL.Path, callbacks) {
		return true
	}
	if canonical(r.URL.EscapedPath()) {
		_, pattern := e.mux.Handler(r)
		callOf(r.Context()).enter(e.contract.Operations[bare(pattern)])
	}
	refuse(w, r, contract.ErrTooLarge)
	return false
}

// longAgo is a deadline in the past.
var longAgo = time.Unix(1, 0)

// hangUp stops reading a request whose answer is the last on its connection. Otherwise
// net/http would wait for the rest of the body before it closes the connection.
func hangUp(w http.ResponseWriter) {
	if w.Header().Get("Connection") == "close" {
		_ = http.NewResponseController(w).SetReadDeadline(longAgo) // a test's recorder has no connection
	}
}

// allowCallback limits the notifications from one address to one path. A path is a
// pattern of the mux, so a name that a caller invents gets no bucket. The body of a
// refused notification is not read, and the provider sends the notification again.
func (e *edge) allowCallback(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, callbacks) {
		return true
	}
	_, path := e.mux.Handler(r)
	if path == "/" {
		return true // no handler
	}
	err := take(w.Header(), e.limits.callbacks, path+" "+peer.Network(callOf(r.Context()).address), e.limits.Callbacks)
	if err == nil {
		return true
	}
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close") // the body is not read
	}
	refuse(w, r, err)
	return false
}
