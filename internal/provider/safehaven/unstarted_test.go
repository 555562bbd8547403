package safehaven

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/provider"
)

// A purchase may move to a different biller only after these replies. A plain 400 may come from the
// bank's vendor, so the purchase stays at the bank.
func TestTheRepliesAfterWhichAPurchaseMoves(t *testing.T) {
	for body, want := range map[string]bool{
		`{"statusCode":400,"responseCode":"51","message":"Insufficient funds"}`:          true,
		`{"statusCode":400,"responseCode":"57","message":"Not permitted"}`:               true,
		`{"statusCode":200,"responseCode":"58","message":"Not permitted"}`:               true,
		`{"statusCode":400,"responseCode":"61","message":"Limit"}`:                       true,
		`{"statusCode":400,"message":"The vendor refused this purchase"}`:                false,
		`{"statusCode":400,"responseCode":"05","message":"Do not honour"}`:               false,
		`{"statusCode":400,"responseCode":"51","data":{"id":"1"}}`:                       false,
		`{"statusCode":200,"responseCode":"58","data":{"status":"failed"}}`:              false,
		`{"statusCode":200,"responseCode":"58","data":{"status":"pending","id":"1"}}`:    false,
		`{"statusCode":409,"responseCode":"58","message":"duplicate"}`:                   false,
		`{"statusCode":500,"responseCode":"58","message":"Internal server error"}`:       false,
		`{"statusCode":200,"responseCode":"00","data":{"status":"successful","id":"1"}}`: false,
	} {
		a, _ := judgePayment(provider.Reply{Status: 200, Body: []byte(body)})
		if a.Unstarted != want || want && a.Outcome != provider.Rejected {
			t.Errorf("%s: unstarted %t, %s", body, a.Unstarted, a.Outcome)
		}
	}
	for trouble, want := range map[string]bool{provider.CodeNotSent: true, provider.CodeTimeout: false, provider.CodeConnection: false, provider.CodeServerError: false} {
		if a, _ := judgePayment(provider.Reply{Trouble: trouble}); a.Unstarted != want {
			t.Errorf("%s: unstarted %t", trouble, a.Unstarted)
		}
	}
}
