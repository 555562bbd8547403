package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/kobo-waas/kobo/internal/webhook"
)

// feed is a server with a number of events that behaves like Kobo. The test chooses when the server
// is unavailable or refuses access.
type feed struct {
	*httptest.Server
	length int64
	answer func(asked int64) int // returns the status of each request for events; nil means always 200
	asked  atomic.Int64
}

func newFeed(t *testing.T, length int64, answer func(asked int64) int) *feed {
	f := &feed{length: length, answer: answer}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// ServeHTTP issues a token, and serves the event feed.
func (f *feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/api/v1/auth/") {
		_, _ = io.WriteString(w, `{"accessToken":"x"}`)
		return
	}
	if f.answer != nil {
		if status := f.answer(f.asked.Add(1)); status != http.StatusOK {
			http.Error(w, `{"message":"no"}`, status)
			return
		}
	}
	after, err := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	list := []map[string]any{}
	for n := after + 1; err == nil && n <= f.length; n++ {
		list = append(list, map[string]any{"id": fmt.Sprint("e", n), "sequence": n, "event": "vtu.success", "data": map[string]any{}})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{"data": list}})
}

// listens runs a listener on a feed until the listener ends, and returns its output.
func listens(t *testing.T, ctx context.Context, f *feed, forward string, count int) (string, error) { //nolint:revive // t first, as in all tests
	t.Helper()
	var out bytes.Buffer
	d := &developer{http: f.Client()}
	d.BaseURL, d.Reference, d.APIKey = f.URL, "c", "kobo_key_x"
	l := &listener{
		developer: d, forward: forward, count: count, out: &out, secret: webhook.SecretOf(d.APIKey), pause: time.Millisecond,
		http: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	err := l.listen(ctx, 0)
	return out.String(), err
}

// wants fails the test unless the output contains all of these lines, in this order.
func wants(t *testing.T, said string, lines ...string) {
	t.Helper()
	rest := said
	for _, line := range lines {
		_, after, there := strings.Cut(rest, line)
		if !there {
			t.Fatalf("%q is not said, or not in its turn:\n%s", line, said)
		}
		rest = after
	}
}

// Each event that kobo listen posts has a valid signature, and the secret is the same for all
// events. If the receiver does not accept an event, the output shows the reason.
func TestListenPrintsTheResultOfEachEvent(t *testing.T) {
	verifier, err := standardwebhooks.NewWebhook(webhook.SecretOf("kobo_key_x").Reveal())
	if err != nil {
		t.Fatal(err)
	}
	var posted atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err = errors.Join(err, verifier.Verify(body, r.Header)); err != nil {
			t.Error(err)
		}
		switch posted.Add(1) {
		case 2:
			http.Error(w, "KeyError:\n\x1b[31mid", http.StatusInternalServerError)
		case 3:
			http.Redirect(w, r, "/", http.StatusFound)
		case 4:
			panic(http.ErrAbortHandler)
		}
	}))
	defer receiver.Close()
	said, err := listens(t, t.Context(), newFeed(t, 5, nil), receiver.URL, 5)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, said, "1  vtu.success", "200 in ", "2  vtu.success", "not taken: the answer was 500 in ", ": KeyError:  [31mid\n",
		"3  vtu.success", "not taken: redirects are not followed", "4  vtu.success", "not taken: the connection failed\n", "5  vtu.success", "200 in ",
		"ended: 5 posted, 3 of them not taken (2 3 4); --from 6 goes on from here\n")
}

// While Kobo is unavailable, the listener waits, and prints a reason only when it changes. If Kobo
// no longer knows the company, the listener ends with an error.
func TestListenWaitsForAKoboThatIsAway(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer receiver.Close()
	away := newFeed(t, 1, func(asked int64) int {
		switch {
		case asked < 10:
			return http.StatusServiceUnavailable
		case asked < 15:
			return http.StatusForbidden // twice, since the listener renews its token once and tries again
		}
		return http.StatusOK
	})
	said, err := listens(t, t.Context(), away, receiver.URL, 1)
	if err != nil || strings.Count(said, "waiting") != 2 {
		t.Errorf("%v:\n%s", err, said)
	}
	wants(t, said, "waiting: Kobo answered 503", "waiting: Kobo answered 403", "Kobo answers again", "1  vtu.success", "--from 2 goes on")
	anew := newFeed(t, 1, func(int64) int { return http.StatusUnauthorized })
	if said, err := listens(t, t.Context(), anew, receiver.URL, 1); err == nil || !strings.Contains(err.Error(), "this company or its key is not known") {
		t.Errorf("%v:\n%s", err, said)
	}
}

// If the user stops the command while it posts an event, the output says that the next run must
// begin with that event.
func TestListenStopsWhileAnEventIsOnItsWay(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var posted atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if posted.Add(1) == 2 {
			_, _ = io.Copy(io.Discard, r.Body)
			stop()
			<-r.Context().Done()
		}
	}))
	defer receiver.Close()
	said, err := listens(t, ctx, newFeed(t, 3, nil), receiver.URL, 0)
	if err != nil {
		t.Error(err)
	}
	wants(t, said, "1  vtu.success", "2  vtu.success", "ended before it was answered", "ended: 1 posted; --from 2 goes on from here")
}
