package main

import (
	"errors"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// decideCase waits until an outcome has been unknown for 72 hours. One operator proposes, and the other one
// approves what the page shows. Another tab still has the form, and decides the contrary too late.
func decideCase(p *program, b *browser) error {
	reference, err := p.payout("0123456708", 2468) // the bank never says more
	if err != nil {
		return err
	}
	if p.waits, err = p.payout("0123456708", 2469); err != nil {
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
	if err := b.visit("/console/cases/" + id); err != nil {
		return err
	}
	if err := b.decide(p, id, "confirmed", "The bank has confirmed it on the phone."); err != nil {
		return err
	}
	if err := b.turnsTo("Waiting for approval", "You proposed this"); err != nil {
		return err
	}
	if err := becomes(p, b, p.key.SecondKey); err != nil {
		return err
	}
	third, err := b.tab()
	if err != nil {
		return err
	}
	defer third.close()
	if err := errors.Join(third.visit("/console/cases/"+id), third.do(chromedp.Evaluate(`document.querySelector("[data-live-pause]")?.click()`, nil))); err != nil {
		return err
	}
	if err := errors.Join(b.do(page.BringToFront()), b.visit("/console/waiting")); err != nil {
		return err
	}
	agree := `form[action$="/agreed"] button.main`
	if err := b.do(chromedp.Click(`a[href$="/cases/`+id+`"]`, chromedp.ByQuery), chromedp.Click(agree, chromedp.ByQuery)); err != nil {
		return err
	}
	if err := b.proves(p); err != nil {
		return err
	}
	if err := b.turnsTo("Decided", "dev2"); err != nil {
		return err
	}
	if err := third.do(page.BringToFront()); err != nil {
		return err
	}
	if err := third.fillIn(id, "rejected", "The bank has no such transfer."); err != nil {
		return err
	}
	if err := third.turnsTo("The case was decided meanwhile: “confirmed”, proposed by dev and approved by dev2, ", "Nothing was changed"); err != nil {
		return err
	}
	if err := errors.Join(third.answered(409), third.complaints()); err != nil {
		return err
	}
	if err := errors.Join(b.do(page.BringToFront()), b.visit("/console/p/"+reference)); err != nil {
		return err
	}
	return b.until("Paid")
}

// decide fills in the form of a case, reads what will happen, and proposes it.
func (b *browser) decide(p *program, id, outcome, note string) error {
	return errors.Join(b.fillIn(id, outcome, note), b.sure(p, id))
}

// sure proposes what the review of a case says.
func (b *browser) sure(p *program, id string) error {
	return errors.Join(b.turnsTo("What will happen", "Needs a second person"), b.do(chromedp.Click(`form[action$="/cases/`+id+`"] button.main`, chromedp.ByQuery)), b.proves(p))
}

// fillIn fills in the form of a case, and sends it.
func (b *browser) fillIn(id, outcome, note string) error {
	return b.do(chromedp.Click("#o-"+outcome, chromedp.ByQuery), chromedp.SendKeys("#note", note, chromedp.ByQuery),
		chromedp.Click(`form[action$="/cases/`+id+`"] button.main`, chromedp.ByQuery))
}

// answered fails unless the page that is open came with the status.
func (b *browser) answered(status int) error {
	var got int
	if err := b.do(chromedp.Evaluate(`performance.getEntriesByType("navigation")[0].responseStatus`, &got)); err != nil {
		return err
	}
	if got != status {
		return errors.New("the page came with another status")
	}
	return nil
}

// changeGround proposes an API limit twice. The approval of the first proposal changes what the second one rests on, so the
// second one is dead: its page shows then and now, and has left the list.
func changeGround(p *program, b *browser) error {
	change := "/console/companies/" + p.key.Reference + "/change/request-limit"
	var proposals []string
	for _, requests := range []string{"500", "600"} {
		if err := b.visit(change); err != nil {
			return err
		}
		if err := b.do(chromedp.SetValue("#requests", requests, chromedp.ByQuery), chromedp.Click(submit, chromedp.ByQuery)); err != nil {
			return err
		}
		if err := b.turnsTo("What will happen", "Ask a second person"); err != nil {
			return err
		}
		if err := b.do(chromedp.Click(submit, chromedp.ByQuery), chromedp.WaitVisible(`form[action$="/withdraw"]`, chromedp.ByQuery)); err != nil {
			return err
		}
		var at string
		if err := b.do(chromedp.Location(&at)); err != nil {
			return err
		}
		proposals = append(proposals, at[len(b.origin):])
	}
	if err := becomes(p, b, p.key.SecondKey); err != nil {
		return err
	}
	late, err := b.tab()
	if err != nil {
		return err
	}
	defer late.close()
	// The page of the tab stays as it is. Its form comes too late.
	if err := errors.Join(late.visit(proposals[1]), late.do(chromedp.Evaluate(`document.querySelector("[data-live-pause]")?.click()`, nil)), b.do(page.BringToFront()), b.visit(proposals[0])); err != nil {
		return err
	}
	if err := errors.Join(b.do(chromedp.Click(approve, chromedp.ByQuery)), b.proves(p)); err != nil {
		return err
	}
	if err := b.turnsTo("Approved"); err != nil {
		return err
	}
	if err := b.visit(proposals[1]); err != nil {
		return err
	}
	if err := b.turnsTo("Nobody can approve this any more", "When dev asked", "Now", "500 requests a second", "Propose again"); err != nil {
		return err
	}
	var buttons int
	if err := b.do(chromedp.Evaluate(`document.querySelectorAll('form[action$="/approve"]').length`, &buttons)); err != nil || buttons > 0 {
		return errors.Join(err, errors.New("a dead proposal can be approved"))
	}
	if err := errors.Join(late.do(page.BringToFront(), chromedp.Click(approve, chromedp.ByQuery)), late.proves(p)); err != nil {
		return err
	}
	if err := late.turnsTo("The proposal is dead", " was ", ", and is ", "Nothing was changed"); err != nil {
		return err
	}
	if err := errors.Join(late.answered(409), late.complaints(), b.do(page.BringToFront()), b.visit("/console/waiting")); err != nil {
		return err
	}
	var listed int
	if err := b.do(chromedp.Evaluate(`document.querySelectorAll('a[href="`+proposals[1]+`"]').length`, &listed)); err != nil || listed > 0 {
		return errors.Join(err, errors.New("a dead proposal waits"))
	}
	return becomes(p, b, p.key.AdminKey)
}
