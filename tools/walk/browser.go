package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// browser is a headless Chromium with one tab.
type browser struct {
	context.Context
	chromium, origin, axe, pictures string
	close                           func()

	kept map[string]*network.Cookie // the sessions of people of companies, by the name of the person

	authenticator webauthn.AuthenticatorID        // the device of the tab, or ""
	passkeys      map[string]*webauthn.Credential // by the name of the person

	mu    sync.Mutex
	bad   []string // what the pages did wrong since the last look
	bytes float64  // what came over the network since the last look
}

// open starts a browser. It listens to what pages ask other hosts for, and to their errors. On a busy machine it may not
// answer within a minute, and is started again then.
func open(ctx context.Context, chromium, origin, axe, pictures string) (b *browser, err error) {
	for range 3 {
		if b, err = openOnce(ctx, chromium, origin, axe, pictures); err == nil {
			return b, nil
		}
	}
	return nil, fmt.Errorf("start the browser: %w", err)
}

func openOnce(ctx context.Context, chromium, origin, axe, pictures string) (*browser, error) {
	if pictures != "" {
		if err := os.MkdirAll(pictures, 0o755); err != nil { //nolint:gosec // everybody may look at the pictures
			return nil, err
		}
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.NoFirstRun, chromedp.WSURLReadTimeout(time.Minute))
	allocated, stop := chromedp.NewExecAllocator(ctx, options...)
	tab, end := chromedp.NewContext(allocated)
	b := &browser{Context: tab, chromium: chromium, origin: origin, axe: axe, pictures: pictures, kept: map[string]*network.Cookie{}, passkeys: map[string]*webauthn.Credential{}, close: func() { end(); stop() }}
	return b, b.begin()
}

// begin listens to the tab, and measures each page that it loads.
func (b *browser) begin() error {
	chromedp.ListenTarget(b.Context, b.hear)
	err := chromedp.Run(b.Context, network.Enable(), runtime.Enable(), log.Enable(), chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(measureShift).Do(ctx)
		return err
	}))
	if err != nil {
		b.close()
	}
	return err
}

// tab opens another tab of the same browser, with the same people signed in. The caller closes it.
func (b *browser) tab() (*browser, error) {
	tab, end := chromedp.NewContext(b.Context)
	other := &browser{Context: tab, chromium: b.chromium, origin: b.origin, axe: b.axe, pictures: b.pictures, kept: b.kept, passkeys: b.passkeys, close: end}
	return other, other.begin()
}

// twin opens a second browser, in which the same people are signed in. Tabs and windows of one browser cannot all be in the
// foreground at once, and one in the background draws nothing. The caller closes it.
func (b *browser) twin(ctx context.Context) (*browser, error) {
	other, err := open(ctx, b.chromium, b.origin, b.axe, b.pictures)
	if err != nil {
		return nil, err
	}
	var all []*network.Cookie
	err = b.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		all, err = network.GetCookies().Do(ctx)
		return err
	}))
	for _, c := range all {
		err = errors.Join(err, other.do(other.cookie(c)))
	}
	return other, err
}

// cookie sets a cookie.
func (b *browser) cookie(c *network.Cookie) chromedp.Action {
	return network.SetCookie(c.Name, c.Value).WithURL(b.origin).WithPath(c.Path).WithSecure(c.Secure).WithHTTPOnly(c.HTTPOnly).WithSameSite(c.SameSite)
}

// expected are the answers that a walk asks for on purpose.
var expected = regexp.MustCompile(`status of (?:403|404|409|422|429)`)

func (b *browser) hear(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, b.origin+"/") && !strings.HasPrefix(url, "data:") {
			b.complain("a request to another origin: %s", url)
		}
	case *network.EventLoadingFinished:
		b.mu.Lock()
		b.bytes += e.EncodedDataLength
		b.mu.Unlock()
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError && !expected.MatchString(e.Entry.Text) {
			b.complain("an error of the browser: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		b.complain("an exception: %s", e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError && len(e.Args) > 0 && !expected.MatchString(string(e.Args[0].Value)) {
			b.complain("an error in the console: %s", e.Args[0].Value)
		}
	}
}

func (b *browser) complain(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bad = append(b.bad, fmt.Sprintf(format, args...))
}

// complaints returns what the pages did wrong since the last look.
func (b *browser) complaints() (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.bad {
		err = errors.Join(err, errors.New(one))
	}
	b.bad = nil
	return err
}

// do runs actions, each within a minute. On a slow machine the browser may give its elements new numbers just after the debugger has read
// them. Such an action has not begun, so it runs again.
func (b *browser) do(actions ...chromedp.Action) error {
	for n, one := range actions {
		ctx, stop := context.WithTimeout(b, time.Minute)
		err := chromedp.Run(ctx, one)
		for try := 0; try < 20 && err != nil && strings.Contains(err.Error(), "node with given id"); try++ {
			time.Sleep(100 * time.Millisecond)
			err = chromedp.Run(ctx, one)
		}
		stop()
		if err != nil {
			var text string
			_ = chromedp.Run(b, chromedp.Text("body", &text, chromedp.ByQuery)) // the error below says what failed
			return fmt.Errorf("action %d: %w\n%s", n+1, err, text)
		}
	}
	return nil
}

// visit opens a page of the console. First the page before must be complete, because a browser ends a navigation that
// begins while another one is under way.
func (b *browser) visit(path string) error {
	if err := b.complete(); err != nil {
		return err
	}
	if err := b.do(chromedp.Navigate(b.origin + path)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return b.complete()
}

// complete waits until the page has loaded.
func (b *browser) complete() error {
	for range 300 {
		var state string
		// While one page replaces another one, there is nothing to ask.
		if err := b.do(chromedp.Evaluate(`document.readyState`, &state)); err == nil && state == "complete" {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("the page has not loaded in 30 seconds")
}

// text returns the text of the page.
func (b *browser) text() (out string, err error) {
	return out, b.do(chromedp.Text("body", &out, chromedp.ByQuery))
}

// says fails unless the page says all words.
func (b *browser) says(words ...string) error {
	text, err := b.text()
	for _, one := range words {
		if err == nil && !strings.Contains(text, one) {
			err = fmt.Errorf("the page does not say %q:\n%s", one, text)
		}
	}
	return err
}

const companyCookie = "__Host-kobo_company"

// keepPerson takes the session of the signed-in person of a company out of the browser, and remembers it under a name. A sign-in
// over it would end it.
func (b *browser) keepPerson(name string) error {
	return b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		all, err := network.GetCookies().Do(ctx)
		if err != nil {
			return err
		}
		for _, c := range all {
			if c.Name == companyCookie {
				b.kept[name] = c
				return network.DeleteCookies(companyCookie).WithURL(b.origin).Do(ctx)
			}
		}
		return errors.New("nobody of a company is signed in")
	}))
}

// takePerson lets a remembered person go on instead of the present one.
func (b *browser) takePerson(name string) error {
	return b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		c := b.kept[name]
		if c == nil {
			return fmt.Errorf("nobody is remembered as %s", name)
		}
		return b.cookie(c).Do(ctx)
	}))
}

// refuses fails unless the page that is open gets the status for each path.
func (b *browser) refuses(status int, paths ...string) error {
	for _, path := range paths {
		var got int
		err := b.do(chromedp.Evaluate(`fetch(`+quote(path)+`, {redirect: "manual"}).then((r) => r.status)`, &got, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
			return p.WithAwaitPromise(true)
		}))
		if err != nil {
			return err
		}
		if got != status {
			return fmt.Errorf("%s answers %d, want %d", path, got, status)
		}
	}
	return nil
}

// turnsTo waits until the page says all words. Then axe looks at the page. If another page comes meanwhile, because the words were on
// the page before too, both begin again.
func (b *browser) turnsTo(words ...string) (err error) {
	for range 100 {
		if err = b.says(words...); err == nil {
			err = errors.Join(b.complete(), b.accessible(words[0]))
			if err == nil || !wasLeft(err) {
				return err
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// wasLeft tells whether an action failed because another page came.
func wasLeft(err error) bool { return strings.Contains(err.Error(), "Inspected target navigated") }

// until waits until the state of the thing on the page begins with a word, without a reload by the walk.
func (b *browser) until(word string) error {
	if err := b.waitsFor(`document.querySelector("main h1 ~ .chip")?.textContent.trim().startsWith(` + quote(word) + `)`); err != nil {
		return fmt.Errorf("the page never turned to %q: %w", word, err)
	}
	return nil
}

// waitsFor waits until an expression is true on the page.
func (b *browser) waitsFor(expression string) error {
	ctx, stop := context.WithTimeout(b, time.Minute)
	defer stop()
	return chromedp.Run(ctx, chromedp.Poll(expression, nil, chromedp.WithPollingInterval(200*time.Millisecond)))
}

func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a text is always JSON
	}
	return string(quoted)
}

// look sets the width and the colours of the window.
func (b *browser) look(width int64, dark bool) error {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	return b.do(chromedp.EmulateViewport(width, 900), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// check looks at the page: it must not scroll sideways. If deep is true, axe must find nothing serious.
func (b *browser) check(name string, deep bool) error {
	var wider int
	if err := b.do(chromedp.Evaluate(`document.documentElement.scrollWidth - document.documentElement.clientWidth`, &wider)); err != nil {
		return err
	}
	if wider > 0 {
		b.complain("%s scrolls sideways by %d pixels", name, wider)
	}
	if b.pictures != "" {
		time.Sleep(400 * time.Millisecond) // charts follow the width of the window
		var picture []byte
		if err := b.do(chromedp.FullScreenshot(&picture, 100)); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.pictures, name+".png"), picture, 0o644); err != nil { //nolint:gosec // everybody may look at it
			return err
		}
	}
	if !deep {
		return nil
	}
	return b.accessible(name)
}

// accessible asks axe. The script comes by the debugger, which the page's own policy does not concern.
func (b *browser) accessible(name string) error {
	if b.axe == "" {
		return nil
	}
	var found []struct{ Impact, ID, Target string }
	var there bool
	if err := b.do(chromedp.Evaluate(`"axe" in window`, &there)); err != nil {
		return err
	}
	if !there {
		if err := b.do(chromedp.Evaluate(b.axe+";0", nil)); err != nil {
			return err
		}
	}
	rules := `{resultTypes: ["violations"]}`
	if strings.HasSuffix(name, "-dark") { // the same page was seen whole in the light
		rules = `{resultTypes: ["violations"], runOnly: ["color-contrast", "target-size", "scrollable-region-focusable", "aria-hidden-focus", "link-in-text-block"]}`
	}
	err := b.do(chromedp.Evaluate(`axe.run(`+rules+`).then((r) => r.violations.flatMap((v) =>
		v.nodes.map((n) => ({impact: v.impact, id: v.id, target: n.target.join(" ")}))))`, &found, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
		return p.WithAwaitPromise(true)
	}))
	for _, one := range found {
		if one.Impact == "serious" || one.Impact == "critical" {
			b.complain("%s: axe: %s, %s at %s", name, one.Impact, one.ID, one.Target)
		}
	}
	return err
}
