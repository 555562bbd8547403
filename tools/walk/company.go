package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	chromium "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// findBySession finds a payout by what a caller reads out: the session id.
func findBySession(p *program, b *browser) error {
	reference, err := p.payout("0123456710", 975)
	if err != nil {
		return err
	}
	session, err := p.sessionID(reference)
	if err != nil || len(session) != 30 {
		return errors.Join(err, fmt.Errorf("the session id is %q", session))
	}
	spoken := session[:10] + " " + session[10:20] + "-" + session[20:]
	if err := b.do(chromedp.SendKeys("#q", spoken+"\r", chromedp.ByQuery)); err != nil {
		return err
	}
	return b.turnsTo("₦975.00 to", reference)
}

// appLink returns a sign-in link of the company on the console's origin.
func (p *program) appLink(link string) string {
	return p.origin() + link[strings.Index(link, "/app/"):]
}

// signInCompany uses the one-time links of three people of the company, and remembers them. A rule for two people counts only
// people who have signed in. Each makes a passkey, because a payment and an approval ask for a proof. The owner stays.
func signInCompany(p *program, b *browser) error {
	if err := b.visit("/app/home"); err != nil {
		return err
	}
	if err := b.says("Sign in", "Password and code"); err != nil {
		return err
	}
	for _, one := range []struct{ name, link string }{{"finance", p.key.ThirdAppURL}, {"developer", p.key.SecondAppURL}, {"owner", p.key.AppURL}} {
		if err := errors.Join(enter(p, b, one.link), b.makePasskey("/app/me"), b.keepPerson(one.name)); err != nil {
			return err
		}
	}
	if err := errors.Join(b.takePerson("owner"), b.visit("/app/home")); err != nil {
		return err
	}
	return b.turnsTo("Balances", "Main account", "Payouts", "Developers")
}

// enter signs a person of the company in, also if another person is signed in.
func enter(p *program, b *browser, link string) error {
	if err := b.do(chromedp.Navigate(p.appLink(link)), chromedp.Click("main button.main", chromedp.ByQuery), chromedp.WaitNotPresent(`form:not([action])`, chromedp.ByQuery)); err != nil {
		return err
	}
	return b.complete()
}

// downloadPDF downloads the statement of the settlement account from the page of the ledger.
func downloadPDF(p *program, b *browser) error {
	folder := filepath.Join(p.folder, "downloads")
	save := chromedp.ActionFunc(func(ctx context.Context) error {
		return chromium.SetDownloadBehavior(chromium.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(folder).Do(cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser))
	})
	if err := b.visit("/app/money/ledger"); err != nil {
		return err
	}
	if err := b.do(save, chromedp.Click(`form[action="/app/money/statement"] button`, chromedp.ByQuery)); err != nil {
		return err
	}
	for range 100 {
		found, err := filepath.Glob(filepath.Join(folder, "*.pdf"))
		if err != nil {
			return err
		}
		for _, path := range found {
			text, err := os.ReadFile(path)
			if err == nil && bytes.HasPrefix(text, []byte("%PDF-")) && bytes.Contains(text, []byte("%%EOF")) {
				return nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("the statement was not downloaded in 10 seconds")
}

// issueByTwo requires two people for API keys. The owner asks for a key, and the developer gets it.
func issueByTwo(p *program, b *browser) error {
	if err := b.visit("/app/approvals"); err != nil {
		return err
	}
	if err := b.do(chromedp.Click(`form[action="/app/settings/two-people"] button`, chromedp.ByQuery), chromedp.WaitReady(`form[action="/app/settings/two-people"] input[value="false"]`, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.visit("/app/developers"); err != nil {
		return err
	}
	if err := b.do(chromedp.SendKeys("#name", "Shop", chromedp.ByQuery),
		chromedp.Click(`form[action="/app/developers/keys"] button.main`, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := errors.Join(b.proves(p), b.do(chromedp.WaitVisible(".chip.propose", chromedp.ByQuery))); err != nil {
		return err
	}
	review := `a.act[href^="/app/approvals/"]`
	if err := b.do(chromedp.Click(review, chromedp.ByQuery), chromedp.WaitVisible(`form[action$="/reject"]`, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.turnsTo("approves what you asked for"); err != nil {
		return err
	}
	if err := b.takePerson("developer"); err != nil {
		return err
	}
	if err := b.visit("/app/approvals"); err != nil {
		return err
	}
	if err := b.do(chromedp.Click(review, chromedp.ByQuery), chromedp.Click(approve, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.proves(p); err != nil {
		return err
	}
	return b.turnsTo("kobo_test_", "This page shows it once")
}
