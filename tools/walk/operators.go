package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

const (
	sessionOfPayer = "000013261123080000000000000042" // 30 digits, as NIP has them
	approve        = `form[action$="/approve"] button.main`
	submit         = "main form button.main"
)

// becomes signs another operator in.
func becomes(p *program, b *browser, key string) error {
	if err := b.visit("/console/waiting"); err != nil {
		return err
	}
	return errors.Join(signOut(p, b), signInByKey(b, key))
}

// onboard adds a company, proposes everything that it needs, and has the second operator approve it as a whole.
func onboard(p *program, b *browser) error {
	if err := b.visit("/console/companies/new"); err != nil {
		return err
	}
	if err := errors.Join(b.do(chromedp.SendKeys("#name", "Ada Foods", chromedp.ByQuery), chromedp.Click(submit, chromedp.ByQuery)), b.proves(p)); err != nil {
		return err
	}
	if err := b.turnsTo("Ada Foods is a company now", "shown once"); err != nil {
		return err
	}
	if err := b.do(chromedp.Click(`a[href$="/change/onboarding"]`, chromedp.ByQuery), chromedp.WaitVisible("#account-name", chromedp.ByQuery), chromedp.SetValue("#account-name", "Main", chromedp.ByQuery),
		chromedp.SendKeys("#flat", "50", chromedp.ByQuery), chromedp.SendKeys("#limit", "1,000,000", chromedp.ByQuery), chromedp.SetValue("#live", "on", chromedp.ByQuery),
		chromedp.SetValue("#key", "new", chromedp.ByQuery), chromedp.Click(submit, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.turnsTo("What will happen", "From ₦0.00: ₦50.00.", "Ask a second person"); err != nil {
		return err
	}
	if err := b.do(chromedp.Click(submit, chromedp.ByQuery), chromedp.WaitVisible(`form[action$="/withdraw"]`, chromedp.ByQuery)); err != nil {
		return err
	}
	var proposal string
	if err := b.do(chromedp.Location(&proposal)); err != nil {
		return err
	}
	if err := becomes(p, b, p.key.AdminKey); err != nil {
		return err
	}
	if err := b.visit(strings.TrimPrefix(proposal, b.origin)); err != nil {
		return err
	}
	if err := errors.Join(b.do(chromedp.Click(approve, chromedp.ByQuery)), b.proves(p)); err != nil {
		return err
	}
	if err := b.turnsTo("Approved", "This is shown once"); err != nil {
		return err
	}
	if err := b.visit("/console/companies"); err != nil {
		return err
	}
	if err := b.do(chromedp.Evaluate(`[...document.querySelectorAll("main a")].find((a) => a.textContent.includes("Ada Foods")).click()`, nil)); err != nil {
		return err
	}
	return b.turnsTo("KYB approved", "1 · Main", "Switch live off")
}

// invite invites an operator, who needs the link of one operator and the code of another one.
func invite(p *program, b *browser) error {
	if err := invited(p, b, "/console/people", "grace", "finance"); err != nil {
		return err
	}
	if err := b.visit("/console/me"); err != nil {
		return err
	}
	if err := b.says("grace", "You have no passkey and no password yet"); err != nil {
		return err
	}
	return becomes(p, b, p.key.AdminKey)
}

// bookBreak plants a credit on the bank's statement of which nobody has told Kobo. The daily comparison finds it, one
// operator says whose it is, another one approves, and the company has the money.
func bookBreak(p *program, b *browser) error {
	line := map[string]any{"reference": sessionOfPayer, "type": "Credit", "amount": 7654, "narration": "TRANSFER FROM OKORO"}
	if err := p.ask("POST", "/sandbox/statement-line", "", "", line, nil); err != nil {
		return err
	}
	var id string
	for range 30 {
		if err := p.advance(time.Hour); err != nil {
			return err
		}
	}
	id, err := p.openCase("safehaven/" + sessionOfPayer)
	if err != nil {
		return err
	}
	if err := b.visit("/console/cases/" + id); err != nil {
		return err
	}
	if err := b.says("Missing credit", "₦7,654.00"); err != nil {
		return err
	}
	if err := b.do(chromedp.Click("#o-assigned", chromedp.ByQuery), chromedp.SendKeys("#to-company", p.key.Reference, chromedp.ByQuery), chromedp.SendKeys("#to-account", fmt.Sprint(p.key.SettlementID), chromedp.ByQuery),
		chromedp.SendKeys("#note", "The payer has sent the receipt.", chromedp.ByQuery), chromedp.Click(`form[action$="/cases/`+id+`"] button.main`, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := errors.Join(b.sure(p, id), b.turnsTo("Waiting for approval", "goes to the settlement account")); err != nil {
		return err
	}
	if err := becomes(p, b, p.key.SecondKey); err != nil {
		return err
	}
	if err := b.visit("/console/cases/" + id); err != nil {
		return err
	}
	if err := errors.Join(b.do(chromedp.Click(`form[action$="/agreed"] button.main`, chromedp.ByQuery)), b.proves(p)); err != nil {
		return err
	}
	if err := b.turnsTo("Decided", "assigned"); err != nil {
		return err
	}
	if err := b.visit("/console/p/" + sessionOfPayer); err != nil {
		return err
	}
	if err := b.turnsTo("Assigned to a company"); err != nil {
		return err
	}
	if err := b.do(chromedp.Click(`main dd a[href^="/console/p/"]`, chromedp.ByQuery)); err != nil {
		return err
	}
	return b.turnsTo("₦7,654.00", "Demo Company", "settlement.credit")
}

// find returns the first part of the page's text that matches.
func (b *browser) find(pattern string) (string, error) {
	text, err := b.text()
	found := regexp.MustCompile(pattern).FindString(text)
	if err == nil && found == "" {
		err = fmt.Errorf("the page has no %s:\n%s", pattern, text)
	}
	return found, err
}
