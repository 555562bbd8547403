package webhook

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/secret"
)

// The kinds of lane. Of the first two every endpoint has one, of that name; each
// replay has a lane of its own, until it is through.
const (
	laneEvents  = "events"
	laneRetries = "retries"
	laneReplay  = "replay"
)

// lane is one queue of an endpoint.
type lane struct {
	company, endpoint, id, kind string
	sequence                    int64     // events up to here are done with
	through                     int64     // where a replay ends
	due                         time.Time // not before; zero when nothing waits but new events
	fence                       int64     // of the lease it is held under
	failures                    int64     // of the endpoint, when it was looked up
}

func (l lane) key() string { return l.company + "/" + l.endpoint + "/" + l.id }

// sick tells whether working in the lane may well mean waiting for an endpoint
// that does not answer.
func (l lane) sick() bool { return l.failures >= tolerance }

const (
	// lease is how long a lane is held without a sign of life, which each slow
	// attempt is. So long a lane waits after its program died.
	lease = 3 * patience
	// pageSize is how many events are read at once.
	pageSize = 200
	// together is how many retries of an endpoint are under way at once.
	together = 4
	// hold is how many milliseconds of sending may be lost, and sent again, if
	// the program dies: results are written down together after that.
	hold = 100
	// tolerance is how many failures in a row are bad luck. After them new
	// events wait until the endpoint is tried again.
	tolerance = 3
	// turn is how long a visit may last while others wait for a slot.
	turn = 500 * time.Millisecond
)

// visit is one stay in a lane, under its lease.
type visit struct {
	*Service
	lane     lane
	endpoint Endpoint
	secrets  []secret.Text
	done     []Delivery // tried and not written down yet
	held     int64      // milliseconds of sending since the last time something was
	written  int64      // the place in the feed that has been written down
	since    time.Time  // the machine's own time
}

// errOver ends a visit: the lease was lost, or the endpoint is not live.
var errOver = errors.New("webhook: the visit is over")

// work does what is to be done in a lane, and gives the lane back.
func (s *Service) work(ctx context.Context, l lane) {
	v := &visit{Service: s, lane: l, written: l.sequence, since: time.Now()}
	var err error
	if l.kind == laneRetries {
		err = v.retries(ctx)
	} else {
		err = v.events(ctx)
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err == nil || errors.Is(err, errOver) {
		err = s.release(after, v.lane, v.lane.due)
	} else {
		s.Log.Warn("deliveries stopped", "company", l.company, "webhook", l.endpoint, "lane", l.id, "error", err)
		err = s.release(after, v.lane, s.Clock.Now().Add(5*time.Second))
	}
	if err != nil {
		// The lease runs out and somebody takes the lane up.
		s.Log.Warn("a lane was not given back", "company", l.company, "webhook", l.endpoint, "lane", l.id, "error", err)
	}
}

// look reads the endpoint as it is now: its address may have changed since.
func (v *visit) look(ctx context.Context) (err error) {
	if err = ctx.Err(); err != nil {
		return errOver
	}
	if v.endpoint, err = v.findEndpoint(ctx, v.lane.company, v.lane.endpoint); err != nil {
		return err
	}
	if !v.endpoint.live() {
		return errOver
	}
	v.secrets, err = v.Service.secrets(v.endpoint, v.Clock.Now())
	return err
}

// events sends what comes after the lane's place in the feed, one event after
// the other, until there is nothing more or the endpoint is to be left alone.
func (v *visit) events(ctx context.Context) error {
	for more := true; more; {
		if err := v.look(ctx); err != nil {
			return err
		}
		var page []event.Event
		var err error
		if page, more, err = v.Events.Feed(ctx, v.lane.company, v.lane.sequence, pageSize, 0); err != nil {
			return err
		}
		for _, e := range page {
			if v.lane.kind == laneReplay && e.Sequence > v.lane.through {
				more = false
				break
			}
			if err := v.event(ctx, e); err != nil {
				return err
			}
		}
		if err := v.flush(ctx); err != nil {
			return err
		}
		if v.lane.kind == laneReplay && v.lane.sequence >= v.lane.through {
			return nil
		}
		if err := v.turn(); err != nil {
			return err
		}
	}
	return nil
}

// event sends one event for the first time.
func (v *visit) event(ctx context.Context, e event.Event) error {
	if !v.endpoint.wants(e.Kind) {
		v.lane.sequence = e.Sequence
		return nil
	}
	d, err := v.send(ctx, v.endpoint.fresh(e, v.Clock.Now()), e)
	if err != nil {
		return errors.Join(err, v.flush(ctx))
	}
	v.lane.sequence = e.Sequence
	v.keep(d)
	if d.State == Delivered && v.held < hold && len(v.done) < pageSize {
		return nil
	}
	if err := v.flush(ctx); err != nil {
		return err
	}
	if !v.lane.due.IsZero() && v.lane.due.After(v.Clock.Now()) {
		return errOver // to be left alone until then
	}
	return v.turn()
}

// turn ends a visit that keeps others waiting, once what was done in it has been
// written down. The lane stays open and gets its next turn like the others.
func (v *visit) turn() error {
	if v.sender.over(v.lane, v.since) {
		return errOver
	}
	return nil
}

// send makes one attempt. One that was cut off because the program stops says
// nothing about the endpoint.
func (v *visit) send(ctx context.Context, d Delivery, e event.Event) (Delivery, error) {
	body, err := message(e)
	if err != nil {
		return d, err
	}
	late := time.AfterFunc(slow*time.Millisecond, func() { v.sender.shift(v.lane) })
	r := v.post(ctx, v.endpoint.URL, e.ID, body, v.secrets)
	late.Stop()
	v.sender.note(v.lane, r)
	if !r.taken() && ctx.Err() != nil {
		return d, errOver
	}
	return d.after(r, v.Clock.Now()), nil
}

func (v *visit) keep(d Delivery) {
	v.done = append(v.done, d)
	v.held += d.Latency
}

// retries tries again what is due, a few at once, the most overdue first.
func (v *visit) retries(ctx context.Context) error {
	for {
		if err := v.look(ctx); err != nil {
			return err
		}
		list, err := v.dueDeliveries(ctx, v.lane.company, v.lane.endpoint, v.Clock.Now(), together)
		if err != nil || len(list) == 0 {
			return err
		}
		errs := make([]error, len(list))
		var all sync.WaitGroup
		for i := range list {
			all.Go(func() {
				var e event.Event
				if e, errs[i] = v.Events.Find(ctx, v.lane.company, list[i].EventID); errs[i] == nil {
					list[i], errs[i] = v.send(ctx, list[i], e)
				}
			})
		}
		all.Wait()
		for i, d := range list {
			if errs[i] == nil {
				v.keep(d)
			}
		}
		if err := errors.Join(append(errs, v.flush(ctx))...); err != nil {
			return err
		}
		if err := v.turn(); err != nil {
			return err
		}
	}
}
