package kobo

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/clients/go/api"
)

// Follow waits until the outcome is known. It returns Succeeded or Declined without an error. If the
// context ends first, if the server refuses the client, or if the key cannot be sent, Follow returns an
// Unknown with an error.
//
// If no response has arrived yet, Follow sends the order again with its key. The order is then executed
// once, whether or not the first request arrived.
func (u Unknown) Follow(ctx context.Context) (Outcome, error) {
	if u.payment == nil {
		return u, errors.New("kobo: this Unknown is not from a client")
	}
	for n := 1; u.Reference == ""; n++ {
		out := u.payment.once(ctx)
		again, open := out.(Unknown)
		if !open {
			return out, nil
		}
		if u = again; u.Reference == "" {
			if err := hold(ctx, u.Cause, n); err != nil {
				return u, err
			}
		}
	}
	return u.payment.client.end(ctx, u)
}

// end waits for the end of a payment whose reference is known.
func (c *Client) end(ctx context.Context, u Unknown) (Outcome, error) {
	for n := 1; ; n++ {
		out, err := c.await(ctx, u)
		if err == nil {
			return out, nil
		}
		u.Cause = err
		if err := hold(ctx, err, n); err != nil {
			return u, err
		}
	}
}

// await compares the payment after each event that is about it, until the payment has its end.
func (c *Client) await(ctx context.Context, u Unknown) (Outcome, error) {
	// The place is read before the payment. So no event can fall between the two.
	after, err := c.newest(ctx)
	if err != nil {
		return nil, err
	}
	for {
		found, err := c.api.FindOutcomeWithResponse(ctx, u.Reference)
		if err != nil {
			return nil, err
		}
		if found.JSON200 == nil {
			return nil, errForeign
		}
		switch found.JSON200.Data.Status {
		case "SUCCESS":
			return Succeeded{Reference: u.Reference}, nil
		case "FAILED", "REVERSED":
			return Declined{Reason: api.Declined, Reference: u.Reference}, nil
		}
		for mentioned, more := false, true; more && !mentioned; {
			var events []api.Event
			if events, more, err = c.poll(ctx, after, true); err != nil {
				return nil, err
			}
			for _, e := range events {
				after = e.Sequence
				mentioned = mentioned || bytes.Contains(e.Data, []byte(u.Reference))
			}
		}
	}
}

// hold waits before another try. It returns an error if another try cannot help or the context ends.
func hold(ctx context.Context, cause error, tried int) error {
	if errors.Is(cause, errKey) {
		return cause
	}
	d := backoff(tried)
	var refusal *Refusal
	if errors.As(cause, &refusal) {
		if !refusal.passing() {
			return cause
		}
		d = max(d, refusal.RetryAfter)
	}
	if !pause(ctx, d) {
		return errors.Join(context.DeadlineExceeded, ctx.Err(), cause)
	}
	return nil
}

// longPoll is the time for which the server keeps a request for events open.
const longPoll = 30 * time.Second

// poll returns the events after a place, and reports whether there are more after these. If open is
// true, and there is none, poll waits for the next event for a while.
func (c *Client) poll(ctx context.Context, after int64, open bool) ([]api.Event, bool, error) {
	place, limit, wait := int(after), 1, 0
	if open {
		limit, wait = 1000, int(min(longPoll, c.http.Timeout/2)/time.Second)
	}
	got, err := c.api.ListEventsWithResponse(ctx, &api.ListEventsParams{After: &place, Limit: &limit, Wait: &wait})
	if err != nil {
		return nil, false, err
	}
	if got.JSON200 == nil {
		return nil, false, errForeign
	}
	return got.JSON200.Data.Data, got.JSON200.Data.HasMore, nil
}

// tail is the highest place in the feed that is known to exist.
type tail struct {
	mu    sync.Mutex
	known int64
}

// newest returns the sequence of the newest event. The contract has no operation for it, so newest
// looks for the end of the feed: first with doubled steps, and then by halves.
func (c *Client) newest(ctx context.Context) (int64, error) {
	c.feed.mu.Lock()
	low := c.feed.known
	c.feed.mu.Unlock()
	step := int64(1)
	for {
		more, err := c.follows(ctx, low+step)
		if err != nil {
			return 0, err
		}
		if !more {
			break
		}
		low, step = low+step, step*2
	}
	// The end is in low … low+step. There may be no event after low only if low is known from before.
	low, high := low-1, low+step
	for high-low > 1 {
		middle := low + (high-low)/2
		more, err := c.follows(ctx, middle)
		if err != nil {
			return 0, err
		}
		if more {
			low = middle
		} else {
			high = middle
		}
	}
	c.feed.mu.Lock()
	c.feed.known = max(c.feed.known, high)
	c.feed.mu.Unlock()
	return high, nil
}

// follows reports whether there is an event after a place. Archived events count too.
func (c *Client) follows(ctx context.Context, place int64) (bool, error) {
	events, _, err := c.poll(ctx, place, false)
	var refusal *Refusal
	if errors.As(err, &refusal) && refusal.Reason == api.EventsArchived {
		return true, nil
	}
	return len(events) > 0, err
}
