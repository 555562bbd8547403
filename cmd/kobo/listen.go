package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
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
		Short: "Post a company's events to a program on this machine, signed like webhooks",
		Long: `Read the company's event feed and post each event to a local address, signed as a webhook
would be, so that a receiver can be written and tried without a public address.

It prints the secret to verify with. It begins with what happens next; --from N begins with
event number N, and when it ends it says with which it would go on. An event that is not
taken is shown and not sent again.`,
		Args: cobra.NoArgs,
	}
	f := c.Flags()
	f.StringVar(&forward, "forward", "", "the address to post to, such as http://127.0.0.1:3000/hooks")
	f.StringVar(&key, "secret", "", "sign with this secret (whsec_…) instead of a fresh one")
	f.StringSliceVar(&kinds, "events", nil, "only these kinds")
	f.Int64Var(&from, "from", 0, "begin with this event instead of the next one")
	f.IntVar(&count, "count", 0, "end after so many events instead of never")
	who := developing(f)
	if err := c.MarkFlagRequired("forward"); err != nil {
		panic(err) // the flag is right above
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		d, err := who()
		if err != nil {
			return err
		}
		if err := listenable(forward, key, kinds, from); err != nil {
			return err
		}
		l := listener{
			developer: d, forward: forward, kinds: kinds, count: count, out: c.OutOrStdout(), secret: webhook.NewSecret(),
			http: &http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		}
		if key != "" {
			l.secret = secret.NewText(key)
		}
		after, err := d.last(c.Context())
		switch {
		case err != nil:
			return err
		case from > after+1:
			return fmt.Errorf("there are %d events: --from must be at most %d", after, after+1)
		case from > 0:
			after = from - 1
		}
		fmt.Fprintf(l.out, "secret %s\nevents after %d go to %s\n", l.secret.Reveal(), after, forward)
		return l.listen(c.Context(), after)
	}
	return c
}

// listenable refuses what could only be waited for in vain.
func listenable(forward, key string, kinds []string, from int64) error {
	if u, err := url.Parse(forward); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("--forward must be an address such as http://127.0.0.1:3000/hooks, not %q", forward)
	}
	if from < 0 {
		return errors.New("--from must be the number of an event")
	}
	for _, k := range kinds {
		if _, known := recipes[k]; !known {
			return fmt.Errorf("there is no event %q; there are %s", k, triggers())
		}
	}
	if key == "" {
		return nil
	}
	if !strings.HasPrefix(key, "whsec_") {
		return errors.New("--secret must be whsec_ and base64")
	}
	return webhook.Sign(http.Header{}, "id", time.Now(), nil, secret.NewText(key))
}

// listener posts a company's events to a local address.
type listener struct {
	*developer
	forward string
	kinds   []string
	count   int // how many events to post; 0 for no end
	secret  secret.Text
	http    *http.Client
	out     io.Writer
}

// listen goes on until ctx ends. When Kobo is away it waits for it.
func (l listener) listen(ctx context.Context, after int64) error {
	defer func() { fmt.Fprintf(l.out, "ended; --from %d goes on from here\n", after+1) }()
	for posted := 0; ; {
		page, err := l.events(ctx, after, 100, 30)
		if ctx.Err() != nil {
			return nil // told to stop
		}
		if err != nil {
			fmt.Fprintln(l.out, "waiting for Kobo:", err)
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(2 * time.Second):
			}
			continue
		}
		for _, e := range page {
			if ctx.Err() != nil {
				return nil
			}
			before := after
			after = e.Sequence
			if len(l.kinds) > 0 && !slices.Contains(l.kinds, e.Event) {
				continue
			}
			fmt.Fprintf(l.out, "%6d  %-28s %s\n", e.Sequence, e.Event, l.post(ctx, e))
			if ctx.Err() != nil {
				after = before // nobody knows whether it was taken
				return nil
			}
			if posted++; posted == l.count {
				return nil
			}
		}
	}
}

// post sends one event and says what came of it.
func (l listener) post(ctx context.Context, e told) string {
	start := time.Now()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.forward, bytes.NewReader(e.text))
	if err == nil {
		r.Header.Set("Content-Type", "application/json")
		err = webhook.Sign(r.Header, e.ID, start, e.text, l.secret)
	}
	if err != nil {
		return err.Error()
	}
	answer, err := l.http.Do(r)
	if err != nil {
		return "not taken: " + err.Error()
	}
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	if closed := answer.Body.Close(); err == nil {
		err = closed
	}
	said := fmt.Sprintf("%d in %s", answer.StatusCode, time.Since(start).Round(time.Millisecond))
	if err != nil || answer.StatusCode < 200 || answer.StatusCode > 299 {
		return "not taken: " + said
	}
	return said
}
