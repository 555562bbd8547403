package webhook

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/text"
	"github.com/kobo-waas/kobo/internal/wire"
)

// Attempt is one attempt of a delivery, as the API shows it. A failed attempt is a row of its own. A
// success is the last attempt of its delivery, so the delivery's row describes it.
type Attempt struct {
	Company  string        `db:"company_id,key" json:"-"`
	Delivery string        `db:"delivery_id,key" json:"-"`
	Number   int64         `db:"attempt,key" json:"attempt"` // 1 is the first attempt
	At       clock.Instant `db:"created_at" json:"at"`       // when the attempt ended
	Status   wire.Number   `db:"status" json:"responseStatus"`
	Latency  int64         `db:"latency_ms" json:"latencyMs"`
	Response wire.Text     `db:"response" json:"response"` // redacted, 1 KiB at most
	Trouble  wire.Text     `db:"trouble" json:"error"`     // why the attempt failed; "" if it succeeded
}

// attempt returns the delivery's last attempt, whose redacted response is given.
func (d Delivery) attempt(response string) Attempt {
	return Attempt{
		Company: d.Company, Delivery: d.ID, Number: d.Attempts, Status: d.Status, Latency: d.Latency,
		Response: wire.Text(response), Trouble: d.Trouble, At: d.UpdatedAt,
	}
}

// appendTo adds the delivery to a unit as a new row, with the row of its last attempt if that failed.
func (d Delivery) appendTo(u *ledger.Unit) {
	u.Append(deliveryTable.Record(d))
	if d.failed != nil {
		u.Append(attemptTable.Record(*d.failed))
	}
}

// attemptRows returns the rows of the last attempts of deliveries that have failed.
func attemptRows(list []Delivery) (rows [][]any) {
	for _, d := range list {
		if d.failed != nil {
			rows = append(rows, attemptTable.Record(*d.failed).Values)
		}
	}
	return rows
}

// Delivery returns a delivery to an endpoint with each of its attempts, oldest first. A delivery of a
// release that kept only the last attempt has only that one.
func (s *Service) Delivery(ctx context.Context, company, endpointID, deliveryID string) (Delivery, error) {
	if _, err := s.Find(ctx, company, endpointID); err != nil {
		return Delivery{}, err
	}
	d, err := s.Whole(ctx, company, deliveryID)
	if err == nil && d.Endpoint != endpointID {
		return Delivery{}, errNoDelivery
	}
	return d, err
}

var errNoDelivery = fault.New(fault.Missing, "Delivery not found")

// Whole returns a delivery of the company to any endpoint, also to a deleted one, with each of its attempts.
func (s *Service) Whole(ctx context.Context, company, deliveryID string) (Delivery, error) {
	var d Delivery
	err := s.DB.Snapshot(ctx, func(q db.Querier) (err error) {
		if d, err = findDelivery(ctx, q, company, deliveryID); err == nil {
			d.History, err = attemptsOf(ctx, q, company, deliveryID)
		}
		return err
	})
	if errors.Is(err, db.ErrNone) {
		return Delivery{}, errNoDelivery
	}
	if n := len(d.History); d.Attempts > 0 && (n == 0 || d.History[n-1].Number < d.Attempts) {
		d.History = append(d.History, d.attempt(text.RedactedBody([]byte(d.Excerpt), answerLength)))
	}
	return d, err
}
