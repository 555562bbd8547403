package api

import (
	"net/http"
	"slices"
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

// fits reports whether the headers of a request are short enough. If not, it also sends the error
// response.
func (e *edge) fits(w http.ResponseWriter, r *http.Request) bool {
	if headerBytes(r) <= MaxHeader {
		return true
	}
	callOf(r.Context()).refused(fault.New(contract.TooLarge, "the headers are too long").With(fault.RequestTooLarge))
	w.Header().Set("Connection", "close") // the body is not read
	contract.Write(w, http.StatusRequestHeaderFieldsTooLarge, problem("Request headers are larger than 32 KiB"))
	return false
}

// callbacks is the path prefix of the providers' notifications. Each handler below it limits the
// size of its request bodies.
const callbacks = "/callbacks/"

// pages are the path prefixes of the console. Its handlers limit the size of their forms, and answer with a page.
var pages = []string{"/console/", "/app/"}

// isPage reports whether a path is one of the console.
func isPage(path string) bool {
	return slices.ContainsFunc(pages, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

// bodyFits refuses a request whose Content-Length is above the limit, before the request is routed.
// The connection closes after the response. Otherwise net/http would wait for the body before it
// responds.
func (e *edge) bodyFits(w http.ResponseWriter, r *http.Request) bool {
	if r.ContentLength <= contract.MaxBody || isPage(r.URL.Path) {
		return true
	}
	max := int64(contract.MaxBody)
	if canonical(r.URL.EscapedPath()) {
		if op := e.contract.Operations[bare(e.pattern(r))]; op != nil {
			max = op.MaxBody
		}
	}
	if r.ContentLength <= max {
		return true
	}
	w.Header().Set("Connection", "close")
	if strings.HasPrefix(r.URL.Path, callbacks) {
		return true
	}
	if canonical(r.URL.EscapedPath()) {
		callOf(r.Context()).enter(e.contract.Operations[bare(e.pattern(r))])
	}
	refuse(w, r, contract.ErrTooLarge(max))
	return false
}

// longAgo is a deadline in the past.
var longAgo = time.Unix(1, 0)

// hangUp stops reading a request if its connection closes after the response. Otherwise
// net/http would wait for the rest of the body before it closes the connection.
func hangUp(w http.ResponseWriter) {
	if w.Header().Get("Connection") == "close" {
		_ = http.NewResponseController(w).SetReadDeadline(longAgo) // a test's recorder has no connection
	}
}

// allowCallback limits how many notifications one address may send to one callback path. Only paths
// that the mux serves are counted, so a caller cannot create rate-limit buckets by inventing paths.
// The body of a refused notification is not read, and the provider sends the notification again.
func (e *edge) allowCallback(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, callbacks) {
		return true
	}
	path := e.pattern(r)
	if path == "/" {
		return true // the path has no handler
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
