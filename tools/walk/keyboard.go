package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// keys presses keys, one after the other, wherever the focus is. A page that prevents a key gets no letter from it either, as from
// a real keyboard.
func (b *browser) keys(some ...string) error {
	for _, one := range some {
		k := kb.Keys[[]rune(one)[0]]
		down := input.DispatchKeyEvent(input.KeyDown).WithKey(k.Key).WithCode(k.Code).WithText(k.Text).WithUnmodifiedText(k.Unmodified).WithWindowsVirtualKeyCode(k.Windows)
		up := input.DispatchKeyEvent(input.KeyUp).WithKey(k.Key).WithCode(k.Code).WithWindowsVirtualKeyCode(k.Windows)
		if k.Shift {
			down, up = down.WithModifiers(input.ModifierShift), up.WithModifiers(input.ModifierShift)
		}
		if err := b.do(down); err != nil && !wasLeft(err) { // the key has left the page
			return err
		}
		_ = chromedp.Run(b, up) // a page that was left does not hear it
	}
	return nil
}

// focused describes what has the focus, and says what is wrong with it: it is lost, nobody sees it, or something covers it.
const focused = `(() => {
	const e = document.activeElement;
	if (!e || e === document.body || e === document.documentElement) return {wrong: "the focus is lost"};
	const style = getComputedStyle(e), at = e.getBoundingClientRect(), what = e.tagName + "#" + e.id + " " + (e.getAttribute("href") || e.textContent.trim().slice(0, 30));
	if (e.matches("main")) return {wrong: "", what};
	const x = Math.min(Math.max(at.left + at.width / 2, 1), innerWidth - 2), y = Math.min(Math.max(at.top + at.height / 2, 1), innerHeight - 2);
	const top = document.elementFromPoint(x, y);
	const wrong = style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2 ? "nobody sees the focus at " + what
		: !top || !(e.contains(top) || top.contains(e)) ? "the focus is covered at " + what + " by " + (top ? top.tagName + "." + top.className : "nothing") : "";
	return {wrong, what};
})()`

// focus fails unless somebody sees where the focus is.
func (b *browser) focus() (what string, err error) {
	var now struct{ Wrong, What string }
	if err := b.do(chromedp.Evaluate(focused, &now)); err != nil {
		return "", err
	}
	if now.Wrong != "" {
		return "", errors.New(now.Wrong)
	}
	return now.What, nil
}

// tabTo presses Tab until a thing has the focus. At each stop the focus must be visible.
func (b *browser) tabTo(selector string) error {
	for range 90 {
		if err := b.keys(kb.Tab); err != nil {
			return err
		}
		what, err := b.focus()
		if err != nil {
			return fmt.Errorf("on the way to %s: %w", selector, err)
		}
		var there bool
		if err := b.do(chromedp.Evaluate(`document.activeElement?.matches(`+quote(selector)+`) ?? false`, &there)); err != nil || there {
			return err
		}
		_ = what
	}
	return fmt.Errorf("90 times Tab do not lead to %s", selector)
}

// writes types a text into what has the focus.
func (b *browser) writes(text string) error { return b.do(input.InsertText(text)) }

// byKeyboard goes through the journeys of an operator without a mouse, on a screen and on a phone: sign in, search, open a payment,
// filter a list, propose and approve a case.
func byKeyboard(p *program, b *browser) error {
	id, err := p.openCase(p.waits)
	if err != nil {
		return err
	}
	if err := errors.Join(b.look(1280, false), enterByKeyboard(b, p.key.AdminKey)); err != nil {
		return err
	}
	for _, walk := range []func(*browser, string) error{searchByKeyboard, filterByKeyboard} {
		if err := walk(b, p.waits); err != nil {
			return err
		}
	}
	if err := helpOfKeys(b); err != nil {
		return err
	}
	if err := proposeByKeyboard(p, b, id); err != nil {
		return err
	}
	if err := errors.Join(b.look(360, false), enterByKeyboard(b, p.key.SecondKey)); err != nil {
		return err
	}
	if err := approveByKeyboard(p, b, id); err != nil {
		return err
	}
	return b.look(1280, false)
}

// enterByKeyboard signs out, and signs in by a key.
func enterByKeyboard(b *browser, key string) error {
	if err := b.visit("/console/me"); err != nil {
		return err
	}
	if err := errors.Join(b.tabTo(`form[action="/console/sign-out"] button`), b.keys(kb.Enter)); err != nil {
		return err
	}
	if err := b.turnsTo("Use a passkey", "Admin key"); err != nil { // the page before does not say them
		return err
	}
	if err := errors.Join(b.complete(), b.tabTo("main details:last-of-type summary"), b.keys(kb.Enter), b.tabTo("#proof-key"), b.writes(key), b.keys(kb.Enter)); err != nil {
		return err
	}
	return errors.Join(b.do(chromedp.WaitVisible(`form[action="/console/sign-out"]`, chromedp.ByQuery)), b.complete())
}

// provesByKeyboard answers the page that asks who the person is, by an admin key.
func provesByKeyboard(b *browser, key string) error {
	if err := b.turnsTo("Prove that it is you"); err != nil {
		return err
	}
	if err := errors.Join(b.tabTo("main details:last-of-type summary"), b.keys(kb.Enter), b.tabTo("#proof-key"), b.writes(key), b.keys(kb.Enter)); err != nil {
		return err
	}
	return b.proved()
}

// searchByKeyboard finds a payment, and opens it from the list.
func searchByKeyboard(b *browser, reference string) error {
	if err := errors.Join(b.keys("/"), b.holds("#q"), b.writes(reference), b.keys(kb.Enter)); err != nil {
		return err
	}
	if err := b.turnsTo("₦2,469.00 to", "by hand"); err != nil {
		return err
	}
	if err := errors.Join(b.keys("g", "p"), b.turnsTo("The last 7 days")); err != nil {
		return err
	}
	if err := b.keys("j", "j", "k", "k"); err != nil {
		return err
	}
	what, err := b.focus()
	if err != nil {
		return err
	}
	if !strings.Contains(what, "/console/p/") {
		return fmt.Errorf("j and k lead to %s", what)
	}
	return errors.Join(b.keys(kb.Enter), b.turnsTo("What happened"))
}

// filterByKeyboard filters the payments.
func filterByKeyboard(b *browser, reference string) error {
	if err := errors.Join(b.keys("g", "p"), b.turnsTo("The last 7 days"), b.keys("f"), b.holds("form.filters select")); err != nil {
		return err
	}
	if err := errors.Join(b.tabTo("#f-least"), b.writes("2,469"), b.tabTo("#f-most"), b.writes("2,469"), b.keys(kb.Enter)); err != nil {
		return err
	}
	if err := b.turnsTo("₦2,469.00", "least"); err != nil {
		return err
	}
	var rows int
	if err := b.do(chromedp.Evaluate(`document.querySelectorAll("main tbody tr").length`, &rows)); err != nil || rows != 1 {
		return errors.Join(err, fmt.Errorf("the filter leaves %d rows", rows))
	}
	return errors.Join(b.keys("j", kb.Enter), b.turnsTo(reference))
}

// helpOfKeys opens the help, switches single keys off and on again, and comes back to where the focus was.
func helpOfKeys(b *browser) error {
	if err := errors.Join(b.visit("/console/cases"), b.keys("j", "?"), b.do(chromedp.WaitVisible("#keys[open]", chromedp.ByQuery)), b.accessible("the keys")); err != nil {
		return err
	}
	if err := errors.Join(b.holds("#keys *"), b.keys(kb.Escape), b.do(chromedp.WaitNotVisible("#keys", chromedp.ByQuery)), b.holds("main [data-row] a")); err != nil {
		return err
	}
	if err := errors.Join(b.visit("/console/cases"), b.tabTo("[data-keys]"), b.keys(kb.Enter), b.holds("#keys-on"), b.keys(" ", kb.Escape, "/")); err != nil {
		return err
	}
	if err := b.holds("[data-keys]"); err != nil {
		return fmt.Errorf("keys that are off: %w", err)
	}
	return errors.Join(b.keys(kb.Enter), b.holds("#keys-on"), b.keys(" ", kb.Escape, "/"), b.holds("#q"), b.keys(kb.Escape))
}

// holds fails unless a thing has the focus.
func (b *browser) holds(selector string) error {
	var there bool
	if err := b.do(chromedp.Evaluate(`document.activeElement?.matches(`+quote(selector)+`) ?? false`, &there)); err != nil {
		return err
	}
	if !there {
		what, err := b.focus()
		return errors.Join(err, fmt.Errorf("the focus is at %q, and not at %s", what, selector))
	}
	return nil
}

// proposeByKeyboard opens the case from the list, and proposes.
func proposeByKeyboard(p *program, b *browser, id string) error {
	if err := errors.Join(b.keys("g", "k"), b.turnsTo("decisions that only people can make")); err != nil {
		return err
	}
	row := `a[href="/console/cases/` + id + `"]`
	for n := 0; ; n++ {
		if err := b.keys("j"); err != nil {
			return err
		}
		if _, err := b.focus(); err != nil {
			return err
		}
		if b.holds(row) == nil {
			break
		}
		if n > 50 {
			return fmt.Errorf("j does not lead to %s", row)
		}
	}
	if err := errors.Join(b.keys(kb.Enter), b.turnsTo("What is not clear")); err != nil {
		return err
	}
	if err := errors.Join(b.tabTo("main input[name=outcome]"), b.keys(" "), b.tabTo("#note"), b.writes("The bank has confirmed it."), b.tabTo(`form[action$="`+id+`"] button.main`), b.keys(kb.Enter)); err != nil {
		return err
	}
	if err := errors.Join(b.turnsTo("What will happen"), b.tabTo(`form[action$="`+id+`"] button.main`), b.keys(kb.Enter), provesByKeyboard(b, p.key.AdminKey)); err != nil {
		return err
	}
	return b.turnsTo("Waiting for approval", "You proposed this")
}

// approveByKeyboard finds on a phone what waits, and approves it.
func approveByKeyboard(p *program, b *browser, id string) error {
	if err := errors.Join(b.keys("g", "w"), b.turnsTo("what a second person approves")); err != nil {
		return err
	}
	if err := errors.Join(b.tabTo(`a[href="/console/cases/`+id+`"]`), b.keys(kb.Enter), b.turnsTo("What is not clear")); err != nil {
		return err
	}
	if err := errors.Join(b.tabTo(`form[action$="/agreed"] button.main`), b.keys(kb.Enter), provesByKeyboard(b, p.key.SecondKey)); err != nil {
		return err
	}
	return b.turnsTo("Decided", "confirmed")
}
