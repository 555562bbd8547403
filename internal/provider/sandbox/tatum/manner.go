package tatum

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// mannersSetting is the name of the setting that stores the manners.
const mannersSetting = "tatum_manners"

// mostPadding is the largest number of bytes that a control adds to a reply.
const mostPadding = 64 << 20

// manners are oddities of Tatum that a control turns on. Public captures and reports show the first
// two.
type manners struct {
	Untyped     bool   `json:"untyped"`     // notifications have no type
	Chain       string `json:"chain"`       // the chain's name in notifications; "" is the right one
	AnswerBytes int    `json:"answerBytes"` // the number of bytes that are added to a transaction
}

// setManners handles POST /sandbox/crypto-manners. It replaces all manners.
func (c *Custodian) setManners(ctx context.Context, m manners) (any, error) {
	if m.AnswerBytes < 0 || m.AnswerBytes > mostPadding {
		return nil, books.Complaint(`"answerBytes" must be 0 to 67108864`)
	}
	text, err := json.Marshal(m)
	if err == nil {
		err = c.Set(ctx, mannersSetting, string(text))
	}
	return map[string]any{"status": "success", "data": m}, err
}

func (c *Custodian) manners(ctx context.Context) (m manners, err error) {
	text, err := c.Setting(ctx, mannersSetting)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &m)
	}
	return m, err
}

// distort applies the manners to a notification.
func (m manners) distort(payload map[string]any) map[string]any {
	if m.Untyped {
		delete(payload, "type")
	}
	if m.Chain != "" {
		payload["chain"] = m.Chain
	}
	return payload
}

// padding returns the bytes that are added to a transaction.
func (m manners) padding() string { return strings.Repeat("0", m.AnswerBytes) }

// isTestnet reports whether a request asks for test networks. Without the parameter type, Tatum
// assumes the main networks.
func isTestnet(r *http.Request) bool { return r.URL.Query().Get("type") == "testnet" }
