package vtpass

import (
	"context"
	"encoding/json"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// mannersSetting is the name of the setting that stores the manners.
const mannersSetting = "vtpass_manners"

// manners are what VTpass does where its documentation is silent. The zero value is what the plug
// expects.
type manners struct {
	InKobo bool       `json:"inKobo"` // the amounts in responses are kobo
	Fee    money.Kobo `json:"fee"`    // the amounts in responses contain this fee for convenience
}

// setManners handles POST /sandbox/vtpass-manners. It replaces all manners.
func (b *Biller) setManners(ctx context.Context, m manners) (any, error) {
	if m.Fee < 0 {
		return nil, books.Complaint(`"fee" must not be negative`)
	}
	text, err := json.Marshal(m)
	if err == nil {
		err = b.Set(ctx, mannersSetting, string(text))
	}
	return books.Success, err
}

func (b *Biller) manners(ctx context.Context) (m manners, err error) {
	text, err := b.Setting(ctx, mannersSetting)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &m)
	}
	return m, err
}

// applied returns a sale with its amount as the responses show it.
func (m manners) applied(v sale) sale {
	v.amount += m.Fee
	if m.InKobo {
		v.amount *= money.Naira
	}
	return v
}
