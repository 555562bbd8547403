package api

//go:generate go run ../contract/render
//go:generate go tool oapi-codegen -config oapi-codegen.yaml -o spec.gen.go contract.json

import (
	_ "embed" // embeds the two documents
	"fmt"
	"slices"
	"sync"

	"github.com/kobo-waas/kobo/internal/contract"
)

// source is the JSON form of openapi.yaml with its x- fields, for the program. public is the JSON
// form without the x- fields, for callers.
var (
	//go:embed contract.json
	source []byte
	//go:embed openapi.json
	public []byte
)

// readContract parses the contract, once in a process.
var readContract = sync.OnceValues(func() (*contract.Contract, error) {
	c, err := contract.Read(source, style)
	if err != nil {
		return nil, err
	}
	for _, op := range c.Operations {
		if !slices.Contains(families, family(op.Family)) {
			return nil, fmt.Errorf("contract: %s has the unknown family %q", op.ID, op.Family)
		}
	}
	return c, nil
})

// Document returns the contract as JSON, with its x- fields. /openapi.json has no x- fields.
func Document() []byte { return source }
