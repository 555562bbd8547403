package main

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // apps for one-time codes use it (RFC 6238)
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/chromedp"
)

const password = "correct horse battery staple"

// oneTimeCode returns the code that an app shows at an instant (RFC 6238).
func oneTimeCode(secret string, at time.Time) (string, error) {
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha1.New, key)
	_ = binary.Write(mac, binary.BigEndian, uint64(at.Unix()/30)) // a hash takes everything
	sum := mac.Sum(nil)
	number := binary.BigEndian.Uint32(sum[sum[19]&15:]) & 0x7fffffff
	return fmt.Sprintf("%06d", number%1_000_000), nil
}

// fallBack sets a password and the secret of an app, signs out, and signs in by both as if no passkey were at hand. A code works
// once. Then a link of another site opens without a second sign-in.
func fallBack(p *program, b *browser) error {
	if err := b.visit("/console/me"); err != nil {
		return err
	}
	if err := b.do(chromedp.Evaluate(`document.querySelector("#password").closest("details").open = true`, nil)); err != nil {
		return err
	}
	secret, err := b.find(`[A-Z2-7]{32}`)
	if err != nil {
		return err
	}
	// A code may be of the step before or after the clock's own. So this one is good for half a minute at least, and the next one is there at once.
	began := time.Now()
	before, err := oneTimeCode(secret, began)
	if err != nil {
		return err
	}
	if err := b.do(chromedp.SendKeys("#password", password, chromedp.ByQuery), chromedp.SendKeys("#code", before, chromedp.ByQuery), chromedp.Click(`form[action$="/me/password"] button.main`, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.turnsTo("Remove the password and its code"); err != nil {
		return err
	}
	var name string
	if err := b.do(chromedp.Text("header .who b", &name, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := signOut(p, b); err != nil {
		return err
	}
	next, err := oneTimeCode(secret, began.Add(30*time.Second))
	if err != nil {
		return err
	}
	if err := b.password(name, before); err != nil {
		return err
	}
	if err := b.turnsTo("Nothing was changed"); err != nil {
		return fmt.Errorf("a code that was used: %w", err)
	}
	if err := b.password(name, next); err != nil {
		return err
	}
	if err := b.do(chromedp.WaitVisible("nav.side", chromedp.ByQuery)); err != nil {
		return err
	}
	return errors.Join(b.complete(), deepLink(b))
}

// password signs in by a password and a code.
func (b *browser) password(name, code string) error {
	open := `document.querySelector("#proof-password").closest("details").open = true`
	return errors.Join(b.do(
		chromedp.WaitReady("#proof-password", chromedp.ByQuery), chromedp.Evaluate(open, nil), chromedp.SetValue("#proof-name", name, chromedp.ByQuery),
		chromedp.SetValue("#proof-password", password, chromedp.ByQuery), chromedp.SetValue("#proof-code", code, chromedp.ByQuery),
		chromedp.SendKeys("#proof-code", "\r", chromedp.ByQuery)), b.complete())
}
