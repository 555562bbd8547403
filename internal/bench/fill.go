package bench

import (
	"context"
	"fmt"

	"github.com/kobo-waas/kobo/internal/db/bulk"
)

// enlarge makes one purchase of the first company and copies it o.Fill times, so that the mix runs on
// a big ledger. Afterwards it gets new access tokens, because the copies can take longer than a token lives.
func (o Options) enlarge(ctx context.Context, i *instance, p *place) error {
	if o.Fill == 0 {
		return nil
	}
	key := fmt.Sprint("fill-", fresh())
	id, err := p.sample(key)
	if err != nil {
		return err
	}
	t := bulk.Template{Company: p.companies[0].Reference, Operation: id, Key: key}
	err = bulk.Purchases(ctx, i.postgres[0], t, o.Fill, func(done int) {
		fmt.Fprintf(o.Progress, "\r%-12s %d of %d copies %20s", "filling", done, o.Fill, "")
	})
	if err != nil {
		return err
	}
	return i.target.tokens(ctx, i.companies)
}
