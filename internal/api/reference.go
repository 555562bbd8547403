package api

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"net/http"
	"regexp"
	"strings"
)

// The page for people: @scalar/api-reference (its licence lies beside it), which
// reads /openapi.json in the browser and needs nothing from the internet.
//
//go:embed reference
var reference embed.FS

// pagePolicy lets the page load from this server and nowhere else. Scalar puts
// its style sheet into the page, hence 'unsafe-inline' for styles.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
	"font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// mountReference serves the contract: for programs and for people.
func (e *edge) mountReference() {
	file := func(name string) []byte {
		b, err := reference.ReadFile("reference/" + name)
		if err != nil {
			panic(err) // the file is part of the program
		}
		return b
	}
	page := asset("text/html; charset=utf-8", file("index.html"), false)
	for _, path := range []string{"/docs", "/docs/{$}"} {
		e.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", pagePolicy)
			w.Header().Set("Referrer-Policy", "no-referrer")
			page(w, r)
		})
	}
	e.mux.HandleFunc("GET /docs/start.js", asset("text/javascript; charset=utf-8", file("start.js"), false))
	e.mux.HandleFunc("GET /docs/scalar.js", asset("text/javascript; charset=utf-8", file("scalar.js.gz"), true))
	e.mux.HandleFunc("GET /openapi.json", e.document)
}

// document serves the contract with the address of this server in it, so that a
// client made from it knows whom to ask.
func (e *edge) document(w http.ResponseWriter, r *http.Request) {
	text, err := e.contract.at(e.address(r))
	if err != nil {
		refuse(w, r, account, err)
		return
	}
	asset("application/json", text, false)(w, r)
}

// hostShape is that of a name or an address, perhaps with a port.
var hostShape = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9.-]{0,252}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)

// address is where companies reach this server, as the settings or else the
// request says it. A proxy that ends TLS or asks by another name tells so in
// X-Forwarded-Proto and X-Forwarded-Host, or in Forwarded. Only a trusted proxy is
// heard.
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

// asset serves bytes that never change while the program runs. Packed ones are
// gzip and are unpacked for the rare caller that cannot.
func asset(contentType string, content []byte, packed bool) http.HandlerFunc {
	sum := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", contentType)
		h.Set("ETag", tag)
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Content-Type-Options", "nosniff")
		if packed {
			h.Set("Vary", "Accept-Encoding")
		}
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		var text io.Reader = bytes.NewReader(content)
		if packed && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
		} else if packed {
			plain, err := gzip.NewReader(text)
			if err != nil {
				panic(err) // the file is part of the program
			}
			text = plain
		}
		// Nobody is left to tell when the caller has gone.
		_, _ = io.Copy(w, text)
	}
}
