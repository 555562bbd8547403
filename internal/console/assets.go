package console

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed assets
var files embed.FS

// asset is a file that pages load. Its address contains a hash of its content, so that browsers may keep
// it for ever.
type asset struct {
	kind          string
	plain, packed []byte
}

// assetPaths are the paths of the assets below each side, by their file names.
var assetPaths, assetFiles = readAssets()

func readAssets() (paths map[string]string, all map[string]asset) {
	paths, all = map[string]string{}, map[string]asset{}
	entries, err := files.ReadDir("assets")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	for _, e := range entries {
		content, err := files.ReadFile("assets/" + e.Name())
		if err != nil {
			panic(err)
		}
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			panic(err)
		}
		if _, err = io.Copy(z, bytes.NewReader(content)); err == nil {
			err = z.Close()
		}
		if err != nil {
			panic(err) // a write to memory does not fail
		}
		sum := sha256.Sum256(content)
		ext := path.Ext(e.Name())
		name := strings.TrimSuffix(e.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext
		paths[e.Name()] = "/assets/" + name
		all[name] = asset{mime.TypeByExtension(ext), content, b.Bytes()}
	}
	return paths, all
}

// assets serves the assets. They contain nothing secret, so nobody needs to sign in for them.
func assets() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, exists := assetFiles[path.Base(r.URL.Path)]
		if !exists {
			http.NotFound(w, r)
			return
		}
		h, content := w.Header(), a.plain
		h.Set("Content-Type", a.kind)
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			content = a.packed
		}
		// An error means that the browser has gone.
		_, _ = w.Write(content)
	})
}

type baseKey struct{}

// withBase returns the context of a page of a side.
func withBase(ctx context.Context, base string) context.Context {
	return context.WithValue(ctx, baseKey{}, base)
}

// assetAt returns the address of an asset for a page. Each side serves the assets itself, because the two sides may
// have separate listeners.
func assetAt(ctx context.Context, name string) string {
	base, _ := ctx.Value(baseKey{}).(string)
	return base + assetPaths[name]
}
