package main

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// The types below are those of a CycloneDX 1.6 document. It has neither a time nor a serial number,
// so that the document of a commit is always the same.
type (
	bom struct {
		Format     string      `json:"bomFormat"`
		Spec       string      `json:"specVersion"`
		Version    int         `json:"version"`
		Metadata   metadata    `json:"metadata"`
		Components []component `json:"components"`
	}
	metadata struct {
		Component component `json:"component"`
	}
	component struct {
		Type     string    `json:"type"`
		Ref      string    `json:"bom-ref"`
		Name     string    `json:"name"`
		Version  string    `json:"version,omitempty"`
		Hashes   []sum     `json:"hashes,omitempty"`
		Licenses []license `json:"licenses"`
		Purl     string    `json:"purl"`
	}
	sum struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	license struct {
		License    *named `json:"license,omitempty"`
		Expression string `json:"expression,omitempty"`
	}
	named struct {
		ID string `json:"id"`
	}
)

// document returns the document of one version of Kobo.
func document(version string, all []part) bom {
	own := "pkg:golang/github.com/kobo-waas/kobo@" + version
	out := bom{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{component{
		Type: "application", Ref: own, Name: "kobo", Version: version, Licenses: licenses("Apache-2.0"), Purl: own,
	}}}
	for _, p := range all {
		c := component{Type: "library", Ref: p.purl, Name: p.name, Version: p.version, Licenses: licenses(p.license), Purl: p.purl}
		// The sum of a module in go.sum is the SHA-256 of its files, in base64.
		if raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.sum, "h1:")); err == nil && len(raw) > 0 {
			c.Hashes = []sum{{"SHA-256", hex.EncodeToString(raw)}}
		}
		out.Components = append(out.Components, c)
	}
	return out
}

func licenses(expression string) []license {
	if strings.Contains(expression, " ") {
		return []license{{Expression: expression}}
	}
	return []license{{License: &named{expression}}}
}
