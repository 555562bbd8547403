package api

//go:generate go run ../contract/render
//go:generate go tool oapi-codegen -config oapi-codegen.yaml -o spec.gen.go contract.json

import (
	_ "embed" // for the two documents
	"fmt"
	"slices"

	"github.com/kobo-waas/kobo/internal/contract"
)

// source is openapi.yaml as the program reads it. public is openapi.yaml for callers.
var (
	//go:embed contract.json
	source []byte
	//go:embed openapi.json
	public []byte
)

// operation is one operation of the contract.
type operation struct {
	*contract.Operation
	family family
}

// document is the contract as the edge uses it.
type document struct {
	operations map[string]*operation // by "METHOD /path", without a last slash
}

func readDocument(s contract.Style) (*document, error) {
	c, err := contract.Read(source, s)
	if err != nil {
		return nil, err
	}
	d := &document{map[string]*operation{}}
	for route, op := range c.Operations {
		d.operations[route] = &operation{op, family(op.Family)}
		if !slices.Contains(families, family(op.Family)) {
			return nil, fmt.Errorf("contract: %s has the unknown family %q", op.ID, op.Family)
		}
	}
	return d, nil
}

// Document is the contract as JSON, with its x- fields. /openapi.json has no x- fields.
func Document() []byte { return source }
