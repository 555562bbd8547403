package webhook

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
)

const (
	endpointColumns = `company_id, id, url, description, kinds, state, secret, old_secret, failed_at, old_until, failures,
	created_at, updated_at`
	queueColumns    = `company_id, endpoint_id, id, kind, sequence, through, due_at, lease_until, fence`
	deliveryColumns = `company_id, id, endpoint_id, event_id, kind, sequence, state, attempts, status, latency_ms, excerpt,
	trouble, next_at, created_at, updated_at`
	attemptColumns = `company_id, delivery_id, attempt, created_at, status, latency_ms, response, trouble`

	endpointsWhere  = `SELECT ` + endpointColumns + ` FROM webhook_endpoint WHERE `
	deliveriesWhere = `SELECT ` + deliveryColumns + ` FROM webhook_delivery WHERE `
)

var (
	endpointTable = db.Declare[Endpoint]("webhook_endpoint", db.Reads(endpointColumns))
	queueTable    = db.Declare[queue]("webhook_lane", db.Reads(queueColumns), db.Passing())
	deliveryTable = db.Declare[Delivery]("webhook_delivery", db.Reads(deliveryColumns))
	attemptTable  = db.Declare[Attempt]("webhook_attempt", db.Reads(attemptColumns))
)

func scanEndpoint(r db.Scanner) (Endpoint, error) {
	e, err := endpointTable.Scan(r)
	e.Kinds = splitKinds(e.kinds)
	return e, err
}

// splitKinds splits a comma-separated list of kinds. For an empty text it returns an empty slice
// and not nil, so that JSON shows [].
func splitKinds(kinds string) []string {
	return strings.FieldsFunc(kinds, func(c rune) bool { return c == ',' })
}

func (s *Service) findEndpoint(ctx context.Context, company, endpointID string) (Endpoint, error) {
	return db.One(ctx, s.DB, scanEndpoint, endpointsWhere+`company_id = $1 AND id = $2`, company, endpointID)
}

// List returns a company's endpoints, the newest first.
func (s *Service) List(ctx context.Context, company string) ([]Endpoint, error) {
	return db.All(ctx, s.DB, scanEndpoint,
		endpointsWhere+`company_id = $1 AND state <> 'DELETED' ORDER BY id DESC`, company)
}

// All returns a page of all companies' endpoints in a state, newest first, and their total count.
// An empty state selects endpoints in any state. Deleted endpoints are never included.
func (s *Service) All(ctx context.Context, state State, limit, offset int) ([]Endpoint, int64, error) {
	return db.Page(ctx, s.DB, "", scanEndpoint,
		`SELECT count(*) FROM webhook_endpoint WHERE state <> 'DELETED' AND (state = $1 OR $1 = '')`,
		endpointsWhere+`state <> 'DELETED' AND (state = $1 OR $1 = '') ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3`,
		limit, offset, string(state))
}

const idle = `SELECT l.company_id, l.endpoint_id, l.id, l.kind, l.sequence, l.through, l.due_at, l.lease_until, l.fence, e.failures
	FROM webhook_lane AS l JOIN webhook_endpoint AS e ON e.company_id = l.company_id AND e.id = l.endpoint_id
	WHERE e.state IN ('ACTIVE', 'FAILING') AND l.lease_until <= $1 AND l.due_at <= $1 AND (l.due_at > 0 OR l.kind = 'events')`

// idleQueues returns the delivery queues of these companies that have no lease and may have
// something to send. If companies is nil, it returns such queues of all companies.
func (s *Service) idleQueues(ctx context.Context, companies []string, now time.Time) ([]queue, error) {
	if companies == nil {
		return db.All(ctx, s.DB, db.Fields[queue], idle, clock.Micros(now))
	}
	if !s.DB.Routed() {
		return db.All(ctx, s.DB, db.Fields[queue], idle+` AND l.company_id = ANY($2)`, clock.Micros(now), companies)
	}
	return s.idleQueuesAt(ctx, companies, now)
}

func (s *Service) findQueue(ctx context.Context, company, endpointID, queueID string) (queue, error) {
	return db.One(ctx, s.DB, queueTable.Scan, `SELECT `+queueColumns+`
		FROM webhook_lane WHERE company_id = $1 AND endpoint_id = $2 AND id = $3`, company, endpointID, queueID)
}

// removeQueuesOf deletes all delivery queues of an endpoint. Each one has a transaction of its own, so that it cannot deadlock with
// programs that lock the endpoint and several queues.
func (s *Service) removeQueuesOf(ctx context.Context, e endpointKey) error {
	queues, err := db.All(ctx, s.DB, db.Value[string], `SELECT id FROM webhook_lane WHERE company_id = $1 AND endpoint_id = $2`, e.company, e.id)
	for _, queueID := range queues {
		_, failed := s.DB.Exec(ctx, `DELETE FROM webhook_lane WHERE company_id = $1 AND endpoint_id = $2 AND id = $3`, e.company, e.id, queueID)
		err = errors.Join(err, failed)
	}
	return err
}

// removeQueues deletes the queues of deleted endpoints that have no lease.
func (s *Service) removeQueues(ctx context.Context, now time.Time) error {
	_, err := s.DB.Exec(ctx, `DELETE FROM webhook_lane WHERE lease_until <= $1
		AND EXISTS (SELECT 1 FROM webhook_endpoint AS e WHERE e.company_id = webhook_lane.company_id
			AND e.id = webhook_lane.endpoint_id AND e.state = 'DELETED')`, clock.Micros(now))
	return err
}

func (s *Service) replayCount(ctx context.Context, company, endpointID string) (int64, error) {
	return db.One(ctx, s.DB, db.Value[int64], `SELECT count(*) FROM webhook_lane
		WHERE company_id = $1 AND endpoint_id = $2 AND kind = 'replay'`, company, endpointID)
}

// take leases delivery queues of a company and returns them. If a queue has been leased since it was read, take returns it with
// a fence of 0. Such a queue may be idle again, and then its other values are old too.
func (s *Service) take(ctx context.Context, company string, open []queue, now time.Time) (taken []queue, err error) {
	err = s.DB.Tx(ctx, func(q db.Querier) error {
		taken = make([]queue, len(open))
		for i, l := range open {
			got, err := db.One(ctx, q, queueTable.Scan, `
				UPDATE webhook_lane SET lease_until = $5, fence = fence + 1
				WHERE company_id = $1 AND endpoint_id = $2 AND id = $3 AND lease_until <= $4 AND fence = $6
				RETURNING `+queueColumns,
				company, l.endpoint, l.id, clock.Micros(now), clock.Micros(now.Add(lease)), l.fence)
			if err != nil && !errors.Is(err, db.ErrNone) {
				return err
			}
			taken[i] = got
		}
		return nil
	})
	return taken, err
}

// release ends the lease of a delivery queue, and stores due, the time at which the queue is
// processed next. If due is zero, the queue for retries becomes due at its first retry. The queue's
// row is locked before the retries are read, so that release does not miss a retry that is added at
// this moment. The queue of a finished replay is deleted. The position stays as it was stored with the results: after a
// COMMIT that was executed without an answer, the visit knows only an older one.
func (s *Service) release(ctx context.Context, l queue, due time.Time) error {
	if l.kind == queueReplay && due.IsZero() {
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
		case l.kind == queueReplay && l.sequence >= l.through:
			_, err = q.Exec(ctx, `DELETE FROM webhook_lane WHERE company_id = $1 AND endpoint_id = $2 AND id = $3`,
				l.company, l.endpoint, l.id)
			return err
		case l.kind == queueRetries && due.IsZero():
			if due, err = firstRetry(ctx, q, l); err != nil {
				return err
			}
		}
		_, err = q.Exec(ctx, `UPDATE webhook_lane SET lease_until = 0, due_at = $4
			WHERE company_id = $1 AND endpoint_id = $2 AND id = $3`, l.company, l.endpoint, l.id, clock.Micros(due))
		return err
	})
}

func firstRetry(ctx context.Context, q db.Querier, l queue) (time.Time, error) {
	at, err := db.One(ctx, q, db.Value[int64], `SELECT coalesce(min(next_at), 0) FROM webhook_delivery
		WHERE company_id = $1 AND endpoint_id = $2 AND state = 'PENDING'`, l.company, l.endpoint)
	return clock.Time(at), err
}

// bringForward makes a delivery queue due now.
func (s *Service) bringForward(ctx context.Context, company, endpointID, queueID string, now time.Time) error {
	_, err := s.DB.Exec(ctx, `UPDATE webhook_lane SET due_at = $4
		WHERE company_id = $1 AND endpoint_id = $2 AND id = $3`, company, endpointID, queueID, clock.Micros(now))
	return err
}

// sendWaiting makes an endpoint's events and retries due now that wait until a time after the given one.
func (s *Service) sendWaiting(ctx context.Context, e endpointKey, now, after time.Time) error {
	return s.DB.Tx(ctx, func(q db.Querier) error {
		_, err := q.Exec(ctx, `UPDATE webhook_lane SET due_at = $3
			WHERE company_id = $1 AND endpoint_id = $2 AND due_at > $4`, e.company, e.id, clock.Micros(now), clock.Micros(after))
		if err != nil {
			return err
		}
		_, err = q.Exec(ctx, `UPDATE webhook_delivery SET next_at = $3
			WHERE company_id = $1 AND endpoint_id = $2 AND state = 'PENDING' AND next_at > $4`, e.company, e.id, clock.Micros(now), clock.Micros(after))
		return err
	})
}

// endpointsWaiting returns the endpoints whose events or retries wait until a time after the given one.
func (s *Service) endpointsWaiting(ctx context.Context, after time.Time) ([]endpointKey, error) {
	return db.All(ctx, s.DB, db.Fields[endpointKey], `SELECT DISTINCT l.company_id, l.endpoint_id FROM webhook_lane AS l
		WHERE l.due_at > $1 OR l.kind = 'retries' AND EXISTS (SELECT 1 FROM webhook_delivery AS d WHERE d.company_id = l.company_id
			AND d.endpoint_id = l.endpoint_id AND d.state = 'PENDING' AND d.next_at > $1)`, clock.Micros(after))
}

// recoverRetries makes queues due that have retries but no due time. A program leaves such a
// queue if it dies between two writes, for example in Resend. It also ends leases that last too long, and sends what waits too
// long, because the lease or the wait began while a clock was ahead.
func (s *Service) recoverRetries(ctx context.Context, now time.Time) error {
	_, err := s.DB.Exec(ctx, `UPDATE webhook_lane SET lease_until = 0 WHERE lease_until > $1`, clock.Micros(now.Add(lease+time.Minute)))
	if err != nil {
		return err
	}
	_, err = s.DB.Exec(ctx, `UPDATE webhook_lane SET due_at = $1 WHERE kind = 'retries' AND due_at = 0 AND lease_until <= $1
		AND EXISTS (SELECT 1 FROM webhook_delivery AS d WHERE d.company_id = webhook_lane.company_id
			AND d.endpoint_id = webhook_lane.endpoint_id AND d.state = 'PENDING')`, clock.Micros(now))
	if err != nil {
		return err
	}
	ahead := now.Add(longestWait + time.Minute)
	waiting, err := s.endpointsWaiting(ctx, ahead)
	for _, e := range waiting {
		err = errors.Join(err, s.sendWaiting(ctx, e, now, ahead))
	}
	return err
}

func findDelivery(ctx context.Context, q db.Querier, company, deliveryID string) (Delivery, error) {
	return db.One(ctx, q, deliveryTable.Scan, deliveriesWhere+`company_id = $1 AND id = $2`, company, deliveryID)
}

// Latest returns the newest delivery to an endpoint of the company. ok is false if there is none.
func (s *Service) Latest(ctx context.Context, company, endpointID string) (d Delivery, ok bool, err error) {
	d, err = db.One(ctx, s.DB, deliveryTable.Scan, deliveriesOf+` ORDER BY id DESC LIMIT 1`, company, endpointID)
	if errors.Is(err, db.ErrNone) {
		return Delivery{}, false, nil
	}
	return d, err == nil, err
}

// attemptsOf returns the failed attempts of a delivery, oldest first.
func attemptsOf(ctx context.Context, q db.Querier, company, deliveryID string) ([]Attempt, error) {
	return db.All(ctx, q, attemptTable.Scan, `SELECT `+attemptColumns+` FROM webhook_attempt
		WHERE company_id = $1 AND delivery_id = $2 ORDER BY attempt`, company, deliveryID)
}

// dueDeliveries returns an endpoint's retries that are due, the most overdue first.
func (s *Service) dueDeliveries(ctx context.Context, company, endpointID string, now time.Time, limit int) ([]Delivery, error) {
	return db.All(ctx, s.DB, deliveryTable.Scan, deliveriesWhere+`company_id = $1 AND endpoint_id = $2 AND state = 'PENDING'
		AND next_at <= $3 ORDER BY next_at LIMIT $4`, company, endpointID, clock.Micros(now), limit)
}

const (
	deliveryTotal  = `SELECT count(*) FROM webhook_delivery WHERE company_id = $1 AND endpoint_id = $2`
	deliveriesOf   = deliveriesWhere + `company_id = $1 AND endpoint_id = $2`
	ofFailed       = ` AND state = 'FAILED'`
	ofPending      = ` AND state = 'PENDING'`
	newestDelivery = ` ORDER BY id DESC LIMIT $3 OFFSET $4`
)

// deliveries returns a page of an endpoint's deliveries in a state, newest first, and their total
// count. The counts read only indexes. The SQL queries contain FAILED and PENDING as literals, so
// that the database uses the small index on deliveries in that state.
func (s *Service) deliveries(ctx context.Context, company, endpointID string, state DeliveryState, limit, offset int) ([]Delivery, int64, error) {
	count, rows := deliveryTotal, deliveriesOf
	switch state {
	case GivenUp:
		count, rows = deliveryTotal+ofFailed, deliveriesOf+ofFailed
	case Pending:
		count, rows = deliveryTotal+ofPending, deliveriesOf+ofPending
	case Delivered:
		count = `SELECT (` + deliveryTotal + `) - (` + deliveryTotal + ofFailed + `) - (` + deliveryTotal + ofPending + `)`
		rows += ` AND state = 'DELIVERED'`
	}
	return db.Page(ctx, s.DB, company, deliveryTable.Scan, count, rows+newestDelivery, limit, offset, company, endpointID)
}

// Cursor returns the place of a delivery in the list of its endpoint.
func (d Delivery) Cursor() string {
	return db.Place{At: clock.Micros(d.CreatedAt.Time), ID: d.ID}.Cursor()
}

const deliveriesAfter = ` AND id < $3 ORDER BY id DESC LIMIT $4`

// DeliveriesAfter returns at most limit deliveries of an endpoint in a state, the newest first, as Deliveries does. They follow the
// delivery with the cursor after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid. The id begins
// with the time, so it alone says what follows.
func (s *Service) DeliveriesAfter(ctx context.Context, company, endpointID string, state DeliveryState, after string, limit int) ([]Delivery, error) {
	at, err := db.PlaceOf(after)
	if err == nil {
		_, err = s.Find(ctx, company, endpointID)
	}
	if err != nil {
		return nil, err
	}
	if after == "" {
		at.ID = id.Above
	}
	switch state {
	case GivenUp:
		return db.All(ctx, s.DB, deliveryTable.Scan, deliveriesOf+ofFailed+deliveriesAfter, company, endpointID, at.ID, limit)
	case Pending:
		return db.All(ctx, s.DB, deliveryTable.Scan, deliveriesOf+ofPending+deliveriesAfter, company, endpointID, at.ID, limit)
	case Delivered:
		return db.All(ctx, s.DB, deliveryTable.Scan, deliveriesOf+` AND state = 'DELIVERED'`+deliveriesAfter, company, endpointID, at.ID, limit)
	}
	return db.All(ctx, s.DB, deliveryTable.Scan, deliveriesOf+deliveriesAfter, company, endpointID, at.ID, limit)
}

func (s *Service) pendingCount(ctx context.Context, company, endpointID string) (int64, error) {
	return db.One(ctx, s.DB, db.Value[int64],
		`SELECT count(*) FROM webhook_delivery WHERE company_id = $1 AND endpoint_id = $2 AND state = 'PENDING'`, company, endpointID)
}

func (s *Service) failedCount(ctx context.Context, company, endpointID string) (int64, error) {
	return db.One(ctx, s.DB, db.Value[int64],
		`SELECT count(*) FROM webhook_delivery WHERE company_id = $1 AND endpoint_id = $2 AND state = 'FAILED'`, company, endpointID)
}

// positions returns the positions of all companies' endpoints in their feeds.
func (s *Service) positions(ctx context.Context) ([]position, error) {
	return db.All(ctx, s.DB, db.Fields[position], `SELECT e.company_id, e.id, e.state, l.sequence, l.due_at
		FROM webhook_endpoint AS e JOIN webhook_lane AS l ON l.company_id = e.company_id AND l.endpoint_id = e.id AND l.id = 'events'
		WHERE e.state <> 'DELETED'`)
}

// waitingRetries returns the number of waiting retries of each endpoint, across all companies.
func (s *Service) waitingRetries(ctx context.Context) ([]retryCount, error) {
	return db.All(ctx, s.DB, db.Fields[retryCount], `SELECT company_id, endpoint_id, count(*), min(next_at) FROM webhook_delivery
		WHERE state = 'PENDING' GROUP BY company_id, endpoint_id`)
}

// endpointsAfter returns a page of all companies' endpoints, in the order of their keys. It
// includes deleted endpoints.
func (s *Service) endpointsAfter(ctx context.Context, company, endpointID string, limit int) ([]Endpoint, error) {
	return db.All(ctx, s.DB, scanEndpoint, endpointsWhere+`(company_id, id) > ($1, $2) ORDER BY company_id, id LIMIT $3`,
		company, endpointID, limit)
}

// expired returns the IDs of old deliveries to an endpoint that are finished, or whose endpoint
// is deleted. It reads at most limit of the oldest such deliveries, and returns those that were
// last changed before the given time. The order of delivery IDs is the order of their creation.
func (s *Service) expired(ctx context.Context, e Endpoint, before time.Time, limit int) ([]string, error) {
	return db.All(ctx, s.DB, db.Value[string], `SELECT id FROM (
			SELECT id, updated_at FROM webhook_delivery
			WHERE company_id = $1 AND endpoint_id = $2 AND (state <> 'PENDING' OR $3 = 'DELETED')
			ORDER BY company_id, endpoint_id, id LIMIT $4) AS oldest
		WHERE updated_at < $5`, e.Company, e.ID, string(e.State), limit, clock.Micros(before))
}

// remove deletes deliveries with their attempts.
func (s *Service) remove(ctx context.Context, company string, ids []string) error {
	return s.DB.Tx(ctx, func(q db.Querier) error {
		_, err := q.Exec(ctx, `DELETE FROM webhook_attempt WHERE company_id = $1 AND delivery_id = ANY($2)`, company, ids)
		if err != nil {
			return err
		}
		_, err = q.Exec(ctx, `DELETE FROM webhook_delivery WHERE company_id = $1 AND id = ANY($2)`, company, ids)
		return err
	})
}

// addHours adds counts to the rows of the hours, in one transaction.
func (s *Service) addHours(ctx context.Context, keys []hourKey, sums map[hourKey]int64) error {
	return s.DB.Tx(ctx, func(q db.Querier) error {
		for _, k := range keys {
			_, err := q.Exec(ctx, `INSERT INTO webhook_hour (company_id, endpoint_id, hour_at, answer, took_ms, attempts) VALUES ($1, $2, $3, $4, $5, $6)
				ON CONFLICT (company_id, endpoint_id, hour_at, answer, took_ms) DO UPDATE SET attempts = webhook_hour.attempts + excluded.attempts`,
				k.company, k.endpoint, k.hour, k.answer, k.took, sums[k])
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// removeHours deletes the counts of an endpoint of the hours before an instant.
func (s *Service) removeHours(ctx context.Context, company, endpointID string, before time.Time) error {
	_, err := s.DB.Exec(ctx, `DELETE FROM webhook_hour WHERE company_id = $1 AND endpoint_id = $2 AND hour_at < $3`, company, endpointID, clock.Micros(before))
	return err
}

// Waiting returns the number of the company's first event that a webhook has not received yet. The
// webhook may be paused. If no webhook waits, ok is false. An event that does not exist yet may count
// as waiting.
func (s *Service) Waiting(ctx context.Context, company string) (sequence int64, ok bool, err error) {
	sequence, err = db.One(ctx, s.DB, db.Value[int64], `SELECT coalesce(min(l.first), 0) FROM (
			SELECT endpoint_id, sequence + 1 AS first FROM webhook_lane WHERE company_id = $1 AND kind <> 'retries'
			UNION ALL
			SELECT endpoint_id, sequence AS first FROM webhook_delivery WHERE company_id = $1 AND state = 'PENDING' AND sequence > 0
		) AS l JOIN webhook_endpoint AS e ON e.company_id = $1 AND e.id = l.endpoint_id WHERE e.state <> 'DELETED'`, company)
	return sequence, sequence > 0, err
}
