package api

import (
	"cmp"
	"embed"
	"net/http"
	"regexp"
	"strings"

	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/guide"
)

// The documentation page is @scalar/api-reference. Its licence is in the same folder. The page
// reads /openapi.json in the browser and needs nothing from the internet.
//
//go:embed reference
var reference embed.FS

// pagePolicy allows the page to load only from this server. Scalar writes its styles into the
// page and needs 'unsafe-inline' for them.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
	"font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// mountReference serves the contract as /openapi.json, the documentation page under /docs, and the
// guides under /docs/guides/.
func (e *edge) mountReference() {
	file := func(name string) []byte {
		b, err := reference.ReadFile("reference/" + name)
		if err != nil {
			panic(err) // the file is part of the program
		}
		return b
	}
	page := func(path string, content []byte) {
		send := contract.Asset("text/html; charset=utf-8", content, false)
		e.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", pagePolicy)
			w.Header().Set("Referrer-Policy", "no-referrer")
			send(w, r)
		})
	}
	page("/docs", file("index.html"))
	page("/docs/{$}", file("index.html"))
	for name, content := range guide.Files() {
		if strings.HasSuffix(name, ".css") {
			e.mux.HandleFunc("GET /docs/guides/"+name, contract.Asset("text/css; charset=utf-8", content, false))
			continue
		}
		page("/docs/guides/"+name, content)
	}
	e.mux.Handle("GET /docs/guides/{$}", http.RedirectHandler("/docs/guides/"+guide.First, http.StatusFound))
	e.mux.HandleFunc("GET /docs/start.js", contract.Asset("text/javascript; charset=utf-8", file("start.js"), false))
	e.mux.HandleFunc("GET /docs/scalar.js", contract.Asset("text/javascript; charset=utf-8", file("scalar.js.gz"), true))
	e.mux.HandleFunc("GET /openapi.json", e.document)
}

// document serves the contract with the address of this server. A client that is generated from
// the document then calls this server.
func (e *edge) document(w http.ResponseWriter, r *http.Request) {
	contract.Asset("application/json", contract.At(public, e.address(r)), false)(w, r)
}

// hostShape matches a host name or an IP address, perhaps with a port.
var hostShape = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9.-]{0,252}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)

// address returns the address of this server from the settings, or else from the request. A
// trusted proxy reports the scheme and the host that the client requested.
func (e *edge) address(r *http.Request) string {
	scheme, host := e.Proxies.Asked(r)
	host = cmp.Or(host, r.Host)
	switch {
	case e.PublicURL != "":
		return e.PublicURL
	case !hostShape.MatchString(host):
		return "/"
	case r.TLS != nil || scheme == "https":
		return "https://" + host
	}
	return "http://" + host
}
