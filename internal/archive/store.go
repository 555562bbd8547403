package archive

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
)

const monthColumns = `company_id, month, first_sequence, last_sequence, hash, archived_at, leaves, mac`

var (
	months = db.Declare[Month]("archive_month", db.Reads(monthColumns))
	kinds  = db.Declare[count]("archive_kind")
)

// count is how many events of a kind the file of a month contains.
type count struct {
	company string `db:"company_id,key"`
	month   string `db:"month,key"`
	kind    string `db:"kind,key"`
	events  int64  `db:"events"`
}

// months returns the archived months of a company, the oldest first.
func (s *Service) months(ctx context.Context, company string) ([]Month, error) {
	return monthsOf(ctx, s.DB, company)
}

func monthsOf(ctx context.Context, q db.Querier, company string) ([]Month, error) {
	return db.All(ctx, q, months.Scan, `SELECT `+monthColumns+` FROM archive_month
		WHERE company_id = $1 ORDER BY month`, company)
}

func countsOf(ctx context.Context, q db.Querier, company string) ([]count, error) {
	return db.All(ctx, q, kinds.Scan, `SELECT company_id, month, kind, events FROM archive_kind WHERE company_id = $1`, company)
}
