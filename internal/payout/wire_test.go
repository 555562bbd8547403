package payout_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/payout"
)

// Responses, events and stored responses all marshal Payout, so it has only one JSON form.
func TestAPayoutAsJSON(t *testing.T) {
	at := clock.Instant{Time: time.Date(2030, 1, 2, 3, 4, 5, 678_000_000, time.UTC)}
	for want, p := range map[string]payout.Payout{
		`{"reference":"r","amount":100.5,"fee":0,"status":"PENDING","account_name":"n","account_number":"1","bank_code":"c","narration":null,` +
			`"createdAt":"2030-01-02T03:04:05.678Z","bank_name":null,"sessionId":null,"failureReason":null,"refunded":false,"settlementId":1,` +
			`"completedAt":null}`: {
			Sent: payout.Sent{
				Reference: "r", Amount: 10050, Status: payout.Pending, AccountName: "n", AccountNumber: "1", BankCode: "c", CreatedAt: at,
			}, SettlementID: 1,
		},
		`{"reference":"r","amount":100,"fee":10,"status":"FAILED","account_name":"n","account_number":"1","bank_code":"c","narration":"for you",` +
			`"createdAt":"2030-01-02T03:04:05.678Z","bank_name":"b","sessionId":"s","failureReason":"no","refunded":true,"settlementId":1,` +
			`"completedAt":"2030-01-02T03:04:05.678Z"}`: {
			Sent: payout.Sent{
				Reference: "r", Amount: 10000, Fee: 1000, Status: payout.Failed, AccountName: "n", AccountNumber: "1", BankCode: "c",
				Narration: "for you", CreatedAt: at,
			}, BankName: "b", SessionID: "s", FailureReason: "no", Refunded: true, SettlementID: 1, CompletedAt: at,
		},
	} {
		if got, err := json.Marshal(p); err != nil || string(got) != want {
			t.Errorf("%s, %v", got, err)
		}
	}
}
