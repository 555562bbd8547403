package tatum_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/tatum"
	"github.com/kobo-waas/kobo/internal/secret"
)

// A movement that is read names its network, its address and its transaction, and moves something.
func FuzzNotificationsOfTheCustodian(f *testing.F) {
	p, err := tatum.New(tatum.Config{
		ClientConfig: provider.ClientConfig{BaseURL: "http://127.0.0.1:1", ReadDeadline: time.Second},
		APIKey:       secret.NewText("the-key"), HMACSecret: secret.NewText(hmacKey), CallbackURL: callback,
		Networks: chain.Testnets(), RemoteAddresses: true,
	}, clock.At(time.Unix(1_900_000_000, 0)))
	if err != nil {
		f.Fatal(err)
	}
	for _, body := range []string{
		`{"address":"0xF64E82131BE01618487Da5142fc9d289cbb60E9d","amount":"0.001","asset":"ETH","blockNumber":2913059,"counterAddress":"0x690B","txId":"0x062d","type":"native","chain":"ethereum-sepolia"}`,
		`{"address":"tb1q","amount":"-1e-8","txId":"00","chain":"bitcoin-testnet","mempool":true}`, `{"chain":"tron-testnet","type":"trc20","contractAddress":"T","amount":1}`,
		`{"data":{}}`, `{"amount":"1e400"}`, `[]`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		all, err := p.ParseKept([]byte(body))
		for _, m := range all {
			if err != nil || m.NetworkID == "" || m.Address == "" || m.Hash == "" || m.Units.Sign() <= 0 {
				t.Errorf("%q is read as %+v, %v", body, m, err)
			}
		}
	})
}
