package webhook

import (
	"context"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
)

// idleQueuesAt does the same as idleQueues for companies that one node of a routed database holds. A join costs several
// times a statement about one table there. So it reads the queues first, and then their endpoints, each in one round
// trip. Most companies have no queue, and then nothing more is read.
func (s *Service) idleQueuesAt(ctx context.Context, companies []string, now time.Time) (idle []queue, err error) {
	err = s.DB.Apply(s.DB.At(ctx, companies[0]), func(ctx context.Context, p db.Pipeline) error {
		defer p.Rollback()
		idle = nil
		var having []string
		err := p.Read(ctx, ofCompanies(queueTable.Table, companies, func(row []any) error {
			q, err := queueTable.Value(db.Record{Table: queueTable.Table, Values: row})
			if err == nil && q.isIdle(now) {
				idle, having = append(idle, q), append(having, q.company)
			}
			return err
		}))
		if err != nil || len(idle) == 0 {
			return err
		}
		sends := map[endpointKey]Endpoint{}
		err = p.Read(ctx, ofCompanies(endpointTable.Table, slices.Compact(having), func(row []any) error {
			e, err := endpointTable.Value(db.Record{Table: endpointTable.Table, Values: row})
			if e.State == Active || e.State == Failing {
				sends[e.key()] = e
			}
			return err
		}))
		for i := range idle {
			idle[i].failures = sends[endpointKey{idle[i].company, idle[i].endpoint}].Failures
		}
		idle = slices.DeleteFunc(idle, func(q queue) bool { return sends[endpointKey{q.company, q.endpoint}].ID == "" })
		return err
	})
	return idle, err
}

// ofCompanies returns the look-up of all rows of some companies.
func ofCompanies(t *db.Table, companies []string, found func(row []any) error) db.Lookup {
	keys := make([][]any, len(companies))
	for i, company := range companies {
		keys[i] = []any{company}
	}
	return db.Lookup{Table: t, By: t.Names()[:1], Columns: t.Names()[1:], Keys: keys, Found: found}
}
