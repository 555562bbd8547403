package sudo

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// mannersSetting is the name of the setting that stores the manners.
const mannersSetting = "sudo_manners"

// manners are what Sudo does where its documentation is silent. The zero value is what the plug hopes
// for.
type manners struct {
	NoMetadata bool `json:"noMetadata"` // cards do not contain the metadata of their order
	Anonymous  bool `json:"anonymous"`  // the list of transfers does not contain the client's references
	Oldest     bool `json:"oldest"`     // the list of transfers begins with the oldest one
}

// setManners handles POST /sandbox/card-manners. It replaces all manners.
func (i *Issuer) setManners(ctx context.Context, m manners) (any, error) {
	text, err := json.Marshal(m)
	if err == nil {
		err = i.Set(ctx, mannersSetting, string(text))
	}
	return books.Success, err
}

// manners returns the present manners. If they cannot be read, manners sends an error response and
// returns false.
func (i *Issuer) manners(w http.ResponseWriter, r *http.Request) (m manners, ok bool) {
	text, err := i.Setting(r.Context(), mannersSetting)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &m)
	}
	if err != nil {
		books.Fail(w)
	}
	return m, err == nil
}

// shown returns a card as the manners show it.
func (m manners) shown(card map[string]any) map[string]any {
	if m.NoMetadata {
		delete(card, "metadata")
	}
	return card
}

// line returns a transfer on the list as the manners show it.
func (m manners) line(v transfer) map[string]any {
	if m.Anonymous {
		v.reference, v.narration = "trf_"+v.id, "Card funding"
	}
	return v.record()
}
