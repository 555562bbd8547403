package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
)

// look fills in the form of a change, and returns the page that says what will happen, with its form.
func (p *person) look(change string, fields map[string]string) (text string, sure map[string]string) {
	p.t.Helper()
	g := p.submit(change, change, fields)
	if !strings.Contains(g.location, "/look/") {
		p.t.Fatalf("%s leads to %s", change, g.location)
	}
	text = p.read(g.location)
	sure = map[string]string{"sure": "yes", "was": ""}
	for name, value := range fields {
		sure[name] = value
	}
	if _, after, found := strings.Cut(text, `name="was" value="`); found {
		sure["was"], _, _ = strings.Cut(after, `"`)
	}
	return text, sure
}

// An act with one person happens on the second click, and a page shows the result once.
func TestAChangeSaysWhatWillHappenBeforeItHappens(t *testing.T) {
	each(t, func(w *world) {
		p := w.signIn("dev")
		company := "/console/companies/" + w.company.Reference
		change := company + "/change/account"
		var c struct{ SettlementAccounts []struct{ Name string } }
		text, sure := p.look(change, map[string]string{"name": "Salaries"})
		if !strings.Contains(text, "The settlement account Salaries opens with ₦0.00.") {
			w.t.Error(text)
		}
		if w.ask("GET", "companies/"+w.company.Reference, "", &c); len(c.SettlementAccounts) != 1 {
			w.t.Fatal("looking has opened an account")
		}
		form := p.form(change, sure)
		first, again := p.send(change, form), p.send(change, form)
		if first.status != http.StatusSeeOther || first.location != again.location {
			w.t.Fatalf("%d %s, and again %s", first.status, first.text, again.location)
		}
		if text := p.read(first.location); !strings.Contains(text, "Salaries opens") {
			w.t.Error(text)
		}
		if text := p.read(first.location); !strings.Contains(text, "shown once") {
			w.t.Error("the result is shown again")
		}
		if w.ask("GET", "companies/"+w.company.Reference, "", &c); len(c.SettlementAccounts) != 2 || c.SettlementAccounts[1].Name != "Salaries" {
			w.t.Errorf("%+v", c)
		}
	})
}

func TestEveryChangeHasAFormAndItsSentence(t *testing.T) {
	each(t, func(w *world) {
		p := w.signIn("dev")
		company := "/console/companies/" + w.company.Reference
		for name, one := range map[string]struct {
			fields map[string]string
			says   string
			waits  bool
		}{
			"onboarding":    {map[string]string{"account-name": "Main", "flat": "50", "limit": "₦1,000,000", "live": "on", "key": "new"}, "From ₦0.00: ₦50.00.", true},
			"key":           {map[string]string{"until": ""}, "gets a new API key", true},
			"account":       {map[string]string{"name": "Salaries"}, "opens with", false},
			"bank-account":  {map[string]string{"account": "1", "bank": "safehaven", "number": "0123456789", "holder": "Kobo Ltd"}, "Money that arrives in the bank account 0123456789", true},
			"alert":         {map[string]string{"account": "1", "amount": "18,250.50"}, "falls below ₦18,250.50", false},
			"adjustment":    {map[string]string{"account": "1", "direction": "credit", "amount": "10.75", "reason": "charge of the bank"}, "gets ₦10.75", true},
			"fees":          {map[string]string{"from": "0", "flat": "52.50", "percent": "1.5", "cap": "2,000"}, "From ₦0.00: ₦52.50 + 1.50 %, at most ₦2,000.00.", false},
			"limit":         {map[string]string{"account": "", "amount": "5000", "payouts": "3"}, "can make 3 payouts, of at most ₦5,000.00 in all", false},
			"quota":         {map[string]string{"kind": "otp", "most": "5"}, "at most 5 one-time codes a day", false},
			"request-limit": {map[string]string{"requests": "7"}, "may make 7 requests a second", false},
			"pin-reset":     {nil, "sets a PIN once", true},
		} {
			change := company + "/change/" + name
			text, sure := p.look(change, one.fields)
			if !strings.Contains(text, one.says) || inline.MatchString(text) {
				w.t.Errorf("%s: %s", name, text)
			}
			g := p.submit(change, change, sure)
			if asks := strings.HasPrefix(g.location, "/console/proposals/") || strings.HasPrefix(g.location, "/console/adjustments/"); asks != one.waits {
				w.t.Errorf("%s leads to %s", name, g.location)
			}
			p.read(g.location)
		}
		for _, name := range []string{"xpub", "pin-unlock"} {
			p.read(company + "/change/" + name)
		}
		if text := p.read(company + "/terms"); !strings.Contains(text, "₦52.50") || !strings.Contains(text, "0 of 3") || !strings.Contains(text, "Requests a second: 7") {
			w.t.Errorf("the terms do not show it: %s", text)
		}
		for name, fields := range map[string]map[string]string{
			"alert": {"account": "1", "amount": "1.234"}, "limit": {"amount": "1e9"}, "quota": {"kind": "otp", "most": "-1"}, "key": {"until": "soon"},
			"bank-account": {"account": "7", "bank": "safehaven", "number": "0123456789", "holder": "Kobo Ltd"}, "xpub": {"chain": "evm", "xpub": "xpub-none"}, "account": {"name": "a"},
		} {
			change := company + "/change/" + name
			if g := p.send(change, p.form(change, fields)); g.status < 400 || !strings.Contains(g.text, "Nothing was changed") {
				w.t.Errorf("%s with %v: %d", name, fields, g.status)
			}
		}
	})
}

// Between the look and the click, somebody else has set another fee. The click then does nothing.
func TestAChangeRestsOnWhatThePersonHasSeen(t *testing.T) {
	each(t, func(w *world) {
		p, other := w.signIn("dev"), w.signIn("dev2")
		change := "/console/companies/" + w.company.Reference + "/change/fees"
		_, sure := p.look(change, map[string]string{"from": "0", "flat": "60"})
		_, others := other.look(change, map[string]string{"from": "0", "flat": "55"})
		other.submit(change, change, others)
		g := p.send(change, p.form(change, sure))
		if g.status != http.StatusConflict || !strings.Contains(g.text, "It has changed since you looked") {
			w.t.Errorf("%d %s", g.status, g.text)
		}
		var fees struct{ Bands []struct{ Flat float64 } }
		if w.ask("GET", "companies/"+w.company.Reference+"/payout-fees", "", &fees); len(fees.Bands) != 1 || fees.Bands[0].Flat != 55 {
			w.t.Errorf("%+v", fees)
		}
	})
}

// One person onboards a company, another approves it as a whole, and the key is shown once.
func TestACompanyIsOnboardedByTwoPeople(t *testing.T) {
	each(t, func(w *world) {
		p, other := w.signIn("dev"), w.signIn("dev2")
		g := p.submit("/console/companies/new", "/console/companies/new", map[string]string{"name": "Ada Foods"})
		company, _, found := strings.Cut(g.location, "/change/")
		if text := p.read(g.location); !found || !strings.Contains(text, "Ada Foods is a company now") {
			w.t.Fatalf("%s: %s", g.location, text)
		}
		_, sure := p.look(company+"/change/onboarding", map[string]string{"account-name": "Main", "flat": "50", "limit": "1000000", "live": "on", "key": "new", "pin": "new"})
		proposal := p.submit(company+"/change/onboarding", company+"/change/onboarding", sure).location
		if text := p.read(company); !strings.Contains(text, "KYB not started") {
			w.t.Error("one person alone has moved the KYB")
		}
		answer := other.submit(proposal, proposal+"/approve", nil).location
		if text := other.read(answer); !strings.Contains(text, "<dt>API key</dt>") || !strings.Contains(text, "kobo_pintoken_") {
			w.t.Errorf("no key: %s", text)
		}
		if text := other.read(answer); strings.Contains(text, "<dt>API key</dt>") || strings.Contains(text, "kobo_pintoken_") {
			w.t.Errorf("the key is shown again: %s", text)
		}
		if text := p.read(company); !strings.Contains(text, "KYB approved") || !strings.Contains(text, "1 · Main") || !strings.Contains(text, "Switch live off") {
			w.t.Errorf("not all acts were done: %s", text)
		}
	})
}

func TestChangesNeedTheirRole(t *testing.T) {
	each(t, func(w *world) {
		support := w.add("sade", operator.Support)
		company := "/console/companies/" + w.company.Reference
		text := support.read(company)
		if strings.Contains(text, "/change/key") || !strings.Contains(text, "/change/account") {
			w.t.Error("support gets the wrong changes")
		}
		for path, want := range map[string]int{
			company + "/change/key": http.StatusForbidden, company + "/change/account": http.StatusOK, company + "/change/none": http.StatusNotFound,
			"/console/companies/new": http.StatusForbidden, "/console/companies/cnobody/change/account": http.StatusNotFound, company + "/change/account/look/none": http.StatusNotFound,
		} {
			if g := support.get(path); g.status != want {
				w.t.Errorf("%s: %d", path, g.status)
			}
		}
		key := company + "/change/key"
		if g := support.send(key, support.form(company+"/change/account", map[string]string{"sure": "yes"})); g.status != http.StatusForbidden {
			w.t.Errorf("support makes a key: %d", g.status)
		}
	})
}

// The menu counts at Money the differences of the statements, and the adjustments that wait for the person.
func TestTheMenuCountsWhatMoneyNeeds(t *testing.T) {
	each(t, func(w *world) {
		w.plant(`INSERT INTO operation_case VALUES ('house', 'c1', 's1', 'UNKNOWN_DEBIT', 0, '', -41200000, 'OPEN', '', '', '', 0, '', '', 0, 0, 1, 0, '')`)
		w.plant(`INSERT INTO operation_case VALUES ('house', 'c2', 's2', 'UNRESOLVED', 0, '', 0, 'OPEN', '', '', '', 0, '', '', 0, 0, 1, 0, '')`)
		w.ask("POST", "companies/"+w.company.Reference+"/adjustments", `{"settlementId":1,"amount":5,"direction":"credit","reason":"charge of the bank"}`, nil)
		for name, want := range map[string]string{"dev": "1", "dev2": "2"} {
			_, after, _ := strings.Cut(w.signIn(name).read("/console/companies"), ">Money")
			if item, _, _ := strings.Cut(after, "</a>"); !strings.Contains(item, ">"+want+"<") {
				w.t.Errorf("%s sees %q at Money", name, item)
			}
		}
	})
}
