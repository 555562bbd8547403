package safehaven

import (
	"context"

	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// vasReference is the setting for what the bank does with the externalReference of a sale. Safe
// Haven's documentation of sales does not contain this field.
const vasReference = "vas_reference"

// vasOff is the setting that switches sales off.
const vasOff = "vas_off"

const (
	kept         = "kept"         // the sale can be looked up by it, and the statement contains it; the default
	unsearchable = "unsearchable" // only the statement contains it
	ignored      = "ignored"      // it is stored nowhere
	refused      = "refused"      // a sale with an externalReference is refused
)

type referenceRequest struct {
	ExternalReference string `json:"externalReference"`
}

// setReference handles POST /sandbox/vas-reference.
func (b *Bank) setReference(ctx context.Context, req referenceRequest) (any, error) {
	switch req.ExternalReference {
	case kept, unsearchable, ignored, refused:
		return books.Success, b.Set(ctx, vasReference, req.ExternalReference)
	}
	return nil, books.Complaint(`"externalReference" must be one of [kept, unsearchable, ignored, refused]`)
}

// searchable reports whether a sale can be looked up by the client's reference.
func searchable(mode string) bool { return mode == "" || mode == kept }
