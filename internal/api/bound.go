package api

import (
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/contract"
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
	callOf(r.Context()).err = fault.New(contract.TooLarge, "the headers are too long")
	w.Header().Set("Connection", "close") // its body is not read
	contract.Write(w, http.StatusRequestHeaderFieldsTooLarge, problemBody{"error", "Request headers are larger than 32 KiB"})
	return false
}

// callbacks is where providers tell of what happened.
const callbacks = "/callbacks/"

// allowCallback bounds how often one address calls one provider's path. Nothing is
// read of a notice that comes too soon; its provider sends it again.
func (e *edge) allowCallback(w http.ResponseWriter, r *http.Request) bool {
	rest, isOne := strings.CutPrefix(r.URL.Path, callbacks)
	if !isOne || e.limits == nil || e.limits.Callbacks == (Limit{}) {
		return true
	}
	provider, _, _ := strings.Cut(rest, "/")
	s, allowed := e.limits.buckets.Take("callback "+peer.Network(callOf(r.Context()).address)+" "+provider, e.limits.Callbacks)
	s.Show(w.Header())
	if !allowed {
		refuse(w, r, account, s.Refusal())
	}
	return allowed
}
