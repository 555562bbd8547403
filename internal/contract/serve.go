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
		panic(err) // only our own types come here
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// An error means that the caller has gone.
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

// Bearer returns the token of the Authorization header, or empty.
func Bearer(r *http.Request) string {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// server is the place of the server's address in a rendered document.
const server = `"servers":[{"url":"/"`

// At returns a rendered document for a server at this address.
func At(document []byte, address string) []byte {
	url, err := json.Marshal(address)
	if err != nil {
		panic(err) // every text can be written
	}
	return bytes.Replace(document, []byte(server), append([]byte(strings.TrimSuffix(server, `"/"`)), url...), 1)
}

// Asset serves bytes that never change while the program runs. Packed bytes are
// gzip. A caller that cannot read gzip gets them unpacked.
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
		// An error means that the caller has gone.
		_, _ = io.Copy(w, text)
	}
}
