package apptest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
)

// post is one POST of the API contract that creates or moves something. The posts are sent in
// sequence, and a post may use values from the responses to earlier posts.
type post struct {
	path string // the path in the contract
	body string // JSON; in the body and in the path, $name is replaced by a value from an earlier step
	keep string // the value to store from the response, as name=field of data
	wait time.Duration
	// crash means that the request calls a provider. One test kills the program during each such
	// request.
	crash bool
}

// posts lists all such POSTs. TestEveryPostWithAKeyIsTried fails if a POST with an
// Idempotency-Key is missing here.
var posts = []post{
	{path: "/api/v1/coop/initiate-kyc", body: `{"bvn": "22212345601"}`, keep: "session=kyc_id", crash: true},
	{path: "/api/v1/coop/retry-otp", body: `{"session_id": "$session"}`, wait: 61 * time.Second, crash: true},
	{path: "/api/v1/coop/validate-kyc", body: `{"session_id": "$session", "otp": "123456"}`, keep: "kyc=kyc_id", crash: true},
	{path: "/api/v1/coop/generate-account", body: `{"phoneNumber": "08012345678", "emailAddress": "ada@example.com", "rn_number": "RC-1", "kyc_id": "$kyc"}`, crash: true},
	{path: "/api/v1/customer/create", body: `{"firstName": "Ada", "lastName": "Tester", "email": "ada@example.com", "phoneNumber": "08012345678", "bvn": "22212345678",
		"address": {"line1": "1 Marina", "city": "Lagos", "state": "Lagos"}}`, keep: "customer=id", crash: true},
	{path: "/api/v1/customer/resend-otp", body: `{"customerId": "$customer"}`, wait: 61 * time.Second, crash: true},
	{path: "/api/v1/customer/generate-account", body: `{"customerId": "$customer", "otp": "123456"}`, crash: true},
	{path: "/api/v1/settlement/accounts", body: `{"name": "Second"}`, keep: "account=id"},
	{path: "/api/v1/settlement/transfer", body: `{"fromSettlementId": $settlement, "toSettlementId": $account, "amount": 100.5}`},
	{path: "/api/v1/settlement/accounts/{settlementId}/alert", body: `{"lowBalance": 50.5}`},
	{path: "/api/v1/virtual-account/generate", body: `{"amount": 2500, "externalReference": "invoice-1"}`, crash: true},
	{path: "/api/v1/settlement/validate-account", body: `{"bank_code": "000014", "account_number": "0123456710", "pin": "$pin", "fromSettlementId": $settlement}`, keep: "verify=id"},
	{path: "/api/v1/settlement/send-payout", body: `{"verify_id": "$verify", "amount": 1000.5, "externalReference": "rent-1", "metadata": {"branch": "Ikeja"}}`, crash: true},
	{path: "/api/v1/settlement/bulk-payout", body: bulkBody, keep: "bulkId=bulkId"},
	{path: "/api/v1/settlement/bulk-payout/{bulkId}/confirm", body: `{"pin": "$pin"}`},
	{path: "/api/v1/settlement/bulk-payout/{bulkId}/cancel", body: ``},
	{path: "/api/v1/card/generate-card", body: `{"customerId": "$customer", "type": "virtual", "amount": 500}`, keep: "card=id", crash: true},
	{path: "/api/v1/card/send-default-pin/{cardId}", body: ``, crash: true},
	{path: "/api/v1/card/fund-card", body: `{"cardId": "$card", "amount": 1500}`, crash: true},
	{path: "/api/v1/card/{cardId}/freeze", body: ``, crash: true},
	{path: "/api/v1/card/{cardId}/unfreeze", body: ``, crash: true},
	{path: "/api/v1/card/{cardId}/terminate", body: `{"reason": "lost"}`, crash: true},
	{path: "/api/v1/vtu/purchase-data", body: `{"idempotencyKey": "body-1", "serviceCategoryId": "$data", "productId": "$bundle", "phoneNumber": "08031234510", "settlementId": $settlement}`, crash: true},
	{path: "/api/v1/vtu/purchase-airtime", body: `{"idempotencyKey": "body-2", "serviceCategoryId": "$airtime", "phoneNumber": "08031234510", "amount": 200.5, "settlementId": $settlement}`, crash: true},
	{path: "/api/v1/vtu/verify-entity", body: `{"serviceCategoryId": "$dstv", "entityNumber": "7012345678"}`, keep: "smartcard=meterVerificationId"},
	{path: "/api/v1/vtu/purchase-cable-tv", body: `{"idempotencyKey": "body-3", "meterVerificationId": "$smartcard", "productId": "$compact", "cardNumber": "7012345678", "settlementId": $settlement}`, crash: true},
	{path: "/api/v1/vtu/purchase-utility", body: `{"idempotencyKey": "body-4", "meterVerificationId": "$meter", "amount": 2000.5, "settlementId": $settlement}`, crash: true},
	{path: "/api/v1/crypto/generate-address/{networkId}", body: `{"label": "2417"}`, crash: true},
	{path: "/api/v1/webhooks", body: `{"url": "$hook/orders"}`, keep: "id=id"},
	{path: "/api/v1/webhooks/{id}", body: `{"description": "Orders"}`},
	{path: "/api/v1/webhooks/{id}/rotate-secret", body: ``},
	{path: "/api/v1/webhooks/{id}/test", body: ``},
	{path: "/api/v1/webhooks/{id}/replay", body: `{"from": 1, "to": 2}`},
	{path: "/api/v1/webhooks/deliveries/{id}/resend", body: ``},
	{path: "/api/v1/company/api-keys", body: `{"pin": "$pin", "name": "Shop"}`},
	{path: "/api/v1/company/pin", body: `{"currentPin": "$pin", "pin": "$pin"}`},
}

// bulkBody is a bulk payout of two lines.
const bulkBody = `{"fromSettlementId": $settlement, "pin": "$pin", "lines": [
	{"bank_code": "000014", "account_number": "0123456710", "amount": 100, "externalReference": "line-$line"},
	{"bank_code": "000014", "account_number": "0123456710", "amount": 200.5, "metadata": {"branch": "Ikeja"}}]}`

// checked waits until a bulk payout can be confirmed.
func (s *story) checked(p *apptest.Program, bulkID string) {
	apptest.Eventually(s.t, func() string {
		var b struct{ State string }
		if p.Data("/api/v1/settlement/bulk-payout/"+bulkID, &b); b.State != "CHECKED" {
			return "the bulk payout is " + b.State
		}
		return ""
	})
}

// story contains the values that earlier steps have stored.
type story struct {
	t    *testing.T
	kept map[string]string
}

func newStory(t *testing.T, p *apptest.Program, hook string) *story {
	s := &story{t: t, kept: map[string]string{"hook": hook, "pin": p.PIN, "line": "1", "settlement": number(p.SettlementID), "networkId": "tron-testnet"}}
	bundle := p.Bundle()
	s.kept["settlementId"], s.kept["data"], s.kept["bundle"] = s.kept["settlement"], bundle.Category, bundle.Product
	s.kept["airtime"], s.kept["dstv"] = p.Category("Airtime", "MTN"), p.Category("Cable TV", "DSTV")
	s.kept["compact"] = p.Product(s.kept["dstv"], "DStv Compact + French Touch").Product
	return s
}

func number(n int64) string { b, _ := json.Marshal(n); return string(b) }

// request returns a step's path and body with the stored values filled in.
func (s *story) request(o post) (path string, body any) {
	var pairs, holes []string
	for name, value := range s.kept {
		pairs, holes = append(pairs, "$"+name, value), append(holes, "{"+name+"}", value)
	}
	// Longer names come first, since $card is also the beginning of $cardNumber.
	text := o.body
	for _, long := range []string{"settlement", "smartcard", "session"} {
		text = strings.ReplaceAll(text, "$"+long, s.kept[long])
	}
	path = strings.NewReplacer(append(holes, "{cardId}", s.kept["card"])...).Replace(o.path)
	if strings.Contains(o.path, "deliveries") {
		path = strings.ReplaceAll(o.path, "{id}", s.kept["delivery"])
	}
	if text = strings.NewReplacer(pairs...).Replace(text); text == "" {
		return path, nil
	}
	return path, text
}

// took stores the value that a later step needs from the response to this step.
func (s *story) took(p *apptest.Program, o post, a apptest.Answer) {
	s.t.Helper()
	if name, field, ok := strings.Cut(o.keep, "="); ok {
		var b map[string]any
		a.Into(s.t, &b)
		data, _ := b["data"].(map[string]any)
		for _, at := range []map[string]any{b, data} {
			switch v := at[field].(type) {
			case string:
				s.kept[name] = v
			case float64:
				s.kept[name] = number(int64(v))
			}
		}
		if s.kept[name] == "" {
			s.t.Fatalf("%s: no %s in %s", o.path, field, a)
		}
	}
	switch o.path {
	case "/api/v1/settlement/bulk-payout":
		s.checked(p, s.kept["bulkId"])
	case "/api/v1/settlement/bulk-payout/{bulkId}/confirm":
		s.kept["line"] = "2" // a further bulk payout, for the cancellation
		_, body := s.request(post{body: bulkBody})
		var b struct{ Data struct{ BulkID string } }
		p.Do(http.MethodPost, "/api/v1/settlement/bulk-payout", body).Into(s.t, &b)
		s.kept["bulkId"] = b.Data.BulkID
	}
	if o.path == "/api/v1/webhooks/{id}/replay" {
		s.kept["delivery"] = s.delivery(p)
	}
}

// delivery waits until an event is delivered to the webhook endpoint, and returns the
// delivery's ID.
func (s *story) delivery(p *apptest.Program) (id string) {
	apptest.Eventually(s.t, func() string {
		var page struct {
			Data []struct {
				ID       string
				Sequence int64
			}
		}
		p.Data("/api/v1/webhooks/"+s.kept["id"]+"/deliveries", &page)
		for _, d := range page.Data {
			if id = d.ID; d.Sequence > 0 {
				return ""
			}
		}
		return "no event is delivered"
	})
	return id
}
