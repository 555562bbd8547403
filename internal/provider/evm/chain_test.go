package evm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/evm"
	"github.com/kobo-waas/kobo/internal/provider/providertest"
)

// between is a proxy before a node. It may change the answer to each call.
type between struct {
	url    string
	change atomic.Pointer[func(call, result json.RawMessage) json.RawMessage]
}

func (b *between) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	res, err := http.Post(b.url, "application/json", bytes.NewReader(body))
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer func() { _ = res.Body.Close() }()
	text, _ := io.ReadAll(res.Body)
	if !bytes.HasPrefix(body, []byte("[")) {
		body, text = []byte("["+string(body)+"]"), []byte("["+string(text)+"]")
		defer func() { _, _ = w.Write(bytes.Trim(text, "[]")) }()
	} else {
		defer func() { _, _ = w.Write(text) }()
	}
	change := b.change.Load()
	if change == nil {
		return
	}
	var calls, replies []map[string]json.RawMessage
	if json.Unmarshal(body, &calls) != nil || json.Unmarshal(text, &replies) != nil {
		return
	}
	for i, reply := range replies {
		for _, call := range calls {
			if bytes.Equal(call["id"], reply["id"]) {
				whole, _ := json.Marshal(call)
				replies[i]["result"] = (*change)(whole, reply["result"])
			}
		}
	}
	text, _ = json.Marshal(replies)
}

// withoutLogs is a change of a node that has lost its logs. If the filter by address is kept, only
// the node's index of logs is behind.
func withoutLogs(filteredOnly bool) *func(call, result json.RawMessage) json.RawMessage {
	do := func(call, result json.RawMessage) json.RawMessage {
		if bytes.Contains(call, []byte("eth_getLogs")) && (!filteredOnly || bytes.Contains(call, []byte(`"topics"`))) {
			return json.RawMessage("[]")
		}
		return result
	}
	return &do
}

// colliding returns an address whose bits are all in the filter of a block, although the block has no
// log of it.
func colliding(t *testing.T, filter string) string {
	t.Helper()
	header, ok := chain.ParseBloom(filter)
	if !ok {
		t.Fatal("the block has no filter")
	}
	for i := range 5_000_000 {
		address := fmt.Sprintf("0x%040x", i)
		if one, _ := chain.BloomOf(address); header.Contains(one) {
			return address
		}
	}
	t.Fatal("no address collides")
	return ""
}

// A node that returns no logs of a block, although the block's header has them, is not believed. A
// header alone proves nothing, because other logs may set the same bits.
func TestMissingLogsAreFound(t *testing.T) {
	c := providertest.NewChain(t)
	token := c.Deploy("USDT", big.NewInt(1_000_000))
	n := local()
	contract, _ := n.Canonical(token)
	n = local(chain.Token{Symbol: "USDT", Contract: contract, Decimals: 18})
	node := &between{url: c.URL}
	server := httptest.NewServer(node)
	defer server.Close()
	mine := "0x00000000000000000000000000000000000000aa"
	r := &reader{t: t, network: n, watched: map[string]bool{mine: true}, plug: plug(t, n, server.URL, nil)}
	r.want("the first time", "", 0)
	c.SendToken(token, c.Owner, mine, big.NewInt(31))
	c.Mine(1)
	node.change.Store(withoutLogs(false))
	for range 2 {
		b, err := r.plug.Since(t.Context(), r.cursor, r.ours)
		if provider.AsError("", err).Code != provider.CodeLogsMissing || b.Cursor != "" {
			t.Fatalf("%+v %v", b, err)
		}
	}
	node.change.Store(withoutLogs(true))
	r.want("all logs of the block are there", "in 31 0 token", 0)
	node.change.Store(nil)

	for i := range 40 { // many recipients set many bits
		c.SendToken(token, c.Owner, fmt.Sprintf("0x%040x", 1_000_000+i), big.NewInt(1))
	}
	c.Mine(1)
	r.want("to others", "", 0)
	filter, asked := "", atomic.Int64{}
	look := func(call, result json.RawMessage) json.RawMessage {
		var b struct{ LogsBloom string }
		if bytes.Contains(call, []byte("eth_getBlockByNumber")) && json.Unmarshal(result, &b) == nil {
			filter = b.LogsBloom
		}
		if bytes.Contains(call, []byte("eth_getLogs")) && !bytes.Contains(call, []byte(`"topics"`)) {
			asked.Add(1)
		}
		return result
	}
	node.change.Store(&look)
	r.read()
	other, _ := n.Canonical(colliding(t, filter))
	n = local(chain.Token{Symbol: "NONE", Contract: other, Decimals: 18})
	asked.Store(0)
	q := &reader{t: t, network: n, watched: r.watched, plug: plug(t, n, server.URL, nil)}
	q.want("a filter that only seems to have the token", "", 0)
	if asked.Load() != 1 {
		t.Errorf("all logs were asked for %d times", asked.Load())
	}
}

// A reorganisation may be deeper than the blocks of which the cursor has each. Then the plug reports
// from which block on all may be replaced, and reads again from there.
func TestADeepReorganisationIsFollowed(t *testing.T) {
	c := providertest.NewChain(t)
	n := local()
	mine := "0x00000000000000000000000000000000000000aa"
	r := &reader{t: t, network: n, watched: map[string]bool{mine: true}, plug: plug(t, n, c.URL, nil)}
	c.Mine(70)
	r.want("the first time", "", 0)
	c.Mine(30)
	c.Send(c.Owner, mine, big.NewInt(1))
	c.Mine(1)
	fork := c.Head() - 1
	c.Mine(299)
	r.want("a deposit", "in 1 0", 0)
	if marks := strings.Count(r.cursor, `"n"`); marks > 64+10 {
		t.Errorf("the cursor has %d blocks", marks)
	}
	c.Reorganise(int(c.Head() - fork))
	c.Send(c.Owner, mine, big.NewInt(2))
	c.Mine(400)
	b, err := r.plug.Since(t.Context(), r.cursor, r.ours)
	if err != nil || b.GoneFrom < fork-300 || b.GoneFrom > fork+1 || len(b.Gone) < 64 || len(b.Movements) != 0 || !b.More {
		t.Fatalf("forked after %d: from %d on, %d blocks gone, %v, %v", fork, b.GoneFrom, len(b.Gone), b.Movements, err)
	}
	r.cursor = b.Cursor
	r.want("instead", "in 2 0", 0)
}

// A network may tag its final blocks. Then the tag decides, and not the number of confirmations.
func TestTheTagOfFinalityIsAsked(t *testing.T) {
	c := providertest.NewChain(t)
	n := local()
	n.Finality = "finalized"
	p := plug(t, n, c.URL, nil)
	hash := c.Send(c.Owner, c.Owner, big.NewInt(1))
	c.Mine(10)
	at, err := p.Inclusion(t.Context(), n, hash)
	if err != nil || !at.Found || !at.Tagged || at.IsFinal(at.Block, n.Confirmations) || at.Depth() < n.Confirmations {
		t.Errorf("%+v %v", at, err)
	}
	c.Mine(100)
	if at, err = p.Inclusion(t.Context(), n, hash); err != nil || !at.IsFinal(at.Block, n.Confirmations) || at.Final >= at.Head {
		t.Errorf("%+v %v", at, err)
	}
	for at, want := range map[provider.Inclusion]bool{
		{Head: 12}: true, {Head: 11}: false, {Head: 99, Tagged: true}: false, {Head: 99, Tagged: true, Final: 9}: false, {Head: 99, Tagged: true, Final: 10}: true,
	} {
		if at.IsFinal(10, 3) != want {
			t.Errorf("%+v: %v", at, !want)
		}
	}
}

// The node tells what addresses hold in a block that was read some time ago, with coins that came
// without a transaction of their own.
func TestHoldings(t *testing.T) {
	c := providertest.NewChain(t)
	n := local()
	p := plug(t, n, c.URL, func(cfg *evm.Config) { cfg.BatchSize = 3 })
	r := &reader{t: t, network: n, plug: p}
	a, b := "0x00000000000000000000000000000000000000aa", "0x00000000000000000000000000000000000000bb"
	for _, cursor := range []string{"", `[{"n":0,"h":"0x0"}]`} {
		if at, of, err := p.Holdings(t.Context(), n, cursor, []string{a}); err != nil || at != 0 || of != nil {
			t.Errorf("the reading has only begun: %d %v %v", at, of, err)
		}
	}
	c.Mine(5)
	c.Send(c.Owner, a, big.NewInt(100))
	c.Mine(1)
	c.SetBalance(b, big.NewInt(7))
	c.Mine(1)
	block := c.Head()
	c.Mine(3)
	c.Send(c.Owner, a, big.NewInt(100))
	c.Mine(1)
	r.read()
	at, of, err := p.Holdings(t.Context(), n, r.cursor, []string{a, b, c.Owner})
	if err != nil || at < block || at > c.Head()-n.Confirmations || len(of) != 3 ||
		of[0].Units.Int64() != 100 || of[1].Units.Int64() != 7 || of[0].Sent != 0 || of[2].Sent == 0 {
		t.Errorf("block %d: %v %v", at, of, err)
	}
	c.Reorganise(8)
	c.Mine(8)
	if _, _, err := p.Holdings(t.Context(), n, r.cursor, []string{a}); err == nil {
		t.Error("the block is gone")
	}
}
