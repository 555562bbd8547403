package tatum_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/provider/tatum"
)

// Without the parameter, Tatum looks for a test network among the main networks.
func TestTestNetworksAreNamed(t *testing.T) {
	f := &far{say: func(method, _ string, _ []byte) (int, string) {
		switch method {
		case http.MethodPut:
			return 204, ""
		case http.MethodPost:
			return 403, `{"statusCode":403,"errorCode":"subscription.already.exists"}`
		}
		return 200, `[]`
	}}
	p := plug(t, f, func(c *tatum.Config) { c.Networks = chain.Testnets() })
	if _, err := p.Watch(t.Context(), network("ethereum-sepolia"), ours); err == nil {
		t.Error("no subscription was found")
	}
	if _, err := p.Since(t.Context(), "", nil); err != nil {
		t.Error(err)
	}
	for i, want := range []string{
		"PUT /v4/subscription ", "POST /v4/subscription?type=testnet ", "GET /v4/subscription?address=" + ours + "&offset=0&pageSize=50&type=testnet ",
		"GET /v4/subscription/webhook?direction=desc&failed=true&offset=0&pageSize=50&type=testnet ",
	} {
		if !strings.HasPrefix(f.asked[i], want) {
			t.Errorf("%q, want %q", f.asked[i], want)
		}
	}
	f.asked = nil
	p = plug(t, f, func(c *tatum.Config) { c.Networks = chain.Mainnets() })
	if _, err := p.Watch(t.Context(), network("ethereum-mainnet"), ours); err == nil || strings.Contains(strings.Join(f.asked, " "), "testnet") {
		t.Errorf("%v %v", err, f.asked)
	}
}

// An old subscription reports a network that one of our nodes reads. A movement that can be read is reported, because the node may
// have begun later. Anything else is left to the node.
func TestAnOldSubscriptionIsRead(t *testing.T) {
	p := plug(t, &far{}, func(c *tatum.Config) { c.Networks, c.Elsewhere = nil, chain.Testnets() })
	for body, want := range map[string]int{
		`{"address":"` + ours + `","amount":"1","asset":"ETH","type":"native","blockNumber":7,"txId":"0x1","chain":"ethereum-sepolia"}`:  1,
		`{"address":"` + ours + `","amount":"1","asset":"ETH","type":"staking","blockNumber":7,"txId":"0x1","chain":"ethereum-sepolia"}`: 0,
		`{"address":"` + ours + `","amount":"1","asset":"ETH","blockNumber":7,"txId":"0x1","chain":"ethereum-sepolia"}`:                  0,
	} {
		got, err := p.ParseKept([]byte(body))
		if err != nil || len(got) != want || want > 0 && (got[0].NetworkID != "ethereum-sepolia" || got[0].Block != 7) {
			t.Errorf("%s: %+v %v", body, got, err)
		}
	}
}

// Tatum's own Tron wallets have keys in hexadecimal form. The key is the one of their client programs'
// tests.
func TestTronKeysAreSentInHexadecimalForm(t *testing.T) {
	const published = "0244b3f40c6e570ae0032f6d7be87737a6c4e5314a4a1a82e22d0460a0d0cd794936c61f0c80dc74ace4cd04690d4eeb1aa6555883be006e1748306faa7ed3a26a"
	f := &far{say: func(string, string, []byte) (int, string) {
		return 200, `{"address":"TFFBpkRNro4Pe4154ayGWx7C6Ev7BvQZ6t"}`
	}}
	p := plug(t, f, func(c *tatum.Config) { c.RemoteAddresses = true })
	key, err := chain.ReadHexKey(published)
	if err != nil {
		t.Fatal(err)
	}
	address, err := p.Address(t.Context(), network("tron-mainnet"), key, 1)
	if err != nil || address != "TFFBpkRNro4Pe4154ayGWx7C6Ev7BvQZ6t" || f.asked[0] != "GET /v3/tron/address/"+published+"/1 " {
		t.Errorf("%s %v %v", address, err, f.asked)
	}
}

// A transaction with thousands of inputs is longer than other providers' replies. It is read up to a
// limit, and refused beyond the limit.
func TestLongRepliesAreReadUpToALimit(t *testing.T) {
	f := &far{say: func(_, path string, _ []byte) (int, string) {
		if strings.HasSuffix(path, "/info") {
			return 200, `{"blocks":120}`
		}
		return 200, `{"blockNumber":100,"inputs":"` + strings.Repeat("x", 15<<20) + `"}`
	}}
	p := plug(t, f, nil)
	at, err := p.Inclusion(t.Context(), network("bitcoin-mainnet"), "ab")
	if err != nil || !at.Found || at.Block != 100 {
		t.Errorf("%+v %v", at, err)
	}
	f.say = func(string, string, []byte) (int, string) {
		return 200, `{"blockNumber":100,"inputs":"` + strings.Repeat("x", 16<<20) + `"}`
	}
	if _, err := p.Inclusion(t.Context(), network("bitcoin-mainnet"), "ab"); err == nil || !strings.Contains(err.Error(), "longer than 16 MiB") {
		t.Errorf("%v", err)
	}
}
