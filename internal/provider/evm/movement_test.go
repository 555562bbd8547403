package evm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/chain"
)

// A transaction may move the same amount of a token between one of our addresses and several others. Each of these movements has
// its own ordinal, because the other address does not tell a company's movements apart.
func TestEqualMovementsOfATransactionAreCounted(t *testing.T) {
	const token, mine, a, b = "0xdac17f958d2ee523a2206206994597c13d831ec7",
		"0x00000000000000000000000000000000000000aa", "0x00000000000000000000000000000000000000b1", "0x00000000000000000000000000000000000000b2"
	n := local()
	contract, _ := n.Canonical(token)
	n = local(chain.Token{Symbol: "USDT", Contract: contract, Decimals: 6})
	for name, c := range map[string]struct {
		legs [][2]string
		told string
	}{
		"from two senders":               {[][2]string{{a, mine}, {b, mine}}, "in 31 0 token, in 31 1 token"},
		"to two recipients":              {[][2]string{{mine, a}, {mine, b}}, "out 31 0 token, out 31 1 token"},
		"twice from one, in between two": {[][2]string{{a, mine}, {b, mine}, {a, mine}}, "in 31 0 token, in 31 1 token, in 31 2 token"},
		"there and back":                 {[][2]string{{a, mine}, {mine, a}, {mine, mine}}, "in 31 0 token, out 31 0 token, in 31 1 token, out 31 1 token"},
	} {
		t.Run(name, func(t *testing.T) {
			var logs []string
			for i, l := range c.legs {
				logs = append(logs, fmt.Sprintf(
					`{"address":%q,"topics":["0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",%q,%q],"data":"0x1f",
					"transactionHash":"0xa1","blockNumber":"0x5a","blockHash":"0x5a","logIndex":"0x%x"}`,
					token, topic(l[0]), topic(l[1]), i))
			}
			blocks := httptest.NewServer(http.HandlerFunc(stub))
			defer blocks.Close()
			node := &between{url: blocks.URL}
			server := httptest.NewServer(node)
			defer server.Close()
			add := func(call, result json.RawMessage) json.RawMessage {
				if bytes.Contains(call, []byte("eth_getLogs")) && bytes.Contains(call, []byte(`"blockHash":"0x5a"`)) {
					return json.RawMessage("[" + strings.Join(logs, ",") + "]")
				}
				return result
			}
			node.change.Store(&add)
			r := &reader{t: t, network: n, watched: map[string]bool{mine: true}, plug: plug(t, n, server.URL, nil)}
			r.want("a block", c.told, 0)
		})
	}
}

// topic returns an address as the topic of a log.
func topic(address string) string {
	return "0x" + strings.Repeat("0", 24) + strings.TrimPrefix(address, "0x")
}
