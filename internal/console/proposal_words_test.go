package console_test

import (
	"regexp"
	"strings"
	"testing"
)

var said = regexp.MustCompile(`(?s)<h2>What will happen</h2></header>(.*?)<form`)

// The second person reads the same sentences as the first one, also when 0 is no limit.
func TestBothPeopleReadTheSameSentences(t *testing.T) {
	each(t, func(w *world) {
		p, other := w.signIn("dev"), w.signIn("dev2")
		company := "/console/companies/" + w.company.Reference
		for _, one := range []struct {
			change        string
			before, after map[string]string // the fields that make the change need a second person, and the change itself
			says, was     string
		}{
			{"limit", map[string]string{"account": "", "amount": "2,000,000"}, map[string]string{"account": ""}, "can make any number of payouts, without a limit of their amount", "of at most ₦2,000,000.00 in all"},
			{"quota", map[string]string{"kind": "otp", "most": "1000"}, map[string]string{"kind": "otp"}, "has no quota of one-time codes any more", "<dd>1,000</dd>"},
			{"fees", map[string]string{"from": "0", "flat": "5000"}, map[string]string{}, "are free", "From ₦0.00: ₦5,000.00"},
			{"bank-account", nil, map[string]string{"account": "1", "bank": "safehaven", "number": "0123456789", "holder": "Kobo Ltd"}, "the bank account 0123456789 of Kobo Ltd", ""},
			{"onboarding", nil, map[string]string{"account-name": "Second", "flat": "50", "limit": "1000000", "key": "new"}, "of at most ₦1,000,000.00 in all", ""},
		} {
			change := company + "/change/" + one.change
			if one.before != nil {
				_, sure := p.look(change, one.before)
				p.submit(change, change, sure)
			}
			text, sure := p.look(change, one.after)
			asked := said.FindStringSubmatch(text)
			if asked == nil || !strings.Contains(asked[1], one.says) {
				w.t.Fatalf("%s: %s", one.change, text)
			}
			proposal := p.submit(change, change, sure).location
			page := other.read(proposal)
			for _, line := range regexp.MustCompile(`<p>([^<]+)</p>`).FindAllStringSubmatch(asked[1], -1) {
				if !strings.Contains(line[1], "second person") && !strings.Contains(page, line[1]) {
					w.t.Errorf("%s: who approves does not read %q: %s", one.change, line[1], page)
				}
			}
			if !strings.Contains(strings.ToLower(page), strings.ToLower(one.was)) || strings.Contains(page, "0 payouts") || strings.Contains(page, "<dt>Payouts</dt>") {
				w.t.Errorf("%s: the page of the proposal: %s", one.change, page)
			}
			if list := other.read("/console/waiting"); !strings.Contains(list, "Demo Company") || strings.Contains(list, "company …") {
				w.t.Errorf("%s: the list does not name the company: %s", one.change, list)
			}
			if g := other.send(proposal+"/reject", other.form(proposal, map[string]string{"note": " "})); g.status < 400 || !strings.Contains(g.text, "Say why not") {
				w.t.Errorf("%s: rejected without words: %d", one.change, g.status)
			}
			if one.change == "limit" {
				if answer := other.read(other.submit(proposal, proposal+"/approve", nil).location); strings.Contains(answer, "₦0.00") || strings.Contains(answer, "shown once") {
					w.t.Errorf("the answer: %s", answer)
				}
				continue
			}
			other.submit(proposal, proposal+"/reject", map[string]string{"note": "not now"})
		}
	})
}

// A company that must change something learns why, also at its first page.
func TestACompanyReadsWhyItsVerificationMoved(t *testing.T) {
	each(t, func(w *world) {
		p, ada := w.signIn("dev"), w.seat(w.company.Reference, "ada", "owner")
		company := "/console/companies/" + w.company.Reference
		if home := ada.read("/app/home"); strings.Contains(home, "Verification</span>") {
			w.t.Error("the home page of a verified company speaks of its verification")
		}
		for _, status := range []string{"CHANGES_REQUESTED", "REJECTED"} {
			if g := p.send(company+"/kyb", p.form(company, map[string]string{"status": status, "reason": " "})); g.status < 400 || !strings.Contains(g.text, "Say why") {
				w.t.Errorf("%s without a reason: %d", status, g.status)
			}
		}
		p.submit(company, company+"/kyb", map[string]string{"status": "CHANGES_REQUESTED", "reason": "The address has changed"})
		for _, page := range []string{"/app/home", "/app/settings/verification"} {
			if text := ada.read(page); !strings.Contains(text, "The address has changed") || strings.Contains(text, "Nothing needs anybody") {
				w.t.Errorf("%s: %s", page, text)
			}
		}
	})
}
