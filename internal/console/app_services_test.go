package console_test

import (
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/evidence"
	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

var cardPath = regexp.MustCompile(`/app/services/cards/[0-9a-f-]{36}`)

// newCard makes a card of a new customer, and returns its page.
func (p *person) newCard() string {
	p.t.Helper()
	p.customerAccount()
	customer := regexp.MustCompile(`/app/customers/[0-9a-f-]{36}`).FindString(p.read("/app/customers"))
	return p.submit("/app/services/cards/new?customer="+customer[len("/app/customers/"):], "/app/services/cards/new", map[string]string{
		"customerId": customer[len("/app/customers/"):], "type": "virtual", "brand": "Verve",
	}).location
}

// lacks reads a page, which must not have some texts.
func (p *person) lacks(path string, none ...string) {
	p.t.Helper()
	text := html.UnescapeString(p.read(path))
	for _, one := range none {
		if strings.Contains(text, one) {
			p.t.Errorf("%s has %q", path, one)
		}
	}
}

// A person makes a card and puts money on it. One review moves money once, from two tabs too. An unknown funding leads to
// its clock, and a declined one to its refund.
func TestAPersonMakesACardAndFundsIt(t *testing.T) {
	each(t, func(w *world) {
		bola, vera := w.seat(w.company.Reference, "bola", who.Finance), w.seat(w.company.Reference, "vera", who.Viewer)
		wrong := map[string]string{"customerId": "nobody", "type": "physical", "number": "5061230000000000017"}
		if g := bola.send("/app/services/cards/new", bola.form("/app/services/cards/new", wrong)); g.status < 400 || !strings.Contains(g.text, `value="nobody"`) || strings.Contains(g.text, "5061230000000000017") {
			w.t.Fatalf("%d: %s", g.status, g.text)
		}
		card := bola.newCard()
		if !cardPath.MatchString(card) {
			w.t.Fatalf("the card is at %q", card)
		}
		bola.says(card, "Put money on the card", "Nothing has been paid with this card yet", "Verve")
		vera.lacks(card, "Put money on the card", "Freeze or end")
		if g := vera.send(card+"/fund", vera.form("/app/me", map[string]string{"amount": "100"})); g.status != http.StatusForbidden && g.status != http.StatusSeeOther {
			t.Errorf("a viewer looks at a funding: %d", g.status)
		}
		if g := bola.send(card+"/fund", bola.form(card, map[string]string{"amount": "1.234"})); g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, `value="1.234"`) {
			t.Errorf("%d: %s", g.status, g.text)
		}
		review := bola.submit(card, card+"/fund", map[string]string{"amount": "₦2,500.10", "externalReference": "load-1"}).location
		bola.says(review, "₦2,500.10 to Verve", "Leaves the account", "Balance after it", "₦997,499.90")
		first, second := bola.form(review, nil), bola.form(review, nil)
		paid, again := bola.send(review, first), bola.send(review, second)
		if paid.status != http.StatusSeeOther || paid.location != again.location || !strings.HasPrefix(paid.location, "/app/p/") {
			w.t.Fatalf("%d to %q, and %d to %q: %s", paid.status, paid.location, again.status, again.location, paid.text)
		}
		bola.says(paid.location, "Funded</span>", "₦2,500.10", card, "load-1")
		bola.says(review, "You have done this already", paid.location)
		bola.says("/app/home", "₦997,499.90")

		unknown := bola.submit(card, card+"/fund", map[string]string{"amount": "5003"}).location
		bola.says(bola.submit(unknown, unknown, nil).location, "Unknown for", "Do not pay again", "72 h")
		bola.says("/app/services", "Money on its way to cards", "Unknown for ", ", next ", "₦5,003.00")
		declined := bola.submit(card, card+"/fund", map[string]string{"amount": "5001"}).location
		bola.says(bola.submit(declined, declined, nil).location, "The money is back in your account")
		big := bola.submit(card, card+"/fund", map[string]string{"amount": "1000000"}).location
		bola.says(big, "This would be refused", "one million naira")
		if g := vera.get(review); g.status != http.StatusNotFound {
			t.Errorf("somebody else's review: %d", g.status)
		}
	})
}

// A person buys airtime, data, TV and power. The owner of a meter or a smartcard is named first, and a form that is sent
// twice buys once.
func TestAPersonBuys(t *testing.T) {
	each(t, func(w *world) {
		bola, vera := w.seat(w.company.Reference, "bola", who.Finance), w.seat(w.company.Reference, "vera", who.Viewer)
		for service, goods := range map[string]map[string]string{
			"Airtime":  {"number": "08031234510", "amount": "200.50"},
			"Data":     {"number": "08031234510"},
			"Cable TV": {"number": "7012345610"},
			"Utility":  {"number": "0123456710", "amount": "2,000"},
		} {
			form := bola.counter(service)
			if product := regexp.MustCompile(`(?s)<option value="([^"]+)">[^<]*: ₦`).FindStringSubmatch(form.text); product != nil && service != "Airtime" && service != "Utility" {
				goods["product"] = product[1]
			}
			fields := map[string]string{"settlementId": "1", "service": form.service, "category": form.category, "externalReference": "own-" + strings.ToLower(service[:4])}
			for name, value := range goods {
				fields[name] = value
			}
			if service == "Utility" {
				fields["number"] = "0123456799"
				if g := bola.send("/app/services/purchases/check", bola.form(form.path, fields)); g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "0123456799") {
					t.Errorf("a meter that does not exist: %d", g.status)
				}
				fields["number"] = goods["number"]
			}
			review := bola.submit(form.path, "/app/services/purchases/check", fields).location
			text := bola.says(review, "Leaves the account", "Buy for")
			if named := strings.Contains(text, "Name at"); named != (service == "Cable TV" || service == "Utility") {
				t.Errorf("%s: the page names an owner: %v", service, named)
			}
			sure := bola.form(review, nil)
			first, second := bola.send(review, sure), bola.send(review, bola.form(review, nil))
			if first.status != http.StatusSeeOther || first.location != second.location || !strings.HasPrefix(first.location, "/app/p/") {
				w.t.Fatalf("%s: %d to %q, %d to %q: %s", service, first.status, first.location, second.status, second.location, first.text)
			}
			bola.says(first.location, "Delivered</span>", goods["number"], fields["externalReference"])
			vera.lacks(first.location, goods["number"])
			if service == "Airtime" {
				bola.says(first.location, "for 9MOBILE airtime")
			}
			if service == "Utility" {
				code := regexp.MustCompile(`Code for the meter</dt><dd>([0-9-]{8,})<`).FindStringSubmatch(bola.read(first.location))
				if code == nil {
					w.t.Fatal("the page has no code for the meter")
				}
				vera.lacks(first.location, code[1])
			}
			if g := vera.send("/app/services/purchases/check", vera.form("/app/me", fields)); g.status == http.StatusSeeOther && (service == "Cable TV" || service == "Utility") {
				t.Errorf("a viewer asks for a name")
			}
			vera.lacks(form.path, "<form method=\"post\" action=\"/app/services/purchases/check\"")
		}
		const list = "/app/services/purchases"
		if text := bola.says(list, "Delivered</span>", ">Delivered</option>"); strings.Count(text, "/app/p/") != 4 {
			t.Error(text)
		}
		bola.says(list+"?status=SUCCESS", ": Delivered ×")
		for _, other := range []string{"Success</span>", "Done</span>", ">Paid</option>"} {
			bola.lacks(list, other)
		}
		if g := bola.get(list + ".csv"); !strings.Contains(g.text, ",Delivered,") {
			t.Errorf("%d: %s", g.status, g.text)
		}
		for _, path := range []string{"/app/services/purchases/new?service=none", "/app/services/purchases/new?service=" + bola.counter("Data").service + "&category=none", "/app/services/purchases/confirm/none"} {
			if g := bola.get(path); g.status != http.StatusNotFound {
				t.Errorf("%s: %d", path, g.status)
			}
		}
	})
}

// stand is the form of a purchase.
type stand struct{ path, service, category, text string }

// counter goes to the form of a service, of its first vendor.
func (p *person) counter(service string) stand {
	p.t.Helper()
	choose := func(path, label string) string {
		found := regexp.MustCompile(`href="([^"]+)">` + label + `</a>`).FindStringSubmatch(p.read(path))
		if found == nil {
			p.t.Fatalf("%s leads to no %s", path, label)
		}
		return html.UnescapeString(found[1])
	}
	at := choose("/app/services/purchases/new", service)
	s := stand{service: at[strings.Index(at, "service=")+len("service="):]}
	s.path = choose(at, "[^<]+") // the first link of the list is the menu's, so the address must have a category
	for _, found := range regexp.MustCompile(`href="([^"]*category=[^"]+)"`).FindAllStringSubmatch(p.read(at), 1) {
		s.path = html.UnescapeString(found[1])
	}
	s.category = s.path[strings.Index(s.path, "category=")+len("category="):]
	s.text = p.read(s.path)
	return s
}

// While a company requires two people for payouts, one person takes the money out by no card and no purchase either. A
// smaller amount goes.
func TestACardIsNoWayAroundTheSecondPerson(t *testing.T) {
	each(t, func(w *world) {
		ada, bola := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "bola", who.Finance)
		card := bola.newCard()
		review := bola.submit(card, card+"/fund", map[string]string{"amount": "3000"}).location
		form := bola.form(review, nil)
		ada.require("2000")
		if g := bola.send(review, form); g.status != http.StatusForbidden || !strings.Contains(g.text, "two people") {
			t.Errorf("a funding by one person: %d, to %q", g.status, g.location)
		}
		bola.says(review, "Two people are required for this amount")
		at := bola.counter("Airtime")
		fields := map[string]string{"settlementId": "1", "service": at.service, "category": at.category, "number": "08031234510", "amount": "2000"}
		sale := bola.submit(at.path, "/app/services/purchases/check", fields).location
		bola.lacks(sale, "Buy for")
		if g := bola.send(sale, bola.form("/app/me", nil)); g.status != http.StatusForbidden {
			t.Errorf("a purchase by one person: %d, to %q", g.status, g.location)
		}
		bola.says("/app/home", "₦1,000,000.00")
		fields["amount"] = "1999.99"
		sale = bola.submit(at.path, "/app/services/purchases/check", fields).location
		bola.says(bola.submit(sale, sale, nil).location, "Delivered</span>")
	})
}

// Money moves between two accounts of the company, once for each review. The page shows both balances before and after.
func TestMoneyMovesBetweenOwnAccounts(t *testing.T) {
	each(t, func(w *world) {
		bola, vera := w.seat(w.company.Reference, "bola", who.Finance), w.seat(w.company.Reference, "vera", who.Viewer)
		const path = "/app/money/transfer"
		bola.says(path, "needs two settlement accounts")
		bola.submit(path, path+"/accounts", map[string]string{"name": "Payroll"})
		if g := bola.send(path, bola.form(path, map[string]string{"fromSettlementId": "1", "toSettlementId": "1", "amount": "5"})); g.status != http.StatusUnprocessableEntity {
			t.Errorf("one account twice: %d", g.status)
		}
		fields := map[string]string{"fromSettlementId": "1", "toSettlementId": "2", "amount": "250,000", "narration": "Salaries of March"}
		review := bola.submit(path, path, fields).location
		bola.says(review, "₦250,000.00 to Payroll?", "₦750,000.00", "Salaries of March")
		first, second := bola.send(review, bola.form(review, nil)), bola.send(review, bola.form(review, nil))
		if first.status != http.StatusSeeOther || first.location != second.location {
			w.t.Fatalf("%d to %q, and %q: %s", first.status, first.location, second.location, first.text)
		}
		bola.says(first.location, "₦250,000.00")
		bola.says("/app/home", "₦750,000.00", "₦250,000.00")
		fields["amount"] = "999999"
		bola.says(bola.submit(path, path, fields).location, "This would be refused: Insufficient balance")
		vera.lacks(path, "Look at it first", "Open the account")
		if g := vera.send(review, vera.form("/app/me", nil)); g.status != http.StatusNotFound {
			t.Errorf("somebody else's review: %d", g.status)
		}
	})
}

// A person makes a deposit address, once for each form, and sees the company's addresses and movements.
func TestAPersonMakesADepositAddress(t *testing.T) {
	each(t, func(w *world) {
		bola, vera := w.seat(w.company.Reference, "bola", who.Finance), w.seat(w.company.Reference, "vera", who.Viewer)
		const path = "/app/services/crypto/addresses"
		network := regexp.MustCompile(`<option value="(ethereum[^"]*)"`).FindStringSubmatch(bola.read(path))
		if network == nil {
			w.t.Fatal("there is no network")
		}
		at := path + "?network=" + network[1]
		vera.lacks(at, "Make an address")
		form := bola.form(at, map[string]string{"network": network[1], "label": "customer 2417"})
		if first, second := bola.send(path, form), bola.send(path, form); first.location != at || second.location != at {
			w.t.Fatalf("%d to %q, and %q: %s", first.status, first.location, second.location, first.text)
		}
		text := bola.says(at, "customer 2417", "1 address")
		address := regexp.MustCompile(`0x[0-9a-fA-F]{40}`).FindString(text)
		if address == "" || strings.Contains(w.seat(w.another(), "eve", who.Owner).read(at), address) {
			t.Errorf("the address %q is not the company's alone", address)
		}
		for _, typed := range []string{address, strings.ToLower(address), "0x" + strings.ToUpper(address[2:])} {
			found := bola.submit("/app/home", "/app/search", map[string]string{"q": typed}).location
			if text := bola.read(found); !strings.Contains(text, address) || strings.Contains(text, "no such address") {
				t.Errorf("%s leads to %s: %s", typed, found, text)
			}
		}
		if g := vera.send(path, vera.form("/app/me", map[string]string{"network": network[1]})); g.status != http.StatusForbidden {
			t.Errorf("a viewer makes an address: %d", g.status)
		}
		w.asCompany("POST", "/sandbox/crypto-deposit", "", map[string]any{"address": address, "asset": "ETH", "amount": "0.25", "confirmed": true}, nil)
		w.asCompany("POST", "/sandbox/crypto-deposit", "", map[string]any{"address": address, "asset": "ETH", "amount": "0.5", "confirmed": true}, nil)
		later(t, func() string {
			if text := bola.read("/app/services/crypto"); !strings.Contains(text, "0.25") || !strings.Contains(text, "0.5") {
				return text
			}
			return ""
		})
		if g := bola.get(path + "?network=none"); g.status != http.StatusNotFound {
			t.Errorf("a network that is none: %d", g.status)
		}
	})
}

// The page of proof agrees with the ledger. Each payment has a receipt, which the key of the page checks, and a payout that
// arrived has a proof of payment.
func TestACompanyProvesItsPayments(t *testing.T) {
	each(t, func(w *world) {
		paid, unknown := w.payout("0123456710", 1_500), w.payout("0123456708", 250)
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		text := bola.says("/app/settings/proof", "All sums agree", "Settlement account 1", "kobo receipt verify")
		key := regexp.MustCompile(`<code>([^<]+\+[0-9a-f]{8}\+[^<]+)</code>`).FindStringSubmatch(bola.read("/app/settings/proof"))
		if key == nil {
			w.t.Fatal(text)
		}
		page := "/app/p/" + paid
		bola.says(page, page+"/proof.pdf", page+"/receipt", page+"/receipt?step=settle")
		bola.lacks("/app/p/"+unknown, "proof.pdf", "step=settle")
		for _, path := range []string{page + "/receipt", page + "/receipt?step=settle", "/app/settings/proof/receipt?reference=" + paid} {
			g := bola.get(path)
			var r evidence.Receipt
			if err := json.Unmarshal([]byte(g.text), &r); err != nil || !strings.Contains(g.header.Get("Content-Disposition"), "receipt-") {
				w.t.Fatalf("%s: %v, %v, %s", path, err, g.header, g.text)
			}
			if _, err := r.Verify(html.UnescapeString(key[1])); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		bola.says("/app/settings/proof", "Copy the note of")
		if g := bola.get(page + "/proof.pdf"); g.status != http.StatusOK || !strings.HasPrefix(g.text, "%PDF-") || g.header.Get("Content-Type") != "application/pdf" {
			t.Errorf("%d %v", g.status, g.header)
		}
		if g := bola.get("/app/p/" + unknown + "/proof.pdf"); g.status == http.StatusOK {
			t.Error("an unknown payout has a proof of payment")
		}
		eve := w.seat(w.another(), "eve", who.Owner)
		for _, path := range []string{page + "/proof.pdf", page + "/receipt", "/app/settings/proof/receipt?reference=" + paid} {
			if g := eve.get(path); g.status != http.StatusNotFound {
				t.Errorf("another company: %s %d", path, g.status)
			}
		}
		if g := eve.get("/app/settings/proof"); g.status != http.StatusOK || strings.Contains(g.text, "1,500.00") {
			t.Errorf("another company's proof: %d", g.status)
		}
	})
}

// A company whose verification is not accepted sees why its pages are closed.
func TestACompanySeesItsVerification(t *testing.T) {
	each(t, func(w *world) {
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		const path = "/app/settings/verification"
		ada.says(path, "Approved", "Your business is verified.", "A webhook endpoint", "Missing")
		c, _, err := w.app.Companies.Create(t.Context(), operator.Local("test"), "New Company")
		if err != nil {
			w.t.Fatal(err)
		}
		nora := w.seat(c.Reference, "nora", who.Owner)
		nora.says(path, "The verification has not begun")
		nora.lacks(path, "What your company has")
		for _, first := range []string{"/app/home", "/app/settings"} {
			if g := nora.get(first); g.status != http.StatusSeeOther || g.location != path {
				t.Errorf("%s: %d to %q", first, g.status, g.location)
			}
		}
		if g := nora.get("/app/payouts"); g.status != http.StatusForbidden || !strings.Contains(g.text, `href="`+path+`"`) {
			t.Errorf("%d without a link to the verification", g.status)
		}
		for _, to := range []company.KYB{company.InProgress, company.Submitted, company.Rejected} {
			if _, err := w.app.Companies.SetKYB(t.Context(), operator.Local("test"), c.Reference, to, "The registration has run out"); err != nil {
				w.t.Fatal(err)
			}
		}
		nora.says(path, "Rejected", "The registration has run out")
		if _, err := w.app.Companies.SetLive(t.Context(), operator.Local("test"), w.company.Reference, false); err != nil {
			w.t.Fatal(err)
		}
		ada.says(path, "has switched the company off")
	})
}

// The new addresses with an id answer 404 to another company, and change nothing.
func TestServicesOfAnotherCompanyAreNotThere(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		card := bola.newCard()
		funding := bola.submit(card, card+"/fund", map[string]string{"amount": "100"}).location
		bola.submit("/app/money/transfer", "/app/money/transfer/accounts", map[string]string{"name": "Payroll"})
		moved := bola.submit("/app/money/transfer", "/app/money/transfer", map[string]string{"fromSettlementId": "1", "toSettlementId": "2", "amount": "5"}).location
		at := bola.counter("Airtime")
		sale := bola.submit(at.path, "/app/services/purchases/check", map[string]string{"settlementId": "1", "service": at.service, "category": at.category, "number": "08031234510", "amount": "50"}).location
		eve := w.seat(w.another(), "eve", who.Owner)
		for _, path := range []string{card, funding, moved, sale} {
			if g := eve.get(path); g.status != http.StatusNotFound {
				t.Errorf("GET %s: %d", path, g.status)
			}
		}
		for _, path := range []string{card + "/fund", funding, moved, sale, card + "/freeze", card + "/terminate"} {
			form := eve.form("/app/me", map[string]string{"amount": "5", "reason": "lost"})
			if g := eve.send(path, form); g.status != http.StatusNotFound {
				t.Errorf("POST %s: %d to %q", path, g.status, g.location)
			}
		}
		bola.says("/app/home", "₦1,000,000.00")
		bola.says(card, "Active")
	})
}

// If a price has changed since the review, nothing is bought, and the answer has both prices.
func TestAChangedPriceBuysNothing(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		at := bola.counter("Data")
		product := regexp.MustCompile(`(?s)<option value="([^"]+)">[^<]*: ₦`).FindStringSubmatch(at.text)
		review := bola.submit(at.path, "/app/services/purchases/check", map[string]string{
			"settlementId": "1", "service": at.service, "category": at.category, "number": "08031234510", "product": product[1],
		}).location
		form := bola.form(review, nil)
		was := regexp.MustCompile(`Buy for (₦[0-9,.]+)`).FindStringSubmatch(bola.read(review))
		w.plant(`UPDATE vtu_product SET amount_kobo = 12345600 WHERE id = $1`, product[1])
		w.advance(time.Minute)
		g := bola.send(review, form)
		if text := html.UnescapeString(g.text); g.status != http.StatusConflict || !strings.Contains(text, "it was "+was[1]) || !strings.Contains(text, "is ₦123,456.00") {
			t.Errorf("%d to %q: %s", g.status, g.location, text)
		}
		if text := bola.read("/app/services/purchases"); strings.Contains(text, "/app/p/") {
			t.Error(text)
		}
		// A later view of the page shows another price than the first one. If the first price comes back, the later view buys nothing at it.
		reloaded := bola.form(review, nil)
		w.plant(`UPDATE vtu_product SET amount_kobo = 10000 WHERE id = $1`, product[1])
		w.advance(time.Minute)
		g = bola.send(review, reloaded)
		if text := html.UnescapeString(g.text); g.status != http.StatusConflict || !strings.Contains(text, "it was ₦123,456.00, and is "+was[1]+" now") || !strings.Contains(text, "Buy for "+was[1]) {
			t.Fatalf("%d to %q: %s", g.status, g.location, text)
		}
		if text := bola.read("/app/services/purchases"); strings.Contains(text, "/app/p/") {
			t.Error(text)
		}
		// The page of the refusal buys at the price that it shows.
		bought := bola.send(review, fieldsOf(found(t, regexp.MustCompile(`(?s)(<form method="post">.*?</form>)`), g.text)))
		bola.says(bought.location, was[1], "Delivered</span>")
	})
}
