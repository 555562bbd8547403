package tatum

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/provider"
)

var _ provider.Checker = (*Plug)(nil)

// Checks returns the questions that show whether our account at Tatum is set up right.
func (p *Plug) Checks() []provider.Check {
	return []provider.Check{
		{Name: "subscriptions", Ask: p.checkSubscriptions, Needed: true, Action: "If Tatum refuses the key, compare api_key with Tatum's dashboard. If the subscriptions lead elsewhere, set callback_base to the address of this Kobo, or remove those subscriptions."},
		{Name: "networks", Ask: p.checkNetworks, Action: "Ask Tatum which networks the plan of this key covers, or read the network from a node with crypto.nodes."},
		{Name: "transaction_lookup", Ask: p.checkLookup, Action: "Report the reply of --record."},
	}
}

// checkSubscriptions counts the subscriptions that lead to our callback URL, and the others.
func (p *Plug) checkSubscriptions(ctx context.Context) (string, error) {
	ours, others := 0, 0
	err := list(ctx, p, "/v4/subscription", p.query(p.testnet, url.Values{}), func(s subscription) bool {
		switch {
		case s.Type != eventType:
		case s.Attr.URL == p.cfg.CallbackURL:
			ours++
		default:
			others++
		}
		return true
	})
	detail := fmt.Sprintf("%d subscriptions lead to this Kobo, and %d to another address", ours, others)
	switch {
	case err != nil:
		return "", err
	case ours == 0 && others > 0:
		return "", errors.New(detail)
	case others > 0:
		return "", provider.Warn("%s", detail)
	}
	return detail, nil
}

// watched returns our networks in the order of their ids.
func (p *Plug) watched() (out []chain.Network) {
	for _, id := range slices.Sorted(maps.Keys(p.networks)) {
		out = append(out, p.networks[id])
	}
	return out
}

func (p *Plug) checkNetworks(ctx context.Context) (string, error) {
	var wrong []error
	for _, n := range p.watched() {
		if _, err := p.head(ctx, n); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", n.ID, err))
		}
	}
	return fmt.Sprintf("Tatum serves all %d networks that it watches", len(p.networks)), errors.Join(wrong...)
}

// checkLookup asks for a transaction whose hash has only zeros.
func (p *Plug) checkLookup(ctx context.Context) (string, error) {
	all := p.watched()
	if len(all) == 0 {
		return "", provider.Skip("our nodes watch all networks")
	}
	hash := strings.Repeat("0", 64)
	if all[0].Kind == chain.EVM {
		hash = "0x" + hash
	}
	at, err := p.Inclusion(ctx, all[0], hash)
	if err == nil && (at.Found || at.Waiting) {
		err = errors.New("a transaction is reported that does not exist")
	}
	return "an unknown transaction is reported as not found", err
}
