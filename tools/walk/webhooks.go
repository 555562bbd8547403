package main

import (
	"errors"
	"fmt"
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
	refused  map[string]bool // events that it has refused
	accepted map[string]int  // how often it has accepted an event
	signed   int             // the signatures of the last request
}

func newReceiver() *receiver {
	r := &receiver{refused: map[string]bool{}, accepted: map[string]int{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.signed = len(strings.Fields(q.Header.Get("webhook-signature")))
		if r.works {
			r.accepted[q.Header.Get("webhook-id")]++
			return
		}
		r.refused[q.Header.Get("webhook-id")] = true
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

// has returns an error unless each refused event has arrived, once by the replay and at most once by a retry.
func (r *receiver) has() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.refused) == 0 {
		return errors.New("no event was refused")
	}
	for id := range r.refused {
		if r.accepted[id] == 0 {
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

// replayMissed lets a webhook fail, rotates its secret meanwhile, and replays what the webhook has missed by a double click.
func replayMissed(p *program, b *browser) error {
	r := newReceiver()
	defer r.Close()
	if err := b.visit("/app/developers/webhooks"); err != nil {
		return err
	}
	if err := b.do(chromedp.SendKeys("#url", r.URL+"/hook", chromedp.ByQuery), chromedp.Click("main form button.main", chromedp.ByQuery), chromedp.WaitVisible("main code", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.turnsTo("whsec_", "Shown once"); err != nil {
		return err
	}
	if _, err := p.payout("0123456710", 111); err != nil {
		return err
	}
	if err := b.do(chromedp.Click(`main p a[href^="/app/developers/webhooks/"]`, chromedp.ByQuery), chromedp.WaitVisible(`form[action$="/rotate"]`, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.reloadUntil("500"); err != nil {
		return err
	}
	if err := b.do(chromedp.Click(`form[action$="/rotate"] button`, chromedp.ByQuery), chromedp.WaitVisible("main code", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.turnsTo("whsec_", "the old secret signs too"); err != nil {
		return err
	}
	if err := b.do(chromedp.Click(`main p a[href^="/app/developers/webhooks/"]`, chromedp.ByQuery), chromedp.WaitVisible(`form[action$="/replay"]`, chromedp.ByQuery)); err != nil {
		return err
	}
	r.recover()
	twice := `(() => { const f = document.querySelector('form[action$="/replay"]'); f.closest("details").open = true; const b = f.querySelector("button"); b.click(); b.click(); })()`
	if err := b.do(chromedp.Evaluate(twice, nil)); err != nil {
		return err
	}
	if err := b.reloadUntil("Delivered"); err != nil {
		return err
	}
	err := r.has()
	for n := 0; err != nil && n < 30; n++ {
		time.Sleep(100 * time.Millisecond)
		err = r.has()
	}
	if err != nil {
		return err
	}
	if r.signed != 2 {
		return fmt.Errorf("%d signatures after a rotation", r.signed)
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
	return err
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
