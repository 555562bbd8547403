package sudo

import (
	"context"
	"encoding/json"

	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// mannersSetting is the name of the setting that stores the manners.
const mannersSetting = "sudo_manners"

// manners are what Sudo does where its documentation is silent. The zero value is what the plug hopes
// for.
type manners struct {
	NoMetadata bool `json:"noMetadata"` // new cards do not contain the metadata of their order
	Anonymous  bool `json:"anonymous"`  // the list of transfers does not contain the client's references
	Oldest     bool `json:"oldest"`     // the list of transfers begins with the oldest transfer, not with the newest
}

// setManners handles POST /sandbox/card-manners. It replaces all manners.
func (i *Issuer) setManners(ctx context.Context, m manners) (any, error) {
	text, err := json.Marshal(m)
	if err == nil {
		err = i.Set(ctx, mannersSetting, string(text))
	}
	return books.Success, err
}

func (i *Issuer) manners(ctx context.Context) (m manners, err error) {
	text, err := i.Setting(ctx, mannersSetting)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &m)
	}
	return m, err
}

// line returns a transfer on the list as the manners show it.
func (m manners) line(v transfer) map[string]any {
	if m.Anonymous {
		v.reference, v.narration = "trf_"+v.id, "Card funding"
	}
	return v.record()
}
