package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

// plantCustomer adds a customer of the company to the database.
func (w *world) plantCustomer() {
	w.t.Helper()
	_, err := w.app.DB.Exec(w.t.Context(), `INSERT INTO customer (company_id, id, number, first_name, middle_name, last_name, email, phone_number,
		date_of_birth, address, search, status, created_at, updated_at)
		VALUES ($1, 'c1', 1000001, 'Ngozi', '', '<b>Okafor</b>', 'ngozi@gmail.com', '08031234567', '1990-05-17', '', 'ngozi <b>okafor</b> ngozi@gmail.com 08031234567', 'ACTIVE', 1, 1)`, w.company.Reference)
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestASearchLeavesNoTraceOfThePhoneNumberInAnAddress(t *testing.T) {
	each(t, func(w *world) {
		w.plantCustomer()
		p := w.signIn("dev")
		customer := "/console/companies/" + w.company.Reference + "/customers/c1"
		for _, text := range []string{"0803 123 4567", "ngozi okaf", "c1-"} {
			g := p.submit("/console/companies", "/console/search", map[string]string{"q": text})
			if strings.Contains(g.location, "0803") || strings.Contains(g.location, "okaf") {
				w.t.Errorf("the address has what was typed: %s", g.location)
			}
			if text != "c1-" && g.location != customer {
				w.t.Errorf("%q leads to %s", text, g.location)
			}
			if page := p.read(g.location); strings.Contains(page, "08031234567") || strings.Contains(page, "<b>Okafor") {
				w.t.Error("the page has a whole phone number, or a name as HTML")
			}
		}
		for text, want := range map[string]string{"22212345678": "does not search by BVN", "4111111111111111": "looks like a card number", "kobo_live_x": "That is a secret"} {
			g := p.submit("/console/companies", "/console/search", map[string]string{"q": text})
			page := p.read(g.location)
			if !strings.Contains(page, want) || strings.Contains(page, text) {
				w.t.Errorf("%q: %s", text, page)
			}
			if other := w.signIn("dev2").get(g.location); other.status != http.StatusNotFound {
				w.t.Errorf("somebody else reads the answer: %d", other.status)
			}
		}
		for text, want := range map[string]string{"₦18,250.50": "18250.50", "18,250.50": "18250.50", "1000.00": "1000.00", "₦5": "5.00"} {
			g := p.submit("/console/companies", "/console/search", map[string]string{"q": text})
			if g.location != "/console/payments?least="+want+"&most="+want {
				w.t.Errorf("%q leads to %s", text, g.location)
			}
			p.read(g.location)
		}
		viewer := w.add("vera", operator.Viewer)
		if g := viewer.send("/console/search", viewer.form("/console/companies", map[string]string{"q": "08031234567"})); g.status != http.StatusForbidden {
			w.t.Errorf("a viewer looks for a phone number: %d", g.status)
		}
	})
}

func TestContactDataAreShownForAReasonAndToThatPersonOnly(t *testing.T) {
	each(t, func(w *world) {
		w.plantCustomer()
		p, other := w.signIn("dev"), w.signIn("dev2")
		customer := "/console/companies/" + w.company.Reference + "/customers/c1"
		if text := p.read(customer); !strings.Contains(text, "0803•••4567") || strings.Contains(text, "08031234567") || strings.Contains(text, "ngozi@gmail.com") {
			w.t.Error("the page is not masked")
		}
		if g := p.send(customer, p.form(customer, map[string]string{"reason": "OTHER"})); g.status != http.StatusUnprocessableEntity || strings.Contains(g.text, "08031234567") {
			w.t.Errorf("without words: %d", g.status)
		}
		g := p.submit(customer, customer, map[string]string{"reason": "CALLER_VERIFIED"})
		if text := p.read(g.location); !strings.Contains(text, "08031234567") || !strings.Contains(text, "ngozi@gmail.com") || !strings.Contains(text, "1990-05-17") {
			w.t.Error("the data are not shown")
		}
		if text := other.read(g.location); strings.Contains(text, "08031234567") {
			w.t.Error("somebody else reads the data")
		}
		viewer := w.add("vera", operator.Viewer)
		if text := viewer.read(customer); strings.Contains(text, `name="reason"`) {
			w.t.Error("a viewer gets the form")
		}
		if g := viewer.send(customer, viewer.form(customer, map[string]string{"reason": "CALLER_VERIFIED"})); g.status != http.StatusForbidden {
			w.t.Errorf("a viewer reveals: %d", g.status)
		}
	})
}

func TestPagesAboutACompany(t *testing.T) {
	each(t, func(w *world) {
		w.plantCustomer()
		p := w.signIn("dev")
		company := "/console/companies/" + w.company.Reference
		for path, want := range map[string]string{
			"": "Settlement accounts", "/terms": "Daily limits", "/accounts/1": "Ledger entries", "/customers": "0803•••4567", "/virtual-accounts": "Virtual accounts",
			"/cards": "Cards", "/cards?customer=c1": "Nothing matches", "/events": "Events", "/deliveries": "Deliveries", "/people": "Nobody signs in",
		} {
			text := p.read(company + path)
			if !strings.Contains(text, want) {
				w.t.Errorf("%s: no %q", path, want)
			}
			if found := inline.FindString(text); found != "" {
				w.t.Errorf("%s holds %q", path, found)
			}
			if g := p.get("/console/companies/cnobody" + path); g.status != http.StatusNotFound {
				w.t.Errorf("%s of nobody: %d", path, g.status)
			}
		}
		if text := p.read("/console/companies"); !strings.Contains(text, company) {
			w.t.Error("the list lacks the company")
		}
	})
}

// An act that needs a second operator becomes a proposal, once for a form.
func TestActsOnACompanyAskForASecondPerson(t *testing.T) {
	each(t, func(w *world) {
		p := w.signIn("dev")
		company := "/console/companies/" + w.company.Reference
		var c struct {
			Live    bool
			APIKeys []struct{ ID, Status string }
		}
		p.submit(company, company+"/live", map[string]string{"live": "false"})
		if w.ask("GET", "companies/"+w.company.Reference, "", &c); c.Live {
			w.t.Error("switching live off needs one person")
		}
		form := p.form(company, map[string]string{"live": "true"})
		first, again := p.send(company+"/live", form), p.send(company+"/live", form)
		if !strings.HasPrefix(first.location, "/console/proposals/") || first.location != again.location {
			w.t.Errorf("to %q, and again to %q", first.location, again.location)
		}
		if w.ask("GET", "companies/"+w.company.Reference, "", &c); c.Live {
			w.t.Error("one person alone has switched live on")
		}
		if g := p.send(company+"/kyb", p.form(company, map[string]string{"status": "NOT_STARTED"})); g.status < 400 || !strings.Contains(g.text, "Nothing was changed") {
			w.t.Errorf("a move that is not allowed: %d", g.status)
		}
		p.says(company, company+"/change/revoke?key="+c.APIKeys[0].ID)
		revoke := company + "/change/revoke"
		p.says(revoke+"?key="+c.APIKeys[0].ID, `<option value="`+c.APIKeys[0].ID+`" selected>`)
		text, sure := p.look(revoke, map[string]string{"key": c.APIKeys[0].ID})
		for _, want := range []string{"stops working at once", "It is the last key that works", "Nobody can undo it", "Confirm: revoke an API key"} {
			if !strings.Contains(text, want) {
				w.t.Errorf("lacks %q: %s", want, text)
			}
		}
		if w.ask("GET", "companies/"+w.company.Reference, "", &c); c.APIKeys[0].Status != "ACTIVE" {
			w.t.Error("looking has revoked the key")
		}
		p.says(p.submit(revoke, revoke, sure).location, "stops working at once")
		if g := p.send(revoke, p.form(company, sure)); g.status < 400 {
			w.t.Errorf("a revoked key is revoked again: %d", g.status)
		}
		if w.ask("GET", "companies/"+w.company.Reference, "", &c); c.APIKeys[0].Status != "REVOKED" {
			w.t.Errorf("%+v", c)
		}
		p.submit(company+"/accounts/1", company+"/accounts/1", map[string]string{"status": "INACTIVE", "reason": "asked by phone"})
		if text := p.read(company + "/accounts/1"); !strings.Contains(text, "Switch the account on") {
			w.t.Error("the account is still on")
		}
		viewer := w.add("vera", operator.Viewer)
		text = viewer.read(company)
		if strings.Contains(text, company+"/kyb") || strings.Contains(text, "/change/revoke") {
			w.t.Error("a viewer gets the forms")
		}
		if g := viewer.send(company+"/live", viewer.form(company, map[string]string{"live": "false"})); g.status != http.StatusForbidden {
			w.t.Errorf("a viewer switches live off: %d", g.status)
		}
	})
}

// The operators' page names an API key by the last four characters, as the company's page and the timeline do. A key of an early release
// has none, and stands there by its id.
func TestOperatorsNameAKeyAsItsCompanyDoes(t *testing.T) {
	each(t, func(w *world) {
		p, ada := w.signIn("dev"), w.seat(w.company.Reference, "ada", who.Owner)
		page, end := "/console/companies/"+w.company.Reference, w.company.APIKey[len(w.company.APIKey)-4:]
		ada.says("/app/developers", "…"+end)
		p.says(page, "<strong>…"+end+"</strong>")
		p.lacks(page, w.company.APIKey)
		w.plant(`UPDATE company_api_key SET ending = '' WHERE company_id = $1`, w.company.Reference)
		p.lacks(page, "<strong>…")
		p.says(page, "Revoke")
	})
}
