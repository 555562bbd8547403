package quota

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

var table = &db.Table{
	Name: "quota", Key: 3,
	Columns: append(db.Texts("company_id", "kind", "version"), db.Ints("most", "created_at")...),
}

func (l Limit) record(company, version string) db.Record {
	return db.Record{Table: table, Values: []any{company, string(l.Kind), version, l.Most, clock.Micros(l.Since)}}
}

func findLimit(ctx context.Context, q db.Querier, company string, k Kind) (Limit, error) {
	return db.One(ctx, q, func(sc db.Scanner) (Limit, error) {
		var l Limit
		var at int64
		err := sc.Scan(&l.Most, &at)
		l.Since = clock.Time(at)
		return l, err
	}, `SELECT most, created_at FROM quota WHERE company_id = $1 AND kind = $2 ORDER BY version DESC LIMIT 1`, company, string(k))
}
