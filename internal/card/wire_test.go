package card_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/clock"
)

// Responses, events and stored responses all marshal Card, Funding and Generated, so each of these
// types has only one JSON form.
func TestCardsAndFundingsAsJSON(t *testing.T) {
	at := clock.Instant{Time: time.Date(2030, 1, 2, 3, 4, 5, 678_000_000, time.UTC)}
	c := card.Card{
		ID: "i", Type: "virtual", Brand: "Verve", Currency: "NGN", MaskedPAN: "p", ExpiryMonth: "08", ExpiryYear: "2033", Status: "active",
		CustomerID: "c", CreatedAt: at, ProviderCardID: "s",
	}
	f := card.Funding{Reference: "r", CardID: "i", Amount: 10050, Status: card.Funded, SettlementID: 1, CreatedAt: at, UpdatedAt: at}
	const shown = `"id":"i","type":"virtual","brand":"Verve","currency":"NGN","maskedPan":"p","expiryMonth":"08","expiryYear":"2033",` +
		`"status":"active","customerId":"c","createdAt":"2030-01-02T03:04:05.678Z","updatedAt":null,"providerCardId":"s"`
	const funded = `{"reference":"r","cardId":"i","amount":100.5,"status":"SUCCESS","refunded":false,"settlementId":1,` +
		`"createdAt":"2030-01-02T03:04:05.678Z","updatedAt":"2030-01-02T03:04:05.678Z"}`
	for want, v := range map[string]any{
		`{` + shown + `}`:              c,
		funded:                         f,
		`{"cardId":"i",` + shown + `}`: card.Generated{CardID: "i", Card: c},
		`{"cardId":"i",` + shown + `,"funding":` + funded + `}`: card.Generated{CardID: "i", Card: c, Load: &f},
	} {
		if got, err := json.Marshal(v); err != nil || string(got) != want {
			t.Errorf("%s, %v", got, err)
		}
	}
}
