package evm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/evm"
	"github.com/kobo-waas/kobo/internal/provider/providertest"
	"github.com/kobo-waas/kobo/internal/secret"
)

func local(tokens ...chain.Token) chain.Network {
	return chain.Network{
		ID: "local", Chain: "local", Name: "Local", Kind: chain.EVM, NativeAsset: "ETH", Decimals: 18,
		Tokens: tokens, Confirmations: 3, BlockSeconds: 1, Testnet: true,
		ChainID: providertest.ChainID,
	}
}

func plug(t *testing.T, n chain.Network, url string, change func(*evm.Config)) *evm.Plug {
	t.Helper()
	cfg := evm.Config{Network: n, URL: secret.NewText(url), PerSecond: 100_000, Deadline: 5 * time.Second}
	if change != nil {
		change(&cfg)
	}
	p, err := evm.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reader reads a chain in the same way as the production code: batch by batch, with a cursor.
type reader struct {
	t       *testing.T
	plug    *evm.Plug
	network chain.Network
	cursor  string
	watched map[string]bool
}

func (r *reader) ours(_ context.Context, networkID string, addresses []string) (map[string]bool, error) {
	if networkID != r.network.ID {
		r.t.Errorf("asked about %s", networkID)
	}
	found := map[string]bool{}
	for _, a := range addresses {
		if r.watched[a] {
			found[a] = true
		}
	}
	return found, nil
}

// read returns all new movements, and the number of blocks that are no longer in the chain.
func (r *reader) read() (told []string, gone int) {
	r.t.Helper()
	for {
		b, err := r.plug.Since(r.t.Context(), r.cursor, r.ours)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, m := range b.Movements {
			way := "in"
			if m.Out {
				way = "out"
			}
			line := fmt.Sprintf("%s %s %d", way, m.Units, m.Ordinal)
			if m.Contract != "" {
				line += " token"
			}
			if m.Reverted {
				line += " reverted"
			}
			if !json.Valid(m.Raw) || m.Block == 0 || m.BlockHash == "" || m.Hash == "" || m.Counter == "" {
				r.t.Errorf("%+v", m)
			}
			told = append(told, line)
		}
		gone += len(b.Gone)
		if !b.More || b.Cursor == r.cursor {
			r.cursor = b.Cursor
			return told, gone
		}
		r.cursor = b.Cursor
	}
}

func (r *reader) want(what, told string, gone int) {
	r.t.Helper()
	got, lost := r.read()
	if strings.Join(got, ", ") != told || lost != gone {
		r.t.Errorf("%s: %q and %d blocks gone, want %q and %d", what, strings.Join(got, ", "), lost, told, gone)
	}
}

// The plug reports every transfer on a real chain exactly one time. The chain has deposits and
// withdrawals of ether, and two tokens of the same name, of which only one is listed. Many blocks
// may pass between two reads. A reorganisation of the chain may remove a transaction that was
// already reported.
func TestARealChainIsRead(t *testing.T) {
	c := providertest.NewChain(t)
	all := new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil)
	token, spam := c.Deploy("USDT", all), c.Deploy("USDT", all)
	n := local()
	contract, _ := n.Canonical(token)
	n = local(chain.Token{Symbol: "USDT", Contract: contract, Decimals: 18})
	key, err := chain.ParseKey(chain.PublicTestKeys[chain.EVM])
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, network: n, watched: map[string]bool{}, plug: plug(t, n, c.URL, func(cfg *evm.Config) { cfg.Span, cfg.BatchSize = 7, 3 })}
	mine, err := r.plug.Address(t.Context(), n, key, 500)
	if err != nil {
		t.Fatal(err)
	}
	r.watched[n.Fold(mine)] = true
	r.want("the first time", "", 0)

	c.Send(c.Owner, mine, big.NewInt(250))
	c.SendToken(token, c.Owner, mine, big.NewInt(31))
	c.SendToken(token, c.Owner, mine, big.NewInt(31))
	c.SendToken(spam, c.Owner, mine, big.NewInt(1_000_000))
	c.Send(c.Owner, c.Owner, big.NewInt(9))
	r.want("what waits for a block", "", 0)
	c.Mine(1)
	r.want("deposits", "in 250 0, in 31 0 token, in 31 0 token", 0)
	r.want("nothing new", "", 0)

	c.Send(c.Owner, mine, new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil))
	c.Mine(30)
	r.want("after an absence of many blocks", "in 1000000000000000000 0", 0)

	c.Own(mine)
	out := c.Send(mine, c.Owner, big.NewInt(77))
	c.SendToken(token, mine, c.Owner, big.NewInt(30))
	self := c.Send(mine, mine, big.NewInt(5))
	c.Mine(1)
	r.want("withdrawals", "out 77 0, in 5 0, out 5 0, out 30 0 token", 0)
	_ = self

	block := c.Head()
	for _, want := range []int64{1, 3} {
		at, err := r.plug.Inclusion(t.Context(), n, out)
		if err != nil || !at.Found || at.Reverted || at.Block != block || at.Depth() != want {
			t.Errorf("%+v %v, depth %d, want %d", at, err, at.Depth(), want)
		}
		c.Mine(2)
	}
	r.want("empty blocks", "", 0)

	lost := c.Send(c.Owner, mine, big.NewInt(99))
	c.Mine(1)
	r.want("what will be gone", "in 99 0", 0)
	if at, err := r.plug.Inclusion(t.Context(), n, lost); err != nil || !at.Found {
		t.Errorf("%+v %v", at, err)
	}
	c.Reorganise(2)
	c.Mine(1)
	again := c.Send(c.Owner, mine, big.NewInt(101))
	c.Mine(1)
	r.want("after the reorganisation", "in 101 0", 2)
	if at, err := r.plug.Inclusion(t.Context(), n, lost); err != nil || at.Found {
		t.Errorf("what is gone: %+v %v", at, err)
	}
	if at, err := r.plug.Inclusion(t.Context(), n, again); err != nil || !at.Found {
		t.Errorf("what happened instead: %+v %v", at, err)
	}
	waiting := c.Send(c.Owner, mine, big.NewInt(1))
	if at, err := r.plug.Inclusion(t.Context(), n, waiting); err != nil || !at.Waiting {
		t.Errorf("what waits: %+v %v", at, err)
	}
	c.Reorganise(5)
	c.Mine(90) // more blocks than the cursor stores
	c.Reorganise(85)
	c.Mine(1)
	r.want("after a reorganisation while away", "", 5)
}

// stub responds as a node of a chain with 100 blocks and one transaction, which is in block 90.
func stub(w http.ResponseWriter, r *http.Request) {
	type question struct {
		ID     int
		Method string
		Params []any
	}
	var asked []question
	body, err := io.ReadAll(r.Body)
	single := bytes.HasPrefix(body, []byte("{"))
	if single {
		asked = make([]question, 1)
		err = json.Unmarshal(body, &asked[0])
	} else if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	answers := make([]map[string]any, 0, len(asked))
	for _, q := range asked {
		var result any
		switch {
		case q.Method == "eth_chainId":
			result = "0x7a69"
		case q.Method == "eth_blockNumber":
			result = "0x64"
		case q.Method == "eth_getBlockByNumber":
			number, _ := strconv.ParseInt(strings.TrimPrefix(q.Params[0].(string), "0x"), 16, 64)
			result = map[string]any{"number": q.Params[0], "hash": fmt.Sprintf("0x%x", number), "parentHash": fmt.Sprintf("0x%x", number-1)}
		case q.Method == "eth_getLogs":
			result = []any{}
		case q.Params[0] == "0xa1":
			result = map[string]any{"transactionHash": "0xa1", "hash": "0xa1", "blockNumber": "0x5a", "blockHash": "0x5a", "status": "0x1"}
		}
		answers = append(answers, map[string]any{"id": q.ID, "result": result})
	}
	var all any = answers
	if single {
		all = answers[0]
	}
	_ = json.NewEncoder(w).Encode(all) // the node ignores a caller that has closed the connection
}

func TestANodeIsACustodian(t *testing.T) {
	t.Parallel()
	key, err := chain.ParseKey(chain.PublicTestKeys[chain.EVM])
	if err != nil {
		t.Fatal(err)
	}
	providertest.RunCustodian(t, func(t *testing.T) providertest.CustodianWorld {
		wire, n := providertest.NewWire(t, http.HandlerFunc(stub)), local()
		p := plug(t, n, wire.URL+"/v3/the-secret-key", func(c *evm.Config) { c.Deadline = 300 * time.Millisecond })
		p.Hurry()
		return providertest.CustodianWorld{
			Custodian: p, Wire: wire, Network: n, Key: key, Hash: "0xa1", Silent: true, Keys: []string{"the-secret-key", wire.URL},
		}
	})
}

// The plug returns an error for a receipt without a status. It must not read such a receipt as a
// failed transaction.
func TestAReceiptIsWhole(t *testing.T) {
	var receipt atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `[{"id":0,"result":"0x7a69"},{"id":1,"result":"0x64"},{"id":2,"result":`+receipt.Load().(string)+`},{"id":3,"result":null}]`)
	}))
	defer server.Close()
	p := plug(t, local(), server.URL, nil)
	for said, want := range map[string]bool{
		`{"transactionHash":"0x1","blockNumber":"0x5a","blockHash":"0x5a","status":"0x0"}`: true,
		`{"transactionHash":"0x1","blockNumber":"0x5a","blockHash":"0x5a"}`:                false,
		`{"transactionHash":"0x1","blockNumber":"0x5a","blockHash":"0x5a","status":null}`:  false,
		`{"transactionHash":"0x1","blockNumber":null,"blockHash":"0x5a","status":"0x1"}`:   false,
		`{"transactionHash":"0x1","blockNumber":"0x5a","blockHash":null,"status":"0x1"}`:   false,
		`{}`: false,
	} {
		receipt.Store(said)
		if at, err := p.Inclusion(t.Context(), local(), "0x1"); (err == nil) != want || at.Found != want {
			t.Errorf("%s: %+v, %v", said, at, err)
		}
	}
}

// The chain grows, and a transaction leaves it, while Inclusion asks. Blocks that came after the transaction was seen must
// confirm nothing, whether the calls come in one batch or one by one.
func TestTheBlocksAreOlderThanTheReceipt(t *testing.T) {
	head := "0x64"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		single := !bytes.HasPrefix(text, []byte("["))
		if single {
			text = []byte("[" + string(text) + "]")
		}
		var calls []struct {
			ID     int
			Method string
		}
		if err := json.Unmarshal(text, &calls); err != nil {
			t.Error(err)
		}
		var answers []string
		for _, c := range calls {
			result := "null"
			switch c.Method {
			case "eth_chainId":
				result = `"0x7a69"`
			case "eth_blockNumber":
				result = `"` + head + `"`
			case "eth_getBlockByNumber":
				result = `{"number":"` + head + `","hash":"0xf"}`
			case "eth_getTransactionReceipt":
				result, head = `{"transactionHash":"0x1","blockNumber":"0x64","blockHash":"0xb","status":"0x1"}`, "0xc8"
			}
			answers = append(answers, fmt.Sprintf(`{"id":%d,"result":%s}`, c.ID, result))
		}
		text = []byte(strings.Join(answers, ","))
		if !single {
			text = []byte("[" + string(text) + "]")
		}
		_, _ = w.Write(text)
	}))
	defer server.Close()
	for _, batch := range []int{50, 1} {
		head = "0x64"
		n := local()
		n.Finality = "finalized"
		p := plug(t, n, server.URL, func(c *evm.Config) { c.BatchSize = batch })
		at, err := p.Inclusion(t.Context(), n, "0x1")
		if err != nil || !at.Found || at.Depth() != 1 || at.Final != 100 || head != "0xc8" {
			t.Errorf("%d calls in a batch: %+v %v: a transaction of the last block has the depth %d", batch, at, err, at.Depth())
		}
	}
}

// The plug never uses a failed or wrong response of a node. It repeats the request if the failure
// may be temporary.
func TestANodeInTrouble(t *testing.T) {
	var asked, say atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch say.Load() {
		case 0:
			w.WriteHeader(http.StatusTooManyRequests)
		case 1:
			_, _ = io.WriteString(w, "<html>")
		case 2:
			_, _ = io.WriteString(w, `[{"id":0,"result":"0x7a69"},{"id":1,"error":{"code":-32005,"message":"limit"}},{"id":2,"result":null},{"id":3,"result":"0x1"}]`)
		case 3:
			_, _ = io.WriteString(w, `[]`)
		case 4:
			w.WriteHeader(http.StatusUnauthorized)
		case 5:
			_, _ = io.WriteString(w, `[{"id":9,"result":"0x1"},{"id":1,"result":null},{"id":2,"result":null},{"id":3,"result":"0x1"}]`)
		case 6:
			_, _ = io.WriteString(w, `[{"id":0,"result":"0x7a69"},{"id":1,"result":null},{"id":2,"result":null},{"id":3,"result":"soon"}]`)
		}
	}))
	defer server.Close()
	n := local()
	p := plug(t, n, server.URL+"/v3/the-secret-key", nil)
	for i, tries := range []int64{4, 4, 1, 4, 1, 4, 1} {
		say.Store(int64(i))
		asked.Store(0)
		_, err := p.Inclusion(t.Context(), n, "0x1")
		if err == nil || asked.Load() != tries || strings.Contains(err.Error(), "the-secret-key") {
			t.Errorf("%d: %v after %d tries, want %d", i, err, asked.Load(), tries)
		}
	}
	server.Close()
	if _, err := p.Inclusion(t.Context(), n, "0x1"); err == nil || strings.Contains(err.Error(), "the-secret-key") {
		t.Errorf("nobody there: %v", err)
	}
	if _, err := p.Since(t.Context(), "no cursor", nil); err == nil {
		t.Error("a cursor that is none")
	}
	if _, err := p.ParseNotification(nil, nil); err != provider.ErrForged {
		t.Errorf("a node sends nothing: %v", err)
	}
}

// The plug's rate limit counts JSON-RPC calls. An HTTP request that contains three calls counts as
// three.
func TestTheLimitCountsQuestions(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `[{"id":3,"result":null},{"id":0,"result":"0x7a69"},{"id":1,"result":"0x10"},{"id":2,"result":null}]`)
	}))
	defer server.Close()
	n := local()
	p := plug(t, n, server.URL, func(c *evm.Config) { c.PerSecond = 8 })
	begun := time.Now()
	for range 4 { // each round makes four calls: eight calls pass immediately, and eight more within a second
		if at, err := p.Inclusion(t.Context(), n, "0x1"); err != nil || at.Head != 16 || at.Found || at.Waiting {
			t.Fatalf("%+v %v", at, err)
		}
	}
	if took := time.Since(begun); took < 900*time.Millisecond {
		t.Errorf("sixteen questions took %v", took)
	}
}

func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	for name, cfg := range map[string]evm.Config{
		"another kind of network": {Network: chain.Testnets()[3], URL: secret.NewText("https://node.example")},
		"no address":              {Network: local()},
		"a negative batch":        {Network: local(), URL: secret.NewText("https://node.example"), BatchSize: -1},
		"plain http":              {Network: local(), URL: secret.NewText("http://node.example")},
	} {
		if _, err := evm.New(cfg); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
