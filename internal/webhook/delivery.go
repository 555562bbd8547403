package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/wire"
)

// DeliveryState is the state of a delivery.
type DeliveryState string

// The states of a delivery.
const (
	Pending   DeliveryState = "PENDING"   // a retry will follow
	Delivered DeliveryState = "DELIVERED" // the endpoint responded with 2xx in time
	GivenUp   DeliveryState = "FAILED"    // all attempts of three days failed, the attempt of a test failed, or the event is archived
)

// Delivery is an event that is sent to an endpoint, as the API shows it. It includes the result
// of the last attempt.
type Delivery struct {
	Company   string        `db:"company_id,key" json:"-"`
	ID        string        `db:"id,key" json:"id"`
	Endpoint  string        `db:"endpoint_id" json:"webhookId"`
	EventID   string        `db:"event_id" json:"eventId"` // every attempt to send the message also has this ID, in its webhook-id header
	Kind      string        `db:"kind" json:"event"`
	Sequence  int64         `db:"sequence" json:"sequence"` // the event's sequence number; 0 for a test
	State     DeliveryState `db:"state" json:"status"`
	Attempts  int64         `db:"attempts" json:"attempts"`
	Status    wire.Number   `db:"status" json:"responseStatus"` // the status of the last response; 0 for no response
	Latency   int64         `db:"latency_ms" json:"-"`          // the duration of the last attempt, in milliseconds
	Took      *int64        `json:"latencyMs"`                  // Latency in JSON; null before the first attempt
	Excerpt   wire.Text     `db:"excerpt" json:"response"`
	Trouble   wire.Text     `db:"trouble" json:"error"` // why the last attempt failed; "" if it succeeded
	NextAt    clock.Instant `db:"next_at" json:"nextAttemptAt"`
	CreatedAt clock.Instant `db:"created_at" json:"createdAt"`
	UpdatedAt clock.Instant `db:"updated_at" json:"updatedAt"` // the time of the last attempt

	// History has the attempts, oldest first. It is nil unless Service.Delivery has read it.
	History []Attempt `json:"history,omitempty"`
	failed  *Attempt  // the attempt that this process has just made, if it failed
}

// MarshalJSON adds the duration of the last attempt.
func (d Delivery) MarshalJSON() ([]byte, error) {
	type plain Delivery
	if d.Attempts > 0 {
		d.Took = &d.Latency
	}
	return json.Marshal(plain(d))
}

// TestKind is the event kind of a test message. The feed never contains an event of this kind.
const TestKind = "webhook.test"

// longestWait is the longest rest of an endpoint, and the longest pause between two retries of a delivery.
const longestWait = time.Hour

// ages contains the age of a delivery at each of its retries, up to three days.
var ages = func() []time.Duration {
	out := []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute}
	for age := longestWait; age <= 72*time.Hour; age += longestWait {
		out = append(out, age)
	}
	return out
}()

// next returns the time of the next retry of a delivery that has had this many attempts. It
// returns false if there are no more retries. Retries whose time passed while no program was
// running are skipped. Each retry is early by a random time of up to a tenth of the wait. So
// deliveries that failed at the same time are not all retried at the same time. A delivery of the future was created while a clock
// was ahead. It counts as old as it is at this attempt on the schedule.
func next(created, now time.Time, attempts int64) (at time.Time, ok bool) {
	i := max(int(attempts)-1, 0)
	if created.After(now) {
		if created = now; i > 0 && i < len(ages) {
			created = now.Add(-ages[i-1])
		}
	}
	for i < len(ages) && created.Add(ages[i]).Before(now) {
		i++
	}
	if i >= len(ages) {
		return time.Time{}, false
	}
	wait := ages[i]
	if i > 0 {
		wait -= ages[i-1]
	}
	at = created.Add(ages[i] - rand.N(wait/10))
	if at.Before(now) {
		at = now
	}
	return at, true
}

// fresh returns a new delivery of an event to the endpoint. No attempt has been made yet.
func (e Endpoint) fresh(v event.Event, now time.Time) Delivery {
	return Delivery{
		ID: id.New(), Company: e.Company, Endpoint: e.ID, EventID: v.ID, Kind: v.Kind, Sequence: v.Sequence,
		State: Pending, CreatedAt: clock.Instant{Time: now}, UpdatedAt: clock.Instant{Time: now},
	}
}

// after returns the delivery with the result of one more attempt written into it.
func (d Delivery) after(r result, now time.Time) Delivery {
	d.Attempts++
	d.Status, d.Latency, d.Excerpt, d.Trouble = wire.Number(r.status), r.latency, wire.Text(r.excerpt), wire.Text(r.trouble)
	d.State, d.NextAt, d.UpdatedAt = Delivered, clock.Instant{}, clock.Instant{Time: now}
	if !r.isSuccess() {
		d.State = Pending
		at, again := next(d.CreatedAt.Time, now, d.Attempts)
		if d.NextAt.Time = at; !again {
			d.State = GivenUp
		}
		failed := d.attempt(r.answer)
		d.failed = &failed
	}
	return d
}

// withoutEvent returns the delivery of an archived event. There is nothing left to send, so the
// delivery gets no more attempts.
func (d Delivery) withoutEvent(now time.Time) Delivery {
	d.State, d.Trouble, d.NextAt, d.UpdatedAt = GivenUp, "the event is archived", clock.Instant{}, clock.Instant{Time: now}
	return d
}

// message returns the body that is posted for an event. GET /events/{id} returns the same body.
func message(v event.Event) ([]byte, error) { return json.Marshal(v) }

// Deliveries returns a page of an endpoint's deliveries in a state, newest first, and their total
// count. An empty state selects deliveries in any state.
func (s *Service) Deliveries(ctx context.Context, company, endpointID string, state DeliveryState, limit, offset int) ([]Delivery, int64, error) {
	if _, err := s.Find(ctx, company, endpointID); err != nil {
		return nil, 0, err
	}
	return s.deliveries(ctx, company, endpointID, state, limit, offset)
}

// Test posts a test message to an endpoint, without retries, and returns the result. If the
// endpoint accepts the message, the waiting events and retries become due immediately.
func (s *Service) Test(ctx context.Context, company, endpointID string, key *idempotency.Key) (Delivery, error) {
	e, err := s.Find(ctx, company, endpointID)
	if err != nil {
		return Delivery{}, err
	}
	now := s.Clock.Now()
	secrets, err := s.secrets(e, now)
	if err != nil {
		return Delivery{}, err
	}
	v := event.Event{
		ID: id.New(), Kind: TestKind, Company: company, CreatedAt: now, Environment: s.Events.Environment,
		Data: json.RawMessage(`{"webhookId":"` + e.ID + `"}`),
	}
	body, err := message(v)
	if err != nil {
		return Delivery{}, err
	}
	d := e.fresh(v, now).after(s.post(ctx, e.URL, v.ID, body, secrets), s.Clock.Now())
	if d.State == Pending { // a test has no retries
		d.State, d.NextAt = GivenUp, clock.Instant{}
	}
	u := ledger.For(company)
	key.Answer(&u, d, nil)
	d.appendTo(&u)
	err = idempotency.Taken(s.Book.Commit(context.WithoutCancel(ctx), u))
	if err == nil && d.State == Delivered {
		s.endRest(ctx, e)
	}
	return d, err
}

// Resend queues the event of a delivery to be sent again, as a new delivery with the same message
// ID.
func (s *Service) Resend(ctx context.Context, company, deliveryID string, key *idempotency.Key) (Delivery, error) {
	return s.resend(ctx, company, deliveryID, func(u *ledger.Unit, d Delivery) { key.Answer(u, d, nil) })
}

// Actor is the operator who does something for a company.
type Actor interface {
	// Note returns a line of the audit log as a row.
	Note(company, action, subject string, details map[string]string, at time.Time) db.Record
}

// ResendBy is like Resend, for an operator. One commit holds the delivery and the line of the audit log.
func (s *Service) ResendBy(ctx context.Context, by Actor, company, deliveryID string) (Delivery, error) {
	return s.resend(ctx, company, deliveryID, func(u *ledger.Unit, d Delivery) {
		u.Append(by.Note(company, "webhook.resend", d.ID, map[string]string{"delivery": deliveryID, "webhook": d.Endpoint}, d.CreatedAt.Time))
	})
}

// resend queues the event of a delivery again. The function with adds to the commit.
func (s *Service) resend(ctx context.Context, company, deliveryID string, with func(u *ledger.Unit, d Delivery)) (Delivery, error) {
	old, err := findDelivery(ctx, s.DB, company, deliveryID)
	if errors.Is(err, db.ErrNone) {
		return Delivery{}, errNoDelivery
	}
	if err != nil {
		return Delivery{}, err
	}
	if old.Kind == TestKind {
		return Delivery{}, fault.New(fault.Refused, "A test is not sent again: begin another").With(fault.InvalidRequest)
	}
	e, err := s.Find(ctx, company, old.Endpoint)
	if err != nil {
		return Delivery{}, err
	}
	if !e.isLive() {
		return Delivery{}, errPaused
	}
	if _, _, err = s.Events.Feed(ctx, company, old.Sequence-1, 1, 0); err != nil {
		return Delivery{}, err // a fault of kind Gone if the event is archived
	}
	now := s.Clock.Now()
	d := e.fresh(event.Event{ID: old.EventID, Kind: old.Kind, Sequence: old.Sequence}, now)
	d.NextAt.Time = now
	u := ledger.For(company)
	with(&u, d)
	u.Append(deliveryTable.Record(d))
	if err = idempotency.Taken(s.Book.Commit(ctx, u)); err != nil {
		return Delivery{}, err
	}
	// If the program stops here, recoverRetries finds the delivery.
	if err := s.bringForward(ctx, company, e.ID, queueRetries, now); err != nil {
		return Delivery{}, err
	}
	s.nudge()
	return d, nil
}

// Replay is a range of the feed that is sent again, as the API shows it.
type Replay struct {
	Endpoint    string        `json:"webhookId"`
	First       int64         `json:"from"` // the sequence number of the first event
	Last        int64         `json:"to"`
	RequestedAt clock.Instant `json:"requestedAt"`
}

// mostReplays is how many unfinished replays an endpoint may have. Each replay has a separate
// queue, and a limited number of queues is processed concurrently.
const mostReplays = 5

// Replay queues the events with the sequence numbers first to last to be sent again. They are
// sent to the endpoint in order, in parallel with new events.
func (s *Service) Replay(ctx context.Context, company, endpointID string, first, last int64, key *idempotency.Key) (Replay, error) {
	return s.replay(ctx, company, endpointID, first, last, func(u *ledger.Unit, r Replay) { key.Answer(u, r, nil) })
}

// ReplayBy is like Replay, for an operator. One commit holds the replay and the line of the audit log.
func (s *Service) ReplayBy(ctx context.Context, by Actor, company, endpointID string, first, last int64) (Replay, error) {
	return s.replay(ctx, company, endpointID, first, last, func(u *ledger.Unit, r Replay) {
		u.Append(by.Note(company, "webhook.replay", endpointID, map[string]string{
			"from": strconv.FormatInt(r.First, 10), "to": strconv.FormatInt(r.Last, 10),
		}, r.RequestedAt.Time))
	})
}

// replay queues a range of the feed again. The function with adds to the commit.
func (s *Service) replay(ctx context.Context, company, endpointID string, first, last int64, with func(u *ledger.Unit, r Replay)) (Replay, error) {
	e, err := s.Find(ctx, company, endpointID)
	if err != nil {
		return Replay{}, err
	}
	head, err := s.Book.LastEvent(ctx, company)
	if err != nil {
		return Replay{}, err
	}
	first, last = max(first, 1), min(last, head)
	switch {
	case !e.isLive():
		return Replay{}, errPaused
	case first > last:
		return Replay{}, fault.New(fault.Refused, "There are no events in this range").With(fault.NotFound)
	}
	if _, _, err = s.Events.Feed(ctx, company, first-1, 1, 0); err != nil {
		return Replay{}, err // a fault of kind Gone if the events are archived
	}
	if n, err := s.replayCount(ctx, company, e.ID); err != nil || n >= mostReplays {
		if err == nil {
			err = fault.Newf(fault.Refused, "%d replays to this webhook are under way", n).With(fault.QuotaReached)
		}
		return Replay{}, err
	}
	now := s.Clock.Now()
	r := Replay{Endpoint: endpointID, First: first, Last: last, RequestedAt: clock.Instant{Time: now}}
	q := queue{company: company, endpoint: e.ID, id: id.New(), kind: queueReplay, sequence: first - 1, through: last, due: now}
	u := ledger.For(company)
	with(&u, r)
	u.Append(queueTable.Record(q))
	if err = idempotency.Taken(s.Book.Commit(ctx, u)); err != nil {
		return Replay{}, err
	}
	s.nudge()
	return r, nil
}

var errPaused = fault.New(fault.Refused, "The webhook is paused").With(fault.WebhookPaused)
