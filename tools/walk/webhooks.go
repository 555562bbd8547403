package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/chromedp"
)

// receiver is a company's server, which takes no events at first.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	works    bool
	refused  map[string]int // how often it has refused an event
	accepted map[string]int // how often it has accepted an event
	header   http.Header    // of the last request
	body     []byte
	tests    map[string]bool // the ids of tests
}

func newReceiver() *receiver {
	r := &receiver{refused: map[string]int{}, accepted: map[string]int{}, tests: map[string]bool{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.header = q.Header
		r.body, _ = io.ReadAll(q.Body) // a cut body has no right signature
		if bytes.Contains(r.body, []byte(`"webhook.test"`)) {
			r.tests[q.Header.Get("webhook-id")] = true
		}
		if r.works {
			r.accepted[q.Header.Get("webhook-id")]++
			return
		}
		r.refused[q.Header.Get("webhook-id")]++
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, "the queue is full")
	}))
	return r
}

func (r *receiver) recover() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.works = true
}

// sent returns how many tests have come.
func (r *receiver) sent() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.tests)
}

// has returns an error unless each refused event has arrived, once by the replay and at most once by a retry.
func (r *receiver) has() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.refused) == 0 {
		return errors.New("no event was refused")
	}
	for id := range r.refused {
		if r.accepted[id] == 0 && !r.tests[id] { // a test has no number, and is not replayed
			return fmt.Errorf("refused were %v, and then accepted %v", r.refused, r.accepted)
		}
	}
	for id, times := range r.accepted {
		if times > 2 {
			return fmt.Errorf("event %s was accepted %d times", id, times)
		}
	}
	return nil
}

// signedBy fails unless the last request has a signature of each secret.
func (r *receiver) signedBy(secrets ...string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			return err
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", r.header.Get("webhook-id"), r.header.Get("webhook-timestamp"), r.body)
		if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); !strings.Contains(r.header.Get("webhook-signature"), want) {
			return fmt.Errorf("secret %d has not signed: %s", n+1, r.header.Get("webhook-signature"))
		}
	}
	return nil
}

// waits waits until the receiver is so.
func (r *receiver) waits(until func() error) (err error) {
	for range 100 {
		if err = until(); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

const webhookLink = `main p a[href^="/app/developers/webhooks/"]`

// replayMissed lets a webhook fail for an hour, rotates its secret meanwhile, sends a test, and replays what the webhook has missed
// by a double click.
func replayMissed(p *program, b *browser) error {
	r := newReceiver()
	defer r.Close()
	if err := b.visit("/app/developers/webhooks"); err != nil {
		return err
	}
	if err := b.do(chromedp.SendKeys("#url", r.URL+"/hook", chromedp.ByQuery), chromedp.Click("main form button.main", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.proves(p); err != nil {
		return err
	}
	if err := b.turnsTo("whsec_", "This page shows it once"); err != nil {
		return err
	}
	first, err := b.find(`whsec_[A-Za-z0-9+/]{43}=`)
	if err != nil {
		return err
	}
	for _, amount := range []int{111, 112} {
		if _, err := p.payout("0123456710", amount); err != nil {
			return err
		}
	}
	if err := b.do(chromedp.Click(webhookLink, chromedp.ByQuery), chromedp.WaitVisible(`form[action$="/rotate"]`, chromedp.ByQuery)); err != nil {
		return err
	}
	// The second hour is for the events that the first one brought: their next retry is then far away, and comes into no count.
	if err := errors.Join(b.reloadUntil("500"), p.advance(time.Hour), p.advance(time.Hour), b.reloadUntil("again in")); err != nil {
		return err
	}
	if err := seeAttempts(b, r); err != nil {
		return err
	}
	if err := errors.Join(b.do(chromedp.Click(`form[action$="/rotate"] button`, chromedp.ByQuery)), b.proves(p)); err != nil {
		return err
	}
	if err := b.turnsTo("whsec_", "the old secret signs too"); err != nil {
		return err
	}
	second, err := b.find(`whsec_[A-Za-z0-9+/]{43}=`)
	if err != nil {
		return err
	}
	if err := b.do(chromedp.Click(webhookLink, chromedp.ByQuery), chromedp.WaitVisible(`form[action$="/replay"]`, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.twice(`form[action$="/test"]`); err != nil {
		return err
	}
	if err := r.waits(func() error {
		if r.sent() == 0 {
			return errors.New("no test has come")
		}
		return r.signedBy(first, second)
	}); err != nil {
		return err
	}
	if n := r.sent(); n != 1 {
		return fmt.Errorf("a double click sent %d tests", n)
	}
	return replay(b, r)
}

// seeAttempts reads on the page of a delivery what came back at each attempt.
func seeAttempts(b *browser, r *receiver) error {
	if err := b.do(chromedp.Click(`main tbody tr:last-child td a[href*="/deliveries/"]`, chromedp.ByQuery), chromedp.WaitVisible("main ol pre", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.reloadUntil("\n2 · "); err != nil {
		return err
	}
	if err := b.turnsTo("500", "the queue is full", " ms", "Sent again", "What was sent"); err != nil {
		return err
	}
	shown, tries := 0, 0
	if err := b.do(chromedp.Evaluate(`document.querySelectorAll("main ol > li").length`, &shown)); err != nil {
		return err
	}
	r.mu.Lock()
	for _, n := range r.refused {
		tries = max(tries, n)
	}
	r.mu.Unlock()
	if shown < 2 || shown > tries {
		return fmt.Errorf("the page shows %d attempts, and the most of one event are %d", shown, tries)
	}
	return b.do(chromedp.Click(`.crumbs a[href^="/app/developers/webhooks/"]`, chromedp.ByQuery), chromedp.WaitVisible(`form[action$="/rotate"]`, chromedp.ByQuery))
}

// twice clicks the button of a form twice at once.
func (b *browser) twice(form string) error {
	return errors.Join(b.do(chromedp.Evaluate(`(() => { const f = document.querySelector(`+quote(form)+`), d = f.closest("details"); if (d) d.open = true;
		const b = f.querySelector("button"); b.click(); b.click(); })()`, nil)), b.complete())
}

// replay sends again what the webhook has missed, by a double click. Each event arrives once.
func replay(b *browser, r *receiver) error {
	if err := b.do(chromedp.WaitVisible(`form[action$="/rotate"]`, chromedp.ByQuery)); err != nil {
		return err
	}
	r.recover() // not before, so that no retry comes before the replay
	if err := b.twice(`form[action$="/replay"]`); err != nil {
		return err
	}
	if err := errors.Join(b.reloadUntil("Delivered", "Active"), r.waits(r.has)); err != nil {
		return err
	}
	if err := b.visit("/app/developers/requests"); err != nil {
		return err
	}
	if err := b.reloadUntil("/replay"); err != nil { // the log is written behind the requests
		return err
	}
	text, err := b.text()
	if n := strings.Count(text, "/replay"); err == nil && n != 1 {
		err = fmt.Errorf("a double click made %d replays", n)
	}
	return errors.Join(err, r.has())
}

// reloadUntil loads the page again until it says the words.
func (b *browser) reloadUntil(words ...string) (err error) {
	for range 50 {
		if err = b.says(words...); err == nil {
			return b.complete()
		}
		time.Sleep(200 * time.Millisecond)
		if err := b.do(chromedp.Reload()); err != nil {
			return err
		}
	}
	return err
}
