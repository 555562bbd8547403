package report

import (
	"cmp"
	"context"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
)

// bankWithCode returns the name of a bank with its code, such as "Wema Bank (000017)". A code that is on no provider's list stays as it
// is: the bank that received a credit may have no list of its own.
func bankWithCode(ctx context.Context, q db.Querier, code string) (string, error) {
	if code == "" {
		return "", nil
	}
	names, err := db.All(ctx, q, db.Value[string], `SELECT name || ' (' || code || ')' FROM payout_bank WHERE code = $1 ORDER BY name LIMIT 1`, code)
	return cmp.Or(strings.Join(names, ""), code), err
}
