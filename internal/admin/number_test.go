package admin

import (
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"

	"github.com/oapi-codegen/runtime"

	"github.com/kobo-waas/kobo/internal/contract"
)

// Each number that the rules accept is a number for the handler too, however it is written. Otherwise the handler answers 500.
func TestAcceptedNumbersAreRead(t *testing.T) {
	spec, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	spellings := []string{
		"1", "0", "-1", "1000", "2500.0", "2500.000", "0.05", "0.005", "1e3", "1E3", "1000e-1", "1e0", "-0",
		"9007199254740993", "18446744073709551616", "99999999999999999999.99", "1e30", "1e-30",
	}
	for _, c := range []struct {
		id, body string
		value    any
	}{
		{"setRequestLimit", `{"requestsPerSecond":N}`, new(RequestLimitRequest)},
		{"setAccountAlert", `{"lowBalance":N}`, new(AlertRequest)},
		{"setFees", `{"bands":[{"from":N}]}`, new(FeesRequest)},
		{"setFees", `{"bands":[{"from":0,"flat":N}]}`, new(FeesRequest)},
		{"setFees", `{"bands":[{"from":0,"percent":N}]}`, new(FeesRequest)},
		{"setFees", `{"bands":[{"from":0,"cap":N}]}`, new(FeesRequest)},
		{"setLimit", `{"settlementId":N,"amount":1,"payouts":1}`, new(LimitRequest)},
		{"setLimit", `{"amount":N,"payouts":1}`, new(LimitRequest)},
		{"setLimit", `{"amount":1,"payouts":N}`, new(LimitRequest)},
		{"setQuota", `{"kind":"otp","most":N}`, new(QuotaRequest)},
		{"createAdjustment", `{"settlementId":N,"amount":1,"direction":"credit","reason":"because"}`, new(AdjustmentRequest)},
		{"createAdjustment", `{"settlementId":1,"amount":N,"direction":"credit","reason":"because"}`, new(AdjustmentRequest)},
		{"resolveCase", `{"outcome":"assigned","note":"because","company":"c1","settlementId":N}`, new(FindingRequest)},
		{"approveCase", `{"outcome":"assigned","note":"because","company":"c1","settlementId":N}`, new(ApprovalRequest)},
		{"replayWebhook", `{"company":"c1","from":N,"to":9}`, new(ReplayRequest)},
		{"replayWebhook", `{"company":"c1","from":1,"to":N}`, new(ReplayRequest)},
	} {
		accepted := 0
		for _, spelling := range spellings {
			text := strings.Replace(c.body, "N", spelling, 1)
			r := httptest.NewRequest("POST", "/", strings.NewReader(text))
			r.Header.Set("Content-Type", "application/json")
			b, err := contract.Decode(httptest.NewRecorder(), r, contract.MaxBody, unicode.IsControl)
			if err != nil {
				t.Fatal(err)
			}
			if operationOf(spec, c.id).Check(b) != nil {
				continue
			}
			accepted++
			if err := runtime.BindJSONValue(b.Value, c.value); err != nil {
				t.Errorf("%s: %s is accepted, and no Go value: %v", c.id, text, err)
			}
		}
		if accepted == 0 {
			t.Errorf("%s: no number is accepted in %s", c.id, c.body)
		}
	}
}

// operationOf returns the operation with an id, or nil.
func operationOf(spec *contract.Contract, id string) *contract.Operation {
	for _, op := range spec.Operations {
		if op.ID == id {
			return op
		}
	}
	return nil
}
