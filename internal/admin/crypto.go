package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/crypto"
)

func xpubOf(k crypto.Key) Xpub {
	return Xpub{string(k.Kind), k.Version, k.Source, k.Public.String(), clock.Text(k.CreatedAt)}
}

// setXpub sets the extended public key from which the company's next deposit addresses are derived.
// The response shows the first address, so that the company can compare it with its wallet.
func (e *edge) setXpub(ctx context.Context, r *request, body XpubRequest) (any, error) {
	k, first, err := e.Crypto.SetKey(ctx, r.by, r.PathValue("reference"), chain.Kind(body.Chain), body.Xpub)
	if err != nil {
		return nil, err
	}
	x := xpubOf(k)
	return SetXpub{x.Chain, x.Version, x.Source, x.Xpub, x.CreatedAt, first}, nil
}

// listXpubs shows a company's extended public keys. The current key of each kind of chain comes
// first.
func (e *edge) listXpubs(ctx context.Context, r *request) (any, error) {
	if _, err := e.Companies.Find(ctx, r.PathValue("reference")); err != nil {
		return nil, err
	}
	keys, err := e.Crypto.Keys(ctx, r.PathValue("reference"))
	return rows(keys, xpubOf), err
}
