package safehaven

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

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
	idsOnly      = "ids"          // as unsearchable; a look-up by anything but the bank's id gets 400
	ignored      = "ignored"      // it is stored nowhere
	refused      = "refused"      // a sale with an externalReference is refused
)

type referenceRequest struct {
	ExternalReference string `json:"externalReference"`
}

// setReference handles POST /sandbox/vas-reference.
func (b *Bank) setReference(ctx context.Context, req referenceRequest) (any, error) {
	switch req.ExternalReference {
	case kept, unsearchable, idsOnly, ignored, refused:
		return books.Success, b.Set(ctx, vasReference, req.ExternalReference)
	}
	return nil, books.Complaint(`"externalReference" must be one of [kept, unsearchable, ids, ignored, refused]`)
}

// listedBy is the setting for whether the list of transfers needs the id of an account. Safe Haven
// documents the list as the history of one account.
const listedBy = "transfer_list"

// These are the values of the setting.
const (
	required = "required"
	optional = "optional" // without an id, the list has the transfers of all accounts; the default
)

type listRequest struct {
	AccountID string `json:"accountId"`
}

// setListing handles POST /sandbox/transfer-list.
func (b *Bank) setListing(ctx context.Context, req listRequest) (any, error) {
	switch req.AccountID {
	case required, optional:
		return books.Success, b.Set(ctx, listedBy, req.AccountID)
	}
	return nil, books.Complaint(`"accountId" must be one of [required, optional]`)
}

// searchable reports whether a sale can be looked up by the client's reference.
func searchable(mode string) bool { return mode == "" || mode == kept }

// idLength is the length of the bank's ids.
const idLength = 24

// mannersSetting is the name of the setting that stores the manners.
const mannersSetting = "bank_manners"

// manners are what the bank does where Safe Haven's documentation is silent. The zero value is what
// the plug expects.
type manners struct {
	Repeated  string `json:"repeated"`  // the response to a sale whose reference was used before
	Anonymous bool   `json:"anonymous"` // the statement does not contain the client's references
	Newest    bool   `json:"newest"`    // the statement lists the newest line first
}

// These are the responses to a sale whose externalReference was used before.
const (
	byStatus  = "conflict" // HTTP 409; the default
	byMessage = "message"  // HTTP 400, and only the message states the reason
	bySale    = "sale"     // the sale, as in the response to the first request
)

// setManners handles POST /sandbox/bank-manners. It replaces all manners.
func (b *Bank) setManners(ctx context.Context, m manners) (any, error) {
	if !slices.Contains([]string{"", byStatus, byMessage, bySale}, m.Repeated) {
		return nil, books.Complaint(`"repeated" must be one of [conflict, message, sale]`)
	}
	text, err := json.Marshal(m)
	if err == nil {
		err = b.Set(ctx, mannersSetting, string(text))
	}
	return books.Success, err
}

func (b *Bank) manners(ctx context.Context) (m manners, err error) {
	text, err := b.Setting(ctx, mannersSetting)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &m)
	}
	return m, err
}

// repeated responds to a sale whose reference was used before, as the manners state.
func (b *Bank) repeated(w http.ResponseWriter, r *http.Request, reference string) {
	m, err := b.manners(r.Context())
	var first sale
	if err == nil && m.Repeated == bySale {
		first, err = sales.One(r.Context(), b, "reference = $1", reference)
	}
	switch {
	case err == nil && m.Repeated == bySale:
		books.Answer(w, first.message(), first.receipt())
	case err == nil && m.Repeated == byMessage:
		b.Decline(w, http.StatusBadRequest, "externalReference already exists")
	case err == nil:
		err = books.ErrRepeated
		fallthrough
	default:
		b.finish(w, err, func() {})
	}
}

// shown returns a line of the statement as the manners show it.
func (m manners) shown(l line) map[string]any {
	if m.Anonymous {
		l.payment, l.narration = books.Digest("payment", l.reference+l.kind)[:idLength], "Transaction"
	}
	return l.record()
}
