package admin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/event"
)

// untold has the operations that tell no company anything, and the reason.
var untold = map[string]string{
	"askOutcome":         "the outcome tells the company itself",
	"addOperator":        "it concerns no company",
	"setOperatorRole":    "it concerns no company",
	"inviteOperator":     "it concerns no company",
	"removeOperator":     "it concerns no company",
	"invitePerson":       "people sign in, and programs follow events; an owner reads the list",
	"setPersonRole":      "as invitePerson",
	"endPerson":          "as invitePerson",
	"runJob":             "the job does what it would have done soon",
	"replayNotification": "what is booked because of it has its own event",
	"resendDelivery":     "the event that is sent again is what it is told",
	"replayWebhook":      "as resendDelivery",
	"setDoor":            "it concerns all companies, and each request says that API access is closed",
	"createProductPair":  "it concerns no company",
	"deleteProductPair":  "it concerns no company",
	"createCompany":      "the company does not exist before",
	"search":             "nothing changes",
	"reveal":             "it reads, and the audit log has a line",
	"revealBeneficiary":  "it reads, and the audit log has a line",
	"createProposal":     "nothing changes before the approval",
	"approveProposal":    "each act of the proposal has an event",
	"rejectProposal":     "nothing changes",
	"withdrawProposal":   "nothing changes",
	"createAdjustment":   "nothing changes before the approval",
	"rejectAdjustment":   "nothing changes",
	"resolveCase":        "the payment, purchase or credit of the case has an event of its outcome",
	"approveCase":        "the payment, purchase or credit of the case has an event of its outcome",
}

// Each act of an operator that changes something of a company tells the company by an event.
func TestEachActTellsTheCompany(t *testing.T) {
	operations, err := admin.Operations()
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		reference := strings.TrimPrefix(path, "/admin/v1/companies/")
		events, after, told := event.NewService(d.base, d.book), int64(0), map[string]bool{}
		does := func(operation, kind, method, path, body string) (data map[string]any, text string) {
			t.Helper()
			data = d.ok(d.bob, method, path, body)
			page, _, err := events.Feed(t.Context(), reference, after, 100, 0)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(page, func(e event.Event) bool { return e.Sequence > after && e.Kind == kind })
			if at < 0 {
				t.Fatalf("%s: no event %s in %v", operation, kind, page)
			}
			told[operation], after = true, page[len(page)-1].Sequence
			return data, string(page[at].Data)
		}
		post := func(operation, kind, to, body string) (data map[string]any, text string) {
			t.Helper()
			return does(operation, kind, http.MethodPost, path+to, body)
		}
		says := func(text string, parts ...string) {
			t.Helper()
			for _, part := range parts {
				if !strings.Contains(text, part) {
					t.Errorf("%s does not contain %s", text, part)
				}
			}
		}
		if first, _, err := events.Feed(t.Context(), reference, 0, 100, 0); err != nil || len(first) != 1 {
			t.Fatal(first, err)
		}
		after = 1 // the first event reports the account that the method company has opened
		_, text := post("createAccount", event.SettlementAccountCreated, "/settlement-accounts", `{"name":"Second"}`)
		says(text, `"id":2`, `"name":"Second"`, `"isDefault":false`, `"lowBalance":null`)
		_, text = post("setAccountAlert", event.SettlementAlertChanged, "/settlement-accounts/1/alert", `{"lowBalance":500.5}`)
		says(text, `{"settlementId":1,"lowBalance":500.5}`)
		_, text = post("setAccountAlert", event.SettlementAlertChanged, "/settlement-accounts/1/alert", `{"lowBalance":null}`)
		says(text, `{"settlementId":1,"lowBalance":null}`)
		post("setAccountStatus", event.SettlementStatusChanged, "/settlement-accounts/2/status", `{"status":"INACTIVE"}`)
		post("attachBankAccount", event.SettlementBankAccountAttached, "/settlement-accounts/1/bank-accounts",
			`{"bank":"safehaven","accountNumber":"8000000011","accountName":"ACME"}`)
		for _, direction := range []string{"credit", "debit"} {
			asked := d.ok(d.ada, "POST", path+"/adjustments", `{"settlementId":1,"amount":10.5,"direction":"`+direction+`","reason":"a test"}`)["id"]
			_, text = does("approveAdjustment", event.SettlementAdjusted, "POST", fmt.Sprintf("/admin/v1/adjustments/%v/approve", asked), "")
			says(text, fmt.Sprintf(`{"id":"%v","settlementId":1,"amount":10.5,"direction":"%s","reason":"a test"}`, asked, direction))
		}
		_, text = post("setCardAddress", event.CardAddressChanged, "/card-address", `{"line1":" 1 Marina ","city":"Lagos","state":"Lagos"}`)
		says(text, `{"address":{"line1":"1 Marina","city":"Lagos","state":"Lagos"},"source":"company","since":"2030-01-02T03:04:05.000Z"}`)
		set, text := post("setXpub", event.CryptoKeyChanged, "/xpubs", `{"chain":"evm","xpub":"`+chain.PublicTestKeys[chain.EVM]+`"}`)
		says(text, `"chain":"evm","version":1,"source":"operator"`, `"firstAddress":"`+set["firstAddress"].(string)+`"`)
		if strings.Contains(text, "xpub") {
			t.Errorf("the event has the key: %s", text)
		}

		post("moveKYB", event.KYBChanged, "/kyb", `{"status":"IN_PROGRESS"}`)
		post("setLive", event.LiveChanged, "/live", `{"live":true}`)
		post("setLimit", event.LimitsChanged, "/payout-limits", `{"amount":100,"payouts":3}`)
		post("setQuota", event.LimitsChanged, "/quotas", `{"kind":"otp","most":5}`)
		post("setRequestLimit", event.LimitsChanged, "/request-limit", `{"requestsPerSecond":9}`)
		post("setFees", event.FeesChanged, "/payout-fees", `{"bands":[]}`)
		key, _ := post("issueKey", event.APIKeyIssued, "/api-keys", `{}`)
		does("revokeKey", event.APIKeyRevoked, http.MethodDelete, path+"/api-keys/"+key["id"].(string), "")
		post("resetPIN", event.PINTokenIssued, "/pin-reset", `{}`)
		post("setPIN", event.PINChanged, "/pin", `{"pin":"0042"}`)
		d.lockPIN(reference)
		post("unlockPIN", event.PINUnlocked, "/pin/unlock", ``)

		proposal := d.propose(d.ada, "/admin/v1/proposals", `{"company":"`+reference+`","acts":[{"operation":"resetPIN"}]}`)
		does("approveProposal", event.PINTokenIssued, "POST", proposal+"/approve", "")
		does("renewToken", event.PINTokenIssued, "POST", proposal+"/renew-token", `{"operation":"resetPIN"}`)
		d.customer(path, "c1")
		does("eraseCustomer", event.CustomerErased, "POST", "/admin/v1/customers/c1/erase", "")

		for route, op := range operations {
			if isRead := strings.HasPrefix(route, http.MethodGet); !isRead && !told[op.ID] && untold[op.ID] == "" {
				t.Errorf("%s (%s) tells the company nothing", op.ID, route)
			}
		}
	})
}
