package vtu_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// Responses, events and stored responses all marshal Transaction, so it has only one JSON form.
func TestATransactionAsJSON(t *testing.T) {
	at := clock.Instant{Time: time.Date(2030, 1, 2, 3, 4, 5, 678_000_000, time.UTC)}
	for want, transaction := range map[string]vtu.Transaction{
		`{"transactionId":"1","status":"PENDING","type":"DATA","amount":"500.00","createdAt":"2030-01-02T03:04:05.678Z","fee":"0.00",` +
			`"idempotencyKey":"k","settlementId":0,"serviceCategoryId":"c","productId":null,"productName":null,"phoneNumber":null,` +
			`"cardNumber":null,"providerReference":null,"message":null,"refunded":false,"updatedAt":"2030-01-02T03:04:05.678Z",` +
			`"meterNumber":null,"token":null}`: {
			Bought:         vtu.Bought{ID: "1", Status: vtu.Pending, Type: "DATA", Amount: 50_000, CreatedAt: at},
			IdempotencyKey: "k", Goods: vtu.Goods{CategoryID: "c"}, UpdatedAt: at,
		},
		`{"transactionId":"1","status":"FAILED","type":"DATA","amount":"500.50","createdAt":"2030-01-02T03:04:05.678Z","fee":"0.01",` +
			`"idempotencyKey":"k","settlementId":7,"serviceCategoryId":"c","productId":"p","productName":"n","phoneNumber":"1",` +
			`"cardNumber":"2","providerReference":"r","message":"m","refunded":true,"updatedAt":"2030-01-02T03:04:05.678Z",` +
			`"meterNumber":"3","token":"4"}`: {
			Bought: vtu.Bought{ID: "1", Status: vtu.Failed, Type: "DATA", Amount: 50_050, CreatedAt: at},
			Fee:    1, IdempotencyKey: "k", SettlementID: 7,
			Goods:             vtu.Goods{CategoryID: "c", ProductID: "p", ProductName: "n", Phone: "1", Card: "2"},
			ProviderReference: "r", Message: "m", Refunded: true, UpdatedAt: at, Meter: "3", Token: "4",
		},
	} {
		if got, err := json.Marshal(transaction); err != nil || string(got) != want {
			t.Errorf("%s, %v", got, err)
		}
	}
}
