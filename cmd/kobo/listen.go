package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/webhook"
)

func listenCommand() *cobra.Command {
	var forward, key string
	var kinds []string
	var from int64
	var count int
	c := &cobra.Command{
		Use:   "listen --forward URL",
		Short: "Forward a company's events to a local address, signed like webhooks",
		Long: `Read the event feed of the company, and post each event to a local address. The signature is
that of a webhook. So you can write and try a receiver without a public address.

The command prints the secret of the signature. An API key always has the same secret. The
command begins with the next event, or with event N of --from N. At its end it prints the
number of the event that comes next. If the receiver does not accept an event, the command
prints the reason and the answer, and goes on. --from N --count 1 sends one event again.`,
		Args: cobra.NoArgs,
	}
	f := c.Flags()
	f.StringVar(&forward, "forward", "", "post to this address, such as http://127.0.0.1:3000/hooks")
	f.StringVar(&key, "secret", "", "sign with this secret (whsec_…) instead of the secret of the API key")
	f.StringSliceVar(&kinds, "events", nil, "forward only these kinds")
	f.Int64Var(&from, "from", 0, "begin with this event number instead of the next event")
	f.IntVar(&count, "count", 0, "end after so many events; 0 never ends")
	who := developing(f)
	if err := c.RegisterFlagCompletionFunc("events", completeKinds); err != nil {
		panic(err) // the flag is defined above
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := listenable(forward, key, kinds, from, count); err != nil {
			return usage{err}
		}
		d, err := who()
		if err != nil {
			return err
		}
		l := &listener{
			developer: d, forward: forward, kinds: kinds, count: count, out: c.OutOrStdout(), secret: webhook.SecretOf(d.APIKey),
			pause: 2 * time.Second,
			http:  &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		}
		if key != "" {
			l.secret = secret.NewText(key)
		}
		after, err := d.last(c.Context())
		switch {
		case err != nil:
			return err
		case from > after+1:
			return usagef("there are %d events: --from must be at most %d", after, after+1)
		case from > 0:
			after = from - 1
		}
		fmt.Fprintf(l.out, "secret %s\nevents after %d go to %s (Ctrl-C ends this)\n\n", l.secret.Reveal(), after, forward)
		return l.listen(c.Context(), after)
	}
	return c
}

// listenable returns an error if the flags contradict each other, and listen could never forward an
// event.
func listenable(forward, key string, kinds []string, from int64, count int) error {
	switch {
	case forward == "":
		return errors.New("required flag --forward is not set")
	case !isAddress(forward):
		return fmt.Errorf("--forward must be an address such as http://127.0.0.1:3000/hooks, not %q", forward)
	case from < 0:
		return errors.New("--from must be the number of an event")
	case count < 0:
		return errors.New("--count must be a number of events")
	}
	for _, k := range kinds {
		if _, known := recipes[k]; !known {
			return fmt.Errorf("there is no event %q; there are\n%s", k, triggers())
		}
	}
	if key == "" {
		return nil
	}
	if !strings.HasPrefix(key, "whsec_") || webhook.Sign(http.Header{}, "id", time.Now(), nil, secret.NewText(key)) != nil {
		return errors.New("--secret must be whsec_ and base64")
	}
	return nil
}

// listener posts a company's events to a local address.
type listener struct {
	*developer
	forward string
	kinds   []string
	count   int // how many events to post; 0 means no end
	secret  secret.Text
	http    *http.Client
	out     io.Writer
	pause   time.Duration // the time between two requests while Kobo is not reachable

	posted  int
	missed  []string // the sequence numbers of the events that the receiver did not accept
	waiting string   // why the listener waits for Kobo; "" if it does not wait
}

// listen forwards events until ctx ends or the requested number of events is posted. While Kobo is
// not reachable, listen waits and sends its request again.
func (l *listener) listen(ctx context.Context, after int64) (err error) {
	defer func() { l.end(after, err) }()
	for {
		wait := 30
		if l.waiting != "" {
			wait = 0 // without a long poll, the response shows immediately that Kobo is back
		}
		page, err := l.events(ctx, after, 100, wait)
		switch {
		case ctx.Err() != nil:
			return nil // the user stopped the command
		case hopeless(err):
			return fmt.Errorf("this company or its key is not known to Kobo (was it started --fresh?): %w", err)
		case err != nil:
			if !l.wait(ctx, err) {
				return nil
			}
			continue
		case l.waiting != "":
			fmt.Fprintln(l.out, "Kobo answers again")
			l.waiting = ""
		}
		for _, e := range page {
			if len(l.kinds) == 0 || slices.Contains(l.kinds, e.Event) {
				if !l.post(ctx, e) {
					return nil // the next run begins with this event
				}
			}
			after = e.Sequence
			if l.count > 0 && l.posted == l.count {
				return nil
			}
		}
	}
}

// end prints how many events were posted, and the number of the event with which the next run
// begins.
func (l *listener) end(after int64, err error) {
	if err != nil {
		return
	}
	said := "ended"
	if l.posted > 0 {
		said = fmt.Sprintf("ended: %d posted", l.posted)
	}
	if n := len(l.missed); n > 0 {
		some, more := l.missed[:min(n, 20)], ""
		if n > len(some) {
			more = " …"
		}
		said += fmt.Sprintf(", %d of them not taken (%s%s)", n, strings.Join(some, " "), more)
	}
	fmt.Fprintf(l.out, "\n%s; --from %d goes on from here\n", said, after+1)
}

// hopeless reports whether every further request will fail, because Kobo does not know the company
// or the API key. After a 403 a further request may succeed, because the company may get access
// later.
func hopeless(err error) bool {
	var no refusal
	return errors.As(err, &no) && (no.status == http.StatusBadRequest || no.status == http.StatusUnauthorized)
}

// wait prints the reason for the wait, if the reason is new, and pauses. It returns false if ctx
// has ended.
func (l *listener) wait(ctx context.Context, why error) bool {
	if l.waiting != why.Error() {
		l.waiting = why.Error()
		fmt.Fprintln(l.out, "waiting:", why)
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(l.pause):
		return true
	}
}

// post sends one event to the local address and prints the result. It returns false if ctx ended
// before the response.
func (l *listener) post(ctx context.Context, e told) bool {
	start := time.Now()
	status, excerpt, trouble := webhook.Try(ctx, l.http, l.forward, e.ID, e.text, l.secret)
	took := time.Since(start).Round(time.Millisecond)
	said := fmt.Sprintf("%d in %s", status, took)
	switch {
	case trouble == "":
	case ctx.Err() != nil:
		said = "ended before it was answered"
	default:
		l.missed = append(l.missed, strconv.FormatInt(e.Sequence, 10))
		said = "not taken: " + trouble
		if excerpt != "" {
			said += fmt.Sprintf(" in %s: %s", took, excerpt)
		}
	}
	fmt.Fprintf(l.out, "%s %6d  %-28s %s\n", start.Format(time.TimeOnly), e.Sequence, e.Event, said)
	if trouble != "" && ctx.Err() != nil {
		return false
	}
	l.posted++
	return true
}
