package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// paper is the width of an A4 page between its margins, in pixels.
const paper = 718

// onPaper lists what is wrong with a printed page: parts of the frame, chips that are not black, heads of tables that do not repeat,
// and words of the header that are missing.
const onPaper = `(() => {
	const out = [], shown = (s) => [...document.querySelectorAll(s)].filter((e) => e.checkVisibility() && e.getBoundingClientRect().width > 1);
	for (const e of shown("nav.side, nav.tabbar, .search, button, main form, .pager, .live")) out.push("it prints " + e.tagName + "." + e.className);
	for (const e of shown(".chip")) {
		const s = getComputedStyle(e);
		if (s.color !== "rgb(0, 0, 0)" || s.backgroundColor !== "rgba(0, 0, 0, 0)" || s.borderTopStyle !== "solid" || !e.textContent.trim()) out.push("a chip prints as " + s.color + " on " + s.backgroundColor);
	}
	for (const t of shown("main table")) {
		const head = t.querySelector("thead");
		if (head && (getComputedStyle(head).display !== "table-header-group" || getComputedStyle(head).position !== "static")) out.push("the head of a table does not repeat");
		if (head && getComputedStyle(t).display !== "table") out.push("a table prints as a list");
	}
	const head = document.querySelector("header.top").innerText;
	for (const word of [/\bDEV\b/i, /Lagos \d\d:\d\d/, /\w+ · (admin|owner|finance)/]) if (!word.test(head)) out.push("the header does not say " + word + ": " + head);
	if (document.documentElement.scrollWidth > innerWidth) out.push("it is wider than the paper by " + (document.documentElement.scrollWidth - innerWidth));
	if (getComputedStyle(document.body).color !== "rgb(0, 0, 0)") out.push("the ink is " + getComputedStyle(document.body).color);
	return out;
})()`

// printed prints pages, light and dark.
func printed(p *program, b *browser) error {
	reference, err := p.payout("0123456710", 863)
	if err != nil {
		return err
	}
	defer func() { _ = b.look(1280, false) }() // the next step says if the browser is gone
	for _, path := range []string{"/console/payments", "/console/p/" + reference, "/console/money/days", "/console/overview", "/app/payouts", "/app/p/" + reference} {
		if err := errors.Join(b.look(paper, path == "/app/payouts"), b.visit(path)); err != nil {
			return err
		}
		var wrong []string
		if err := b.do(emulation.SetEmulatedMedia().WithMedia("print"), chromedp.Evaluate(onPaper, &wrong)); err != nil {
			return err
		}
		for _, one := range wrong {
			b.complain("%s on paper: %s", path, one)
		}
		if err := b.paper(path); err != nil {
			return err
		}
	}
	return nil
}

// paper prints the page to a file, which must be a PDF.
func (b *browser) paper(path string) error {
	var text []byte
	err := b.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		text, _, err = page.PrintToPDF().WithPaperWidth(8.27).WithPaperHeight(11.69).Do(ctx)
		return err
	}))
	if err != nil || !bytes.HasPrefix(text, []byte("%PDF-")) {
		return errors.Join(err, fmt.Errorf("%s does not print", path))
	}
	if b.pictures == "" {
		return nil
	}
	name := "paper-" + filepath.Base(filepath.Dir(path)) + "-" + filepath.Base(path) + ".pdf"
	return os.WriteFile(filepath.Join(b.pictures, name), text, 0o644) //nolint:gosec // everybody may look at it
}

// withoutMotion looks at a page that changes, for somebody who wants no motion, and then for somebody else. A link that has the
// focus keeps it, although the page is another one.
func withoutMotion(p *program, b *browser) error {
	for motion, flashes := range map[string]bool{"reduce": false, "no-preference": true} {
		reference, err := p.payout("0123456706", 862)
		if err != nil {
			return err
		}
		if err := b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: motion}})); err != nil {
			return err
		}
		if err := b.visit("/console/p/" + reference); err != nil {
			return err
		}
		if err := b.do(chromedp.Evaluate(`window.walkMoved = false; document.addEventListener("animationstart", () => { window.walkMoved = true; });
			document.querySelector("main dd a[href]").focus(); window.walkHeld = document.activeElement`, nil)); err != nil {
			return err
		}
		if err := errors.Join(p.advance(35*time.Second), p.advance(35*time.Second), b.until("Paid")); err != nil {
			return err
		}
		// The page gets its focus back a moment after it has changed, and later on a busy machine.
		if err := b.waitsFor(`!walkHeld.isConnected && document.activeElement.getAttribute("href") === walkHeld.getAttribute("href")`); err != nil {
			return fmt.Errorf("a page that changes loses the focus: %w", err)
		}
		var moved bool
		if err := b.do(chromedp.Sleep(200*time.Millisecond), chromedp.Evaluate(`window.walkMoved`, &moved)); err != nil {
			return err
		}
		if moved != flashes {
			return fmt.Errorf("with prefers-reduced-motion: %s a change flashes: %v", motion, moved)
		}
	}
	return b.look(1280, false)
}

// hurry lets the clock of a page go faster from a button of the walk on, so that nobody waits for half a minute.
const hurry = `(() => { let ahead = 0; const now = performance.now.bind(performance); performance.now = () => now() + ahead; window.walkAhead = (s) => { ahead += s * 1000; }; })()`

// cutOffStream cuts the stream of a page. The page says so in amber, asks by itself, and so changes. If it
// gets no answer either, it says since when it is old.
func cutOffStream(p *program, b *browser) error {
	reference, err := p.payout("0123456706", 861)
	if err != nil {
		return err
	}
	tab, err := b.tab()
	if err != nil {
		return err
	}
	defer tab.close()
	if err := tab.do(page.BringToFront(), chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(hurry).Do(ctx)
		return err
	})); err != nil {
		return err
	}
	if err := tab.cut(); err != nil {
		return err
	}
	if err := tab.visit("/console/p/" + reference); err != nil {
		return err
	}
	if err := tab.do(chromedp.Evaluate(`window.walkAhead(6)`, nil)); err != nil {
		return err
	}
	if err := tab.turnsTo("Not live since ", ", asks every 10 s"); err != nil {
		return err
	}
	if err := tab.amber(); err != nil {
		return err
	}
	for range 2 {
		if err := p.advance(35 * time.Second); err != nil {
			return err
		}
	}
	for range 60 {
		if err = tab.says("It was paid."); err == nil {
			break
		}
		if err := tab.do(chromedp.Evaluate(`window.walkAhead(5)`, nil), chromedp.Sleep(200*time.Millisecond)); err != nil {
			return err
		}
	}
	if err = errors.Join(err, tab.waits("changed ")); err != nil {
		return err
	}
	if err := tab.do(fetch.Enable(), chromedp.Evaluate(`window.walkAhead(32)`, nil)); err != nil { // now nothing comes through
		return err
	}
	if err := tab.waits(", old since "); err != nil {
		return err
	}
	if err := tab.amber(); err != nil {
		return err
	}
	_ = tab.complaints() // the browser has said that it loads nothing
	return b.do(page.BringToFront())
}

// amber fails unless the page says in amber that it does not change by itself.
func (b *browser) amber() error {
	var is bool
	if err := b.do(chromedp.Evaluate(`getComputedStyle(document.querySelector("[data-live].late"), "::before").backgroundColor === "rgb(106, 67, 0)"`, &is)); err != nil || !is {
		return errors.Join(err, errors.New("a page without its stream is not amber"))
	}
	return nil
}

// cut lets no stream of the tab come through.
func (b *browser) cut() error {
	chromedp.ListenTarget(b.Context, func(event any) {
		if e, ok := event.(*fetch.EventRequestPaused); ok {
			go func() {
				_ = b.do(fetch.FailRequest(e.RequestID, network.ErrorReasonConnectionFailed)) // the step fails if the stream comes through
			}()
		}
	})
	return b.do(fetch.Enable().WithPatterns([]*fetch.RequestPattern{{URLPattern: "*/live/*"}}))
}
