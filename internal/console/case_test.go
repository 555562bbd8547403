package console_test

import (
	"fmt"
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
)

// caseAbout opens a case, and returns its page.
func (w *world) caseAbout(company, subject string, reason operation.Reason) string {
	w.t.Helper()
	if err := w.app.Operations.OpenCase(w.t.Context(), company, subject, reason, "no outcome after 72 hours"); err != nil {
		w.t.Fatal(err)
	}
	all, _, err := w.app.Operations.Cases(w.t.Context(), operation.CaseFilter{State: operation.Open, Subject: subject}, 10, 0)
	if err != nil || len(all) != 1 {
		w.t.Fatal(all, err)
	}
	return "/console/cases/" + all[0].ID
}

// tells reports the words that a page does not say.
func (p *person) tells(path string, words ...string) {
	p.t.Helper()
	text := strings.Join(strings.Fields(html.UnescapeString(p.read(path))), " ")
	for _, one := range words {
		if !strings.Contains(text, one) {
			p.t.Errorf("%s as %s lacks %q: %s", path, p.name, one, text)
		}
	}
}

// Two people read the same sentence before money moves: the amount, the company and the beneficiary. Nothing is proposed before
// the person has seen it.
func TestTwoPeopleReadTheSameSentenceOfACase(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		asker, second, support := w.signIn("dev"), w.signIn("dev2"), w.add("sola", operator.Support)
		var c struct{ Name string }
		w.ask("GET", "companies/"+w.company.Reference, "", &c)
		at := w.caseAbout(w.company.Reference, w.payout("0123456708", 900_000), operation.Unresolved) // the bank accepts it and never says more
		link := fmt.Sprintf(`<a href="/console/companies/%s">%s</a>`, w.company.Reference, c.Name)
		asker.tells(at, "Unresolved · ₦900,000.00 to ", link, "Where the ₦900,000.00 is", "Clearing", `data-live="/console/live/desk`,
			"<strong>"+c.Name+" asked for it</strong>", "<p>No outcome after 72 hours</p>")
		text := asker.read(at)
		for outcome, offered := range map[string]bool{"confirmed": true, "rejected": true, "dismissed": false, "assigned": false, "booked": false} {
			if strings.Contains(text, `id="o-`+outcome+`"`) != offered {
				t.Errorf("offers %s: not %t", outcome, offered)
			}
		}
		sentence := "₦900,000.00 goes back from clearing to the settlement account of " + c.Name + ", and counts as not paid to "
		if !strings.Contains(html.UnescapeString(text), "₦900,000.00 of "+c.Name+" moves on from clearing to Safe Haven, and counts as paid to ") {
			t.Error(text)
		}
		fields := map[string]string{"outcome": "rejected", "note": "The bank <knows> nothing."}
		if g := asker.send(at, asker.form(at, map[string]string{"outcome": "rejected", "note": " "})); g.status != http.StatusUnprocessableEntity {
			t.Errorf("without words: %d", g.status)
		}
		look := asker.submit(at, at, fields).location
		if !strings.HasPrefix(look, at+"/look/") {
			w.t.Fatal(look)
		}
		asker.tells(look, sentence, "Needs a second person", "Propose “rejected”")
		if g := second.get(look); g.status != http.StatusNotFound {
			t.Errorf("somebody else looks: %d", g.status)
		}
		if strings.Contains(second.read("/console/waiting"), at) {
			t.Error("looking has proposed something")
		}
		fields["sure"] = "yes"
		if g := asker.submit(look, at, fields); g.location != at {
			t.Errorf("leads to %s", g.location)
		}
		asker.tells(at, "You proposed this", sentence)
		second.tells(at, sentence, "Approve “rejected” for ₦900,000.00")
		for _, path := range []string{"/console/waiting", "/console/cases"} {
			second.tells(path, "Unresolved", "<strong>₦900,000.00</strong>", "· "+c.Name)
		}
		_, menu, _ := strings.Cut(support.read("/console/waiting"), `href="/console/waiting"`)
		if item, page, _ := strings.Cut(menu, "</a>"); strings.Contains(item, "badge") || strings.Contains(page, at) {
			t.Error("a role that cannot decide has it under “For me”:", menu)
		}
		second.submit(at, at+"/agreed", map[string]string{"outcome": "rejected", "note": fields["note"]})
		second.tells(at, "Decided", "Back in the settlement account")
		late := asker.send(at, asker.form("/console/cases", map[string]string{"outcome": "confirmed", "note": "It was paid."}))
		if late.status != http.StatusConflict || !strings.Contains(html.UnescapeString(late.text), "The case was decided meanwhile: “rejected”") {
			t.Errorf("too late: %d, %s", late.status, late.text)
		}
	})
}

// The page of a case has the rows of its payment's timeline, with equal polls in one row, and leads to the rows of one lane.
func TestACaseHasTheTimelineOfItsPayment(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		p, reference := w.signIn("dev"), w.payout("0123456708", 900_000) // the bank accepts it and never says more
		w.asCompany("POST", "/sandbox/clock", "", map[string]any{"advance": "2h"}, nil)
		later(t, func() string {
			text := p.read("/console/p/" + reference)
			if !strings.Contains(text, "Asked again 6 times until ") || !strings.Contains(text, " sent the request") { // the request log is written later
				return text
			}
			return ""
		})
		at := w.caseAbout(w.company.Reference, reference, operation.Unresolved)
		rows := func(path string) string {
			_, rest, _ := strings.Cut(p.read(path), `id="line">`)
			rest, _, _ = strings.Cut(rest, "</ol>")
			rest, _, _ = strings.Cut(rest, `<div class="told now">`)
			return rest
		}
		for _, lane := range []string{"", "?lane=provider"} {
			if own, all := rows(at+lane), rows("/console/p/"+reference+lane); own != all || strings.Count(own, "Asked again ") != 1 {
				t.Errorf("the case has %s, and the payment has %s", own, all)
			}
		}
		if text := rows(at + "?lane=people"); !strings.Contains(text, "Case opened: unresolved") || strings.Contains(text, "Asked again") {
			t.Error(text)
		}
		refused := p.send(at+"/agreed", p.form(at, map[string]string{"outcome": "rejected", "settlementId": "no number"}))
		if !strings.Contains(refused.text, `href="`+at+`?lane=money"`) {
			t.Errorf("a refused form leads to no lane: %s", refused.text)
		}
	})
}

// A case about money of an unknown owner can be assigned or dismissed. Nobody can confirm it, because no provider was asked.
func TestACaseOffersOnlyWhatKoboAccepts(t *testing.T) {
	w := open(t)
	p := w.signIn("dev")
	for reason, want := range map[operation.Reason]string{
		operation.UnknownAccount: "assigned dismissed", operation.MissingCredit: "assigned dismissed", operation.UnbookedCharge: "booked dismissed",
		operation.BrokenChain: "accepted", operation.LateAttempt: "dismissed", operation.UnknownDebit: "dismissed",
	} {
		at := "/console/cases/" + strings.ToLower(string(reason))
		w.plant(`INSERT INTO operation_case VALUES ('house', $1, $2, $3, 0, '', 77700, 'OPEN', '', '', '', 0, '', '', 0, 0, 1, 0, '')`,
			strings.ToLower(string(reason)), "safehaven/"+string(reason), string(reason))
		text, got := p.read(at), ""
		for _, outcome := range []string{"assigned", "booked", "accepted", "confirmed", "rejected", "dismissed"} {
			if strings.Contains(text, `id="o-`+outcome+`"`) {
				got += " " + outcome
			}
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%s offers%s", reason, got)
		}
		p.tells(at, "Kobo itself")
	}
	const at = "/console/cases/missing_credit"
	fields := map[string]string{"outcome": "assigned", "note": "The payer has a receipt.", "company": "nobody", "settlementId": "1"}
	if g := p.send(at, p.form(at, fields)); g.status != http.StatusNotFound && g.status != http.StatusUnprocessableEntity {
		t.Errorf("a company that does not exist: %d", g.status)
	}
	fields["company"] = w.company.Reference
	for account, want := range map[string]string{"99": " has no settlement account 99.", "-1": " has no settlement account -1."} {
		fields["settlementId"] = account
		if g := p.send(at, p.form(at, fields)); g.status != http.StatusUnprocessableEntity || !strings.Contains(html.UnescapeString(g.text), want) {
			t.Errorf("account %s: %d, %s", account, g.status, g.text)
		}
	}
	p.tells(at, "The bank’s reference", ">MISSING_CREDIT</code>", "Safe Haven", "Kobo keeps no narration of a statement")
	fields["settlementId"] = "1"
	p.tells(p.submit(at, at, fields).location, "₦777.00 goes to the settlement account 1 of ")
}

// A proposal, an adjustment and an answer are words: names, roles and amounts, never JSON or a digest.
func TestAProposalIsInWords(t *testing.T) {
	w := open(t)
	asker, second, support := w.signIn("dev"), w.signIn("dev2"), w.add("sola", operator.Support)
	asker.submit("/console/people", "/console/people/invite", map[string]string{"name": "grace", "role": "finance"})
	_, rest, _ := strings.Cut(second.read("/console/waiting"), `href="/console/proposals/`)
	at := "/console/proposals/" + strings.SplitN(rest, `"`, 2)[0]
	second.tells(at, "grace can sign in as an operator by the link of the invitation, with the role finance.")
	if text := second.read(at); strings.Contains(text, "igest") || strings.Contains(text, "&#34;") {
		t.Error(text)
	}
	answer := second.read(second.submit(at, at+"/approve", nil).location)
	if strings.Contains(answer, "&#34;") || !strings.Contains(answer, "<dt>Code of the invitation</dt>") {
		t.Error(answer)
	}
	account := fmt.Sprint(w.company.SettlementID)
	change := "/console/companies/" + w.company.Reference + "/change/adjustment"
	_, sure := asker.look(change, map[string]string{"account": account, "direction": "debit", "amount": "1500", "reason": "a test"})
	adjustment := asker.submit(change, change, sure).location
	second.tells(adjustment, "Balance now", "₦1,000,000.00", "Balance afterwards", "₦998,500.00", `href="/console/companies/`+w.company.Reference+`"`)
	if !strings.Contains(second.read("/console/waiting"), adjustment) || strings.Contains(support.read("/console/waiting"), adjustment) {
		t.Error("“For me” is not what the person can decide")
	}
}

// A payment is worth more than the small differences before it, so the overview names its case first.
func TestTheOverviewNamesTheWorstCaseFirst(t *testing.T) {
	each(t, func(w *world) {
		p := w.signIn("dev")
		w.plant(`INSERT INTO operation_case VALUES ('house', 'c1', 's1', 'UNKNOWN_DEBIT', 0, '', -77700, 'OPEN', '', '', '', 0, '', '', 0, 0, 1, 0, '')`)
		w.caseAbout(w.company.Reference, w.payout("0123456708", 250_000), operation.Unresolved)
		later(w.t, func() string {
			text := p.read("/console/overview")
			first, second := strings.Index(text, "reason=UNRESOLVED"), strings.Index(text, "reason=UNKNOWN_DEBIT")
			if first < 0 || second < first || !strings.Contains(text, "₦250,000.00 in all") {
				return text
			}
			return ""
		})
	})
}

// The theme switch says what it does, and what only works with a script is hidden without one.
func TestTheFrameNamesEffects(t *testing.T) {
	w := open(t)
	p := w.signIn("dev")
	text := p.read("/console/cases")
	for _, want := range []string{`name="theme" value="dark">Switch to dark<`, `name="theme" value="light">Switch to light<`, "hidden>Keyboard<"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	_, sheet, _ := strings.Cut(text, `<link rel="stylesheet" href="`)
	if css := p.read(strings.SplitN(sheet, `"`, 2)[0]); !strings.Contains(css, ".live[hidden] { display: none; }") {
		t.Error("the word Live is shown without a script")
	}
}
