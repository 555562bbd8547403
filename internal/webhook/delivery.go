package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// DeliveryState is what became of a delivery.
type DeliveryState string

// The states of a delivery.
const (
	Pending   DeliveryState = "PENDING"   // it will be tried again
	Delivered DeliveryState = "DELIVERED" // the endpoint answered 2xx in time
	GivenUp   DeliveryState = "FAILED"    // three days of trying
)

// Delivery is an event that was sent to an endpoint, with what came of it last.
type Delivery struct {
	ID        string
	Company   string
	Endpoint  string
	EventID   string // the message's webhook-id, the same each time it is sent
	Kind      string
	Sequence  int64 // of the event; 0 for a test
	State     DeliveryState
	Attempts  int64
	Status    int64 // of the last answer; 0 for none
	Latency   int64 // of the last attempt, in milliseconds
	Excerpt   string
	Trouble   string // why the last attempt does not count; "" if it does
	NextAt    time.Time
	CreatedAt time.Time
	UpdatedAt time.Time // the last attempt
}

// TestKind is the kind of a message that only tries an endpoint out. It is no
// event of the feed.
const TestKind = "webhook.test"

// ages are how long after the first attempt a delivery is tried again, until
// three days.
var ages = func() []time.Duration {
	out := []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute}
	for age := time.Hour; age <= 72*time.Hour; age += time.Hour {
		out = append(out, age)
	}
	return out
}()

// next is when a delivery that has failed so often is tried again; ok is false
// when it has been tried long enough. Ages that passed while nobody was at work
// are not made up for. Each is brought forward by up to a tenth of the wait, so
// that endpoints which failed together do not all come back together.
func next(created, now time.Time, attempts int64) (at time.Time, ok bool) {
	i := max(int(attempts)-1, 0)
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

// fresh is a delivery of an event that has not been tried yet.
func (e Endpoint) fresh(v event.Event, now time.Time) Delivery {
	return Delivery{
		ID: id.New(), Company: e.Company, Endpoint: e.ID, EventID: v.ID, Kind: v.Kind, Sequence: v.Sequence,
		State: Pending, CreatedAt: now, UpdatedAt: now,
	}
}

// after is the delivery with what came of one more attempt.
func (d Delivery) after(r result, now time.Time) Delivery {
	d.Attempts++
	d.Status, d.Latency, d.Excerpt, d.Trouble, d.UpdatedAt = r.status, r.latency, r.excerpt, r.trouble, now
	d.State, d.NextAt = Delivered, time.Time{}
	if !r.taken() {
		d.State = Pending
		at, again := next(d.CreatedAt, now, d.Attempts)
		if d.NextAt = at; !again {
			d.State = GivenUp
		}
	}
	return d
}

// message is an event as it is posted: exactly what GET /events/{id} shows.
func message(v event.Event) ([]byte, error) { return json.Marshal(v) }

// Deliveries is a page of what was sent to an endpoint, newest first, and how
// many there are: those in a state, or all for "".
func (s *Service) Deliveries(ctx context.Context, company, endpointID string, state DeliveryState, limit, offset int) ([]Delivery, int64, error) {
	if _, err := s.Find(ctx, company, endpointID); err != nil {
		return nil, 0, err
	}
	total, err := s.deliveryCount(ctx, company, endpointID, state)
	if err != nil {
		return nil, 0, err
	}
	list, err := s.deliveries(ctx, company, endpointID, state, limit, offset)
	return list, total, err
}

// Test posts a message that means nothing to an endpoint, once and at once, and
// tells what came of it. If it is taken, so may be what waits.
func (s *Service) Test(ctx context.Context, company, endpointID string, answered Answered) (Delivery, error) {
	e, err := s.Find(ctx, company, endpointID)
	if err != nil {
		return Delivery{}, err
	}
	now := s.Clock.Now()
	secrets, err := s.secrets(e, now)
	if err != nil {
		return Delivery{}, err
	}
	v := event.Event{ID: id.New(), Kind: TestKind, Company: company, CreatedAt: now, Data: json.RawMessage(`{"webhookId":"` + e.ID + `"}`)}
	body, err := message(v)
	if err != nil {
		return Delivery{}, err
	}
	d := e.fresh(v, now).after(s.post(ctx, e.URL, v.ID, body, secrets), s.Clock.Now())
	if d.State == Pending { // it is not tried again: who asked has the answer
		d.State, d.NextAt = GivenUp, time.Time{}
	}
	err = s.Book.Commit(context.WithoutCancel(ctx), ledger.Unit{
		Company: company, Claims: answered(d, nil), Notes: []db.Record{d.record()},
	})
	if err == nil && d.State == Delivered {
		s.unrest(ctx, e)
	}
	return d, err
}

// Resend sends what a delivery was about once more, from the beginning: as a new
// delivery with the same message id.
func (s *Service) Resend(ctx context.Context, company, deliveryID string, answered Answered) (Delivery, error) {
	old, err := s.findDelivery(ctx, company, deliveryID)
	if errors.Is(err, db.ErrNone) {
		return Delivery{}, fault.New(fault.Missing, "Delivery not found")
	}
	if err != nil {
		return Delivery{}, err
	}
	if old.Kind == TestKind {
		return Delivery{}, fault.New(fault.Refused, "A test is not sent again: begin another")
	}
	e, err := s.Find(ctx, company, old.Endpoint)
	if err != nil {
		return Delivery{}, err
	}
	if !e.live() {
		return Delivery{}, errPaused
	}
	now := s.Clock.Now()
	d := e.fresh(event.Event{ID: old.EventID, Kind: old.Kind, Sequence: old.Sequence}, now)
	d.NextAt = now
	err = s.Book.Commit(ctx, ledger.Unit{Company: company, Claims: answered(d, nil), Notes: []db.Record{d.record()}})
	if err != nil {
		return Delivery{}, err
	}
	// Should the program stop right here, the sweep finds the delivery.
	if err := s.bringForward(ctx, company, e.ID, laneRetries, now); err != nil {
		return Delivery{}, err
	}
	s.nudge()
	return d, nil
}

// Replay is a part of the feed that is sent once more.
type Replay struct {
	Endpoint    string
	First, Last int64 // sequence numbers
	RequestedAt time.Time
}

// mostReplays is how many replays an endpoint may have at once: each is a lane,
// and lanes are shared with others.
const mostReplays = 5

// Replay sends the events from first to last, by their sequence numbers, to an
// endpoint once more: in order, and beside what is new.
func (s *Service) Replay(ctx context.Context, company, endpointID string, first, last int64, answered Answered) (Replay, error) {
	e, err := s.Find(ctx, company, endpointID)
	if err != nil {
		return Replay{}, err
	}
	head, err := s.Book.Head(ctx, company)
	if err != nil {
		return Replay{}, err
	}
	first, last = max(first, 1), min(last, head)
	switch {
	case !e.live():
		return Replay{}, errPaused
	case first > last:
		return Replay{}, fault.New(fault.Refused, "There are no events in this range")
	}
	if n, err := s.replayCount(ctx, company, e.ID); err != nil || n >= mostReplays {
		if err == nil {
			err = fault.Newf(fault.Refused, "%d replays to this webhook are under way", n)
		}
		return Replay{}, err
	}
	now := s.Clock.Now()
	r := Replay{Endpoint: endpointID, First: first, Last: last, RequestedAt: now}
	l := lane{company: company, endpoint: e.ID, id: id.New(), kind: laneReplay, sequence: first - 1, through: last, due: now}
	err = s.Book.Commit(ctx, ledger.Unit{Company: company, Claims: answered(r, nil), Notes: []db.Record{l.record()}})
	if err != nil {
		return Replay{}, err
	}
	s.nudge()
	return r, nil
}

var errPaused = fault.New(fault.Refused, "The webhook is paused")
