package tatum

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/providertest"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/sandboxtest"
	plug "github.com/kobo-waas/kobo/internal/provider/tatum"
)

// opened is a sandbox in which only the simulated Tatum runs.
type opened struct {
	*Custodian
	server *sandbox.Sandbox
}

func open(t *testing.T) opened {
	t.Helper()
	c := &Custodian{}
	return opened{c, sandboxtest.Open(t, sandbox.Config{}, c)}
}

func byHand(t *testing.T, s opened) *sandboxtest.Caller {
	return sandboxtest.NewCaller(t, s.server.Handler())
}

// listener receives the notifications of the simulated Tatum, and responds to each with its status.
type listener struct {
	mu     sync.Mutex
	status int
	got    []string
	header []http.Header
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.got, l.header = append(l.got, string(body)), append(l.header, r.Header)
	w.WriteHeader(l.status)
}

// heard waits until n notifications have arrived.
func (l *listener) heard(t *testing.T, n int) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(10 * time.Second); ; <-look.C {
		l.mu.Lock()
		got := len(l.got)
		l.mu.Unlock()
		if got >= n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d notifications came", got, n)
		}
	}
}

func TestCustodian(t *testing.T) {
	t.Parallel()
	key, err := chain.ParseKey(chain.PublicTestKeys[chain.EVM])
	if err != nil {
		t.Fatal(err)
	}
	n, _ := testnet("ethereum-sepolia")
	providertest.RunCustodian(t, func(t *testing.T) providertest.CustodianWorld {
		s := open(t)
		wire, ear := providertest.NewWire(t, s.server.Handler()), &listener{status: 200}
		callback := httptest.NewServer(ear)
		t.Cleanup(callback.Close)
		if err := s.SetCallback(callback.URL); err != nil {
			t.Fatal(err)
		}
		cfg := s.PlugConfig(wire.URL)
		_, cfg.ReadDeadline = providertest.Deadlines(t)
		p, err := plug.New(cfg, s.Clock)
		if err != nil {
			t.Fatal(err)
		}
		address, err := key.Address(n, 7)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Watch(t.Context(), n, address); err != nil {
			t.Fatal(err)
		}
		status, sent := byHand(t, s).Do("POST", "/sandbox/crypto-deposit", `{"address":"`+address+`","asset":"USDC","amount":2.5}`)
		if status != http.StatusOK {
			t.Fatalf("HTTP %d %v", status, sent)
		}
		return providertest.CustodianWorld{
			Custodian: p, Wire: wire, Network: n, Key: key, Hash: sent["data"].(map[string]any)["txHash"].(string),
			Keys: []string{apiKey, cfg.HMACSecret.Reveal(), wire.URL},
			Notice: func(t *testing.T) (http.Header, []byte) {
				if err := s.notices.Deliver(t.Context()); err != nil {
					t.Fatal(err)
				}
				ear.heard(t, 1)
				ear.mu.Lock()
				defer ear.mu.Unlock()
				return ear.header[0], []byte(ear.got[0])
			},
		}
	})
}

// heard returns the listener for the callbacks of the simulated Tatum, and a plug that asks it for
// addresses, with the plug's configuration.
func (s opened) heard(t *testing.T) (*listener, plug.Config, *plug.Plug) {
	t.Helper()
	server := httptest.NewServer(s.server.Handler())
	t.Cleanup(server.Close)
	ear := &listener{status: 200}
	callback := httptest.NewServer(ear)
	t.Cleanup(callback.Close)
	if err := s.SetCallback(callback.URL); err != nil {
		t.Fatal(err)
	}
	cfg := s.PlugConfig(server.URL)
	cfg.RemoteAddresses = true
	p, err := plug.New(cfg, s.Clock)
	if err != nil {
		t.Fatal(err)
	}
	return ear, cfg, p
}

// Tatum signs a notification, and sends it again until the client accepts it. A notification that
// the client never accepts appears on the list of failed notifications.
func TestNotifications(t *testing.T) {
	s := open(t)
	ear, _, p := s.heard(t)
	key, err := chain.ParseKey(chain.PublicTestKeys[chain.EVM])
	if err != nil {
		t.Fatal(err)
	}
	n, _ := testnet("ethereum-sepolia")
	address, err := p.Address(t.Context(), n, key, 0)
	if err != nil || address != "0x9858EfFD232B4033E47d90003D41EC34EcaEda94" {
		t.Fatalf("%s %v", address, err)
	}
	first, err := p.Watch(t.Context(), n, address)
	again, err2 := p.Watch(t.Context(), n, address)
	if err != nil || err2 != nil || first == "" || first != again {
		t.Errorf("adopted: %q %q %v %v", first, again, err, err2)
	}

	c := byHand(t, s)
	deposit := func(more string) map[string]any {
		t.Helper()
		status, body := c.Do("POST", "/sandbox/crypto-deposit", `{"address":"`+address+`","asset":"USDC","amount":2.5`+more+`}`)
		if status != 200 {
			t.Fatalf("%d %v", status, body)
		}
		if err := s.notices.Deliver(t.Context()); err != nil {
			t.Fatal(err)
		}
		return body["data"].(map[string]any)
	}
	sent := deposit(`,"duplicate":true`)
	ear.heard(t, 2)
	ear.mu.Lock()
	if len(ear.got) != 2 || ear.got[0] != ear.got[1] {
		t.Errorf("told: %q", ear.got)
	}
	movements, err := p.ParseNotification(ear.header[0], []byte(ear.got[0]))
	if err != nil || len(movements) != 1 || movements[0].Units.String() != "2500000" || movements[0].Address != address {
		t.Errorf("%+v %v", movements, err)
	}
	ear.status, ear.got = 500, nil
	ear.mu.Unlock()
	at, err := p.Inclusion(t.Context(), n, sent["txHash"].(string))
	if err != nil || at.Depth() <= n.Confirmations {
		t.Errorf("%+v %v", at, err)
	}

	lost := deposit(`,"confirmed":false`)
	ear.heard(t, 1)
	for range 7 {
		if err := s.server.Advance(t.Context(), 11*time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	batch, err := p.Since(t.Context(), "", nil)
	if err != nil || len(batch.Movements) != 1 || batch.Movements[0].Hash != lost["txHash"] || len(ear.got) < 6 {
		t.Errorf("missed: %+v %v after %d tries", batch, err, len(ear.got))
	}
	if at, err := p.Inclusion(t.Context(), n, lost["txHash"].(string)); err != nil || !at.Found {
		t.Errorf("%+v %v", at, err)
	}
	c.Do("POST", "/sandbox/crypto-drop", `{"txHash":"`+lost["txHash"].(string)+`"}`)
	if at, err := p.Inclusion(t.Context(), n, lost["txHash"].(string)); err != nil || at != (provider.Inclusion{Head: at.Head}) {
		t.Errorf("%+v %v", at, err)
	}
	if err := p.Unwatch(t.Context(), first); err != nil {
		t.Error(err)
	}
	if status, _ := c.Do("POST", "/sandbox/crypto-deposit", `{"address":"`+address+`","asset":"ETH","amount":1}`); status != 400 {
		t.Errorf("nobody watches it: %d", status)
	}
}

// The list of all notifications has those that the client has accepted. A program whose database is a restored copy reads it from
// the copy's cursor on, a day earlier.
func TestAcceptedNotificationsAreListed(t *testing.T) {
	s := open(t)
	ear, cfg, p := s.heard(t)
	n, _ := testnet("ethereum-sepolia")
	address := "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"
	if _, err := p.Watch(t.Context(), n, address); err != nil {
		t.Fatal(err)
	}
	first, err := p.Since(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	c := byHand(t, s)
	deposit := func(amount string) {
		t.Helper()
		if status, body := c.Do("POST", "/sandbox/crypto-deposit", `{"address":"`+address+`","asset":"USDC","amount":`+amount+`}`); status != 200 {
			t.Fatalf("%d %v", status, body)
		}
		if err := s.notices.Deliver(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	deposit("2")
	ear.heard(t, 1)
	if err := s.server.Advance(t.Context(), 30*24*time.Hour); err != nil {
		t.Fatal(err)
	}
	deposit("3")
	ear.heard(t, 2)
	read := func(p *plug.Plug, cursor string) (units string, next string) {
		t.Helper()
		b, err := p.Since(t.Context(), cursor, nil)
		if err != nil || b.More || len(b.Unread) != 0 {
			t.Errorf("%+v %v", b, err)
		}
		for _, m := range b.Movements {
			units += m.Units.String() + " "
		}
		return units, b.Cursor
	}
	if units, _ := read(p, first.Cursor); units != "" {
		t.Errorf("the same program reads %q", units)
	}
	restarted, err := plug.New(cfg, s.Clock)
	if err != nil {
		t.Fatal(err)
	}
	units, next := read(restarted, first.Cursor)
	if units != "3000000 2000000 " {
		t.Errorf("a program on a restored copy reads %q", units)
	}
	if units, _ := read(restarted, next); units != "" {
		t.Errorf("afterwards it reads %q", units)
	}
	if units, _ := read(restarted, first.Cursor); units != "3000000 2000000 " {
		t.Errorf("on a copy that was restored below it, it reads %q", units)
	}
	if restarted, err = plug.New(cfg, s.Clock); err != nil {
		t.Fatal(err)
	}
	if units, _ := read(restarted, next); units != "3000000 " {
		t.Errorf("a program on a present database reads %q", units)
	}
}

func TestRefusals(t *testing.T) {
	s := open(t)
	c := byHand(t, s)
	if status, body := c.Do("GET", "/v4/subscription?pageSize=5", nil); status != 401 || body["errorCode"] == "" {
		t.Errorf("without a key: %d %v", status, body)
	}
	c.Header.Set("X-Api-Key", apiKey)
	for _, q := range []struct{ method, path, body string }{
		{"GET", "/v4/subscription", ""},
		{"GET", "/v4/subscription?pageSize=51", ""},
		{"PUT", "/v4/subscription", `{}`},
		{"POST", "/v4/subscription", `{"type":"INCOMING_NATIVE_TX"}`},
		{"POST", "/v4/subscription?type=testnet", `{"type":"ADDRESS_EVENT","attr":{"chain":"nothing","address":"x","url":"http://a"}}`},
		{"POST", "/v4/subscription?type=testnet", `{"type":"ADDRESS_EVENT","attr":{"chain":"tron-testnet","address":"x","url":"http://a"}}`},
		{"POST", "/v4/subscription", `{"type":"ADDRESS_EVENT","attr":{"chain":"tron-testnet","address":"TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH","url":"http://a"}}`},
		{"GET", "/v3/tron/address/xpub6EuK4CZWW5urEHdwAVDdDw327danAtccFcrXYvgf1DHrPXRwErt36xStQ2PNhn4hpwzPbzJ8pJVpewgChRnSs59q5Ay61GCfQZKUe71gbLq/0", ""},
		{"DELETE", "/v4/subscription/none", ""},
		{"GET", "/v3/nothing/block/current", ""},
		{"GET", "/v3/ethereum/transaction/0x1", ""},
	} {
		if status, body := c.Do(q.method, q.path, q.body); status < 400 || body["errorCode"] == nil {
			t.Errorf("%s %s: %d %v", q.method, q.path, status, body)
		}
	}
	for _, body := range []string{
		`{}`, `{"address":"0x1","asset":"ETH","amount":1}`,
	} {
		if status, _ := c.Do("POST", "/sandbox/crypto-deposit", body); status != 400 {
			t.Errorf("%s: %d", body, status)
		}
	}
	if s.SetCallback("https://example.com") == nil {
		t.Error("a callback elsewhere")
	}
}

// The manners of the real Tatum that a control turns on: notifications without a type or of an unknown
// chain are unread, and long replies are read.
func TestManners(t *testing.T) {
	s := open(t)
	ear, cfg, p := s.heard(t)
	c, told := byHand(t, s), 0
	notice := func(network, asset, manners string) ([]provider.Movement, error) {
		t.Helper()
		n, _ := testnet(network)
		key, err := chain.ParseKey(chain.PublicTestKeys[n.Kind])
		if err != nil {
			t.Fatal(err)
		}
		address, err := p.Address(t.Context(), n, key, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Watch(t.Context(), n, address); err != nil {
			t.Fatal(err)
		}
		if status, body := c.Do("POST", "/sandbox/crypto-manners", manners); status != http.StatusOK {
			t.Fatalf("%d %v", status, body)
		}
		status, sent := c.Do("POST", "/sandbox/crypto-deposit", `{"address":"`+address+`","asset":"`+asset+`","amount":1}`)
		if status != http.StatusOK {
			t.Fatalf("%d %v", status, sent)
		}
		if err := s.notices.Deliver(t.Context()); err != nil {
			t.Fatal(err)
		}
		told++
		ear.heard(t, told)
		if at, err := p.Inclusion(t.Context(), n, sent["data"].(map[string]any)["txHash"].(string)); err != nil || !at.Found {
			t.Errorf("%s: %+v %v", manners, at, err)
		}
		ear.mu.Lock()
		defer ear.mu.Unlock()
		return p.ParseNotification(ear.header[told-1], []byte(ear.got[told-1]))
	}
	for _, manners := range []string{`{"untyped":true}`, `{"chain":"ETH"}`} {
		if m, err := notice("ethereum-sepolia", "ETH", manners); !errors.Is(err, provider.ErrUnread) {
			t.Errorf("%s: %+v %v", manners, m, err)
		}
	}
	m, err := notice("tron-testnet", "TRX", `{"answerBytes":0}`)
	if err != nil || len(m) != 1 {
		t.Errorf("%+v %v", m, err)
	}
	cfg.RemoteAddresses = false // Tatum's Bitcoin addresses have another form
	if p, err = plug.New(cfg, s.Clock); err != nil {
		t.Fatal(err)
	}
	m, err = notice("bitcoin-testnet", "BTC", `{"untyped":true,"answerBytes":2097152}`)
	if err != nil || len(m) != 1 || m[0].Units.String() != "100000000" {
		t.Errorf("%+v %v", m, err)
	}
	if status, _ := c.Do("POST", "/sandbox/crypto-manners", `{"answerBytes":-1}`); status != http.StatusBadRequest {
		t.Errorf("HTTP %d", status)
	}
}
