package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// device gives the tab a virtual authenticator that asks nobody, once.
func (b *browser) device() error {
	if b.authenticator != "" {
		return nil
	}
	return b.do(webauthn.Enable(), chromedp.ActionFunc(func(ctx context.Context) (err error) {
		b.authenticator, err = webauthn.AddVirtualAuthenticator(&webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal, HasResidentKey: true,
			HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		}).Do(ctx)
		return err
	}))
}

// name returns the name of the person at the page.
func (b *browser) name() (out string, err error) {
	return out, b.do(chromedp.Text("header .who b", &out, chromedp.ByQuery))
}

// makePasskey makes a passkey of the person on the page of one's own sign-in, and remembers it. The device then has this one alone,
// since it uses any of those that it has.
func (b *browser) makePasskey(me string) error {
	if err := b.device(); err != nil {
		return err
	}
	form := `form[data-passkey="create"]`
	if err := errors.Join(b.do(webauthn.ClearCredentials(b.authenticator)), b.visit(me)); err != nil {
		return err
	}
	if err := b.do(chromedp.WaitVisible(form, chromedp.ByQuery), chromedp.SendKeys("#label", "a phone", chromedp.ByQuery),
		chromedp.Click(form+" button", chromedp.ByQuery), chromedp.WaitVisible(".rows.loose strong", chromedp.ByQuery)); err != nil {
		return err
	}
	return b.keepPasskey()
}

// keepPasskey remembers the passkey of the person at the page, with the number of its uses.
func (b *browser) keepPasskey() error {
	name, err := b.name()
	if err != nil {
		return err
	}
	return b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		held, err := webauthn.GetCredentials(b.authenticator).Do(ctx)
		if err == nil && len(held) != 1 {
			err = fmt.Errorf("the device has %d passkeys", len(held))
		}
		if err == nil {
			b.passkeys[name] = held[0]
		}
		return err
	}))
}

// proves waits for the page that asks who the person is, and answers it: people of companies by their passkey, operators by their
// admin key.
func (b *browser) proves(p *program) error {
	if err := b.turnsTo("Prove that it is you", "Your entries are kept"); err != nil {
		return err
	}
	var at string
	name, err := b.name()
	if err = errors.Join(err, b.do(chromedp.Location(&at))); err != nil {
		return err
	}
	if strings.HasPrefix(at, b.origin+"/console/") {
		return b.provesByKey(map[string]string{"dev": p.key.AdminKey, "dev2": p.key.SecondKey}[name])
	}
	own := b.passkeys[name]
	if own == nil {
		return fmt.Errorf("%s has no passkey", name)
	}
	form := `form[data-passkey="get"]`
	if err := errors.Join(b.typePIN(p, form+` input[name="pin"]`), b.do(webauthn.ClearCredentials(b.authenticator), webauthn.AddCredential(b.authenticator, own), chromedp.Click(form+` button`, chromedp.ByQuery))); err != nil {
		return err
	}
	return errors.Join(b.proved(), b.keepPasskey())
}

// typePIN types the transaction PIN into a field, if the page has it.
func (b *browser) typePIN(p *program, field string) error {
	var asked bool
	if err := b.do(chromedp.Evaluate(fmt.Sprintf("document.querySelector(%q) !== null", field), &asked)); err != nil || !asked {
		return err
	}
	return b.do(chromedp.SendKeys(field, p.key.PIN, chromedp.ByQuery))
}

func (b *browser) provesByKey(key string) error {
	if err := b.do(chromedp.Click("main details:last-of-type summary", chromedp.ByQuery), chromedp.WaitVisible("#proof-key", chromedp.ByQuery),
		chromedp.SendKeys("#proof-key", key+"\r", chromedp.ByQuery)); err != nil {
		return err
	}
	return b.proved()
}

// proved waits until the page that asks for a proof has gone.
func (b *browser) proved() error {
	return errors.Join(b.do(chromedp.WaitNotPresent(`#proof-code`, chromedp.ByQuery)), b.complete())
}
