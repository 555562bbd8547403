package quota

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// Next is Count as an addition to a limit counter.
func Next(ctx context.Context, q db.Querier, company string, k Kind, at time.Time) (ledger.Tally, error) {
	u := ledger.For(company)
	err := Count(ctx, q, &u, k, at)
	return u.Tallies[0], err
}
