package console

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/admin"
)

// Each operation that can wait for a second person says what it does, and has a title.
func TestEachActOfTwoPeopleSaysWhatItDoes(t *testing.T) {
	text, err := os.ReadFile("../admin/contract.json")
	if err != nil {
		t.Fatal(err)
	}
	var contract struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &contract); err != nil {
		t.Fatal(err)
	}
	found := 0
	for path, methods := range contract.Paths {
		for method, part := range methods {
			var op struct {
				ID       string `json:"operationId"`
				FourEyes string `json:"x-four-eyes"`
			}
			if method == "parameters" || json.Unmarshal(part, &op) != nil || op.FourEyes == "" || op.FourEyes == "its own approval" || op.FourEyes == "no proposal" {
				continue
			}
			found++
			body := json.RawMessage(`{"status":"APPROVED","live":true,"amount":0,"payouts":0,"most":0,"kind":"otp","requestsPerSecond":0,"bands":[]}`)
			if says := (about{}).actSays(admin.ProposedAct{Operation: op.ID, Body: body}); len(says) == 0 {
				t.Errorf("%s says nothing", op.ID)
			}
			if title := actTitle(op.ID); title == actWords(op.ID) {
				t.Errorf("%s %s has no title", method, path)
			}
		}
	}
	if found < 15 {
		t.Errorf("%d operations: the search is broken", found)
	}
}

func TestWhatAnActChangesIsSaidInWords(t *testing.T) {
	for _, c := range []struct{ operation, was, want string }{
		{"setLimit", "2000000.00, 0 payouts", "any number of payouts, of at most ₦2,000,000.00 in all"},
		{"setLimit", "0.00, 0 payouts", "any number of payouts, without a limit of their amount"},
		{"setLimit", "0.00, 1200 payouts", "1,200 payouts, without a limit of their amount"},
		{"setLimit", "odd", "odd"},
		{"setQuota", "0", "no limit"},
		{"setQuota", "1000", "1,000"},
		{"setFees", "none", "payouts are free"},
		{"setFees", "0.00:25.00:0.00:0.00 5000.00:0.00:1.50:2000.00", "from ₦0.00: ₦25.00; from ₦5,000.00: 1.50 %, at most ₦2,000.00"},
		{"setFees", "odd", "odd"},
		{"setRequestLimit", "20 per second", "20 requests a second"},
		{"setLive", "APPROVED, live false, no working API key, an open key token", "KYB approved, live access off, no working API key, an open key token"},
		{"setOperatorRole", "finance", "finance"},
	} {
		if got := wasWords(c.operation, c.was); got != c.want {
			t.Errorf("%s %q: %q, not %q", c.operation, c.was, got, c.want)
		}
	}
}

func TestNamesOfTheContractAreWords(t *testing.T) {
	for name, want := range map[string]string{"moveKYB": "Move KYB", "resetPIN": "Reset PIN", "setCardAddress": "Set card address", "apiKey": "Api key", "PINStatus": "PIN status"} {
		if got := actWords(name); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
	two := admin.ProposedActs{Acts: []admin.ProposedAct{{Operation: "moveKYB"}, {Operation: "moveKYB"}, {Operation: "setFees"}}}
	if got := namesOf(two); got != "KYB, Fees of payouts" || strings.Contains(got, "KY ") {
		t.Error(got)
	}
}
