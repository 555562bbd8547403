package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/webauthn"
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
	return b.says("dev", "Sign out")
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
	if err := b.says("₦4,321.00 to", "We do not know yet", "Do not pay again", "Where the ₦4,321.00 is", "Say to the customer"); err != nil {
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
	return b.says("It was paid.", "payout.success")
}

// decideCase waits until an outcome has been unknown for 72 hours. One operator proposes, and the other one
// approves what the page shows.
func decideCase(p *program, b *browser) error {
	reference, err := p.payout("0123456708", 2468) // the bank never says more
	if err != nil {
		return err
	}
	var id string
	for range 80 {
		if err := p.advance(time.Hour); err != nil {
			return err
		}
	}
	if id, err = p.openCase(reference); err != nil {
		return err
	}
	if err := b.visit("/console/p/" + reference); err != nil {
		return err
	}
	if err := b.says("by hand", "Two people decide"); err != nil {
		return err
	}
	propose := []chromedp.Action{
		chromedp.Navigate(b.origin + "/console/cases/" + id), chromedp.Click("#o-confirmed", chromedp.ByQuery),
		chromedp.SendKeys("#note", "The bank has confirmed it on the phone.", chromedp.ByQuery), chromedp.Click(`form[action$="/cases/`+id+`"] button.main`, chromedp.ByQuery),
		chromedp.WaitVisible(".chip.propose", chromedp.ByQuery),
	}
	if err := b.do(propose...); err != nil {
		return err
	}
	if err := b.says("Waiting for approval", "You proposed this"); err != nil {
		return err
	}
	if err := signOut(p, b); err != nil {
		return err
	}
	if err := signInByKey(b, p.key.SecondKey); err != nil {
		return err
	}
	if err := b.visit("/console/waiting"); err != nil {
		return err
	}
	approve := `form[action$="/agreed"] button.main`
	if err := b.do(chromedp.Click(`a[href$="/cases/`+id+`"]`, chromedp.ByQuery), chromedp.Click(approve, chromedp.ByQuery), chromedp.WaitVisible("main .chip.ok", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.says("Decided", "dev2"); err != nil {
		return err
	}
	if err := b.visit("/console/p/" + reference); err != nil {
		return err
	}
	return b.until("Paid")
}

// everyPage visits every page that the menu and the pages of operators lead to.
func everyPage(p *program, b *browser) error {
	unknown, err := p.payout("0123456708", 1357)
	if err != nil {
		return err
	}
	return visitAll(b, "/console/", "/console/p/"+unknown)
}

// visitAll visits the pages below a prefix to which links lead from the first ones, one of each kind.
func visitAll(b *browser, below string, paths ...string) error {
	if err := b.bypass(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, path := range paths {
		seen[kindOf(path)] = true
	}
	for n := 0; n < len(paths); n++ {
		for _, width := range []int64{1280, 768, 360} {
			for _, dark := range []bool{false, true} {
				if err := b.look(width, dark); err != nil {
					return err
				}
				if err := b.visit(paths[n]); err != nil {
					return fmt.Errorf("%s: %w", paths[n], err)
				}
				colours := map[bool]string{false: "light", true: "dark"}[dark]
				name := strings.Trim(strings.NewReplacer("/", "-", "?", "-", "=", "-", "&", "-").Replace(paths[n]), "-")
				if err := b.check(fmt.Sprintf("%s-%d-%s", name, width, colours), width != 768); err != nil {
					return err
				}
			}
		}
		var links []string
		if err := b.do(chromedp.Evaluate(`[...document.querySelectorAll('a[href^="`+below+`"]:not([download])')].map((a) => a.getAttribute("href"))`, &links)); err != nil {
			return err
		}
		for _, link := range links {
			if kind := kindOf(link); !seen[kind] {
				seen[kind] = true
				paths = append(paths, link)
			}
		}
	}
	if len(paths) < 6 {
		return fmt.Errorf("only %d pages were found: %q", len(paths), paths)
	}
	fmt.Printf("%d kinds of pages: %q\n", len(paths), paths)
	return b.look(1280, false)
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
	make := `form[data-passkey="create"]`
	if err := b.do(webauthn.Enable(), chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := webauthn.AddVirtualAuthenticator(&webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal, HasResidentKey: true,
			HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		}).Do(ctx)
		return err
	})); err != nil {
		return err
	}
	if err := b.visit("/console/me"); err != nil {
		return err
	}
	if err := b.do(chromedp.WaitVisible(make, chromedp.ByQuery), chromedp.SendKeys("#label", "a phone", chromedp.ByQuery),
		chromedp.Click(make+" button", chromedp.ByQuery), chromedp.WaitVisible(".rows.loose strong", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := signOut(p, b); err != nil {
		return err
	}
	return b.do(chromedp.Click(`form[data-passkey="get"] button`, chromedp.ByQuery), chromedp.WaitVisible("nav.side", chromedp.ByQuery))
}
