package console_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/console"
	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/secret"
)

// appPages are the addresses of the pages that all people of a company may read.
var appPages = []string{
	"/app/home", "/app/payouts", "/app/payouts?status=PENDING", "/app/payouts/new", "/app/payouts/bulk", "/app/payouts/bulk/new", "/app/payouts/kept", "/app/customers/new", "/app/search", "/app/settings/pin", "/app/money/virtual-accounts/new",
	"/app/money", "/app/money/virtual-accounts", "/app/money/ledger", "/app/customers", "/app/services", "/app/services/purchases", "/app/services/crypto",
	"/app/services/cards/new", "/app/services/cards/asked", "/app/services/purchases/new", "/app/services/crypto/addresses", "/app/money/transfer", "/app/settings/proof", "/app/settings/verification",
	"/app/developers", "/app/developers/requests", "/app/developers/events", "/app/developers/webhooks", "/app/approvals", "/app/settings", "/app/settings/people", "/app/me",
}

// seat signs a new person of a company in by an invitation.
func (w *world) seat(reference, name, role string) *person {
	w.t.Helper()
	token, digest := who.NewLink()
	if _, err := w.app.People.InvitePerson(w.t.Context(), operator.Local("test"), reference, name, role, digest); err != nil {
		w.t.Fatal(err)
	}
	p := &person{world: w, name: name}
	link := "/app/link/" + reference + "/" + token.Reveal()
	p.submit(link, link, nil)
	if !strings.HasPrefix(p.cookie, "__Host-kobo_company="+reference+".") {
		w.t.Fatalf("%s has the cookie %q", name, p.cookie)
	}
	return p
}

// another returns the reference of a second company, which is live.
func (w *world) another() string {
	w.t.Helper()
	ctx, by := w.t.Context(), operator.Local("test")
	c, _, err := w.app.Companies.Create(ctx, by, "Another")
	for _, to := range []company.KYB{company.InProgress, company.Submitted, company.Approved} {
		if err == nil {
			_, err = w.app.Companies.SetKYB(ctx, by, c.Reference, to, "test")
		}
	}
	if err == nil {
		_, err = w.app.Companies.SetLive(ctx, by, c.Reference, true)
	}
	if err == nil {
		err = w.app.Companies.SetPIN(ctx, by, c.Reference, secret.NewText("4321"))
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return c.Reference
}

// Everybody of a company reads its pages. Nobody else does: neither a stranger, nor an operator, nor somebody with a
// made-up session. A person of a company opens no page of operators.
func TestPeopleOfACompanyReadItsPages(t *testing.T) {
	each(t, func(w *world) {
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		for _, role := range who.Roles() {
			p := w.seat(w.company.Reference, "the."+role, role)
			for _, path := range appPages {
				if text := p.read(path); inlined.MatchString(text) {
					t.Errorf("%s has %q", path, inlined.FindString(text))
				}
			}
		}
		_, session, _ := strings.Cut(ada.cookie, ".")
		for name, cookie := range map[string]string{
			"a stranger": "", "an operator": w.signIn("dev").cookie, "an operator's session at the other side": strings.Replace(w.signIn("dev").cookie, "operator", "company", 1),
			"a made-up session": "__Host-kobo_company=" + w.company.Reference + ".made.up", "a session of another company": "__Host-kobo_company=" + w.another() + "." + session,
		} {
			p := &person{world: w, name: name, cookie: cookie}
			for _, path := range appPages {
				if g := p.get(path); g.status != http.StatusSeeOther || !strings.HasPrefix(g.location, "/app/sign-in") {
					t.Errorf("GET %s as %s: %d, to %q", path, name, g.status, g.location)
				}
			}
		}
		for _, cookie := range []string{ada.cookie, strings.Replace(ada.cookie, "company", "operator", 1), "__Host-kobo_operator=" + session} {
			p := &person{world: w, name: "ada", cookie: cookie}
			if g := p.get("/console/overview"); g.status != http.StatusSeeOther {
				t.Errorf("a person of a company opens an operators' page: %d", g.status)
			}
		}
	})
}

// A payout is sent after the person has seen the name. A form that is sent twice pays once. A role that may not
// send money gets 403, and its pages have no button for it.
func TestAPersonPaysOut(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		fields := map[string]string{"bank_code": "000013", "account_number": "0123456710", "amount": "₦1,500.50", "fromSettlementId": "1", "pin": w.company.PIN}
		to := bola.submit("/app/payouts/new", "/app/payouts/check", fields).location
		if text := html.UnescapeString(bola.read(to)); !strings.Contains(text, "MOHAMMED ADA") || !strings.Contains(text, "Send ₦1,500.50") {
			w.t.Fatal(text)
		}
		form := bola.form(to, nil)
		first, second := bola.send(to, form), bola.send(to, form)
		if first.status != http.StatusSeeOther || first.location != second.location {
			w.t.Fatalf("%d to %q, and %d to %q", first.status, first.location, second.status, second.location)
		}
		if text := bola.read(first.location); !strings.Contains(text, "Paid") || !strings.Contains(text, "MOHAMMED ADA") {
			t.Error(text)
		}
		if text := bola.read("/app/payouts"); strings.Count(text, "<tr data-row>") != 1 || !strings.Contains(text, "MOHAMMED ADA") {
			t.Errorf("the form was sent twice: %s", text)
		}
		later(t, func() string { // the request log is written behind
			if text := bola.read("/app/developers/requests"); !strings.Contains(text, "(bola)") || strings.Contains(text, "GET /api/v1/settlement/payouts") {
				return text
			}
			return ""
		})
		// Nobody may conclude from a page that is too old that the payout was not sent.
		if g := bola.get("/app/payouts/confirm/" + strings.Repeat("0", 36)); g.status != http.StatusNotFound || strings.Contains(g.text, "nothing was sent") || !strings.Contains(g.text, "Look at the payouts") {
			t.Errorf("%d, %s", g.status, g.text)
		}
		vera := w.seat(w.company.Reference, "vera", who.Viewer)
		if text := vera.read("/app/payouts"); strings.Contains(text, "New payout") {
			t.Error("a viewer sees the button")
		}
		if g := vera.send("/app/payouts/check", vera.form("/app/payouts/new", fields)); g.status != http.StatusForbidden || !strings.Contains(g.text, "owner or finance") {
			t.Errorf("a viewer asks for a name: %d", g.status)
		}
		if g := vera.get(to); g.status != http.StatusNotFound {
			t.Errorf("the draft of somebody else: %d", g.status)
		}
		wrong := map[string]string{"bank_code": "000013", "account_number": "0123456710", "amount": "1.2E+09", "fromSettlementId": "1", "pin": w.company.PIN}
		if g := bola.send("/app/payouts/check", bola.form("/app/payouts/new", wrong)); g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "Nothing was changed.") || strings.Contains(g.text, w.company.PIN+`"`) {
			t.Errorf("a rounded amount: %d, %s", g.status, g.text)
		}
	})
}

// An owner requires two people. Then one person asks for a key, and only another one gets it, once.
func TestTwoPeopleIssueAKeyAtThePages(t *testing.T) {
	each(t, func(w *world) {
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		on := map[string]string{"on": "true"}
		if g := ada.send("/app/settings/two-people", ada.form("/app/approvals", on)); g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "Nobody else could approve") {
			t.Errorf("one person alone requires two: %d", g.status)
		}
		emeka := w.seat(w.company.Reference, "emeka", who.Developer)
		if g := ada.submit("/app/approvals", "/app/settings/two-people", on); g.location != "/app/approvals" {
			w.t.Fatal(g.location)
		}
		asked := ada.submit("/app/developers", "/app/developers/keys", map[string]string{"name": "Shop", "pin": w.company.PIN})
		page := regexp.MustCompile(`/app/approvals/[0-9a-f-]{36}`).FindString(ada.read(asked.location))
		if page == "" {
			w.t.Fatal(ada.read(asked.location))
		}
		if g := ada.send(page+"/approve", ada.form(page, nil)); g.status != http.StatusForbidden {
			t.Errorf("the person who asked approves: %d", g.status)
		}
		vera := w.seat(w.company.Reference, "vera", who.Viewer)
		if g := vera.send(page+"/approve", url.Values{"form": {number.FindStringSubmatch(vera.read("/app/me"))[1]}}); g.status != http.StatusForbidden {
			t.Errorf("a viewer approves: %d", g.status)
		}
		shown := emeka.submit(page, page+"/approve", nil).location
		key := regexp.MustCompile(`kobo_test_[A-Za-z0-9_-]+`).FindString(emeka.read(shown))
		if access, _, err := w.app.Companies.Tokens(t.Context(), w.company.Reference, key); err != nil || access == "" {
			w.t.Fatalf("the key does not work: %v", err)
		}
		if text := emeka.read(shown); strings.Contains(text, key) {
			t.Error("the key is shown twice")
		}
		if text := ada.read(page); !strings.Contains(text, "Approved") {
			t.Error(text)
		}
	})
}

// Wrong passwords and links at the company's side are in the audit log, with the company. Names are not tried without
// end.
func TestAWrongSignInOfACompanyIsRecorded(t *testing.T) {
	w := open(t)
	p := &person{world: w, name: "a stranger"}
	wrong := map[string]string{"company": w.company.Reference, "proof-name": "owner", "proof-password": "wrong words", "proof-code": "000000"}
	for range 10 {
		if g := p.send("/app/sign-in", p.form("/app/sign-in", wrong)); g.status != http.StatusUnprocessableEntity || p.cookie != "" {
			t.Fatalf("%d, %q", g.status, p.cookie)
		}
	}
	if g := p.send("/app/sign-in", p.form("/app/sign-in", wrong)); g.status != http.StatusTooManyRequests {
		t.Errorf("the eleventh guess: %d", g.status)
	}
	wrong["company"] = "nobody"
	if g := p.send("/app/sign-in", p.form("/app/sign-in", wrong)); g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "The reference of a company") {
		t.Errorf("a company that is none: %d", g.status)
	}
	link := "/app/link/" + w.company.Reference + "/made-up"
	if g := p.send(link, p.form(link, nil)); g.status != http.StatusUnprocessableEntity || p.cookie != "" {
		t.Errorf("a made-up link: %d", g.status)
	}
	// An operator's link opens nothing here.
	_, token, _ := strings.Cut(w.link("dev"), "/link/")
	for _, company := range []string{w.company.Reference, "x"} {
		link := "/app/link/" + company + "/" + token
		if g := p.send(link, p.form(link, nil)); g.status == http.StatusSeeOther || p.cookie != "" {
			t.Errorf("an operator's link: %d, %q", g.status, p.cookie)
		}
	}
	lines := 0
	dev := w.signIn("dev")
	if text := dev.read("/console/system/audit?action=person.login.failed"); strings.Contains(text, w.company.Reference) {
		lines++
	}
	if lines == 0 {
		t.Error("the audit log does not have it")
	}
}

// While two people are required, one owner cannot make the second one. A request ends with the access of the person
// who asked.
func TestOnePersonIsNotTwo(t *testing.T) {
	each(t, func(w *world) {
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		emeka := w.seat(w.company.Reference, "emeka", who.Developer)
		w.seat(w.company.Reference, "vera", who.Viewer)
		w.seat(w.company.Reference, "dele", who.Developer) // two people stay after emeka
		shown := ada.submit("/app/settings/people", "/app/settings/people/invite", map[string]string{"name": "emeka", "role": who.Developer}).location
		mine := regexp.MustCompile(`/app/link/[a-z0-9]+/[A-Za-z0-9_-]+`).FindString(ada.read(shown))
		ada.submit("/app/approvals", "/app/settings/two-people", map[string]string{"on": "true"})
		twin := &person{world: w, name: "ada as emeka"}
		if g := twin.send(mine, twin.form(mine, nil)); g.status != http.StatusUnprocessableEntity || twin.cookie != "" {
			t.Errorf("a link that an owner has made signs in: %d", g.status)
		}
		people, err := w.app.People.People(t.Context(), w.company.Reference)
		if err != nil {
			w.t.Fatal(err)
		}
		id := map[string]string{}
		for _, p := range people {
			id[p.Name] = p.ID
		}
		for path, fields := range map[string]map[string]string{
			"/app/settings/people/invite":                  {"name": "me.too", "role": who.Developer},
			"/app/settings/people/" + id["vera"] + "/role": {"role": who.Owner},
		} {
			if g := ada.send(path, ada.form("/app/settings/people", fields)); g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "two people are required") {
				t.Errorf("POST %s: %d", path, g.status)
			}
		}
		emeka.submit("/app/developers", "/app/developers/keys", map[string]string{"pin": w.company.PIN})
		page := regexp.MustCompile(`/app/approvals/[0-9a-f-]{36}`).FindString(ada.read("/app/approvals"))
		ada.submit("/app/settings/people", "/app/settings/people/"+id["emeka"]+"/remove", nil)
		if g := ada.send(page+"/approve", ada.form(page, nil)); g.status != http.StatusConflict || !strings.Contains(g.text, "has no access any more") {
			t.Errorf("a request outlives the person who asked: %d", g.status)
		}
	})
}

// A bulk payout is opened only if every line can be read. Each mistake of a spreadsheet is named with its line.
func TestABulkPayoutIsTyped(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		send := func(lines string) page {
			return bola.send("/app/payouts/bulk/new", bola.form("/app/payouts/bulk/new", map[string]string{"fromSettlementId": "1", "pin": w.company.PIN, "lines": lines}))
		}
		g := send("bank,account,amount\n000013,123456702,100\n000013,1.2E+09,100\n000013,0123456710,1.2E+03\n000013,0123456710\n000013,0123456710,100")
		text := html.UnescapeString(g.text)
		for _, want := range []string{"line 2: ", "0123456702", "line 3: ", "rounded", "line 4: ", "line 5: "} {
			if !strings.Contains(text, want) {
				t.Errorf("lacks %q: %s", want, text)
			}
		}
		if g.status != http.StatusUnprocessableEntity || strings.Contains(text, "line 6") {
			t.Errorf("%d", g.status)
		}
		// The first line is a payout and not the heads of the columns, though it has the word.
		g = send("000013,012345671,100,Rent on account\n000013,0123456710,100")
		if text := html.UnescapeString(g.text); g.status != http.StatusUnprocessableEntity || !strings.Contains(text, "line 1: ") {
			t.Errorf("the first line is dropped: %d to %q", g.status, g.location)
		}
		g = send("000013,0123456710,1500\n000013,0123456702,100,Rent,own-1")
		if g.status != http.StatusSeeOther {
			w.t.Fatalf("%d, %s", g.status, g.text)
		}
		later(t, func() string {
			if text := bola.read(g.location); !strings.Contains(text, "MOHAMMED ADA") || !strings.Contains(text, "Send ₦1,600.00") {
				return text
			}
			return ""
		})
		bola.submit(g.location, g.location+"/send", map[string]string{"pin": w.company.PIN})
		later(t, func() string {
			if text := bola.read(g.location); strings.Count(text, "/app/p/") != 2 {
				return text
			}
			return ""
		})
	})
}

// An amount with a comma is the amount that somebody means, or it is refused. It is never its first digits.
func TestALineOfABulkPayoutIsReadAsItIsMeant(t *testing.T) {
	for text, want := range map[string]string{
		"000013\t0123456710\t1,500.00":                   "000013|0123456710|1500.00||",
		"000013\t0123456710\t₦1,234,567.89\tRent, March": "000013|0123456710|1234567.89|Rent, March|",
		`000013,0123456710,"1,500.00",Rent`:              "000013|0123456710|1500.00|Rent|",
		`000013, 0123456710, 1500, "Rent, March", own-1`: "000013|0123456710|1500|Rent, March|own-1",
		"000013,0123456710,100.00,500":                   "000013|0123456710|100.00|500|",
		"000013;0123456710;1500,50;Rent, March":          "000013|0123456710|1500.50|Rent, March|",
		`000013;0123456710;1500.50;"a;b";own-1`:          "000013|0123456710|1500.50|a;b|own-1",
	} {
		if got, err := console.LineOf(text); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"000013,0123456710,1,500.00":            "1,500.00",
		"000013;0123456710;1,500":               "thousands or decimals",
		"000013;0123456710;1.2E+09":             "rounded",
		"000013;0123456710;1,2E+09":             "rounded",
		"000013;123456702;100":                  "0123456702",
		"000013,0123456710,₦1,500.00,Rent":      "₦1,500.00",
		"000013,0123456710,1,234,567.00":        "1,234",
		"000013,0123456710,12,500":              "12,500",
		"000013\t0123456710\t1500,50":           "1500,50",
		"000013\t0123456710\t1,50,000":          "1,50,000",
		`000013,0123456710,"1,500.00"x`:         "quotation mark",
		`000013,0123456710,100,"Rent`:           "quotation mark",
		"000013,0123456710,100,Rent,own-1,more": "it needs",
	} {
		if got, err := console.LineOf(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want a refusal with %q", text, got, err, want)
		}
	}
}

// The lines that failed can be sent again: with their narrations, and without the own references, which are used.
func TestTheFailedLinesOfABulkPayoutAreRepeated(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		to := bola.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{
			"fromSettlementId": "1", "pin": w.company.PIN, "lines": "000013,0123456701,100,\"Rent, March\",own-1\n000013,0123456710,200,Fuel,own-2",
		}).location
		later(t, func() string {
			if text := bola.read(to); !strings.Contains(text, "Send ₦300.00") {
				return text
			}
			return ""
		})
		bola.submit(to, to+"/send", map[string]string{"pin": w.company.PIN})
		var lines string
		later(t, func() string {
			text := bola.read(to)
			if m := regexp.MustCompile(`(?s)<textarea[^>]*name="lines"[^>]*>(.*?)</textarea>`).FindStringSubmatch(text); m != nil {
				lines = html.UnescapeString(m[1])
				return ""
			}
			return text
		})
		again := bola.submit(to, "/app/payouts/bulk/new", map[string]string{"fromSettlementId": "1", "pin": w.company.PIN, "lines": lines}).location
		later(t, func() string {
			if text := html.UnescapeString(bola.read(again)); !strings.Contains(text, "1 payout from") || !strings.Contains(text, "Send ₦100.00") {
				return lines + text
			}
			return ""
		})
	})
}

// Each address with an id answers 404 to people of another company, and changes nothing.
func TestPeopleOfAnotherCompanySeeNothing(t *testing.T) {
	each(t, func(w *world) {
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		w.seat(w.company.Reference, "emeka", who.Developer)
		fields := map[string]string{"bank_code": "000013", "account_number": "0123456710", "amount": "100", "fromSettlementId": "1", "pin": w.company.PIN}
		draft := ada.submit("/app/payouts/new", "/app/payouts/check", fields).location
		paid := ada.submit(draft, draft, nil).location
		bulk := ada.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{"fromSettlementId": "1", "pin": w.company.PIN, "lines": "000013,0123456710,100"}).location
		hook := ada.submit("/app/developers/webhooks", "/app/developers/webhooks", map[string]string{"url": "http://127.0.0.1:1/hook"}).location
		hook, _, _ = strings.Cut(hook, "/made/")
		ada.submit(hook, hook+"/test", nil)
		var resend string
		later(t, func() string {
			text := ada.read(hook)
			resend = regexp.MustCompile(`/app/developers/deliveries/[0-9a-f-]{36}/resend`).FindString(text)
			if resend == "" {
				return text
			}
			return ""
		})
		ada.submit("/app/approvals", "/app/settings/two-people", map[string]string{"on": "true"})
		ada.submit("/app/developers", "/app/developers/keys", map[string]string{"pin": w.company.PIN})
		approval := regexp.MustCompile(`/app/approvals/[0-9a-f-]{36}`).FindString(ada.read("/app/approvals"))
		keys := regexp.MustCompile(`/app/developers/keys/[0-9a-f-]{36}/revoke`).FindString(ada.read("/app/developers"))
		people, err := w.app.People.People(t.Context(), w.company.Reference)
		if err != nil || approval == "" || keys == "" {
			w.t.Fatalf("%q, %q, %v", approval, keys, err)
		}

		eve := w.seat(w.another(), "eve", who.Owner)
		form := func() url.Values {
			return url.Values{"form": {number.FindStringSubmatch(eve.read("/app/me"))[1]}, "pin": {"4321"}, "role": {who.Viewer}, "from": {"1"}, "to": {"2"}}
		}
		for _, path := range []string{draft, paid, bulk, hook, hook + "/deliveries/" + regexp.MustCompile(`[0-9a-f-]{36}`).FindString(resend), approval, "/app/live/nothing/here"} {
			if g := eve.get(path); g.status != http.StatusNotFound || strings.Contains(g.text, "MOHAMMED") {
				t.Errorf("GET %s: %d", path, g.status)
			}
		}
		var acts []string
		for _, p := range people {
			acts = append(acts, "/app/settings/people/"+p.ID+"/role", "/app/settings/people/"+p.ID+"/remove")
		}
		for _, act := range []string{"test", "pause", "rotate", "replay", "delete", "nonsense"} {
			acts = append(acts, hook+"/"+act)
		}
		for _, path := range append(acts, draft, bulk+"/send", bulk+"/cancel", approval+"/approve", approval+"/reject", keys, resend) {
			if g := eve.send(path, form()); g.status != http.StatusNotFound {
				t.Errorf("POST %s: %d, %s", path, g.status, strconv.Quote(g.location))
			}
		}
		after, err := w.app.People.People(t.Context(), w.company.Reference)
		if err != nil || !slices.Equal(after, people) {
			t.Errorf("%+v, %v", after, err)
		}
		if text := ada.read(approval); !strings.Contains(text, "Waiting for approval") {
			t.Error(text)
		}
		if text := ada.read(hook); !strings.Contains(text, "Active") {
			t.Error(text)
		}
	})
}

// An owner invites people and changes them. Nobody else does, and the last owner stays.
func TestAnOwnerRunsThePeople(t *testing.T) {
	each(t, func(w *world) {
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		link := regexp.MustCompile(`/app/link/[a-z0-9]+/[A-Za-z0-9_-]+`)
		shown := ada.submit("/app/settings/people", "/app/settings/people/invite", map[string]string{"name": "emeka", "role": who.Developer}).location
		to := link.FindString(ada.read(shown))
		emeka := &person{world: w, name: "emeka"}
		emeka.submit(to, to, nil)
		if text := emeka.read("/app/me"); !strings.Contains(text, "emeka · developer") {
			t.Error(text)
		}
		people, err := w.app.People.People(t.Context(), w.company.Reference)
		if err != nil {
			w.t.Fatal(err)
		}
		id := map[string]string{}
		for _, p := range people {
			id[p.Name] = p.ID
		}
		at := "/app/settings/people/"
		for _, path := range []string{at + "invite", at + id["emeka"] + "/role", at + id["emeka"] + "/remove"} {
			if g := bola.send(path, bola.form("/app/me", map[string]string{"name": "eve", "role": who.Owner})); g.status != http.StatusForbidden {
				t.Errorf("POST %s as finance: %d", path, g.status)
			}
		}
		ada.submit("/app/settings/people", at+id["emeka"]+"/role", map[string]string{"role": who.Viewer})
		if g := emeka.get("/app/home"); g.status != http.StatusSeeOther {
			t.Errorf("a session outlives the role: %d", g.status)
		}
		ada.submit("/app/settings/people", at+id["bola"]+"/remove", nil)
		if g := bola.get("/app/home"); g.status != http.StatusSeeOther {
			t.Errorf("a session outlives the person: %d", g.status)
		}
		for name := range id { // kobo dev has an owner too
			if name == "owner" {
				ada.submit("/app/settings/people", at+id[name]+"/remove", nil)
			}
		}
		if g := ada.send(at+id["ada"]+"/role", ada.form("/app/settings/people", map[string]string{"role": who.Viewer})); g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "needs an owner") {
			t.Errorf("the last owner leaves: %d", g.status)
		}
	})
}
