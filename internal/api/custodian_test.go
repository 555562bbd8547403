package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/provider"
)

// custodian is a fake crypto custodian. /sandbox/crypto-deposit adds transactions to its fake
// blockchain and sends notifications of these transactions.
type custodian struct {
	mu      sync.Mutex
	watched map[string]string // address → network
	deep    map[string]bool   // transaction → true if confirmed
	sent    int
}

func (c *custodian) Name() string                                  { return "Custodian" }
func (c *custodian) Begin(string) int64                            { return 0 }
func (c *custodian) Pace() time.Duration                           { return time.Hour }
func (c *custodian) Unwatch(context.Context, string) error         { return nil }
func (c *custodian) ParseKept([]byte) ([]provider.Movement, error) { return nil, provider.ErrUnread }

func (c *custodian) Holdings(context.Context, chain.Network, string, []string) (int64, []provider.Holding, error) {
	return 0, nil, nil
}

func (c *custodian) Since(context.Context, string, provider.Ours) (provider.Batch, error) {
	return provider.Batch{}, nil
}

func (c *custodian) Address(_ context.Context, n chain.Network, k chain.Key, index int64) (string, error) {
	return k.Address(n, index)
}

func (c *custodian) Watch(_ context.Context, n chain.Network, address string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watched[address] = n.ID
	return "watch", nil
}

func (c *custodian) ParseNotification(_ http.Header, body []byte) ([]provider.Movement, error) {
	var m []provider.Movement
	return m, json.Unmarshal(body, &m)
}

func (c *custodian) Inclusion(_ context.Context, _ chain.Network, hash string) (provider.Inclusion, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := provider.Inclusion{Found: true, Block: 1000, Head: 1000}
	if c.deep[hash] {
		at.Head = 2000
	}
	return at, nil
}

// newCrypto returns the crypto service with the fake custodian and the public test keys.
func newCrypto(cfg crypto.Config) (*crypto.Service, *custodian) {
	c := &custodian{watched: map[string]string{}, deep: map[string]bool{}}
	cfg.Networks, cfg.HouseKeys = chain.Testnets(), map[chain.Kind]chain.Key{}
	for kind, text := range chain.PublicTestKeys {
		key, err := chain.ParseHouseKey(text)
		if err != nil {
			panic(err)
		}
		cfg.HouseKeys[kind] = key
	}
	all := crypto.Custody{Name: "custodian", Plug: c}
	for _, n := range cfg.Networks {
		all.Networks = append(all.Networks, n.ID)
	}
	cfg.Custodies = []crypto.Custody{all}
	return crypto.New(cfg), c
}

// deposit imitates the features of the sandbox endpoint /sandbox/crypto-deposit that the
// transcripts use.
func (c *custodian) deposit(s *crypto.Service, worker *job.Worker) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hash, err := c.send(r, s)
		if err == nil {
			err = worker.Settled(r.Context())
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]any{"txHash": hash, "blockNumber": 1000}})
	})
}

func (c *custodian) send(r *http.Request, s *crypto.Service) (hash string, err error) {
	ask := struct {
		Address, Asset, Amount string
		Confirmed, Duplicate   bool
	}{Confirmed: true}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		return "", err
	}
	c.mu.Lock()
	id, watched := c.watched[ask.Address]
	c.sent++
	hash = fmt.Sprintf("0x%064d", c.sent)
	c.deep[hash] = ask.Confirmed
	c.mu.Unlock()
	i := slices.IndexFunc(chain.Testnets(), func(n chain.Network) bool { return n.ID == id })
	if !watched || i < 0 {
		return "", errors.New("nobody watches this address")
	}
	asset, known := chain.Testnets()[i].BySymbol(ask.Asset)
	units, err := chain.ParseUnits(ask.Amount, asset.Decimals)
	if err != nil || !known {
		return "", errors.New("no such asset or amount")
	}
	m := provider.Movement{
		NetworkID: id, Address: ask.Address, Counter: "0x4e8E2F4d2f5D4b0f0B1F4b4D5fB2bC4d8A8C0F2a", Contract: asset.Contract,
		Units: new(big.Int).Set(units), Hash: hash, Block: 1000, Raw: json.RawMessage(`{"chain":"` + id + `"}`),
	}
	body, err := json.Marshal([]provider.Movement{m})
	if err != nil {
		return "", err
	}
	copies := 1
	if ask.Duplicate {
		copies = 2
	}
	for range copies {
		if err := s.Receive(r.Context(), "custodian", nil, body); err != nil {
			return "", err
		}
	}
	return hash, nil
}
