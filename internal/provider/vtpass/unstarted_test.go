package vtpass

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/provider"
)

// A purchase may move to a different biller only after these codes, and only if the reply contains no
// transaction. Every other reply leaves the purchase at VTpass.
func TestTheRepliesAfterWhichAPurchaseMoves(t *testing.T) {
	before := provider.Words("010 011 012 013 017 018 021 022 023 024 027 028 031 032 034 035 085 087")
	for code := range 1000 {
		code := string([]byte{byte('0' + code/100), byte('0' + code/10%10), byte('0' + code%10)})
		for name, reply := range map[string]provider.Reply{
			"bare": {Status: 200, Body: []byte(bare(code))}, "with a transaction": {Status: 200, Body: []byte(done(code, "failed"))},
		} {
			a := judgePayment(reply, ourID)
			if want := before[code] && name == "bare"; a.Unstarted != want || want && a.Outcome != provider.Rejected {
				t.Errorf("%s %s: unstarted %t, %s", code, name, a.Unstarted, a.Outcome)
			}
		}
	}
	for body, want := range map[string]bool{
		`{"code":"018","content":{"transactions":[{"status":"initiated","transactionId":"1"}]}}`:            false,
		`{"code":"018","content":{"transactions":{"product_name":"MTN","quantity":1}}}`:                     false,
		`{"code":"018","content":{"transactions":null}}`:                                                    false,
		`{"code":"018","content":[{"transactionId":"1"}]}`:                                                  false,
		`{"code":"018","transactionId":"1"}`:                                                                false,
		`{"code":"018","purchased_code":"Token : 1234"}`:                                                    false,
		`{"code":"018","token":"1234"}`:                                                                     false,
		`{"code":"018","mainToken":"1234"}`:                                                                 false,
		`{"code":"018","content":{}}`:                                                                       true,
		`{"code":"018","content":null}`:                                                                     true,
		`{"code":"011","content":{"errors":"Invalid arguments"},"response_description":"x","requestId":""}`: true,
	} {
		if a := judgePayment(provider.Reply{Status: 200, Body: []byte(body)}, ourID); a.Unstarted != want {
			t.Errorf("%s: unstarted %t", body, a.Unstarted)
		}
	}
	for _, trouble := range []string{provider.CodeTimeout, provider.CodeConnection, provider.CodeServerError, provider.CodeUnreadable} {
		if a := judgePayment(provider.Reply{Trouble: trouble}, ourID); a.Unstarted {
			t.Errorf("%s: the purchase may move", trouble)
		}
	}
	if a := judgePayment(provider.Reply{Trouble: provider.CodeNotSent}, ourID); !a.Unstarted {
		t.Error("a purchase that was not sent may not move")
	}
	for _, body := range []string{"{}", `{"message":"Unauthenticated."}`, `{"content":{"errors":"no"}}`, "<html>"} {
		if a := judgePayment(provider.Reply{Status: 401, Body: []byte(body)}, ourID); a.Unstarted || a.Outcome != provider.Rejected {
			t.Errorf("refused keys: %s: %+v", body, a)
		}
	}
}
