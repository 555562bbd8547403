package quota

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

var quotas = db.Declare[row]("quota")

// row is a quota of a company. The newest row of a kind is the quota in force.
type row struct {
	Company   string    `db:"company_id,key"`
	Kind      Kind      `db:"kind,key"`
	Version   string    `db:"version,key"`
	Most      int64     `db:"most"`
	CreatedAt time.Time `db:"created_at"`
}

// last returns the highest version of a quota, and how often the quota was changed. The count is read first, so that it is
// never newer than the version.
func (s *Service) last(ctx context.Context, company string, k Kind) (version string, changes int64, err error) {
	if changes, err = s.book.Last(ctx, company, ledger.Next(k.changes())); err == nil {
		version, err = db.One(ctx, s.db, db.Value[string], `SELECT coalesce(max(version), '') FROM quota
			WHERE company_id = $1 AND kind = $2`, company, string(k))
	}
	return version, changes, err
}

func findLimit(ctx context.Context, q db.Querier, company string, k Kind) (Limit, error) {
	return db.One(ctx, q, db.Fields[Limit], `SELECT kind, most, created_at FROM quota
		WHERE company_id = $1 AND kind = $2 ORDER BY version DESC LIMIT 1`, company, string(k))
}
