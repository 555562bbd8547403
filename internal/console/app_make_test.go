package console_test

import (
	"bytes"
	"html"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/job"
	who "github.com/kobo-waas/kobo/internal/person"
)

// upload sends a form with a file, as a browser does.
func (p *person) upload(path string, fields map[string]string, file []byte) page {
	p.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, values := range p.form(path, fields) {
		if err := w.WriteField(name, values[0]); err != nil {
			p.t.Fatal(err)
		}
	}
	part, err := w.CreateFormFile("file", "lines.csv")
	if err == nil {
		_, err = part.Write(file)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return p.doAs(http.MethodPost, path, w.FormDataContentType(), body.String())
}

// A CSV file is read as if its lines were typed, as spreadsheets write it. A line that a spreadsheet has ruined is named,
// and the lines come back to be mended. The bad lines of a checked bulk payout are a file.
func TestABulkPayoutComesAsAFile(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		const path = "/app/payouts/bulk/new"
		fields := map[string]string{"fromSettlementId": "1", "pin": w.company.PIN, "lines": ""}
		for file, want := range map[string]string{
			"PK\x03\x04rest":  "is a workbook",
			"000013,\xff\xfe": "not UTF-8",
			"000013,\x00":     "is no text",
			"\ufeffbank;account\r\n000013;123456702;1,2E+09\r\n000013;0123456710;1.2E+09\r\n": "rounded",
		} {
			g := bola.upload(path, fields, []byte(file))
			if text := html.UnescapeString(g.text); g.status != http.StatusUnprocessableEntity || !strings.Contains(text, want) {
				t.Errorf("%q: %d, %s", file, g.status, text)
			}
		}
		if g := bola.upload(path, fields, bytes.Repeat([]byte("000013,0123456710,100\n"), 60_000)); g.status != http.StatusRequestEntityTooLarge {
			t.Errorf("a large file: %d", g.status)
		}
		g := bola.upload(path, fields, []byte("\ufeffbank;account;amount;narration\r\n000013;0123456710;1500,50;Rent\r\n000013;0123456799;100;\"=1+1\"\r\n"))
		if g.status != http.StatusSeeOther {
			w.t.Fatalf("%d: %s", g.status, g.text)
		}
		later(t, func() string {
			if text := bola.read(g.location); !strings.Contains(text, "MOHAMMED ADA") || strings.Contains(text, "Being checked") {
				return text
			}
			return ""
		})
		bola.says(g.location, "₦1,500.50")
		bad := bola.get(g.location + "/bad.csv")
		if bad.status != http.StatusOK || !strings.HasPrefix(bad.text, "Bank code,Account number,Amount") || strings.Contains(bad.text, "0123456710") {
			t.Errorf("%d %q", bad.status, bad.text)
		}
		if strings.Contains(bola.read(g.location), "Download the bad lines") != (strings.Count(bad.text, "\n") > 1) {
			t.Errorf("the link does not agree with the file: %q", bad.text)
		}
		formula := bola.submit(path, path, map[string]string{"fromSettlementId": "1", "pin": w.company.PIN, "lines": "000013,0123456799,100,=1+1+1+1"}).location
		later(t, func() string {
			if text := bola.get(formula + "/bad.csv").text; !strings.Contains(text, "\n000013,0123456799,100.00,'=1+1+1+1") {
				return text
			}
			return ""
		})
		eve := w.seat(w.another(), "eve", who.Owner)
		if g := eve.get(g.location + "/bad.csv"); g.status != http.StatusNotFound {
			t.Errorf("another company: %d", g.status)
		}
	})
}

// People who pay make a customer, resend the one-time code and open the account. The BVN stands on no page.
func TestAPersonMakesACustomer(t *testing.T) {
	each(t, func(w *world) {
		bola, vera := w.seat(w.company.Reference, "bola", who.Finance), w.seat(w.company.Reference, "vera", who.Viewer)
		fields := map[string]string{
			"firstName": "Ngozi", "lastName": "Okafor", "email": "ngozi@example.com", "phoneNumber": "0803", "bvn": "22222222222",
			"line1": "1 Marina", "city": "Lagos", "state": "Lagos",
		}
		g := bola.send("/app/customers/new", bola.form("/app/customers/new", fields))
		if g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "1 Marina") || strings.Contains(g.text, "22222222222") {
			w.t.Fatalf("%d: %s", g.status, g.text)
		}
		fields["phoneNumber"], fields["line1"] = "08031234567", ""
		g = bola.send("/app/customers/new", bola.form("/app/customers/new", fields))
		if g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "an address has the house and street. Or leave the whole address empty.") {
			w.t.Fatalf("half an address: %d: %s", g.status, g.text)
		}
		fields["line1"] = "1 Marina"
		if g := vera.send("/app/customers/new", vera.form("/app/customers/new", fields)); g.status != http.StatusForbidden {
			t.Errorf("a viewer: %d", g.status)
		}
		form := bola.form("/app/customers/new", fields)
		at := bola.send("/app/customers/new", form).location
		if again := bola.send("/app/customers/new", form).location; again != at || !strings.HasPrefix(at, "/app/customers/") {
			w.t.Fatalf("%q and %q", at, again)
		}
		bola.says(at, "Ngozi Okafor", "Open the bank account", "Send another code")
		if strings.Contains(vera.read(at), "Open the bank account") {
			t.Error("a viewer sees the form")
		}
		eve := w.seat(w.another(), "eve", who.Owner)
		for _, act := range []string{"/resend", "/account"} {
			if g := eve.press(at + act); g.status == http.StatusSeeOther {
				t.Errorf("another company: %s %d", act, g.status)
			}
		}
		if g := bola.send(at+"/account", bola.form(at, map[string]string{"otp": "000000", "settlementId": "1"})); g.status == http.StatusSeeOther {
			t.Errorf("a wrong code: %d", g.status)
		}
		bola.submit(at, at+"/account", map[string]string{"otp": "123456", "settlementId": "1"})
		if text := bola.read(at); strings.Contains(text, "Open the bank account") || strings.Contains(text, "none yet") || strings.Contains(text, "22222222222") {
			t.Error(text)
		}
	})
}

// A virtual account is made for one payment, once for each form.
func TestAPersonMakesAVirtualAccount(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		const path = "/app/money/virtual-accounts/new"
		if g := bola.send(path, bola.form(path, map[string]string{"amount": "x", "externalReference": "invoice-1"})); g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "invoice-1") {
			t.Errorf("%d: %s", g.status, g.text)
		}
		form := bola.form(path, map[string]string{"amount": "2,500", "externalReference": "invoice-1", "settlementId": "1", "amountControl": "Fixed", "minutes": "30"})
		first, second := bola.send(path, form), bola.send(path, form)
		if first.location != second.location || !regexp.MustCompile("^/app/p/.+").MatchString(first.location) {
			w.t.Fatalf("%d %q and %q: %s", first.status, first.location, second.location, first.text)
		}
		const list = "/app/money/virtual-accounts"
		if text := bola.read(list); strings.Count(text, first.location) != 1 {
			t.Error(text)
		}
		id, dev := strings.TrimPrefix(first.location, "/app/p/"), w.signIn("dev")
		isDrawn := func(chip string) {
			t.Helper()
			bola.says(first.location, "₦2,500.00", chip)
			bola.says(list, chip)
			dev.says("/console/p/"+id, chip)
			dev.says("/console/companies/"+w.company.Reference+"/virtual-accounts", chip)
		}
		isDrawn("Waiting for the payment</span>")
		late := *w.app.Collections
		late.Clock = ahead{late.Clock, time.Hour}
		if _, err := late.Expire(t.Context(), job.Job{Company: w.company.Reference, Subject: id}); err != nil {
			w.t.Fatal(err)
		}
		isDrawn("Expired, not paid</span>")
	})
}

// A card of another company, or of nobody, is not there.
func TestACardHasAPage(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		const card = "/app/services/cards/nothing"
		if g := bola.get(card); g.status != http.StatusNotFound {
			t.Errorf("%d", g.status)
		}
		for _, act := range []string{"/freeze", "/unfreeze", "/terminate"} {
			if g := bola.press(card + act); g.status == http.StatusSeeOther || g.status >= http.StatusInternalServerError {
				t.Errorf("%s: %d", act, g.status)
			}
		}
	})
}

// An owner changes the transaction PIN. No page shows a PIN, and a wrong one changes nothing.
func TestAnOwnerChangesThePIN(t *testing.T) {
	each(t, func(w *world) {
		ada, bola := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "bola", who.Finance)
		const path = "/app/settings/pin"
		change := func(p *person, now, next, again string) page {
			return p.send(path, p.form(path, map[string]string{"currentPin": now, "pin": next, "again": again}))
		}
		for what, g := range map[string]page{"a wrong PIN": change(ada, "0000", "8642", "8642"), "not the same": change(ada, w.company.PIN, "8642", "8643")} {
			if g.status != http.StatusUnprocessableEntity || strings.Contains(g.text, "8642") {
				t.Errorf("%s: %d %s", what, g.status, g.text)
			}
		}
		if g := change(bola, w.company.PIN, "8642", "8642"); g.status != http.StatusForbidden {
			t.Errorf("a person in the role finance: %d", g.status)
		}
		if g := change(ada, w.company.PIN, "8642", "8642"); g.location != "/app/settings" {
			w.t.Fatalf("%d %s", g.status, g.text)
		}
		w.company.PIN = "8642"
		if to := bola.checks("0123456710", "100"); !strings.HasPrefix(to, "/app/payouts/confirm/") {
			t.Errorf("the new PIN leads to %q", to)
		}
	})
}

// The search leads to what has exactly the reference, and to nothing of another company.
func TestACompanyFindsItsOwn(t *testing.T) {
	each(t, func(w *world) {
		w.customerAccount()
		vera, bola := w.seat(w.company.Reference, "vera", who.Viewer), w.seat(w.company.Reference, "bola", who.Finance)
		eve := w.seat(w.another(), "eve", who.Owner)
		draft := bola.submit("/app/payouts/new", "/app/payouts/check", map[string]string{
			"bank_code": "000013", "account_number": "0123456710", "amount": "100", "fromSettlementId": "1", "pin": w.company.PIN, "externalReference": "rent-17",
		}).location
		paid := bola.submit(draft, draft, nil).location
		bulk := bola.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{"fromSettlementId": "1", "pin": w.company.PIN, "lines": "000013,0123456710,100"}).location
		customer := regexp.MustCompile(`/app/customers/[0-9a-f-]{36}`).FindString(vera.read("/app/customers"))
		find := func(p *person, text string) page {
			return p.send("/app/search", p.form("/app/search", map[string]string{"q": text}))
		}
		last := func(path string) string { return path[strings.LastIndex(path, "/")+1:] }
		for text, want := range map[string]string{last(paid): paid, "rent-17": paid, last(bulk): bulk, last(customer): customer} {
			if g := find(vera, text); g.location != want {
				t.Errorf("%q leads to %q, want %q: %d", text, g.location, want, g.status)
			}
			if g := find(eve, text); !strings.HasPrefix(g.location, "/app/search/") || !strings.Contains(eve.read(g.location), "Nothing of your company was found.") {
				t.Errorf("%q at another company: %d to %q", text, g.status, g.location)
			}
		}
	})
}

// A company finds its payments by what somebody reads out. A secret, a BVN and a blank text are not looked up.
func TestACompanyFindsByWhatSomebodyReadsOut(t *testing.T) {
	each(t, func(w *world) {
		vera, bola := w.seat(w.company.Reference, "vera", who.Viewer), w.seat(w.company.Reference, "bola", who.Finance)
		eve := w.seat(w.another(), "eve", who.Owner)
		fields := map[string]string{"bank_code": "000013", "account_number": "0123456710", "amount": "100", "fromSettlementId": "1", "pin": w.company.PIN}
		find := func(p *person, text string) page {
			return p.send("/app/search", p.form("/app/search", map[string]string{"q": text}))
		}
		draft := bola.submit("/app/payouts/new", "/app/payouts/check", fields).location
		paid := bola.submit(draft, draft, nil).location
		// One payout has the amount, the account and both. A second one makes a page of it. Another company finds neither.
		for _, text := range []string{"100", "₦100", "0123456710", "₦100 0123456710"} {
			if g := find(vera, text); g.location != paid {
				t.Errorf("%q leads to %d %q", text, g.status, g.location)
			}
		}
		draft = bola.submit("/app/payouts/new", "/app/payouts/check", fields).location
		second := bola.submit(draft, draft, nil).location
		for text, want := range map[string]string{
			"100": "Looked for an amount among payments, of the last seven days in Lagos", "0123456710": "Looked for an account number among settlement accounts",
			"₦100 0123456710": "Looked for an amount to or from an account", "yesterday": "Nothing of your company was found. Looked for a day", "22212345678": "does not search by BVN",
			"kobo_test_x": "rotate the secret of the webhook under Developers", strings.Repeat("9", 30): "has no session ID while its outcome is unknown",
		} {
			g := find(vera, text)
			if !strings.HasPrefix(g.location, "/app/search/") {
				t.Errorf("%q leads to %d %q", text, g.status, g.location)
				continue
			}
			said := html.UnescapeString(vera.read(g.location))
			if !strings.Contains(said, want) || strings.HasPrefix(want, "Looked") != (strings.Contains(said, paid) && strings.Contains(said, second)) {
				t.Errorf("%q: %s", text, said)
			}
			if g := eve.get(g.location); g.status != http.StatusNotFound {
				t.Errorf("the answer for somebody else: %d", g.status)
			}
			if g := find(eve, text); strings.Contains(eve.read(g.location), "/app/p/") {
				t.Errorf("%q finds something of another company", text)
			}
		}
		if g := find(vera, " "); g.status != http.StatusSeeOther || g.location != "/app/search" {
			t.Errorf("a blank search: %d", g.status)
		}
	})
}

// The request log is read by the id of a request, and the search box leads there.
func TestACompanyFindsARequest(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		draft := bola.submit("/app/payouts/new", "/app/payouts/check", map[string]string{"bank_code": "000013", "account_number": "0123456710", "amount": "100", "fromSettlementId": "1", "pin": w.company.PIN}).location
		bola.submit(draft, draft, nil)
		find := func(p *person, text string) page {
			return p.send("/app/search", p.form("/app/search", map[string]string{"q": text}))
		}
		later(t, func() string { // the request log is written behind
			text := bola.read("/app/developers/requests?status=2xx&method=POST")
			id := regexp.MustCompile(`data-copy="([0-9a-zA-Z-]{20,})"`).FindStringSubmatch(text)
			if id == nil {
				return text
			}
			if g := find(bola, id[1]); g.location != "/app/developers/requests?requestId="+id[1] {
				return id[1] + " leads to " + g.location
			}
			if one := bola.read("/app/developers/requests?requestId=" + id[1]); strings.Count(one, "<tr") != 2 {
				return one
			}
			return ""
		})
	})
}
