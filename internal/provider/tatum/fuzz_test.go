package tatum_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/tatum"
	"github.com/kobo-waas/kobo/internal/secret"
)

// fuzzed returns a plug for inputs of the fuzzer, whose requests go around the network.
func fuzzed(f *testing.F, around func(http.RoundTripper) http.RoundTripper) *tatum.Plug {
	f.Helper()
	p, err := tatum.New(tatum.Config{
		ClientConfig: provider.ClientConfig{BaseURL: "http://127.0.0.1:1", ReadDeadline: time.Second, Around: around},
		APIKey:       secret.NewText("the-key"), HMACSecret: secret.NewText(hmacKey), CallbackURL: callback,
		Networks: chain.Testnets(), RemoteAddresses: true,
	}, clock.At(time.Unix(1_900_000_000, 0)))
	if err != nil {
		f.Fatal(err)
	}
	return p
}

// A movement that is read names its network, its address and its transaction, and moves something.
func FuzzNotificationsOfTheCustodian(f *testing.F) {
	p := fuzzed(f, nil)
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

// says is a provider that gives the same reply to each request.
type says struct {
	status int
	body   string
}

func (s *says) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{Request: r, StatusCode: s.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(s.body))}, nil
}

// A transaction is in a block, waits for one, or is not known. A reply that cannot be read is none of these: it is an error. Of the list of
// lost notifications, each movement is as whole as one that arrived.
func FuzzRepliesOfTheCustodian(f *testing.F) {
	statuses := []int{200, 201, 302, 400, 403, 404}
	for _, body := range []string{
		`{"blockNumber":12,"blocks":12,"blockHash":"00","status":false,"ret":[{"contractRet":"REVERT"}]}`, `{"blocks":7}`, `{"blockNumber":-1,"blocks":9}`, `12`, `"12"`, `-3`,
		`{"statusCode":404,"errorCode":"tx.not.found"}`, `{"statusCode":404,"message":"Cannot GET /v3"}`, `{"message":{}}`, `1e400`, `null`, `[]`, `[null]`, `<html>`, ``,
		`[{"url":"` + callback + `","timestamp":1900000000000,"data":"{\"address\":\"0xF64E82131BE01618487Da5142fc9d289cbb60E9d\",\"amount\":\"0.001\",\"asset\":\"ETH\",\"txId\":\"0x062d\",\"type\":\"native\",\"chain\":\"ethereum-sepolia\"}"}]`,
	} {
		for i := range statuses {
			f.Add(uint8(i), body)
		}
	}
	reply := &says{}
	p := fuzzed(f, func(http.RoundTripper) http.RoundTripper { return reply })
	networks := slices.DeleteFunc(chain.Testnets(), func(n chain.Network) bool { return n.Inactive })
	f.Fuzz(func(t *testing.T, i uint8, body string) {
		reply.status, reply.body = statuses[int(i)%len(statuses)], body
		for _, n := range networks {
			at, err := p.Inclusion(t.Context(), n, "0x062d")
			if err == nil && (at.Head <= 0 || at.Found && (at.Waiting || at.Block <= 0) || !at.Found && (at.Block != 0 || at.Reverted)) {
				t.Errorf("%s: %d %q is read as %+v", n.ID, reply.status, body, at)
			}
			if err == nil && reply.status != http.StatusOK && reply.status != http.StatusCreated {
				t.Errorf("%s: the refusal %d %q is read as %+v", n.ID, reply.status, body, at)
			}
		}
		batch, err := p.Since(t.Context(), "", nil)
		for _, m := range batch.Movements {
			if err != nil || m.NetworkID == "" || m.Address == "" || m.Hash == "" || m.Units.Sign() <= 0 {
				t.Errorf("%q is read as %+v, %v", body, m, err)
			}
		}
	})
}
