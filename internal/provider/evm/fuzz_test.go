package evm

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/chain"
)

// A batch is read as a whole or not at all: without an error each call has its own result. Nothing that the node says shows the key in its
// address.
func FuzzRepliesOfTheNode(f *testing.F) {
	statuses := []int{200, 400, 403, 413, 429, 500}
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":0,"result":"0x1"}`, `[{"id":0,"result":[]},{"id":1,"result":null}]`, `[{"id":1,"result":{}},{"id":0,"result":"0x"}]`,
		`[{"id":0,"result":[]},{"id":0,"result":[]}]`, `[{"result":[]},{"result":[]}]`, `[{"id":0},{"id":1}]`, `[{"id":-1,"result":1}]`,
		`{"id":0,"error":{"code":-32003,"message":"https://node.example/the-key-of-the-node is too large"}}`, `[{"error":{"code":429,"message":"the-key-of-the-node"}}]`,
		`{"error":{}}`, `[]`, `null`, `<html>`, ``,
	} {
		for i := range statuses {
			for n := range 3 {
				f.Add(uint8(i), uint8(n), body)
			}
		}
	}
	n := &node{hidden: []string{"the-key-of-the-node"}}
	f.Fuzz(func(t *testing.T, i, more uint8, body string) {
		results := make([]json.RawMessage, 1+more%3)
		calls := make([]call, len(results))
		for at := range calls {
			calls[at] = call{method: "eth_getLogs", into: &results[at]}
		}
		after, err := n.refusal(statuses[int(i)%len(statuses)], []byte(body), calls)
		if err == nil {
			after, err = n.read([]byte(body), calls)
		}
		if err != nil {
			if strings.Contains(err.Error(), "the-key-of-the-node") {
				t.Errorf("%q: the error shows the key: %v", body, err)
			}
			return
		}
		for at, one := range results {
			if !json.Valid(one) || after != stop {
				t.Errorf("%q is taken, and call %d of %d has the result %q (%v)", body, at, len(calls), one, after)
			}
		}
	})
}

// A transfer that is read is one of a listed token between two addresses, of a whole number of units above zero. An address has one form,
// however the node writes it.
func FuzzLogsOfTheNode(f *testing.F) {
	const hash = "0xb10c"
	all := chain.Testnets()
	network := all[slices.IndexFunc(all, func(n chain.Network) bool { return n.ID == "ethereum-sepolia" })]
	contract := network.Tokens[0].Contract
	pad := "0x" + strings.Repeat("0", 24)
	one, other := strings.Repeat("a1", 20), strings.Repeat("B2", 20)
	f.Add(contract, pad+one, pad+other, "0x0f4240")
	f.Add(strings.ToUpper(contract), pad+one, pad+one, "0x")
	f.Add(contract, pad+strings.Repeat("z", 40), pad, "0x"+strings.Repeat("f", 65))
	f.Add(contract, pad+one, pad+one, "0x-1")
	f.Add(one, "", pad+"0", "-1")
	p := &Plug{network: network}
	f.Fuzz(func(t *testing.T, contract, from, to, data string) {
		b := &block{Hash: hash}
		l, ok, err := p.tokenLeg(entry{Contract: contract, Topics: []string{transferTopic, from, to}, Data: data, BlockHash: hash}, b)
		if !ok {
			return
		}
		if _, listed := network.Asset(l.contract); err != nil || !listed || l.units.Sign() <= 0 || l.units.BitLen() > 256 {
			t.Errorf("%q, %q, %q, %q is read as %+v, %v", contract, from, to, data, l, err)
		}
		for _, party := range []string{l.from, l.to} {
			if len(party) != 42 || party != network.Fold(party) {
				t.Errorf("the address %q is not in its folded form", party)
			}
		}
	})
}
