package console_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	who "github.com/kobo-waas/kobo/internal/person"
)

// Each reference of the ledger that is a link leads to a page.
func TestEachLinkOfTheLedgerLeadsToAPage(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		fields := map[string]string{"bank_code": "000013", "account_number": "0123456710", "amount": "100", "fromSettlementId": "1", "pin": w.company.PIN}
		draft := bola.submit("/app/payouts/new", "/app/payouts/check", fields).location
		paid := bola.submit(draft, draft, nil).location
		links := regexp.MustCompile(`"(/app/p/[^"]+)"`).FindAllStringSubmatch(bola.read("/app/money/ledger"), -1)
		if len(links) == 0 || links[0][1] != paid {
			t.Errorf("%q lacks %s", links, paid)
		}
		for _, l := range links {
			if g := bola.get(l[1]); g.status != http.StatusOK {
				t.Errorf("GET %s: %d", l[1], g.status)
			}
		}
	})
}

// The statement comes as a file, as the API sends it. A statement that is refused is a page that says why.
func TestAStatementIsAFile(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		if text := bola.read("/app/money/ledger"); !strings.Contains(text, `action="/app/money/statement"`) || !strings.Contains(text, "Main") {
			t.Error("the ledger offers no statement")
		}
		for _, page := range []string{"/app/home", "/app/money/ledger?settlementId=1"} {
			if text := bola.read(page); !strings.Contains(text, "Balance of Main") || !strings.Contains(text, `data-value="1000000.00"`) {
				t.Errorf("%s has no chart of the balance: %s", page, text)
			}
		}
		for format, begins := range map[string]string{"pdf": "%PDF-", "xlsx": "PK", "csv": ""} {
			g := bola.get("/app/money/statement?settlementId=1&from=&to=&format=" + format)
			if g.status != http.StatusOK || !strings.HasPrefix(g.text, begins) || len(g.text) < 100 || !strings.Contains(g.header.Get("Content-Disposition"), "."+format) {
				t.Errorf("%s: %d %v %.60q", format, g.status, g.header, g.text)
			}
		}
		for query, want := range map[string]int{"settlementId=2": http.StatusNotFound, "settlementId=x": http.StatusBadRequest, "settlementId=1&format=doc": http.StatusBadRequest} {
			if g := bola.get("/app/money/statement?" + query); g.status != want || !strings.Contains(g.text, "<html") {
				t.Errorf("%s: %d %.200s", query, g.status, g.text)
			}
		}
		if g := (&person{world: w}).get("/app/money/statement?settlementId=1"); g.status == http.StatusOK {
			t.Error("a stranger reads a statement")
		}
	})
}

// A company sees when the outcome is asked for next, and when people decide.
func TestAnUnknownPayoutShowsItsClock(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Viewer)
		text := bola.read("/app/p/" + w.payout("0123456708", 250)) // the bank never says more
		for _, want := range []string{"Do not pay again", `<li class="next">5 s`, "72 h"} {
			if !strings.Contains(text, want) {
				t.Errorf("the page does not have %q: %s", want, text)
			}
		}
	})
}

// A customer has a page of its own, which other companies do not see.
func TestACustomerHasAPage(t *testing.T) {
	each(t, func(w *world) {
		w.customerAccount()
		bola := w.seat(w.company.Reference, "bola", who.Viewer)
		page := regexp.MustCompile(`/app/customers/[^"]+`).FindString(bola.read("/app/customers"))
		if text := bola.read(page); !strings.Contains(text, "Ngozi Okafor") || !strings.Contains(text, "Nothing has arrived") || strings.Contains(text, "22222222222") {
			t.Error(text)
		}
		eve := w.seat(w.another(), "eve", who.Owner)
		for path, want := range map[string]int{page: http.StatusNotFound, "/app/customers/none": http.StatusNotFound} {
			if g := eve.get(path); g.status != want {
				t.Errorf("%s: %d", path, g.status)
			}
		}
	})
}

// Each payment of a company has a page with what happened, and each reference of a list leads to one. Nobody else
// reads it.
func TestACompanySeesWhatHappened(t *testing.T) {
	each(t, func(w *world) {
		w.asCompany("POST", "/sandbox/credit", "", map[string]any{"accountNumber": w.customerAccount(), "amount": 2_500, "senderName": "BOLA SAMPLE"}, nil)
		paid := "/app/p/" + w.payout("0123456710", 1_500)
		vera := w.seat(w.company.Reference, "vera", who.Viewer)
		later(w.t, func() string {
			if !strings.Contains(vera.read("/app/money"), "BOLA SAMPLE") {
				return "the credit is not there"
			}
			return ""
		})
		for _, list := range []string{"/app/money", "/app/money/ledger", "/app/payouts"} {
			found := regexp.MustCompile(`/app/p/[^"]+`).FindAllString(vera.read(list), -1)
			if len(found) == 0 {
				t.Errorf("%s leads to no payment", list)
			}
			for _, page := range found {
				if text := vera.read(page); !strings.Contains(text, "What happened") || !strings.Contains(text, "moved") {
					t.Errorf("%s: %s", page, text)
				}
			}
		}
		text := html.UnescapeString(vera.read(paid))
		for _, said := range []string{"₦1,500.00 to ADEYEMI PATIENCE", "Your company asked for it", "Settlement account 1", "Outside", "Outcome", "payout.success"} {
			if !strings.Contains(text, said) {
				t.Errorf("no %q in %s", said, text)
			}
		}
		if strings.Contains(text, "safehaven") || strings.Contains(text, "Safe Haven") {
			t.Error("the page names the biller")
		}
		eve := w.seat(w.another(), "eve", who.Owner)
		if g := eve.get(paid); g.status != http.StatusNotFound {
			t.Errorf("another company reads %s: %d", paid, g.status)
		}
	})
}

// customerAccount returns the number of a new customer's bank account.
func (w *world) customerAccount() string {
	var token struct{ AccessToken string }
	w.asCompany("POST", "/api/v1/auth/generate-token/"+w.company.Reference, "", nil, &token)
	var made struct{ Data struct{ ID string } }
	w.asCompany("POST", "/api/v1/customer/create", token.AccessToken, map[string]string{
		"firstName": "Ngozi", "lastName": "Okafor", "email": "ngozi@example.com", "phoneNumber": "08031234567", "bvn": "22222222222",
	}, &made)
	w.asCompany("POST", "/api/v1/customer/generate-account", token.AccessToken, map[string]string{"customerId": made.Data.ID, "otp": "123456"}, nil)
	var customer struct {
		Data struct {
			BankAccount struct{ AccountNumber string }
		}
	}
	w.asCompany("GET", "/api/v1/customer/"+made.Data.ID, token.AccessToken, nil, &customer)
	return customer.Data.BankAccount.AccountNumber
}
