package contract

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// Write sends a body as JSON.
func Write(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // the body always has one of our types, which JSON can encode
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// An error means that the caller has disconnected.
	_, _ = w.Write(append(text, '\n'))
}

// Allowed returns the methods that the mux accepts for the path of a request. The catch-all
// pattern "/" does not count.
func Allowed(mux *http.ServeMux, r *http.Request) (methods []string) {
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
		probe := *r
		probe.Method = method
		if _, pattern := mux.Handler(&probe); pattern != "" && pattern != "/" {
			methods = append(methods, method)
		}
	}
	return methods
}

// Bearer returns the token of the Authorization header, or "" if there is none.
func Bearer(r *http.Request) string {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// server is the text in a rendered document that At replaces by the server's address.
const server = `"servers":[{"url":"/"`

// At returns a rendered document that names the given address as the address of the server.
func At(document []byte, address string) []byte {
	url, err := json.Marshal(address)
	if err != nil {
		panic(err) // JSON can encode every text
	}
	return bytes.Replace(document, []byte(server), append([]byte(strings.TrimSuffix(server, `"/"`)), url...), 1)
}

// Asset returns a handler for content that never changes while the program runs. If isPacked is
// true, the content is compressed with gzip. A caller that does not accept gzip receives
// uncompressed content.
func Asset(contentType string, content []byte, isPacked bool) http.HandlerFunc {
	sum := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", contentType)
		h.Set("ETag", tag)
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Content-Type-Options", "nosniff")
		if isPacked {
			h.Set("Vary", "Accept-Encoding")
		}
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		var text io.Reader = bytes.NewReader(content)
		if isPacked && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
		} else if isPacked {
			plain, err := gzip.NewReader(text)
			if err != nil {
				panic(err) // the file is part of the program
			}
			text = plain
		}
		// An error means that the caller has disconnected.
		_, _ = io.Copy(w, text)
	}
}
