package tatum_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/tatum"
	"github.com/kobo-waas/kobo/internal/secret"
)

const (
	callback = "https://kobo.example/callbacks/tatum"
	hmacKey  = "local-secret-of-the-test"
	ours     = "0x00000000000000000000000000000000000000AA"
	theirs   = "0x00000000000000000000000000000000000000bb"
	usdc     = "0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238"
	spam     = "0x00000000000000000000000000000000000000cc"
	bitcoin  = "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"
)

// far is a simulated Tatum. It records the requests and takes its responses from say.
type far struct {
	mu    sync.Mutex
	asked []string
	say   func(method, path string, body []byte) (int, string)
}

func (f *far) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.asked = append(f.asked, r.Method+" "+r.URL.RequestURI()+" "+string(body))
	f.mu.Unlock()
	if r.Header.Get("x-api-key") != "the-key" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	status, text := f.say(r.Method, r.URL.Path, body)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

func plug(t *testing.T, f *far, change func(*tatum.Config)) *tatum.Plug {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	cfg := tatum.Config{
		ClientConfig: provider.ClientConfig{BaseURL: server.URL, ReadDeadline: 5 * time.Second},
		APIKey:       secret.NewText("the-key"), HMACSecret: secret.NewText(hmacKey), CallbackURL: callback,
		Networks: append(chain.Mainnets(), chain.Testnets()...), Elsewhere: []chain.Network{{ID: "elsewhere"}},
	}
	if change != nil {
		change(&cfg)
	}
	p, err := tatum.New(cfg, clock.At(time.Unix(1_900_000_000, 0)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func network(id string) chain.Network {
	for _, n := range append(chain.Mainnets(), chain.Testnets()...) {
		if n.ID == id {
			return n
		}
	}
	panic(id)
}

// The expected signature is the example in the wire reference.
func TestTheSignatureMatchesTheExample(t *testing.T) {
	const body = `{"address":"0x00000000000000000000000000000000000000aa","amount":"0.25","asset":"ETH","blockNumber":7000001,"counterAddress":"0x00000000000000000000000000000000000000bb","txId":"0x01","type":"native","chain":"ethereum-sepolia","subscriptionType":"ADDRESS_EVENT"}`
	const want = "M+5tW5POa7F/r5qtg1v1UO3WdRZEdw21rvTj5H7cLR2R/eEEMfYzMxRkhjonUrlpwJfdMuERQUbV5S53XAYBrQ=="
	if got := tatum.Sign("local-secret", []byte(body)); got != want {
		t.Errorf("%s", got)
	}
}

func TestUnsignedNotificationsAreRefused(t *testing.T) {
	p := plug(t, &far{}, nil)
	const body = `{"address":"` + ours + `","amount":"0.25","asset":"ETH","blockNumber":7000001,"txId":"0x01","type":"native","chain":"ethereum-sepolia"}`
	good := tatum.Sign(hmacKey, []byte(body))
	raw, err := base64.StdEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ hash, body string }{
		"no signature":                 {"", body},
		"another's":                    {tatum.Sign("another secret!!!", []byte(body)), body},
		"another body":                 {good, strings.Replace(body, "0.25", "9.25", 1)},
		"another spacing":              {good, strings.Replace(body, ":", ": ", 1)},
		"cut":                          {base64.StdEncoding.EncodeToString(raw[:32]), body},
		"no base64":                    {"***", body},
		"forged, and nothing like one": {"", "{"},
	} {
		if _, err := p.ParseNotification(http.Header{tatum.HashHeader: {c.hash}}, []byte(c.body)); !errors.Is(err, provider.ErrForged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := p.ParseNotification(http.Header{tatum.HashHeader: {good}}, []byte(body))
	if err != nil || len(got) != 1 || got[0].Units.String() != "250000000000000000" || got[0].Block != 7000001 {
		t.Errorf("%+v %v", got, err)
	}
}

// A signature covers the bytes as they came. A character that no database stores is replaced after the signature was verified, also in the report.
func TestASignedNotificationCanBeStored(t *testing.T) {
	p := plug(t, &far{}, nil)
	body := []byte(`{"address":"` + ours + `","counterAddress":"x\u0000` + "\xff" + `","amount":"0.25","asset":"ETH","txId":"0x01\u0000","type":"native","chain":"ethereum-sepolia"}`)
	got, err := p.ParseNotification(http.Header{tatum.HashHeader: {tatum.Sign(hmacKey, body)}}, body)
	if err != nil || len(got) != 1 || got[0].Counter != "x\ufffd\ufffd" || got[0].Hash != "0x01\ufffd" {
		t.Fatalf("%+v %v", got, err)
	}
	if raw := string(got[0].Raw); !utf8.ValidString(raw) || strings.Contains(raw, `\u0000`) {
		t.Errorf("the report is %q", raw)
	}
}

func TestWhatANotificationMeans(t *testing.T) {
	p := plug(t, &far{}, nil)
	with := func(fields string) string {
		return `{"address":"` + strings.ToLower(ours) + `","txId":"0x02","chain":"ethereum-sepolia",` + fields + `}`
	}
	for _, c := range []struct{ name, body, want string }{
		{"a deposit", with(`"amount":"1.5","asset":"ETH","type":"native","blockNumber":7,"counterAddress":"` + theirs + `"`), "in 1500000000000000000  7 " + theirs},
		{"by a contract", with(`"amount":"1","asset":"ETH","type":"internal","blockNumber":7`), "in 1000000000000000000  7 "},
		{"a listed token", with(`"amount":"2.5","asset":"` + usdc + `","contractAddress":"` + strings.ToLower(usdc) + `","type":"token","blockNumber":7,"tokenId":"2500000"`), "in 2500000 " + usdc + " 7 "},
		{"a listed token by its asset", with(`"amount":2.5,"asset":"` + usdc + `","type":"token","blockNumber":7`), "in 2500000 " + usdc + " 7 "},
		{"a withdrawal", with(`"amount":"-0.1","asset":"ETH","type":"native","blockNumber":7`), "out 100000000000000000  7 "},
		{"small, with an exponent", with(`"amount":"1e-18","asset":"ETH","type":"native","blockNumber":7`), "in 1  7 "},
		{"not in a block", with(`"amount":"1","asset":"ETH","type":"native","blockNumber":null`), "in 1000000000000000000  0 "},
		{"in the mempool", with(`"amount":"1","asset":"ETH","type":"native","mempool":true,"blockNumber":9`), "in 1000000000000000000  0 "},
		{"after a reorganisation", with(`"amount":"1","asset":"ETH","type":"native","blockNumber":8,"reorg":true`), "in 1000000000000000000  8  moved"},
		{"a token with a famous name", with(`"amount":"1000000","asset":"USDT","contractAddress":"` + spam + `","type":"token","blockNumber":7`), "nothing"},
		{"a fee", with(`"amount":"-0.00042","asset":"ETH","type":"fee","blockNumber":7`), "nothing"},
		{"a failure", with(`"amount":"1","asset":"ETH","type":"failed","blockNumber":7`), "nothing"},
		{"a collectible", with(`"amount":"1","asset":"` + spam + `","type":"erc721","tokenId":"9","blockNumber":7`), "nothing"},
		{"nothing at all", with(`"amount":"0","asset":"ETH","type":"native","blockNumber":7`), "nothing"},
		{"another chain", `{"chain":"dogecoin-mainnet","type":"native","amount":"1"}`, "unread"},
		{"a chain that a node watches", `{"chain":"elsewhere","type":"native","amount":"1"}`, "nothing"},
		{"no chain", `{"type":"native","amount":"1"}`, "unread"},
		{"no type", with(`"amount":"1","asset":"ETH","blockNumber":7`), "unread"},
		{"a type that nobody knows", with(`"amount":"1","asset":"ETH","type":"staking","blockNumber":7`), "unread"},
		{"no type, on Bitcoin", `{"address":"` + bitcoin + `","amount":"0.5","asset":"BTC","txId":"ab","chain":"bitcoin-testnet","blockNumber":5}`, "in 50000000  5 "},
		{"no type, on Bitcoin, of something else", `{"address":"` + bitcoin + `","amount":"0.5","asset":"RUNE","txId":"ab","chain":"bitcoin-testnet","blockNumber":5}`, "unread"},
		{"on Tron", `{"address":"TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH","amount":"12.000001","asset":"USDT_TRON","contractAddress":"TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs","txId":"ab","type":"trc20","chain":"tron-testnet","blockNumber":5}`, "in 12000001 TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs 5 "},
		{"a token by its name alone", `{"address":"TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH","amount":"1","asset":"USDT","txId":"ab","type":"trc20","chain":"tron-testnet","blockNumber":5}`, "error"},
		{"finer than the asset", with(`"amount":"0.0000001","asset":"` + usdc + `","type":"token","blockNumber":7`), "error"},
		{"no amount", with(`"asset":"ETH","type":"native","blockNumber":7`), "error"},
		{"an amount that is a word", with(`"amount":"many","asset":"ETH","type":"native","blockNumber":7`), "error"},
		{"no hash", `{"address":"` + ours + `","chain":"ethereum-sepolia","amount":"1","type":"native","blockNumber":7}`, "error"},
		{"no address", `{"txId":"0x1","chain":"ethereum-sepolia","amount":"1","type":"native","blockNumber":7}`, "error"},
		{"the other template", `{"data":{"kind":"transfer"}}`, "error"},
		{"no object", `[1]`, "error"},
	} {
		got := "nothing"
		movements, err := p.ParseNotification(http.Header{tatum.HashHeader: {tatum.Sign(hmacKey, []byte(c.body))}}, []byte(c.body))
		if err != nil {
			got = "error"
		}
		if c.want == "unread" && errors.Is(err, provider.ErrUnread) {
			got = "unread"
			if _, again := p.ParseKept([]byte(c.body)); !errors.Is(again, provider.ErrUnread) {
				t.Errorf("%s: %v", c.name, again)
			}
		}
		for _, m := range movements {
			way := "in"
			if m.Out {
				way = "out"
			}
			got = fmt.Sprintf("%s %s %s %d %s", way, m.Units, m.Contract, m.Block, strings.ToLower(m.Counter))
			if m.Moved {
				got += " moved"
			}
			if !json.Valid(m.Raw) || m.NetworkID == "" {
				t.Errorf("%s: %+v", c.name, m)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A second Watch of an address finds the existing subscription. Signatures are turned on before the
// first subscription.
func TestWatch(t *testing.T) {
	f := &far{say: func(method, path string, body []byte) (int, string) {
		switch method {
		case http.MethodPut:
			return 204, ""
		case http.MethodPost:
			if strings.Contains(string(body), "tron") {
				return 403, `{"statusCode":403,"errorCode":"subscription.already.exists","message":"there"}`
			}
			if strings.Contains(string(body), "bsc") {
				return 200, `{}`
			}
			return 200, `{"id":"s-1"}`
		}
		return 200, `[{"id":"s-8","type":"ADDRESS_EVENT","attr":{"chain":"tron-mainnet","address":"TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH","url":"https://elsewhere.example"}},
			{"id":"s-9","type":"ADDRESS_EVENT","attr":{"chain":"tron-mainnet","address":"TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH","url":"` + callback + `"}}]`
	}}
	p := plug(t, f, nil)
	for _, c := range []struct{ network, address, want string }{
		{"ethereum-mainnet", ours, "s-1"},
		{"bitcoin-mainnet", "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA", "s-1"},
		{"tron-mainnet", "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH", "s-9"},
		{"bsc-mainnet", ours, ""},
		{"tron-testnet", "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH", ""},
	} {
		id, err := p.Watch(t.Context(), network(c.network), c.address)
		if id != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q %v", c.network, id, err)
		}
	}
	all := strings.Join(f.asked, "\n")
	if !strings.HasPrefix(all, "PUT /v4/subscription {\"hmacSecret\":\""+hmacKey+"\"}\n") || strings.Count(all, "PUT ") != 1 {
		t.Errorf("signatures are turned on once, first:\n%s", all)
	}
	if !strings.Contains(f.asked[1], `"templateId":"legacy","finality":"confirmed"`) || !strings.Contains(f.asked[2], `"mempool":true`) {
		t.Errorf("%s", all)
	}
}

// A DELETE without an id would turn the signatures off, so Unwatch refuses an empty id.
func TestAnEmptyIDNeverReachesTheDeleteCall(t *testing.T) {
	f := &far{say: func(string, string, []byte) (int, string) {
		return 404, `{"statusCode":404,"errorCode":"subscription.not.found"}`
	}}
	p := plug(t, f, nil)
	if err := p.Unwatch(t.Context(), ""); err == nil || len(f.asked) != 0 {
		t.Errorf("%v: %v", err, f.asked)
	}
	if err := p.Unwatch(t.Context(), "s/1"); err != nil || f.asked[0] != "DELETE /v4/subscription/s%2F1 " {
		t.Errorf("%v: %v", err, f.asked)
	}
}

// The URL of a failed notification is that of its subscription. Notifications to the address that Kobo had before count too.
func TestMissedNotificationsAreFetched(t *testing.T) {
	now := time.Unix(1_900_000_000, 0)
	line := func(url, data string, at time.Time) string {
		return fmt.Sprintf(`{"url":%q,"data":%s,"timestamp":%d,"failed":true}`, url, data, at.UnixMilli())
	}
	deposit := `{"address":"` + ours + `","amount":"1","asset":"ETH","type":"native","blockNumber":7,"txId":"0x1","chain":"ethereum-sepolia"}`
	quoted, _ := json.Marshal(deposit)
	lines := []string{
		line(callback, deposit, now), line(callback, string(quoted), now), line("https://elsewhere.example", deposit, now), line(callback, `{"x":1`+`}`, now),
		line(callback, `"{"`, now), line("https://elsewhere.example", `{"x":1`+`}`, now),
	}
	old := line(callback, deposit, now.Add(-30*24*time.Hour))
	f := &far{say: func(string, string, []byte) (int, string) {
		return 200, "[" + strings.Join(append(lines, old), ",") + "]"
	}}
	p := plug(t, f, nil)
	first, err := p.Since(t.Context(), "", nil)
	if err != nil || len(first.Movements) != 4 || len(first.Unread) != 2 || first.More {
		t.Errorf("all there are: %+v %v", first, err)
	}
	next, err := p.Since(t.Context(), first.Cursor, nil)
	if err != nil || len(next.Movements) != 3 || len(next.Unread) != 2 {
		t.Errorf("those of the last days: %+v %v", next, err)
	}
	if want := "GET /v4/subscription/webhook?direction=desc&failed=true&offset=0&pageSize=50 "; f.asked[0] != want {
		t.Errorf("%s", f.asked[0])
	}
	f.say = func(string, string, []byte) (int, string) { return 401, `{}` }
	if _, err := p.Since(t.Context(), "", nil); err == nil {
		t.Error("a refusal is no empty list")
	}
}

// A long list is read in parts, to its end. A program that finds a part of another program's reading begins again.
func TestALongListIsReadToItsEnd(t *testing.T) {
	const lines = 12_345
	f := &far{}
	f.say = func(string, string, []byte) (int, string) {
		f.mu.Lock()
		asked, err := url.Parse(strings.Fields(f.asked[len(f.asked)-1])[1])
		f.mu.Unlock()
		from, err2 := strconv.Atoi(asked.Query().Get("offset"))
		if err != nil || err2 != nil {
			return 400, `{}`
		}
		var page []string
		for n := from; n < min(from+50, lines); n++ {
			page = append(page, fmt.Sprintf(`{"url":%q,"timestamp":%d,"failed":true,"data":{"address":"%s","amount":"1","asset":"ETH","type":"native",`+
				`"blockNumber":7,"txId":"0x%d","chain":"ethereum-sepolia"}}`, callback, 1_900_000_000_000-n, ours, n))
		}
		return 200, "[" + strings.Join(page, ",") + "]"
	}
	read := func(p *tatum.Plug, cursor string, parts int) (hashes map[string]bool, next string) {
		t.Helper()
		hashes = map[string]bool{}
		for range parts {
			b, err := p.Since(t.Context(), cursor, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range b.Movements {
				hashes[m.Hash] = true
			}
			if cursor = b.Cursor; !b.More {
				break
			}
		}
		return hashes, cursor
	}
	p := plug(t, f, nil)
	if all, next := read(p, "", 100); len(all) != lines || next != "1900000000000000" {
		t.Errorf("%d of %d lines, up to %s", len(all), lines, next)
	}
	part, next := read(plug(t, f, nil), "1899999999999999", 2)
	if len(part) == 0 || len(part) == lines || !strings.HasPrefix(next, "{") {
		t.Errorf("%d lines in two parts, up to %s", len(part), next)
	}
	f.asked = nil
	if all, next := read(plug(t, f, nil), next, 100); len(all) != lines || next != "1900000000000000" || strings.Contains(f.asked[0], "failed") {
		t.Errorf("another program reads %d of %d lines, up to %s, and begins with %s", len(all), lines, next, f.asked[0])
	}
	failing := plug(t, f, nil)
	for range 2 { // the batch could not be written, so the cursor stays
		f.asked = nil
		if _, next := read(failing, "1899999999999999", 1); !strings.HasPrefix(next, "{") || strings.Contains(f.asked[0], "failed") || !strings.Contains(f.asked[0], "offset=0&") {
			t.Errorf("the reading begins with %s, and ends at %s", f.asked[0], next)
		}
	}
}

func TestTheStateOfATransaction(t *testing.T) {
	tx := ""
	f := &far{say: func(_, path string, _ []byte) (int, string) {
		switch {
		case strings.HasSuffix(path, "/block/current"):
			return 200, "120"
		case strings.HasSuffix(path, "/info"):
			return 200, `{"blockNumber":120,"blocks":120}`
		case tx == "":
			return 403, `{"statusCode":403,"errorCode":"tx.not.found","message":"no"}`
		}
		return 200, tx
	}}
	p := plug(t, f, nil)
	for _, c := range []struct {
		network, tx string
		want        provider.Inclusion
		depth       int64
	}{
		{"ethereum-mainnet", `{"blockNumber":100,"blockHash":"0xb","status":true}`, provider.Inclusion{Found: true, Block: 100, BlockHash: "0xb", Head: 120}, 21},
		{"ethereum-mainnet", `{"blockNumber":120,"status":false}`, provider.Inclusion{Found: true, Reverted: true, Block: 120, Head: 120}, 1},
		{"ethereum-mainnet", ``, provider.Inclusion{Head: 120}, 0},
		{"tron-mainnet", `{"blockNumber":119,"ret":[{"contractRet":"SUCCESS"}]}`, provider.Inclusion{Found: true, Block: 119, Head: 120}, 2},
		{"tron-mainnet", `{"blockNumber":119,"ret":[{"contractRet":"REVERT"}]}`, provider.Inclusion{Found: true, Reverted: true, Block: 119, Head: 120}, 2},
		{"bitcoin-mainnet", `{"hash":"1","blockNumber":null}`, provider.Inclusion{Waiting: true, Head: 120}, 0},
		{"bitcoin-mainnet", `{"txid":"1","hash":"2","blockNumber":-1}`, provider.Inclusion{Waiting: true, Head: 120}, 0},
		{"ethereum-mainnet", `{"transactionHash":"0X1"}`, provider.Inclusion{Waiting: true, Head: 120}, 0},
		{"tron-mainnet", `{"txID":"1"}`, provider.Inclusion{Waiting: true, Head: 120}, 0},
		{"bitcoin-mainnet", `{"blockNumber":121}`, provider.Inclusion{Found: true, Block: 121, Head: 120}, 0},
	} {
		tx = c.tx
		got, err := p.Inclusion(t.Context(), network(c.network), "0x1")
		if err != nil || got != c.want || got.Depth() != c.depth {
			t.Errorf("%s %s: %+v %v, depth %d", c.network, c.tx, got, err, got.Depth())
		}
	}
	for _, said := range []string{`{}`, `{"blockNumber":null}`, `{"hash":"2"}`, `{"hash":""}`, `{"blockNumber":0,"status":false}`} {
		tx = said
		if at, err := p.Inclusion(t.Context(), network("bitcoin-mainnet"), "0x1"); err == nil {
			t.Errorf("a reply that names no transaction: %s: %+v", said, at)
		}
	}
	for _, said := range []string{`<html>not found</html>`, ``, `{}`, `{"statusCode":404,"message":"Cannot GET /v3/ethereum/transaction/0x1"}`} {
		f.say = func(_, path string, _ []byte) (int, string) {
			if strings.HasSuffix(path, "/block/current") {
				return 200, "120"
			}
			return 404, said
		}
		if at, err := p.Inclusion(t.Context(), network("ethereum-mainnet"), "0x1"); err == nil {
			t.Errorf("a 404 of a gateway is no word of Tatum's: %s: %+v", said, at)
		}
	}
	f.say = func(string, string, []byte) (int, string) { return 200, `"soon"` }
	if _, err := p.Inclusion(t.Context(), network("ethereum-mainnet"), "0x1"); err == nil {
		t.Error("a head that is no number")
	}
}

// The chain grows, and a transaction leaves it, between the two calls of Inclusion. The depth must not count blocks that came
// after the transaction was seen.
func TestTheLastBlockIsOlderThanTheTransaction(t *testing.T) {
	sent, head := false, "100"
	f := &far{say: func(_, path string, _ []byte) (int, string) {
		if strings.HasSuffix(path, "/block/current") {
			return 200, head
		}
		sent, head = true, "200"
		return 200, `{"blockNumber":100,"blockHash":"0xb","status":true}`
	}}
	p := plug(t, f, nil)
	at, err := p.Inclusion(t.Context(), network("ethereum-mainnet"), "0x1")
	if err != nil || !sent || at.Depth() != 1 {
		t.Errorf("%+v %v: a transaction of the last block has the depth %d", at, err, at.Depth())
	}
}

func TestAnAddressThatDiffersIsAnError(t *testing.T) {
	answer := `{"address":"0x9858effd232b4033e47d90003d41ec34ecaeda94"}`
	f := &far{say: func(string, string, []byte) (int, string) { return 200, answer }}
	p := plug(t, f, func(c *tatum.Config) { c.RemoteAddresses = true })
	key, err := chain.ParseKey(chain.PublicTestKeys[chain.EVM])
	if err != nil {
		t.Fatal(err)
	}
	if a, err := p.Address(t.Context(), network("ethereum-mainnet"), key, 0); err != nil || a != "0x9858EfFD232B4033E47d90003D41EC34EcaEda94" {
		t.Errorf("%s %v", a, err)
	}
	answer = `{"address":"` + theirs + `"}`
	if a, err := p.Address(t.Context(), network("ethereum-mainnet"), key, 0); err == nil {
		t.Errorf("%s", a)
	}
}

func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	good := tatum.Config{
		ClientConfig: provider.ClientConfig{BaseURL: "https://api.tatum.io"},
		APIKey:       secret.NewText("k"), HMACSecret: secret.NewText(hmacKey), CallbackURL: callback,
	}
	if _, err := tatum.New(good, clock.System{}); err != nil {
		t.Error(err)
	}
	if text := fmt.Sprintf("%v %+v", good, good); strings.Contains(text, hmacKey) {
		t.Error("the configuration shows its secret")
	}
	for name, change := range map[string]func(*tatum.Config){
		"no key":       func(c *tatum.Config) { c.APIKey = secret.Text{} },
		"short secret": func(c *tatum.Config) { c.HMACSecret = secret.NewText("short") },
		"long secret":  func(c *tatum.Config) { c.HMACSecret = secret.NewText(strings.Repeat("x", 101)) },
		"no callback":  func(c *tatum.Config) { c.CallbackURL = "" },
		"plain http":   func(c *tatum.Config) { c.BaseURL = "http://api.tatum.io" },
	} {
		cfg := good
		change(&cfg)
		if _, err := tatum.New(cfg, clock.System{}); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
