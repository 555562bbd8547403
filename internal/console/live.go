package console

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
)

// A page that waits for something opens a stream. The stream says only that the thing has changed, and
// the page then loads itself again with its own session. So rights are checked in one place, and a stream
// never carries data.

const (
	// streamLife is how long a stream stays open. Then the browser opens another one, and the session is
	// checked again.
	streamLife = 50 * time.Second
	// beforehand is how long before a page its stream begins, so that it misses no event whose commit was under way
	// when the page was read.
	beforehand = time.Second
	// feedPage is the number of events that are read at once.
	feedPage = 200
	// deskPeriod is the time between two looks of a stream at the counts of the menu, which all streams share.
	deskPeriod = time.Second
)

func (c *console) liveRoutes() map[string]route {
	return map[string]route{
		"GET /console/live/{company}/{reference}": {stream: streamThing, query: []string{"from"}},
		"GET /console/live/desk":                  {stream: streamDesk, query: []string{"at"}},
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

// streamThing writes a line whenever an event names a thing. All streams of a program share one reader of
// the database, which wakes those whose company has a new event.
func streamThing(v *visit, changed func() error) error {
	company, reference := v.PathValue("company"), v.PathValue("reference")
	if v.isForCompanies() {
		company = v.who.Company
	}
	next, err := v.Events.Since(v.Context(), company, instant(v.URL.Query().Get("from")))
	if err != nil {
		return err
	}
	after := next - 1
	ends := time.Now().Add(streamLife)
	for v.Context().Err() == nil && time.Now().Before(ends) {
		events, _, err := v.Events.Feed(v.Context(), company, after, feedPage, time.Until(ends))
		if err != nil || len(events) == 0 {
			return err
		}
		concerned := false
		for _, e := range events {
			after = e.Sequence
			concerned = concerned || e.ID == reference || strings.Contains(string(e.Data), `"`+reference+`"`)
		}
		if concerned {
			if err := changed(); err != nil {
				return nil // the browser has gone
			}
		}
	}
	return nil
}

// streamDesk writes a line when something else waits for people than the page has shown.
func streamDesk(v *visit, changed func() error) error {
	shown, again := v.URL.Query().Get("at"), time.NewTicker(deskPeriod)
	defer again.Stop()
	ends := time.After(streamLife)
	for !v.Leaving() {
		v.needs("")
		if now := v.waiting.version(); now != shown {
			if err := changed(); err != nil {
				return nil // the browser has gone
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
	h := v.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // proxies must not wait for more
	if _, err := fmt.Fprintf(v.w, "retry: 1000\n: %s\n\n", clock.Text(v.now())); err != nil || control.Flush() != nil {
		return
	}
	err := v.route.stream(v, func() error {
		if _, err := fmt.Fprint(v.w, "event: changed\ndata: 1\n\n"); err != nil {
			return err
		}
		return control.Flush()
	})
	if err != nil {
		v.log(ctx, "a stream ended early", err)
	}
}
