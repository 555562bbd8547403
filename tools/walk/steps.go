package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// signIn uses the one-time link, which works once and only by its button.
func signIn(p *program, b *browser) error {
	if err := b.visit("/console/payments"); err != nil {
		return err
	}
	var at string
	if err := b.do(chromedp.Location(&at)); err != nil || !strings.Contains(at, "/console/sign-in") {
		return errors.Join(err, fmt.Errorf("a page without a sign-in: %s", at))
	}
	if err := b.do(chromedp.Navigate(p.link()), chromedp.Click("main button.main", chromedp.ByQuery), chromedp.WaitVisible("nav.side", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.says("dev", "Sign out"); err != nil {
		return err
	}
	return deepLink(b)
}

// deepLink follows a link of another site, such as a chat. Nobody signs in a second time.
func deepLink(b *browser) error {
	there := `data:text/html,<a id="there" href="` + b.origin + `/console/payments">a payment</a>`
	if err := b.do(chromedp.Navigate(there), chromedp.Click("#there", chromedp.ByQuery), chromedp.WaitVisible("nav.side", chromedp.ByQuery)); err != nil {
		return err
	}
	return b.says("Payments", "Sign out")
}

// followPayout opens the page of an unknown payout, and sees it turn to paid by itself.
func followPayout(p *program, b *browser) error {
	reference, err := p.payout("0123456706", 4321) // paid at the second question
	if err != nil {
		return err
	}
	if err := b.visit("/console/p/" + reference); err != nil {
		return err
	}
	if err := b.says("₦4,321.00 to", "has accepted it and has not finished", "Do not pay again", "Where the ₦4,321.00 is", "Say to the customer"); err != nil {
		return err
	}
	for range 2 {
		if err := p.advance(35 * time.Second); err != nil {
			return err
		}
	}
	if err := b.until("Paid"); err != nil {
		return err
	}
	if err := b.says("It was paid.", "payout.success"); err != nil {
		return err
	}
	return refundedAfterGrace(p, b)
}

// refundedAfterGrace follows a payout that the bank does not know. After the grace period the money is back.
func refundedAfterGrace(p *program, b *browser) error {
	reference, err := p.payout("0123456703", 1234)
	if err != nil {
		return err
	}
	if err := b.visit("/console/p/" + reference); err != nil {
		return err
	}
	if err := b.says("We do not know yet", "Do not pay again"); err != nil {
		return err
	}
	if err := p.advance(time.Hour); err != nil {
		return err
	}
	if err := b.until("Failed, refunded"); err != nil {
		return err
	}
	return b.says("payout.failed", "₦1,234.00 moved")
}

// everyPage visits every page that the menu and the pages of operators lead to, and in another browser at the same time every
// page of a company. The first pages have an unknown payout and what waits.
func everyPage(p *program, b *browser) error {
	theirs, err := p.payout("0123456708", 1357)
	if err != nil {
		return err
	}
	own, err := p.payout("0123456708", 1359)
	if err != nil {
		return err
	}
	if err := p.longNamed(); err != nil {
		return err
	}
	other, err := b.twin(context.Background())
	if err != nil {
		return err
	}
	defer other.close()
	done := make(chan error)
	go func() {
		done <- errors.Join(visitAll(other, "/app/", "/app/home", "/app/search", "/app/p/"+own), other.complaints())
	}()
	return errors.Join(visitAll(b, "/console/", "/console/search", "/console/p/"+theirs), <-done)
}

// kindOf returns an address with its identifiers left out, so that each kind of page is visited once.
func kindOf(path string) string {
	bare, _, _ := strings.Cut(path, "?")
	parts := strings.Split(bare, "/")
	for i, part := range parts {
		if strings.ContainsAny(part, "0123456789") || i > 0 && parts[i-1] == "providers" {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}

func signOut(_ *program, b *browser) error {
	return b.do(chromedp.Click(`form[action="/console/sign-out"] button`, chromedp.ByQuery), chromedp.WaitVisible(`form[data-passkey="get"] button`, chromedp.ByQuery))
}

// signInByKey signs an operator in by an admin key.
func signInByKey(b *browser, key string) error {
	return b.do(
		chromedp.Click("main details:last-of-type summary", chromedp.ByQuery), chromedp.WaitVisible("#proof-key", chromedp.ByQuery),
		chromedp.SendKeys("#proof-key", key+"\r", chromedp.ByQuery), chromedp.WaitVisible("nav.side", chromedp.ByQuery),
	)
}

// usePasskey makes a passkey with a virtual authenticator, and signs in by it.
func usePasskey(p *program, b *browser) error {
	if err := b.makePasskey("/console/me"); err != nil {
		return err
	}
	if err := signOut(p, b); err != nil {
		return err
	}
	return b.do(chromedp.Click(`form[data-passkey="get"] button`, chromedp.ByQuery), chromedp.WaitVisible("nav.side", chromedp.ByQuery))
}
