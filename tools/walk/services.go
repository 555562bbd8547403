package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
)

// useServices does as the owner what the services of a company offer: sell power, make a card and put money on it, move
// money between own accounts, make a deposit address, and look for proof. It looks at each review on a phone and on a screen.
func useServices(p *program, b *browser) error {
	for _, walk := range []func(*program, *browser) error{sellPower, fundCard, moveMoney, makeAddress, seeProof} {
		if err := walk(p, b); err != nil {
			return err
		}
	}
	return b.look(1280, false)
}

// seen takes pictures of the page at two widths, and checks it.
func seen(b *browser, name string) error {
	for _, width := range []int64{1280, 360} {
		if err := b.look(width, width == 360); err != nil {
			return err
		}
		if err := b.check(fmt.Sprintf("services-%s-%d", name, width), false); err != nil {
			return err
		}
	}
	return b.look(1280, false)
}

// follow clicks the first link of the page's body whose text begins with a word.
func follow(b *browser, word string) error {
	if err := b.do(chromedp.Click(`//main//a[starts-with(normalize-space(.), "`+word+`")]`, chromedp.BySearch)); err != nil {
		return fmt.Errorf("follow %q: %w", word, err)
	}
	return b.complete()
}

// fill fills in the fields of the page by their ids, and presses the main button.
func fill(b *browser, fields ...string) error {
	for n := 0; n+1 < len(fields); n += 2 {
		set := chromedp.SetValue("#"+fields[n], fields[n+1], chromedp.ByQuery)
		if err := b.do(chromedp.WaitVisible("#"+fields[n], chromedp.ByQuery), set); err != nil {
			return fmt.Errorf("fill %s: %w", fields[n], err)
		}
	}
	return press(b)
}

// press presses the main button of the page.
func press(b *browser) error {
	if err := b.do(chromedp.Click("main form button.main", chromedp.ByQuery)); err != nil {
		return err
	}
	return b.complete()
}

func sellPower(p *program, b *browser) error {
	if err := b.visit("/app/services/purchases"); err != nil {
		return err
	}
	for _, word := range []string{"New purchase", "Utility"} {
		if err := follow(b, word); err != nil {
			return err
		}
	}
	if err := b.turnsTo("Utility of which vendor?"); err != nil {
		return err
	}
	if err := seen(b, "vendors"); err != nil {
		return err
	}
	if err := b.do(chromedp.Click(`main ul a[href*="category="]`, chromedp.ByQuery), chromedp.WaitVisible("#amount", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := seen(b, "purchase"); err != nil {
		return err
	}
	if err := fill(b, "amount", "2,000", "number", "0123456710"); err != nil {
		return err
	}
	if err := b.turnsTo("Name at", "Leaves the account", "₦2,000.00"); err != nil {
		return err
	}
	if err := seen(b, "purchase-review"); err != nil {
		return err
	}
	if err := errors.Join(press(b), b.proves(p)); err != nil {
		return err
	}
	if err := b.turnsTo("Code for the meter", "Receipt"); err != nil {
		return err
	}
	return seen(b, "bought")
}

func fundCard(p *program, b *browser) error {
	var token struct{ AccessToken string }
	if err := p.ask("POST", "/api/v1/auth/generate-token/"+p.key.Reference, "x-api-key", p.key.APIKey, nil, &token); err != nil {
		return err
	}
	bearer := "Bearer " + token.AccessToken
	var made struct{ Data struct{ ID string } }
	if err := p.ask("POST", "/api/v1/customer/create", "Authorization", bearer, map[string]string{
		"firstName": "Ngozi", "lastName": "Okafor", "email": "ngozi@example.com", "phoneNumber": "08031234567", "bvn": "22222222222",
	}, &made); err != nil {
		return err
	}
	if err := p.ask("POST", "/api/v1/customer/generate-account", "Authorization", bearer, map[string]string{"customerId": made.Data.ID, "otp": "123456"}, nil); err != nil {
		return err
	}
	if err := b.visit("/app/customers/" + made.Data.ID); err != nil {
		return err
	}
	if err := follow(b, "New card"); err != nil {
		return err
	}
	if err := b.turnsTo("A new card has no money on it"); err != nil {
		return err
	}
	if err := seen(b, "new-card"); err != nil {
		return err
	}
	if err := press(b); err != nil {
		return err
	}
	if err := b.turnsTo("Put money on the card"); err != nil {
		return err
	}
	if err := seen(b, "card"); err != nil {
		return err
	}
	if err := fill(b, "amount", "5003"); err != nil {
		return err
	}
	if err := b.turnsTo("Leaves the account", "₦5,003.00"); err != nil {
		return err
	}
	if err := seen(b, "funding-review"); err != nil {
		return err
	}
	if err := errors.Join(press(b), b.proves(p)); err != nil {
		return err
	}
	if err := b.turnsTo("Do not pay again"); err != nil {
		return err
	}
	return seen(b, "funding-unknown")
}

func moveMoney(p *program, b *browser) error {
	if err := b.visit("/app/money/transfer"); err != nil {
		return err
	}
	if err := b.do(chromedp.SetValue("#name", "Payroll", chromedp.ByQuery), chromedp.Click(`form[action$="/accounts"] button`, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.turnsTo("Look at it first"); err != nil {
		return err
	}
	if err := seen(b, "transfer"); err != nil {
		return err
	}
	if err := fill(b, "fromSettlementId", "1", "toSettlementId", "2", "amount", "25,000", "narration", "Salaries of March"); err != nil {
		return err
	}
	if err := b.turnsTo("₦25,000.00 to Payroll?", "After it"); err != nil {
		return err
	}
	if err := seen(b, "transfer-review"); err != nil {
		return err
	}
	if err := errors.Join(press(b), b.proves(p)); err != nil {
		return err
	}
	return b.turnsTo("What happened", "₦25,000.00")
}

func makeAddress(_ *program, b *browser) error {
	if err := b.visit("/app/services/crypto/addresses"); err != nil {
		return err
	}
	var network string
	if err := b.do(chromedp.Evaluate(`[...document.querySelectorAll("#network option")].map((o) => o.value).find((id) => id.startsWith("ethereum"))`, &network)); err != nil {
		return err
	}
	if err := b.visit("/app/services/crypto/addresses?network=" + network); err != nil {
		return err
	}
	if err := fill(b, "label", "customer 2417"); err != nil {
		return err
	}
	if err := b.turnsTo("customer 2417", "0x"); err != nil {
		return err
	}
	return seen(b, "addresses")
}

func seeProof(_ *program, b *browser) error {
	for path, words := range map[string][]string{
		"/app/settings/proof":        {"All sums agree", "kobo receipt verify", "Checkpoints"},
		"/app/settings/verification": {"Approved", "Your business is verified."},
	} {
		if err := b.visit(path); err != nil {
			return err
		}
		if err := b.says(words...); err != nil {
			return err
		}
		if err := seen(b, path[strings.LastIndex(path, "/")+1:]); err != nil {
			return err
		}
	}
	return nil
}
