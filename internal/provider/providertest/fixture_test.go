package providertest

import (
	"encoding/json"
	"math/big"
	"reflect"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// A request differs from its fixture if it has one field more or less, or another value.
func TestOnlyTheSameRequestMatches(t *testing.T) {
	const want = `{"amount": 500, "signature": "*", "rows": [{"id": "a"}]}`
	for body, matches := range map[string]bool{
		`{"rows":[{"id":"a"}],"amount":500,"signature":"x"}`:             true,
		`{"rows":[{"id":"a"}],"amount":500.0,"signature":"x"}`:           false,
		`{"rows":[{"id":"a"}],"amount":"500","signature":"x"}`:           false,
		`{"rows":[{"id":"b"}],"amount":500,"signature":"x"}`:             false,
		`{"rows":[],"amount":500,"signature":"x"}`:                       false,
		`{"rows":[{"id":"a"}],"amount":500,"signature":""}`:              false,
		`{"rows":[{"id":"a"}],"amount":500}`:                             false,
		`{"rows":[{"id":"a"}],"amount":500,"signature":"x","more":null}`: false,
		``: false,
	} {
		if got := same(value(t, []byte(body)), value(t, []byte(want))); got != matches {
			t.Errorf("%s: %v", body, got)
		}
	}
}

// A result is compared with all its fields, except those that are zero, and secrets.
func TestAResultIsShownWhole(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, v := range map[string]any{
		`{"Code":"00","Outcome":"unknown"}`:                     provider.Answer{Code: "00"},
		`{"Missing":true,"Outcome":"rejected","Sold":1.5}`:      provider.Answer{Outcome: provider.Rejected, Missing: true, Sold: 150 * money.Kobo(1)},
		`{"Amount":10,"Outcome":"confirmed","SessionID":"s"}`:   provider.TransferAnswer{Answer: provider.Answer{Outcome: provider.Confirmed}, SessionID: "s", Amount: 10 * money.Naira},
		`{"Number":"1","Outcome":"unknown"}`:                    provider.AccountAnswer{Account: provider.Account{Number: "1"}},
		`[{"At":"2030-01-02T03:04:05Z","ID":"a"},{}]`:           []provider.StatementLine{{ID: "a", At: at}, {}},
		`{"ExpiresIn":"2m0s"}`:                                  provider.CardToken{Value: secret.NewText("never shown"), ExpiresIn: 2 * time.Minute},
		`[{"Raw":{"a":1},"Units":"7"}]`:                         []provider.Movement{{Units: big.NewInt(7), Raw: json.RawMessage(`{"a": 1}`)}},
		`{"Reply":"{}"}`:                                        provider.CardNotice{Reply: []byte("{}")},
		`null`:                                                  nil,
		`{"Code":"x","Meter":{"KCT1":"1"},"Outcome":"unknown"}`: provider.Answer{Code: "x", Meter: provider.MeterCodes{KCT1: "1"}},
	} {
		if got := encoded(value(t, encoded(shown(reflect.ValueOf(v))))); string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
