package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/crypto"
)

type xpubRow struct {
	Chain     chain.Kind `json:"chain"`
	Version   int64      `json:"version"`
	Source    string     `json:"source"`
	Xpub      string     `json:"xpub"` // the one whose children are the addresses
	CreatedAt string     `json:"createdAt"`
	First     string     `json:"firstAddress,omitempty"`
}

func xpubOf(k crypto.Key, first string) xpubRow {
	return xpubRow{k.Kind, k.Version, k.Source, k.Public.String(), clock.Text(k.CreatedAt), first}
}

// setXpub has a company's addresses made from a key of its own. The answer shows
// the first address, to be compared with what the company's wallet shows.
func (d *door) setXpub(ctx context.Context, r *request) (any, error) {
	kind, text := r.form.text("chain"), r.form.text("xpub")
	if err := r.form.done(); err != nil {
		return nil, err
	}
	k, first, err := d.Crypto.SetKey(ctx, r.by, r.PathValue("reference"), chain.Kind(kind), text)
	if err != nil {
		return nil, err
	}
	return xpubOf(k, first), nil
}

// listXpubs shows a company's keys, the present one of each kind of chain first.
func (d *door) listXpubs(ctx context.Context, r *request) (any, error) {
	if _, err := d.Companies.Find(ctx, r.PathValue("reference")); err != nil {
		return nil, err
	}
	keys, err := d.Crypto.Keys(ctx, r.PathValue("reference"))
	rows := make([]xpubRow, 0, len(keys))
	for _, k := range keys {
		rows = append(rows, xpubOf(k, ""))
	}
	return rows, err
}
