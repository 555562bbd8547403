package safehaven

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

func TestOTPControl(t *testing.T) {
	b := newBanker(t, sandbox.Config{})
	if status, body := b.Do("GET", "/sandbox/otp/22222222222", nil); status != 400 || body["status"] != "error" {
		t.Errorf("before: HTTP %d %v", status, body)
	}
	start := object{"type": "BVN", "number": "22222222222", "debitAccountNumber": debitAccount, "async": false}
	session := b.must("POST", "/identity/v2", start)["_id"]
	if got := b.must("GET", "/sandbox/otp/22222222222/", nil); got["otp"] != rightOTP || got["expiresAt"] == "" {
		t.Errorf("%v", got)
	}
	if status, _ := b.Do("POST", "/sandbox/otp/22222222222", nil); status != 405 {
		t.Errorf("HTTP %d", status)
	}
	if err := b.server.Advance(t.Context(), otpLife+time.Second); err != nil {
		t.Fatal(err)
	}
	status, body := b.Do("POST", "/identity/v2/validate", object{"identityId": session, "type": "BVN", "otp": rightOTP})
	if status == 200 && fmt.Sprint(body["statusCode"]) == "200" {
		t.Errorf("an OTP that had ended was accepted: %v", body)
	}
}

// The sandbox stores no BVN in its database file.
func TestBVNsAreNotKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sandbox.db")
	b := newBanker(t, sandbox.Config{Path: path})
	session := b.must("POST", "/identity/v2", object{"type": "BVN", "number": "22345678901", "debitAccountNumber": debitAccount})["_id"]
	account := b.must("POST", "/accounts/v2/subaccount", object{
		"phoneNumber": "+2348031234588", "emailAddress": "ada@example.test", "externalReference": "sub-0001", "identityType": "BVN",
		"identityNumber": "22345678901", "identityId": session, "otp": rightOTP, "callbackUrl": b.told.URL + "/own",
	})
	if strings.Contains(fmt.Sprint(account), "22345678901") || !strings.HasPrefix(fmt.Sprint(account["accountNumber"]), "80") {
		t.Errorf("%v", account)
	}
	for _, suffix := range []string{"", "-wal"} {
		books, err := os.ReadFile(path + suffix)
		if err != nil || bytes.Contains(books, []byte("22345678901")) {
			t.Errorf("the BVN is in the books, or they cannot be read: %v", err)
		}
	}
}

// A virtual account has the status Active, and becomes Expired after its lifetime. It accepts late
// payments and wrong amounts. After a payment its status is Completed.
func TestVirtualAccount(t *testing.T) {
	b := newBanker(t, sandbox.Config{})
	open := object{
		"validFor": 600, "settlementAccount": object{"bankCode": bankCode, "accountNumber": debitAccount}, "amountControl": "Fixed",
		"amount": 2500, "externalReference": "va-0001",
	}
	v := b.must("POST", "/virtual-accounts", open)
	if again := b.must("POST", "/virtual-accounts", open); again["_id"] != v["_id"] {
		t.Errorf("the same request made %v and %v", v, again)
	}
	open["amount"] = 3000
	if status, body := b.Do("POST", "/virtual-accounts", open); status != 409 {
		t.Errorf("another amount under the same reference: HTTP %d %v", status, body)
	}
	show := func() any { return b.must("GET", "/virtual-accounts/"+fmt.Sprint(v["_id"]), nil)["status"] }
	if !strings.HasPrefix(fmt.Sprint(v["accountNumber"]), "70") || show() != "Active" {
		t.Errorf("%v is %v", v, show())
	}
	if err := b.server.Advance(t.Context(), 11*time.Minute); err != nil {
		t.Fatal(err)
	}
	if show() != "Expired" {
		t.Errorf("late: %v", show())
	}
	b.must("POST", "/sandbox/credit", object{"accountNumber": v["accountNumber"], "amount": 10})
	kind, n := b.notice()
	if kind != "virtualAccount.transfer" || n["virtualAccount"] != v["_id"] || n["externalReference"] != "va-0001" || n["account"] != nil {
		t.Errorf("%s %v", kind, n)
	}
	if b.signIn(); show() != "Completed" {
		t.Errorf("paid: %v", show())
	}
}

// The bank sends the notice of a payout immediately. If the response to the payout was lost, the
// bank sends the notice later. The notice of a pending payout is sent when the payout has its final
// status.
func TestPayoutNotices(t *testing.T) {
	b := newBanker(t, sandbox.Config{Hold: time.Millisecond})
	b.pay(t, "000013", "0123456788", "told-88")
	if kind, n := b.notice(); kind != "transfer" || n["type"] != "Outwards" || n["paymentReference"] != "told-88" || n["status"] != "Completed" {
		t.Errorf("%s %v", kind, n)
	}
	b.pay(t, "000013", "0123456704", "told-04")
	b.pay(t, "000013", "0123456707", "told-07")
	b.silence()
	for range 2 {
		b.must("POST", "/transfers/status", object{"paymentReference": "told-07"})
	}
	if _, n := b.notice(); n["paymentReference"] != "told-07" || n["status"] != "Failed" {
		t.Errorf("%v", n)
	}
	b.silence()
	if err := b.server.Advance(t.Context(), noticeDelay); err != nil {
		t.Fatal(err)
	}
	if _, n := b.notice(); n["paymentReference"] != "told-04" || n["status"] != "Completed" {
		t.Errorf("%v", n)
	}
	b.must("POST", "/sandbox/statement-line", object{"reference": "told-04", "type": "Debit", "amount": 100})
	for what, bad := range map[string]object{
		"/sandbox/statement-line": {"reference": "x", "type": "Both", "amount": 1},
		"/sandbox/reverse":        {"reference": "told-07"},
		"/sandbox/account-name":   {"bankCode": "1", "accountNumber": "2", "accountName": "3"},
	} {
		if status, body := b.Do("POST", what, bad); status != 400 || body["status"] != "error" {
			t.Errorf("%s: HTTP %d %v", what, status, body)
		}
	}
	b.must("POST", "/sandbox/reverse", object{"reference": "told-04"})
	if _, n := b.notice(); n["status"] != "Reversed" || n["isReversed"] != true {
		t.Errorf("%v", n)
	}
	lines, total, err := b.statement(t.Context(), books.Span{From: 0, Before: 1 << 62}, books.Page{Number: 0, Limit: 100})
	if err != nil || total != 6 || lines[5].balance != books.OpeningFloat-20_000 {
		t.Errorf("%+v %v", lines, err)
	}
}
