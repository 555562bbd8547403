package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

const phoneOfCustomer = "08039876543"

// support invites an operator who helps callers. Controls of money are absent and refused, contact data are masked until there
// is a reason, and no address and no audit line has them.
func support(p *program, b *browser) error {
	customer, err := p.customer()
	if err != nil {
		return err
	}
	if err := invited(p, b, "/console/people", "sade", "support"); err != nil {
		return err
	}
	company := "/console/companies/" + p.key.Reference
	if err := b.visit(company); err != nil {
		return err
	}
	if err := b.refuses(403, company+"/change/key", company+"/change/adjustment", "/console/companies/new"); err != nil {
		return err
	}
	if err := b.lacks("/change/key", "/change/adjustment"); err != nil {
		return err
	}
	if err := b.do(chromedp.SendKeys("#q", "0803 987 6543\r", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.turnsTo("Amaka Eze", "0803•••6543", "a•••@e•••.com"); err != nil {
		return err
	}
	if err := b.lacks(phoneOfCustomer, "amaka@example.com"); err != nil {
		return err
	}
	var at string
	if err := b.do(chromedp.Location(&at)); err != nil || strings.Contains(at, "0803") || !strings.HasSuffix(at, customer) {
		return errors.Join(err, fmt.Errorf("a search by phone leads to %s", at))
	}
	if err := b.do(chromedp.SendKeys("#note", "Asks for a receipt.", chromedp.ByQuery), chromedp.Click("main form button.main", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.turnsTo(phoneOfCustomer, "amaka@example.com", "The audit log has this reveal with its reason"); err != nil {
		return err
	}
	if err := becomes(p, b, p.key.AdminKey); err != nil {
		return err
	}
	if err := b.visit("/console/system/audit"); err != nil {
		return err
	}
	if err := b.turnsTo("sade", "Asks for a receipt."); err != nil {
		return err
	}
	return b.lacks(phoneOfCustomer, "amaka@example.com")
}

// customer creates a customer with an account, and returns its id.
func (p *program) customer() (string, error) {
	var made struct{ Data struct{ ID string } }
	err := p.asCompany("POST", "/api/v1/customer/create", map[string]string{
		"firstName": "Amaka", "lastName": "Eze", "email": "amaka@example.com", "phoneNumber": phoneOfCustomer, "bvn": "22222222225",
	}, &made)
	return made.Data.ID, errors.Join(err, p.asCompany("POST", "/api/v1/customer/generate-account", map[string]string{"customerId": made.Data.ID, "otp": "123456"}, nil))
}

// lacks fails if the HTML of the page has one of the words.
func (b *browser) lacks(words ...string) error {
	var html string
	err := b.do(chromedp.OuterHTML("html", &html, chromedp.ByQuery))
	for _, one := range words {
		if strings.Contains(html, one) {
			err = errors.Join(err, fmt.Errorf("the page has %q", one))
		}
	}
	return err
}

// withoutScript finds a payment, reads its timeline and downloads a statement in a browser that runs no script.
func withoutScript(p *program, b *browser) error {
	reference, err := p.payout("0123456703", 864)
	if err != nil {
		return err
	}
	plain, err := b.tab()
	if err != nil {
		return err
	}
	defer plain.close()
	if err := plain.do(emulation.SetScriptExecutionDisabled(true), network.SetCacheDisabled(true)); err != nil {
		return err
	}
	if err := plain.visit("/console/overview"); err != nil {
		return err
	}
	if err := plain.do(chromedp.SendKeys("#q", reference+"\r", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := plain.waits("₦864.00 to", "Unknown for", "We do not know yet", "race period over at", "What happened", "payout.pending"); err != nil {
		return err
	}
	if err := plain.visit("/app/payouts"); err != nil {
		return err
	}
	if err := plain.do(chromedp.Click(`main a[href="/app/p/`+reference+`"]`, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := plain.waits("₦864.00 to", "Do not pay again"); err != nil {
		return err
	}
	return errors.Join(downloadPDF(p, plain), plain.complaints())
}

// waits waits until the page says all words. It runs no script, and so axe does not look.
func (b *browser) waits(words ...string) (err error) {
	for range 100 {
		if err = b.says(words...); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}
