package tatum

import (
	"context"
	"net/http"
	"net/url"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/provider"
)

// eventType is the type of our subscriptions, which covers all movements of an address.
const eventType = "ADDRESS_EVENT"

type subscription struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Attr struct {
		Chain   string `json:"chain"`
		Address string `json:"address"`
		URL     string `json:"url"`
	} `json:"attr"`
}

// wish is the request body for creating a subscription.
type wish struct {
	Type       string            `json:"type"`
	Attr       map[string]string `json:"attr"`
	TemplateID string            `json:"templateId,omitempty"`
	Finality   string            `json:"finality,omitempty"`
	Mempool    bool              `json:"mempool,omitempty"`
}

// Watch creates a subscription, or finds the existing one. Tatum allows one subscription per type,
// chain, address and URL, and refuses a second. So the call may be repeated if the reply was lost.
func (p *Plug) Watch(ctx context.Context, n chain.Network, address string) (string, error) {
	if err := p.sign(ctx); err != nil {
		return "", err
	}
	w := wish{Type: eventType, Attr: map[string]string{"chain": n.ID, "address": address, "url": p.cfg.CallbackURL}}
	if n.Kind == chain.Bitcoin {
		w.Mempool = true // Tatum then notifies us before the transaction is in a block, which may take an hour
	} else {
		// The meta field of our transactions has the fields of this template. Kobo counts the
		// confirmations itself.
		w.TemplateID, w.Finality = "legacy", "confirmed"
	}
	var made subscription
	path := "/v4/subscription"
	if q := p.query(n.Testnet, nil); len(q) > 0 {
		path += "?" + q.Encode()
	}
	err := p.read(ctx, http.MethodPost, path, w, &made)
	switch {
	case err == nil && made.ID == "":
		return "", &provider.Error{Provider: name, Code: provider.CodeUnreadable, Message: "a subscription without an id"}
	case err != nil && refused(err):
		if id := p.adopt(ctx, n, address); id != "" {
			return id, nil
		}
	}
	return made.ID, err
}

// refused reports whether Tatum definitely refused a call.
func refused(err error) bool {
	switch provider.AsError(name, err).Code {
	case provider.CodeNotSent, provider.CodeTimeout, provider.CodeConnection, provider.CodeUnreadable, provider.CodeServerError:
		return false
	}
	return true
}

// adopt finds the existing subscription of an address. If the search fails, adopt returns "", and
// Watch then returns the error with which Tatum refused the new subscription.
func (p *Plug) adopt(ctx context.Context, n chain.Network, address string) (id string) {
	_ = list(ctx, p, "/v4/subscription", p.query(n.Testnet, url.Values{"address": {address}}), func(s subscription) bool {
		if s.Type == eventType && s.Attr.Chain == n.ID && s.Attr.URL == p.cfg.CallbackURL && n.Fold(s.Attr.Address) == n.Fold(address) {
			id = s.ID
		}
		return id == ""
	})
	return id
}

// Unwatch ends a subscription. A DELETE without an id would turn off the signatures of the whole
// account, so an empty id is never sent.
func (p *Plug) Unwatch(ctx context.Context, reference string) error {
	if reference == "" {
		return &provider.Error{Provider: name, Code: provider.CodeNotSent, Message: "a subscription without an id cannot be ended"}
	}
	err := p.read(ctx, http.MethodDelete, "/v4/subscription/"+url.PathEscape(reference), nil, nil)
	if notFound(err) {
		return nil
	}
	return err
}

// sign turns signatures on before the first Watch of this process. Without signatures the plug
// would refuse all notifications.
func (p *Plug) sign(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.signing {
		return nil
	}
	err := p.read(ctx, http.MethodPut, "/v4/subscription", map[string]string{"hmacSecret": p.cfg.HMACSecret.Reveal()}, nil)
	p.signing = err == nil
	return err
}
