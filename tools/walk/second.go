package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
)

// approvePayout asks for a payout as a person of the role finance, and approves it as the owner.
func approvePayout(p *program, b *browser) error {
	if err := errors.Join(b.takePerson("finance"), b.visit("/app/payouts/new")); err != nil {
		return err
	}
	if err := b.do(chromedp.SetValue("#bank_code", "000013", chromedp.ByQuery), chromedp.SendKeys("#account_number", "0123456710", chromedp.ByQuery),
		chromedp.SendKeys("#amount", "51,000", chromedp.ByQuery), chromedp.SendKeys("#pin", p.key.PIN, chromedp.ByQuery), chromedp.Click("main form button.main", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.turnsTo("₦51,000.00 to MOHAMMED ADA?", "Leaves the account"); err != nil {
		return err
	}
	if err := errors.Join(b.do(chromedp.Click("main form button.main", chromedp.ByQuery)), b.proves(p)); err != nil {
		return err
	}
	if err := b.turnsTo("approves what you asked for", "Nothing has happened yet", "MOHAMMED ADA"); err != nil {
		return err
	}
	if err := errors.Join(b.takePerson("owner"), b.visit("/app/home")); err != nil {
		return err
	}
	if err := b.do(chromedp.Click(`main a[href^="/app/approvals/"]`, chromedp.ByQuery), chromedp.WaitVisible(`form[action$="/approve"]`, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.turnsTo("Two people from ₦50,000.00 on", "MOHAMMED ADA, 0123456710"); err != nil {
		return err
	}
	if err := errors.Join(b.do(chromedp.Click(approve, chromedp.ByQuery)), b.proves(p)); err != nil {
		return err
	}
	return b.turnsTo("₦51,000.00 to MOHAMMED ADA", "Paid", "owner approved it")
}

// findOwn finds a payment of the company by its reference.
func findOwn(p *program, b *browser) error {
	reference, err := p.payout("0123456710", 765)
	if err != nil {
		return err
	}
	if err := errors.Join(b.takePerson("owner"), b.visit("/app/search")); err != nil {
		return err
	}
	if err := b.do(chromedp.SendKeys("main input[name=q]", "nothing-has-this\r", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.turnsTo("Nothing of your company was found"); err != nil {
		return err
	}
	if err := b.visit("/app/search"); err != nil {
		return err
	}
	if err := b.do(chromedp.SendKeys("main input[name=q]", reference+"\r", chromedp.ByQuery)); err != nil {
		return err
	}
	return b.turnsTo("₦765.00 to MOHAMMED ADA", reference)
}

// secondCompany invites an owner of the company that was onboarded. At the addresses of the first company the owner meets what
// is also there for an address of nothing.
func secondCompany(p *program, b *browser) error {
	if err := errors.Join(b.takePerson("owner"), b.visit("/app/approvals")); err != nil {
		return err
	}
	var theirs []string
	for _, from := range []string{"/app/approvals", "/app/payouts", "/app/payouts/bulk", "/app/customers", "/app/developers/webhooks"} {
		if err := b.visit(from); err != nil {
			return err
		}
		var links []string
		if err := b.do(chromedp.Evaluate(`[...document.querySelectorAll("main a")].map((a) => a.getAttribute("href")).filter((h) => /[0-9a-f]{8}-[0-9a-f]{4}-/.test(h))`, &links)); err != nil {
			return err
		}
		if len(links) == 0 {
			return fmt.Errorf("%s leads to nothing", from)
		}
		theirs = append(theirs, links[0])
	}
	var company string
	if err := b.visit("/console/companies"); err != nil {
		return err
	}
	if err := b.do(chromedp.Evaluate(`[...document.querySelectorAll("main a")].find((a) => a.textContent.includes("Ada Foods")).getAttribute("href")`, &company)); err != nil {
		return err
	}
	if err := invited(p, b, company+"/people", "chika", "owner"); err != nil {
		return err
	}
	if err := b.visit("/app/home"); err != nil {
		return err
	}
	if err := b.turnsTo("Ada Foods", "chika"); err != nil {
		return err
	}
	if err := b.refuses(404, append(theirs, "/app/p/01a214e9-aaaa-7bb6-bd52-40da40e9350d")...); err != nil {
		return err
	}
	if err := b.visit(theirs[1]); err != nil {
		return err
	}
	if err := b.turnsTo("Not found"); err != nil {
		return err
	}
	if err := b.visit("/console/waiting"); err != nil {
		return err
	}
	if err := becomes(p, b, p.key.AdminKey); err != nil {
		return err
	}
	if err := b.visit(company + "/people"); err != nil {
		return err
	}
	if err := b.turnsTo("chika", "Owner", "Remove"); err != nil {
		return err
	}
	return b.takePerson("owner")
}

// invited invites a person at a page, which gives the link. Another operator approves, and gets the code. The person then signs in
// with both.
func invited(p *program, b *browser, at, name, role string) error {
	if err := b.visit(at); err != nil {
		return err
	}
	if err := b.do(chromedp.SendKeys("#name", name, chromedp.ByQuery), chromedp.SetValue("#role", role, chromedp.ByQuery), chromedp.Click(`form[action="`+at+`/invite"] button.main`, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.turnsTo("The link for "+name, "This page shows it once", "another operator has approved"); err != nil {
		return err
	}
	link, err := b.find(`/(?:console/link|app/link/\w+)/[\w-]{43}`)
	if err != nil {
		return err
	}
	if err := becomes(p, b, p.key.SecondKey); err != nil {
		return err
	}
	if err := b.do(chromedp.Navigate(b.origin+"/console/waiting"), chromedp.Click(`main a[href^="/console/proposals/"]`, chromedp.ByQuery), chromedp.Click(approve, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.proves(p); err != nil {
		return err
	}
	if err := b.turnsTo("This is shown once"); err != nil {
		return err
	}
	code, err := b.find(`\b[A-Z2-7]{12}`)
	if err != nil {
		return err
	}
	leave := func() error { return b.keepPerson("before") } // a sign-in over it would end the session
	if strings.HasPrefix(link, "/console/") {
		leave = func() error { return signOut(p, b) }
	}
	if err := leave(); err != nil {
		return err
	}
	return b.do(chromedp.Navigate(b.origin+link), chromedp.SendKeys("#code", code, chromedp.ByQuery), chromedp.Click("main button.main", chromedp.ByQuery), chromedp.WaitVisible("nav.side", chromedp.ByQuery))
}
