package safehaven

import (
	"encoding/json"
	"testing"

	"github.com/kobo-waas/kobo/internal/provider"
)

// statuses are the HTTP statuses that leave the outcome to the body. Client handles all others.
var statuses = []int{200, 201, 202, 302, 400, 401, 403, 404, 409, 422}

// Only a whole reply decides: whatever the bank sends, an outcome needs a body of JSON, or a refusal of our
// credentials. A record that says what happened is never missing too.
func FuzzRepliesOfTheBank(f *testing.F) {
	for _, body := range []string{
		`{"statusCode":200,"responseCode":"00","message":"ok","data":{"id":"1","status":"successful","amount":100}}`,
		`{"statusCode":400,"responseCode":"51","message":"Insufficient balance"}`,
		`{"statusCode":404,"message":"Transaction not found"}`,
		`{"statusCode":200,"data":{"_id":"2","externalReference":"ref","transactionStatus":"failed","transactionAmount":"100.00"}}`,
		`{"statusCode":200,"data":{"_id":"2","transactionStatus":"successful","reversalPaymentReference":"r"}}`, `<html>`, `null`, `[]`, ``,
	} {
		for i := range statuses {
			f.Add(uint8(i), body)
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, body string) {
		r := provider.Reply{Status: statuses[int(i)%len(statuses)], Body: []byte(body)}
		whole := json.Valid(r.Body)
		paid, _ := judgePayment(r)
		found, _ := judgeRequery(r, "ref")
		for what, a := range map[string]provider.Answer{"payment": paid, "requery": found} {
			refused := a.Outcome == provider.Rejected && what == "payment" && (r.Status == 401 || r.Status == 403)
			if a.Outcome != provider.Unknown && !whole && !refused {
				t.Errorf("%s: %d %q decides %s", what, r.Status, body, a.Outcome)
			}
			if a.Outcome == provider.Confirmed && r.Status/100 != 2 {
				t.Errorf("%s: status %d confirms %q", what, r.Status, body)
			}
			if a.Missing && (a.Outcome != provider.Unknown || !whole) {
				t.Errorf("%s: %d %q is missing and %s", what, r.Status, body, a.Outcome)
			}
			if a.Unstarted && a.Outcome != provider.Rejected {
				t.Errorf("%s: %d %q was not begun, and is %s", what, r.Status, body, a.Outcome)
			}
		}
	})
}

// A notification that is read names its session, its account and an amount.
func FuzzNotificationsOfTheBank(f *testing.F) {
	for _, body := range []string{
		`{"type":"transfer","data":{"_id":"1","type":"Inwards","sessionId":"0000","creditAccountNumber":"8000000011","amount":100}}`,
		`{"type":"virtualAccount.transfer","data":{"sessionId":"0000","creditAccountNumber":"8000000011","externalReference":"x","amount":"1e3"}}`,
		`{"eventType":"transfer","data":{"type":"Outwards","paymentReference":"p","amount":-5}}`, `{"data":null}`, `[]`,
	} {
		f.Add(body)
	}
	p := &Plug{}
	f.Fuzz(func(t *testing.T, body string) {
		n, err := p.ParseNotification([]byte(body))
		if err == nil && (n.Kind == provider.AccountCredit || n.Kind == provider.VirtualCredit) && (n.SessionID == "" || n.Account == "" || n.Amount <= 0) {
			t.Errorf("%q is read as %+v", body, n)
		}
	})
}

// A line of a statement that is read has an amount that is not negative, and an instant.
func FuzzLinesOfTheStatement(f *testing.F) {
	for _, body := range []string{
		`{"_id":"1","paymentReference":"r","type":"Credit","amount":100.5,"runningBalance":"7","transactionDate":"2030-01-02T03:04:05.000Z"}`,
		`{"type":"debit","amount":"-1","transactionDate":"2030-01-02"}`, `{"isReversal":"true","type":1}`, `{"amount":1e400}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var line statementLine
		if json.Unmarshal([]byte(body), &line) != nil {
			return
		}
		if read, ok := line.read(); ok && (read.Amount < 0 || read.At.IsZero()) {
			t.Errorf("%q is read as %+v", body, read)
		}
	})
}
