package admin

import (
	_ "embed"
	"fmt"
	"net/http"

	"github.com/kobo-waas/kobo/internal/api"
)

// source describes the door to those who call it. Tests hold every route and
// every answer against it.
//
//go:embed openapi.yaml
var source []byte

// Document is the description as JSON.
func Document() ([]byte, error) {
	text, err := api.Rendered(source)
	if err != nil {
		return nil, fmt.Errorf("admin: the description: %w", err)
	}
	return text, nil
}

// Reference serves the description. It shows nothing that is secret, so it asks
// for no key.
func Reference() (http.Handler, error) {
	text, err := Document()
	if err != nil {
		return nil, err
	}
	return api.Shown(text), nil
}
