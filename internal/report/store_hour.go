package report

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// uncounted returns the places of the companies that have events which are not counted, above a company.
func uncounted(ctx context.Context, q db.Querier, after string, most int) ([]counting, error) {
	return db.All(ctx, q, db.Fields[counting], `
		SELECT h.company_id, h.event_sequence, coalesce(p.sequence, -1), coalesce(p.next_arrival, 0) - 1, coalesce(p.since_at, 0)
		FROM ledger_head AS h LEFT JOIN report_place AS p ON p.company_id = h.company_id
		WHERE (h.event_sequence > coalesce(p.sequence, 0) OR h.event_sequence >= coalesce(p.next_arrival, 1)) AND h.company_id > $1 ORDER BY h.company_id LIMIT $2`, after, most)
}

// beginPlace stores the first place of a company, unless another program has stored one.
func beginPlace(ctx context.Context, q db.Querier, p counting) error {
	_, err := q.Exec(ctx, `INSERT INTO report_place (company_id, sequence, next_arrival, since_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
		p.company, p.sequence, p.arrivals+1, clock.Micros(p.since))
	return err
}

// beginArrivals stores the first place of the arrivals of a company whose operations are counted, unless
// another program has stored one.
func beginArrivals(ctx context.Context, q db.Querier, p counting) error {
	_, err := q.Exec(ctx, `UPDATE report_place SET next_arrival = $2 WHERE company_id = $1 AND next_arrival = 0`, p.company, p.arrivals+1)
	return err
}

// movePlace moves the place of a company. It returns false if the place is not where it was.
func movePlace(ctx context.Context, q db.Querier, from, through counting) (bool, error) {
	n, err := q.Exec(ctx, `UPDATE report_place SET sequence = $4, next_arrival = $5 WHERE company_id = $1 AND sequence = $2 AND since_at = $3 AND next_arrival = $6`,
		from.company, from.sequence, clock.Micros(from.since), through.sequence, through.arrivals+1, from.arrivals+1)
	return n == 1, err
}

// toldBetween returns the events of some kinds, above one number and up to another.
func toldBetween(ctx context.Context, q db.Querier, company string, after, through int64, of map[string]string) ([]told, error) {
	return db.All(ctx, q, db.Fields[told], `SELECT kind, data FROM event
		WHERE company_id = $1 AND sequence > $2 AND sequence <= $3 AND kind = ANY($4) ORDER BY sequence`,
		company, after, through, slices.Sorted(maps.Keys(of)))
}

// begunBy returns the operations with these ids.
func begunBy(ctx context.Context, q db.Querier, company string, ids []string) (map[string]begun, error) {
	return byID(db.All(ctx, q, db.Fields[begun], `SELECT id, kind, provider, amount_kobo, created_at FROM operation
		WHERE company_id = $1 AND id = ANY($2)`, company, ids))
}

// stillOpen returns those of the operations that count as unknown, as they were counted.
func stillOpen(ctx context.Context, q db.Querier, company string, ids []string) (map[string]begun, error) {
	return byID(db.All(ctx, q, db.Fields[begun], `SELECT operation_id, kind, provider, amount_kobo, hour_at FROM report_open
		WHERE company_id = $1 AND operation_id = ANY($2)`, company, ids))
}

func byID(list []begun, err error) (map[string]begun, error) {
	out := map[string]begun{}
	for _, b := range list {
		out[b.id] = b
	}
	return out, err
}

func insertOpen(ctx context.Context, q db.Querier, company string, o begun) error {
	_, err := q.Exec(ctx, `INSERT INTO report_open (company_id, operation_id, hour_at, kind, provider, amount_kobo) VALUES ($1, $2, $3, $4, $5, $6)`,
		company, o.id, clock.Micros(o.cell("").At), o.kind, o.provider, int64(o.amount))
	return err
}

func removeOpen(ctx context.Context, q db.Querier, company string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := q.Exec(ctx, `DELETE FROM report_open WHERE company_id = $1 AND operation_id = ANY($2)`, company, ids)
	return err
}

// addHour adds to the counts of a cell.
func addHour(ctx context.Context, q db.Querier, h Hour) error {
	_, err := q.Exec(ctx, `INSERT INTO report_hour (company_id, hour_at, kind, provider, outcome, operations, amount_kobo)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (company_id, hour_at, kind, provider, outcome) DO UPDATE
		SET operations = report_hour.operations + excluded.operations, amount_kobo = report_hour.amount_kobo + excluded.amount_kobo`,
		settlement.House, clock.Micros(h.At), h.Kind, h.Provider, h.Outcome, h.Count, int64(h.Amount))
	return err
}

func hoursBetween(ctx context.Context, q db.Querier, from, to time.Time) ([]Hour, error) {
	return db.All(ctx, q, func(sc db.Scanner) (h Hour, err error) {
		var at int64
		err = sc.Scan(&at, &h.Kind, &h.Provider, &h.Outcome, &h.Count, &h.Amount)
		h.At = clock.Time(at)
		return h, err
	}, `SELECT hour_at, kind, provider, outcome, operations, amount_kobo FROM report_hour
		WHERE company_id = $1 AND hour_at >= $2 AND hour_at < $3 AND operations <> 0 ORDER BY hour_at, kind, provider, outcome`,
		settlement.House, clock.Micros(from), clock.Micros(to))
}
