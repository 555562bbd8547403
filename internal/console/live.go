package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
)

// A page that waits for something opens a stream. The stream names only what has changed, and the page then loads itself
// again with its own session. So rights are checked in one place, and a stream never carries data. All streams of a program
// share one reader of the events (event.Watch), so a further viewer reads nothing.

const (
	// streamLife is how long a stream stays open. Then the browser opens another one, and the session is
	// checked again.
	streamLife = 50 * time.Second
	// beforehand is how long before a page its stream begins, so that it misses no event whose commit was under way
	// when the page was read.
	beforehand = time.Second
	// streamPeriod is the least time between two lines of a stream.
	streamPeriod = time.Second
)

func (c *console) liveRoutes() map[string]route {
	return map[string]route{
		"GET /console/live/{company}/{reference}": {stream: streamThing, query: []string{"from"}},
		"GET /console/live/desk":                  {stream: streamDesk, query: []string{"at"}},
		"GET /console/live/newer":                 {stream: streamNewer, query: newerQuery},
	}
}

// liveThing returns the address of the stream about one thing of a company.
func (v *visit) liveThing(company, reference string) string {
	if v.isForCompanies() {
		company = "" // of the session
	} else {
		company += "/"
	}
	return v.at("/live/") + company + reference + "?from=" + wire(v.began.Add(-beforehand))
}

// liveDesk returns the address of the stream about what waits for people.
func (v *visit) liveDesk() string {
	v.needs("")
	return "/console/live/desk?at=" + v.waiting.version()
}

// streamThing writes a line whenever an event names a thing.
func streamThing(v *visit, say sayer) error {
	company, reference := v.PathValue("company"), v.PathValue("reference")
	if v.isForCompanies() {
		company = v.who.Company
	}
	changes, leave := v.Events.Watch(company, reference, instant(v.URL.Query().Get("from")))
	defer leave()
	return v.follow(changes, func(event.Change) error { return say("changed", reference) })
}

// follow calls do for each change until the stream has lived its life, at most once in a period.
func (v *visit) follow(changes <-chan event.Change, do func(event.Change) error) error {
	ends := time.After(streamLife)
	again := time.NewTicker(streamPeriod)
	defer again.Stop()
	for {
		select {
		case c, open := <-changes:
			if !open || c.Err != nil {
				return c.Err // closed: the program stops
			}
			if err := do(c); err != nil {
				return err
			}
		case <-ends:
			return nil
		case <-v.Context().Done():
			return nil
		}
		select {
		case <-again.C:
		case <-v.Context().Done():
			return nil
		}
	}
}

// streamDesk writes a line when something else waits for people than the page has shown.
func streamDesk(v *visit, say sayer) error {
	shown, again := v.URL.Query().Get("at"), time.NewTicker(streamPeriod)
	defer again.Stop()
	ends := time.After(streamLife)
	for !v.Leaving() {
		v.needs("")
		if now := v.waiting.version(); now != shown {
			if err := say("changed", "desk"); err != nil {
				return err
			}
			shown = now
		}
		select {
		case <-again.C:
		case <-ends:
			return nil
		case <-v.Context().Done():
			return nil
		}
	}
	return nil
}

// endWithSession ends the stream when the session of the person ends. The browser then asks for another stream, and is told to
// sign in. The caller calls the returned function when the stream has ended.
func (v *visit) endWithSession(ctx context.Context, stop func()) (leave func()) {
	ended, leave := v.People.Watch(v.opened)
	go func() {
		select {
		case err := <-ended:
			v.log(ctx, "a stream ended, because its session could not be read", err)
			stop()
		case <-ctx.Done():
		}
	}()
	return leave
}

// sayer writes a line of a stream: its kind, and the name of what has changed.
type sayer func(kind, name string) error

// errGone says that the browser has gone.
var errGone = errors.New("console: the browser has gone")

// stream serves a stream of server-sent events. An address without the instant that it needs gets a page with an error,
// and the browser does not ask again.
func (v *visit) stream() {
	if slices.Contains(v.route.query, "from") && instant(v.URL.Query().Get("from")).IsZero() {
		v.fail(fault.New(fault.Invalid, `"from" must be an instant.`))
		return
	}
	control := http.NewResponseController(v.w)
	ctx, stop := context.WithTimeout(v.Context(), streamLife+time.Minute)
	defer stop()
	v.Request = v.WithContext(ctx)
	defer v.endWithSession(ctx, stop)()
	h := v.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // proxies must not wait for more
	if _, err := fmt.Fprintf(v.w, "retry: 1000\n: %s\n\n", clock.Text(v.now())); err != nil || control.Flush() != nil {
		return
	}
	err := v.route.stream(v, func(kind, name string) error {
		if _, err := fmt.Fprintf(v.w, "event: %s\ndata: %s\n\n", kind, name); err != nil {
			return errGone
		}
		if err := control.Flush(); err != nil {
			return errGone
		}
		return nil
	})
	if err != nil && !errors.Is(err, errGone) {
		v.log(ctx, "a stream ended early", err)
	}
}
