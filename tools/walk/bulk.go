package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

const bulkLines = 300

// The bank never says what came of the first account, and refuses to pay into the second one.
const (
	unknownOfBulk = "0123456708"
	refusedOfBulk = "0123456701"
)

// ruined returns the 300 lines as a spreadsheet has ruined them: an account number has lost its 0, and an amount was rounded. One
// line is there twice, and one account is not the person's that the narration names.
func ruined() (lines []string) {
	for n := 1; n <= bulkLines; n++ {
		lines = append(lines, fmt.Sprintf("000013,%010d,%d,Invoice %d", 2000000000+n*100+10, 1000+n, n))
	}
	lines[6] = "000013,123456702,1007,Invoice 7"
	lines[7] = "000013,0123456710,1.2E+09,Invoice 8"
	lines[8] = lines[9]
	lines[10] = "000013,0123456710,1011,Okafor Emeka"
	lines[11] = "000013,0123456799,1012,Invoice 12" // an account that is not there
	lines[12] = "000013," + unknownOfBulk + ",1013,Invoice 13"
	lines[13] = "000013," + refusedOfBulk + ",1014,Invoice 14"
	return lines
}

// payInBulk pays 300 suppliers. The page names what a spreadsheet has ruined, and changes nothing by itself. Somebody mends the
// lines in place, a second person approves, and each line then has its own outcome.
func payInBulk(p *program, b *browser) error {
	if err := b.requireTwo("50,000"); err != nil {
		return err
	}
	lines := ruined()
	if err := errors.Join(b.takePerson("finance"), b.visit("/app/payouts/bulk/new")); err != nil {
		return err
	}
	if err := b.sendLines(p, lines); err != nil {
		return err
	}
	if err := b.turnsTo("line 7: ", "has 9 digits", "0123456702", "line 8: ", "1.2E+09", "rounded", "Nothing was changed"); err != nil {
		return err
	}
	if typed, err := b.value("#lines"); err != nil || typed != strings.Join(lines, "\n") {
		return errors.Join(err, fmt.Errorf("the lines have changed: %.200s", typed))
	}
	lines[6], lines[7] = "000013,0123456702,1007,Invoice 7", "000013,0123456710,1200,Invoice 8"
	if err := b.do(chromedp.SetValue("#line-7", lines[6], chromedp.ByQuery), chromedp.SetValue("#line-8", lines[7], chromedp.ByQuery),
		chromedp.SendKeys("#pin", p.key.PIN, chromedp.ByQuery), chromedp.Click("main form button.main", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.do(chromedp.WaitVisible("main .facts", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.until("Waits for you"); err != nil {
		return err
	}
	if err := b.turnsTo("MOHAMMED ADA", "Okafor Emeka", "the same account and amount as line 9", "Bad"); err != nil {
		return err
	}
	if err := b.addsUp(bulkLines-1, 1, sumOf(lines)-1012); err != nil {
		return err
	}
	return mendInPlace(p, b, lines)
}

// mendInPlace removes the double, the wrong name and the bad line of a checked bulk payout. The new one replaces the old one.
func mendInPlace(p *program, b *browser, lines []string) error {
	var old string
	if err := b.do(chromedp.Location(&old), chromedp.Click(`a[href*="instead="]`, chromedp.ByQuery), chromedp.WaitVisible("#lines", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.turnsTo("These lines replace", "Line 12"); err != nil {
		return err
	}
	typed, err := b.value("#lines")
	if n := strings.Count(typed, "\n") + 1; err != nil || n != bulkLines {
		return errors.Join(err, fmt.Errorf("the form has %d lines", n))
	}
	rest := append(append([]string{}, lines[:8]...), append([]string{lines[9]}, lines[12:]...)...)
	if err := b.sendLines(p, rest); err != nil {
		return err
	}
	if err := b.do(chromedp.WaitVisible("main .facts", chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.until("Waits for you"); err != nil {
		return err
	}
	if err := b.addsUp(len(rest), 0, sumOf(rest)); err != nil {
		return err
	}
	var open string
	if err := b.do(chromedp.Location(&open)); err != nil {
		return err
	}
	if err := errors.Join(b.visit(strings.TrimPrefix(old, b.origin)), b.until("Cancelled"), b.visit(strings.TrimPrefix(open, b.origin))); err != nil {
		return err
	}
	if err := b.do(chromedp.Click(`form[action$="/send"] button.main`, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.proves(p); err != nil {
		return err
	}
	if err := b.turnsTo("approves what you asked for", "Nothing has happened yet"); err != nil {
		return err
	}
	return approveBulk(p, b, strings.TrimPrefix(open, b.origin), rest)
}

// approveBulk approves as the second person. Then 295 lines are paid, one failed and may be repeated, and one is not known and may
// not.
func approveBulk(p *program, b *browser, at string, lines []string) error {
	var ask string
	if err := errors.Join(b.do(chromedp.Location(&ask)), b.takePerson("owner"), b.visit(strings.TrimPrefix(ask, b.origin))); err != nil {
		return err
	}
	if err := b.turnsTo(naira(sumOf(lines)), fmt.Sprint(len(lines))); err != nil {
		return err
	}
	if err := errors.Join(b.do(chromedp.Click(approve, chromedp.ByQuery)), b.proves(p)); err != nil {
		return err
	}
	if err := errors.Join(b.takePerson("finance"), b.visit(at)); err != nil {
		return err
	}
	if err := b.factsTurnTo("Paid", fmt.Sprint(len(lines)-2), "Failed, refunded", "1", "Not known yet", "1"); err != nil {
		return err
	}
	if err := b.turnsTo("Repeat the failed lines"); err != nil {
		return err
	}
	repeat, err := b.value(`form textarea[name="lines"]`)
	if err != nil || !strings.Contains(repeat, refusedOfBulk) || strings.Contains(repeat, unknownOfBulk) || strings.Count(repeat, "\n") > 0 {
		return errors.Join(err, fmt.Errorf("to repeat are %q", repeat))
	}
	return errors.Join(b.takePerson("owner"), b.visit("/app/home"))
}

// sendLines types lines, and asks for the names.
func (b *browser) sendLines(p *program, lines []string) error {
	return b.do(chromedp.SetValue("#lines", strings.Join(lines, "\n"), chromedp.ByQuery), chromedp.SendKeys("#pin", p.key.PIN, chromedp.ByQuery), chromedp.Click("main form button.main", chromedp.ByQuery))
}

// requireTwo requires two people for payouts of an amount or more.
func (b *browser) requireTwo(naira string) error {
	if err := errors.Join(b.takePerson("owner"), b.visit("/app/approvals")); err != nil {
		return err
	}
	rule := `form[action="/app/settings/payout-approval"]`
	if err := b.do(chromedp.SendKeys("#least", naira, chromedp.ByQuery), chromedp.Click(rule+" button.main", chromedp.ByQuery)); err != nil {
		return err
	}
	return b.turnsTo("A payout of ₦" + naira + ".00 or more")
}

// value returns what is in a field.
func (b *browser) value(field string) (out string, err error) {
	return out, b.do(chromedp.Evaluate(`document.querySelector(`+quote(field)+`).value`, &out))
}

// facts returns the facts of the page by their names.
func (b *browser) facts() (out map[string]string, err error) {
	return out, b.do(chromedp.Evaluate(`Object.fromEntries([...document.querySelectorAll("main .facts > div")].map((d) => [d.querySelector("dt").textContent.trim(), d.querySelector("dd").textContent.trim()]))`, &out))
}

// addsUp fails unless the facts of a checked bulk payout agree with the lines: their number, their sum, the fees of the good lines,
// and the balance after them.
func (b *browser) addsUp(good, bad, amount int) error {
	facts, err := b.facts()
	if err != nil {
		return err
	}
	if facts["Good lines"] != fmt.Sprint(good) || facts["Bad lines"] != fmt.Sprint(bad) || facts["Amount"] != naira(amount) {
		return fmt.Errorf("%d good lines, %d bad, %s: the page has %v", good, bad, naira(amount), facts)
	}
	before, fee, after := kobo(facts["Balance now"]), kobo(facts["Fees"]), kobo(facts["Balance after it"])
	if before-100*amount-fee != after {
		return fmt.Errorf("the totals do not add up: %v", facts)
	}
	return nil
}

// factsTurnTo waits until the facts are so, given as pairs of name and value.
func (b *browser) factsTurnTo(pairs ...string) (err error) {
	for range 1200 {
		facts, failed := b.facts()
		if err = failed; err == nil {
			for n := 0; n+1 < len(pairs); n += 2 {
				if facts[pairs[n]] != pairs[n+1] {
					err = fmt.Errorf("%s is not %s: %v", pairs[n], pairs[n+1], facts)
				}
			}
		}
		if err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// sumOf adds up the naira of lines.
func sumOf(lines []string) (sum int) {
	for _, line := range lines {
		var naira int
		if _, err := fmt.Sscan(strings.Split(line, ",")[2], &naira); err != nil {
			panic(err) // the walk wrote the line
		}
		sum += naira
	}
	return sum
}

// naira writes naira as pages do.
func naira(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return "₦" + text + ".00"
}

// kobo reads an amount of a page.
func kobo(text string) (out int) {
	digits := strings.NewReplacer("₦", "", ",", "", ".", "", "−", "-").Replace(text)
	if _, err := fmt.Sscan(digits, &out); err != nil {
		return -1
	}
	return out
}
