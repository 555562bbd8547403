package webhook

import (
	"context"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
)

// idleQueuesAt does the same as idleQueues for companies that one node of a routed database holds. A join costs several
// times a statement about one table there. So it reads the queues of all these companies in one round trip, and then their
// endpoints in another one. Most companies have no queue, and it reads no endpoint of them.
// The sender learns which companies these are.
func (s *Service) idleQueuesAt(ctx context.Context, companies []string, now time.Time) (idle []queue, err error) {
	var found map[string]bool
	err = s.DB.Apply(s.DB.At(ctx, companies[0]), func(ctx context.Context, p db.Pipeline) error {
		defer p.Rollback()
		idle, found = nil, map[string]bool{}
		var endpoints [][]any
		keys := make([][]any, len(companies))
		for i, company := range companies {
			keys[i] = []any{company}
		}
		err := p.Read(ctx, lookupBy(queueTable.Table, 1, keys, func(row []any) error {
			q, err := queueTable.Value(db.Record{Table: queueTable.Table, Values: row})
			found[q.company] = true
			if err == nil && q.isIdle(now) {
				idle, endpoints = append(idle, q), append(endpoints, []any{q.company, q.endpoint})
			}
			return err
		}))
		if err != nil || len(idle) == 0 {
			return err
		}
		sends := map[endpointKey]Endpoint{}
		err = p.Read(ctx, lookupBy(endpointTable.Table, 2, endpoints, func(row []any) error {
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
	if err == nil {
		s.sender.learn(companies, found)
	}
	return idle, err
}

// lookupBy returns the look-up of whole rows by the values of their first columns.
func lookupBy(t *db.Table, columns int, keys [][]any, found func(row []any) error) db.Lookup {
	return db.Lookup{Table: t, By: t.Names()[:columns], Columns: t.Names()[columns:], Keys: keys, Found: found}
}
