package report

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
)

// Archived returns the number of a company's events with an evidence number that kobo archive has removed
// from the database. It leaves out months that were archived before their events had such numbers.
func Archived(ctx context.Context, q db.Querier, company string) (int64, error) {
	return db.One(ctx, q, db.Value[int64], `SELECT CAST(coalesce(sum(CASE WHEN m.last_sequence < k.first THEN m.last_sequence
			ELSE k.first - 1 END - m.first_sequence + 1), 0) AS BIGINT)
		FROM archive_month AS m CROSS JOIN (SELECT coalesce(min(sequence), 1) AS first FROM event WHERE company_id = $1) AS k
		WHERE m.company_id = $1 AND m.leaves <> '' AND m.first_sequence < k.first`, company)
}
