package console_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	who "github.com/kobo-waas/kobo/internal/person"
)

// A finance person sees each naira that came in, with the account that received it: in the list, its filters and its files, and on
// the page of the credit. A viewer reads the sender's account masked.
func TestEachCreditOfTheCompanyIsShown(t *testing.T) {
	each(t, func(w *world) {
		bola, vera := w.seat(w.company.Reference, "bola", who.Finance), w.seat(w.company.Reference, "vera", who.Viewer)
		if text := bola.read("/app/money?period=all"); !strings.Contains(text, "Nobody has paid your company yet.") {
			t.Error(text)
		}
		var made struct {
			Data struct {
				AccountNumber string `json:"accountNumber"`
			} `json:"data"`
		}
		var token struct{ AccessToken string }
		w.asCompany("POST", "/api/v1/auth/generate-token/"+w.company.Reference, "", nil, &token)
		w.asCompany("POST", "/api/v1/virtual-account/generate", token.AccessToken, map[string]any{"amount": 700, "externalReference": "order-700"}, &made)
		for _, c := range []struct {
			number string
			amount int
		}{{w.customerAccount(), 2_500}, {made.Data.AccountNumber, 700}, {w.company.SettlementAccountNumber, 18_250}} {
			w.asCompany("POST", "/sandbox/credit", "", map[string]any{"accountNumber": c.number, "amount": c.amount, "senderName": "BOLA SAMPLE"}, nil)
		}
		received := []string{"Customer Ngozi Okafor", "Virtual account " + made.Data.AccountNumber, "Own account Main account, " + w.company.SettlementAccountNumber}
		for _, p := range []*person{bola, vera} {
			later(t, func() string {
				text := p.read("/app/money")
				for _, want := range append([]string{"₦2,500.00", "₦700.00", "₦18,250.00"}, received...) {
					if !strings.Contains(text, want) {
						return "the list lacks " + want + ": " + text
					}
				}
				return ""
			})
		}
		if text := bola.read("/app/money"); strings.Contains(text, "BOLA SAMPLE, 0000") || !regexp.MustCompile(`BOLA SAMPLE, [A-Z][a-z]`).MatchString(text) {
			t.Errorf("the list has the code of a bank: %s", text)
		}
		own := bola.read("/app/money?receiver=settlement&settlementId=1")
		if !strings.Contains(own, received[2]) || strings.Contains(own, received[0]+"<") || !strings.Contains(own, "received on: Your own accounts ×") || !strings.Contains(own, "account: Main account ×") {
			t.Error(own)
		}
		rows := bola.rowsOf("/app/money.csv?receiver=settlement")
		if len(rows) != 1 || rows[0][4] != "Own account Main account" || rows[0][5] != w.company.SettlementAccountNumber || rows[0][6] != "18250.00" {
			t.Errorf("%v", rows)
		}
		if rows := bola.cellsOf("/app/money.xlsx"); len(rows) != 3 {
			t.Errorf("%v", rows)
		}
		if g := bola.get("/app/money?receiver=bank"); g.status < http.StatusBadRequest {
			t.Errorf("a wrong filter: %d", g.status)
		}
		page := regexp.MustCompile(`/app/p/[^"]+`).FindString(own)
		for _, p := range []*person{bola, vera} {
			text := p.read(page)
			for _, want := range []string{"<dt>Received on</dt><dd>" + received[2], "<dt>Session id</dt>", "BOLA SAMPLE", "Money arrived"} {
				if !strings.Contains(text, want) {
					t.Errorf("the page lacks %q: %s", want, text)
				}
			}
		}
		// Operators read the same bank, and no whole account number.
		bank := found(t, regexp.MustCompile(`BOLA SAMPLE, ([A-Z][^,<]* \([0-9]{6}\))`), bola.read(page))
		w.signIn("dev").says(strings.Replace(page, "/app", "/console", 1), "<dt>From</dt><dd>BOLA SAMPLE, ******", ", "+bank+"</dd>")
		account := regexp.MustCompile(`, ([0-9]{10})\s*</dd>`).FindStringSubmatch(bola.read(page))
		if account == nil || strings.Contains(vera.read(page), account[1]) {
			t.Errorf("a viewer reads the sender's account: %v", account)
		}
		eve := w.seat(w.another(), "eve", who.Owner)
		if text := eve.read("/app/money?period=all"); strings.Contains(text, "BOLA SAMPLE") {
			t.Error("another company reads the credits")
		}
		if g := eve.get(page); g.status != http.StatusNotFound {
			t.Errorf("another company reads a credit: %d", g.status)
		}
	})
}
