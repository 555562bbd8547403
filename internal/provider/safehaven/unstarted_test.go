package safehaven

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
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
		`{"statusCode":400,"responseCode":"51","data":{}}`:                               true,
		`{"statusCode":400,"responseCode":"51","data":null}`:                             true,
		`{"statusCode":400,"responseCode":"51","data":{"responseCode":"61"}}`:            false,
		`{"statusCode":400,"responseCode":"51","data":[{"id":"1","status":"pending"}]}`:  false,
		`{"statusCode":400,"responseCode":"51","data":{"vendorStatus":"processing"}}`:    false,
		`{"statusCode":400,"responseCode":"51","data":"1"}`:                              false,
		`{"statusCode":200,"responseCode":"51","data":{"responseCode":"00"}}`:            false,
		`{"statusCode":200,"responseCode":"05","data":{"responseCode":"51"}}`:            false,
		`{"statusCode":200,"responseCode":"57","data":{"responseCode":"05"}}`:            false,
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

// The bank has received a payment that it refused with 401 or 403. If no new token comes after that, the
// payment does not count as never sent, and the purchase stays at the bank.
func TestARefusedTokenIsNotAnUnsentPayment(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		tokens, paid := 0, 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path != "/oauth2/token":
				paid++
				w.WriteHeader(status)
				fmt.Fprintf(w, `{"statusCode":%d,"message":"Refused"}`, status)
			case tokens > 0:
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, `{"error":"invalid_client"}`)
			default:
				tokens++
				fmt.Fprint(w, `{"access_token":"a","ibs_client_id":"i","expires_in":3600}`)
			}
		}))
		s := &recorded{Server: server}
		a := s.plug(t, s.config(), clock.At(time.Now())).Pay(t.Context(), airtime)
		server.Close()
		if paid != 1 || a.Unstarted || a.Outcome != provider.Rejected || a.Code != strconv.Itoa(status) {
			t.Errorf("%d, sent %d times: %s %s, unstarted %t", status, paid, a.Outcome, a.Code, a.Unstarted)
		}
	}
}
