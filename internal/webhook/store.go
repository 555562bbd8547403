package webhook

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

var (
	endpointTable = &db.Table{
		Name: "webhook_endpoint", Key: 2, State: "state",
		Columns: append(db.Texts("company_id", "id", "url", "description", "kinds", "state", "secret", "old_secret"),
			db.Ints("old_until", "failures", "failed_at", "created_at", "updated_at")...),
	}
	laneTable = &db.Table{
		Name: "webhook_lane", Key: 3,
		Columns: append(db.Texts("company_id", "endpoint_id", "id", "kind"),
			db.Ints("sequence", "through", "due_at", "lease_until", "fence")...),
	}
	deliveryTable = &db.Table{
		Name: "webhook_delivery", Key: 2,
		Columns: []db.Column{
			{Name: "company_id"},
			{Name: "id"},
			{Name: "endpoint_id"},
			{Name: "event_id"},
			{Name: "kind"},
			{Name: "sequence", Type: db.Int},
			{Name: "state"},
			{Name: "attempts", Type: db.Int},
			{Name: "status", Type: db.Int},
			{Name: "latency_ms", Type: db.Int},
			{Name: "excerpt"},
			{Name: "trouble"},
			{Name: "next_at", Type: db.Int},
			{Name: "created_at", Type: db.Int},
			{Name: "updated_at", Type: db.Int},
		},
	}
)

func (e Endpoint) record() db.Record {
	return db.Record{Table: endpointTable, Values: []any{
		e.Company, e.ID, e.URL, e.Description, strings.Join(e.Kinds, ","), string(e.State), e.secret, e.oldSecret,
		clock.Micros(e.OldUntil), e.Failures, clock.Micros(e.FailingAt), clock.Micros(e.CreatedAt), clock.Micros(e.UpdatedAt),
	}}
}

const endpointColumns = `SELECT company_id, id, url, description, kinds, state, secret, old_secret, old_until, failures,
	failed_at, created_at, updated_at FROM webhook_endpoint `

func scanEndpoint(r db.Scanner) (Endpoint, error) {
	var e Endpoint
	var kinds string
	var old, failed, created, updated int64
	err := r.Scan(&e.Company, &e.ID, &e.URL, &e.Description, &kinds, &e.State, &e.secret, &e.oldSecret, &old, &e.Failures,
		&failed, &created, &updated)
	if kinds != "" {
		e.Kinds = strings.Split(kinds, ",")
	}
	e.OldUntil, e.FailingAt = clock.Time(old), clock.Time(failed)
	e.CreatedAt, e.UpdatedAt = clock.Time(created), clock.Time(updated)
	return e, err
}

func (s *Service) findEndpoint(ctx context.Context, company, endpointID string) (Endpoint, error) {
	return db.One(ctx, s.DB, scanEndpoint, endpointColumns+`WHERE company_id = $1 AND id = $2`, company, endpointID)
}

func (s *Service) endpoints(ctx context.Context, company string) ([]Endpoint, error) {
	return db.All(ctx, s.DB, scanEndpoint,
		endpointColumns+`WHERE company_id = $1 AND state <> 'DELETED' ORDER BY id DESC`, company)
}

// Operators work across companies.

func (s *Service) all(ctx context.Context, state State, limit, offset int) ([]Endpoint, error) {
	return db.All(ctx, s.DB, scanEndpoint, endpointColumns+`WHERE state <> 'DELETED' AND (state = $1 OR $1 = '')
		ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3`, string(state), limit, offset)
}

func (s *Service) allCount(ctx context.Context, state State) (int64, error) {
	return db.One(ctx, s.DB, db.Value[int64],
		`SELECT count(*) FROM webhook_endpoint WHERE state <> 'DELETED' AND (state = $1 OR $1 = '')`, string(state))
}

func (l lane) record() db.Record {
	return db.Record{Table: laneTable, Values: []any{
		l.company, l.endpoint, l.id, l.kind, l.sequence, l.through, clock.Micros(l.due), int64(0), int64(0),
	}}
}

const idle = `SELECT l.company_id, l.endpoint_id, l.id, l.kind, l.sequence, l.through, l.due_at, l.fence, e.failures
	FROM webhook_lane AS l JOIN webhook_endpoint AS e ON e.company_id = l.company_id AND e.id = l.endpoint_id
	WHERE e.state IN ('ACTIVE', 'FAILING') AND l.lease_until <= $1 AND l.due_at <= $1 AND (l.due_at > 0 OR l.kind = 'events')`

func scanLane(r db.Scanner) (lane, error) {
	var l lane
	var due int64
	err := r.Scan(&l.company, &l.endpoint, &l.id, &l.kind, &l.sequence, &l.through, &due, &l.fence, &l.failures)
	l.due = clock.Time(due)
	return l, err
}

// idleLanes are those that nobody holds and that may have something to send: of
// some companies, or of all for nil.
func (s *Service) idleLanes(ctx context.Context, companies []string, now time.Time) ([]lane, error) {
	if companies == nil {
		return db.All(ctx, s.DB, scanLane, idle, clock.Micros(now))
	}
	return db.All(ctx, s.DB, scanLane, idle+` AND l.company_id = ANY($2)`, clock.Micros(now), companies)
}

func (s *Service) findLane(ctx context.Context, company, endpointID, laneID string) (lane, error) {
	return db.One(ctx, s.DB, scanLane, `SELECT company_id, endpoint_id, id, kind, sequence, through, due_at, fence, 0
		FROM webhook_lane WHERE company_id = $1 AND endpoint_id = $2 AND id = $3`, company, endpointID, laneID)
}

func (s *Service) replayCount(ctx context.Context, company, endpointID string) (int64, error) {
	return db.One(ctx, s.DB, db.Value[int64], `SELECT count(*) FROM webhook_lane
		WHERE company_id = $1 AND endpoint_id = $2 AND kind = 'replay'`, company, endpointID)
}

// take leases lanes of a company. One that somebody else has taken meanwhile
// comes back without a fence.
func (s *Service) take(ctx context.Context, company string, lanes []lane, now time.Time) ([]lane, error) {
	var taken []lane
	err := s.DB.Tx(ctx, func(q db.Querier) error {
		taken = make([]lane, len(lanes))
		for i, l := range lanes {
			got, err := db.One(ctx, q, scanLane, `
				UPDATE webhook_lane SET lease_until = $5, fence = fence + 1
				WHERE company_id = $1 AND endpoint_id = $2 AND id = $3 AND lease_until <= $4
				RETURNING company_id, endpoint_id, id, kind, sequence, through, due_at, fence, 0`,
				company, l.endpoint, l.id, clock.Micros(now), clock.Micros(now.Add(lease)))
			if err != nil && !errors.Is(err, db.ErrNone) {
				return err
			}
			taken[i] = got
		}
		return nil
	})
	return taken, err
}

// release gives a lane back, to be taken up again at due. The lane for retries is
// due when the first of them is: it is locked before they are looked at, so that
// one which is added at this moment is not overlooked. A replay that is through
// is gone.
func (s *Service) release(ctx context.Context, l lane, due time.Time) error {
	if l.kind == laneReplay && due.IsZero() {
		due = s.Clock.Now()
	}
	return s.DB.Tx(ctx, func(q db.Querier) error {
		fence, err := db.One(ctx, q, db.Value[int64], `SELECT fence FROM webhook_lane
			WHERE company_id = $1 AND endpoint_id = $2 AND id = $3 FOR UPDATE`, l.company, l.endpoint, l.id)
		switch {
		case errors.Is(err, db.ErrNone) || err == nil && fence != l.fence:
			return nil
		case err != nil:
			return err
		case l.kind == laneReplay && l.sequence >= l.through:
			_, err = q.Exec(ctx, `DELETE FROM webhook_lane WHERE company_id = $1 AND endpoint_id = $2 AND id = $3`,
				l.company, l.endpoint, l.id)
			return err
		case l.kind == laneRetries && due.IsZero():
			due, err = firstRetry(ctx, q, l)
			if err != nil {
				return err
			}
		}
		_, err = q.Exec(ctx, `UPDATE webhook_lane SET lease_until = 0, due_at = $4, sequence = $5
			WHERE company_id = $1 AND endpoint_id = $2 AND id = $3`, l.company, l.endpoint, l.id, clock.Micros(due), l.sequence)
		return err
	})
}

func firstRetry(ctx context.Context, q db.Querier, l lane) (time.Time, error) {
	at, err := db.One(ctx, q, db.Value[int64], `SELECT coalesce(min(next_at), 0) FROM webhook_delivery
		WHERE company_id = $1 AND endpoint_id = $2 AND state = 'PENDING'`, l.company, l.endpoint)
	return clock.Time(at), err
}

// bringForward has a lane taken up at once.
func (s *Service) bringForward(ctx context.Context, company, endpointID, laneID string, now time.Time) error {
	_, err := s.DB.Exec(ctx, `UPDATE webhook_lane SET due_at = $4
		WHERE company_id = $1 AND endpoint_id = $2 AND id = $3`, company, endpointID, laneID, clock.Micros(now))
	return err
}

// recovered lets everything that waits for an endpoint go at once.
func (s *Service) recovered(ctx context.Context, e Endpoint, now time.Time) error {
	return s.DB.Tx(ctx, func(q db.Querier) error {
		_, err := q.Exec(ctx, `UPDATE webhook_lane SET due_at = $3
			WHERE company_id = $1 AND endpoint_id = $2 AND due_at > $3`, e.Company, e.ID, clock.Micros(now))
		if err != nil {
			return err
		}
		_, err = q.Exec(ctx, `UPDATE webhook_delivery SET next_at = $3
			WHERE company_id = $1 AND endpoint_id = $2 AND state = 'PENDING' AND next_at > $3`, e.Company, e.ID, clock.Micros(now))
		return err
	})
}

// sweep finds retries that no lane is due for: of a program that died between
// writing a delivery and saying so.
func (s *Service) sweep(ctx context.Context, now time.Time) error {
	_, err := s.DB.Exec(ctx, `UPDATE webhook_lane SET due_at = $1 WHERE kind = 'retries' AND due_at = 0 AND lease_until <= $1
		AND EXISTS (SELECT 1 FROM webhook_delivery AS d WHERE d.company_id = webhook_lane.company_id
			AND d.endpoint_id = webhook_lane.endpoint_id AND d.state = 'PENDING')`, clock.Micros(now))
	return err
}

func (d Delivery) record() db.Record {
	return db.Record{Table: deliveryTable, Values: []any{
		d.Company, d.ID, d.Endpoint, d.EventID, d.Kind, d.Sequence, string(d.State), d.Attempts, d.Status, d.Latency,
		d.Excerpt, d.Trouble, clock.Micros(d.NextAt), clock.Micros(d.CreatedAt), clock.Micros(d.UpdatedAt),
	}}
}

const deliveryColumns = `SELECT company_id, id, endpoint_id, event_id, kind, sequence, state, attempts, status, latency_ms,
	excerpt, trouble, next_at, created_at, updated_at FROM webhook_delivery `

func scanDelivery(r db.Scanner) (Delivery, error) {
	var d Delivery
	var next, created, updated int64
	err := r.Scan(&d.Company, &d.ID, &d.Endpoint, &d.EventID, &d.Kind, &d.Sequence, &d.State, &d.Attempts, &d.Status, &d.Latency,
		&d.Excerpt, &d.Trouble, &next, &created, &updated)
	d.NextAt, d.CreatedAt, d.UpdatedAt = clock.Time(next), clock.Time(created), clock.Time(updated)
	return d, err
}

func (s *Service) findDelivery(ctx context.Context, company, deliveryID string) (Delivery, error) {
	return db.One(ctx, s.DB, scanDelivery, deliveryColumns+`WHERE company_id = $1 AND id = $2`, company, deliveryID)
}

// dueDeliveries are what is to be tried again, the most overdue first.
func (s *Service) dueDeliveries(ctx context.Context, company, endpointID string, now time.Time, limit int) ([]Delivery, error) {
	return db.All(ctx, s.DB, scanDelivery, deliveryColumns+`WHERE company_id = $1 AND endpoint_id = $2 AND state = 'PENDING'
		AND next_at <= $3 ORDER BY next_at LIMIT $4`, company, endpointID, clock.Micros(now), limit)
}

// deliveries says the state in words of its own where an index holds nothing
// else: those few are not to be looked for among all that were delivered.
func (s *Service) deliveries(ctx context.Context, company, endpointID string, state DeliveryState, limit, offset int) ([]Delivery, error) {
	switch state {
	case GivenUp:
		return db.All(ctx, s.DB, scanDelivery, deliveryColumns+`WHERE company_id = $1 AND endpoint_id = $2 AND state = 'FAILED'
			ORDER BY id DESC LIMIT $3 OFFSET $4`, company, endpointID, limit, offset)
	case Pending:
		return db.All(ctx, s.DB, scanDelivery, deliveryColumns+`WHERE company_id = $1 AND endpoint_id = $2 AND state = 'PENDING'
			ORDER BY id DESC LIMIT $3 OFFSET $4`, company, endpointID, limit, offset)
	}
	return db.All(ctx, s.DB, scanDelivery, deliveryColumns+`WHERE company_id = $1 AND endpoint_id = $2 AND (state = $3 OR $3 = '')
		ORDER BY id DESC LIMIT $4 OFFSET $5`, company, endpointID, string(state), limit, offset)
}

// deliveryCount counts by indexes alone.
func (s *Service) deliveryCount(ctx context.Context, company, endpointID string, state DeliveryState) (int64, error) {
	pending, one := s.pendingCount(ctx, company, endpointID)
	failed, two := s.failedCount(ctx, company, endpointID)
	all, three := db.One(ctx, s.DB, db.Value[int64],
		`SELECT count(*) FROM webhook_delivery WHERE company_id = $1 AND endpoint_id = $2`, company, endpointID)
	err := errors.Join(one, two, three)
	switch state {
	case Pending:
		return pending, err
	case GivenUp:
		return failed, err
	case Delivered:
		return max(all-pending-failed, 0), err
	}
	return all, err
}

func (s *Service) pendingCount(ctx context.Context, company, endpointID string) (int64, error) {
	return db.One(ctx, s.DB, db.Value[int64],
		`SELECT count(*) FROM webhook_delivery WHERE company_id = $1 AND endpoint_id = $2 AND state = 'PENDING'`, company, endpointID)
}

func (s *Service) failedCount(ctx context.Context, company, endpointID string) (int64, error) {
	return db.One(ctx, s.DB, db.Value[int64],
		`SELECT count(*) FROM webhook_delivery WHERE company_id = $1 AND endpoint_id = $2 AND state = 'FAILED'`, company, endpointID)
}

// places are how far the endpoints of all companies have come in their feeds.
func (s *Service) places(ctx context.Context) ([]place, error) {
	return db.All(ctx, s.DB, func(r db.Scanner) (place, error) {
		var p place
		var due int64
		err := r.Scan(&p.company, &p.endpoint, &p.state, &p.sequence, &due)
		p.due = clock.Time(due)
		return p, err
	}, `SELECT e.company_id, e.id, e.state, l.sequence, l.due_at
		FROM webhook_endpoint AS e JOIN webhook_lane AS l ON l.company_id = e.company_id AND l.endpoint_id = e.id AND l.id = 'events'
		WHERE e.state <> 'DELETED'`)
}

// tails are what waits to be tried again, of all companies.
func (s *Service) tails(ctx context.Context) ([]tail, error) {
	return db.All(ctx, s.DB, func(r db.Scanner) (tail, error) {
		var t tail
		var due int64
		err := r.Scan(&t.company, &t.endpoint, &t.count, &due)
		t.due = clock.Time(due)
		return t, err
	}, `SELECT company_id, endpoint_id, count(*), min(next_at) FROM webhook_delivery
		WHERE state = 'PENDING' GROUP BY company_id, endpoint_id`)
}

// endpointsAfter is a page of the endpoints of all companies, those that are
// deleted too, in the order of their keys.
func (s *Service) endpointsAfter(ctx context.Context, company, endpointID string, limit int) ([]Endpoint, error) {
	return db.All(ctx, s.DB, scanEndpoint, endpointColumns+`WHERE (company_id, id) > ($1, $2) ORDER BY company_id, id LIMIT $3`,
		company, endpointID, limit)
}

// doneWith are those of an endpoint's oldest deliveries with which nothing has
// happened since an instant, and that will not be sent again; limit is how many
// are looked at. Ids are ordered by time, so the oldest are found by them.
func (s *Service) doneWith(ctx context.Context, e Endpoint, before time.Time, limit int) ([]string, error) {
	return db.All(ctx, s.DB, db.Value[string], `SELECT id FROM (
			SELECT id, updated_at FROM webhook_delivery
			WHERE company_id = $1 AND endpoint_id = $2 AND (state <> 'PENDING' OR $3 = 'DELETED')
			ORDER BY company_id, endpoint_id, id LIMIT $4) AS oldest
		WHERE updated_at < $5`, e.Company, e.ID, string(e.State), limit, clock.Micros(before))
}

func (s *Service) remove(ctx context.Context, company string, ids []string) error {
	_, err := s.DB.Exec(ctx, `DELETE FROM webhook_delivery WHERE company_id = $1 AND id = ANY($2)`, company, ids)
	return err
}
