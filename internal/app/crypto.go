package app

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/evm"
	"github.com/kobo-waas/kobo/internal/provider/tatum"
	"github.com/kobo-waas/kobo/internal/secret"
)

// CryptoConfig says on which blockchains deposits are taken.
type CryptoConfig struct {
	// Networks is a file with the networks and tokens that are taken, in the form
	// of internal/chain/networks.json; empty takes the program's own list.
	Networks string `koanf:"networks"`
	// Nodes are JSON-RPC nodes of Ethereum-like networks, as
	// "ethereum-mainnet=https://…, base-mainnet=https://…". A network without one is
	// Tatum's.
	Nodes secret.Text `koanf:"nodes"`
	// The house's own account keys, for companies that bring none.
	EVMXpub     string `koanf:"evm_xpub"`
	TronXpub    string `koanf:"tron_xpub"`
	BitcoinXpub string `koanf:"bitcoin_xpub"`
}

// TatumConfig is our account at Tatum. In sandbox mode it stays empty.
type TatumConfig struct {
	BaseURL    string      `koanf:"base_url"`
	APIKey     secret.Text `koanf:"api_key"`
	HMACSecret secret.Text `koanf:"hmac_secret"`
	// RemoteAddresses has Tatum derive each address too, and agree.
	RemoteAddresses bool `koanf:"remote_addresses"`
}

func (c TatumConfig) check(mode Mode) error {
	if mode == Sandbox && c.BaseURL+c.APIKey.Reveal() != "" {
		return errors.New("configuration: tatum.… is for live mode: the sandbox brings its own provider")
	}
	return nil
}

const (
	tatumName = "tatum"
	// tatumPath is where Tatum's notifications come in. What counts is their
	// signature, so the path holds no secret.
	tatumPath = "/callbacks/tatum"
)

// custody is what the business of addresses stands on.
type custody struct {
	networks []chain.Network
	house    map[chain.Kind]chain.Key
	plugs    []crypto.Custody
}

func (a *App) custody() (out custody, err error) {
	if out.networks, err = a.networks(); err != nil {
		return out, err
	}
	if out.house, err = a.houseKeys(); err != nil {
		return out, err
	}
	nodes, err := a.nodes(out.networks)
	if err != nil {
		return out, err
	}
	rest := slices.DeleteFunc(slices.Clone(out.networks), func(n chain.Network) bool {
		return slices.ContainsFunc(nodes, func(c crypto.Custody) bool { return c.Networks[0] == n.ID })
	})
	vendor, err := a.tatum(rest)
	out.plugs = append(nodes, vendor...)
	return out, err
}

func (a *App) networks() ([]chain.Network, error) {
	switch {
	case a.cfg.Crypto.Networks != "":
		text, err := os.ReadFile(filepath.Clean(a.cfg.Crypto.Networks))
		if err != nil {
			return nil, fmt.Errorf("configuration: crypto.networks: %w", err)
		}
		list, err := chain.Read(text)
		if err != nil {
			return nil, fmt.Errorf("configuration: crypto.networks: %w", err)
		}
		return list, nil
	case a.cfg.Mode == Sandbox:
		// What comes to an address of the sandbox is anybody's, so it must have no value.
		return chain.Testnets(), nil
	}
	return chain.Mainnets(), nil
}

func (a *App) houseKeys() (map[chain.Kind]chain.Key, error) {
	given := map[chain.Kind]string{
		chain.EVM: a.cfg.Crypto.EVMXpub, chain.Tron: a.cfg.Crypto.TronXpub, chain.Bitcoin: a.cfg.Crypto.BitcoinXpub,
	}
	out := map[chain.Kind]chain.Key{}
	for kind, text := range given {
		if text == "" && a.cfg.Mode == Sandbox {
			text = chain.PublicTestKeys[kind]
		}
		if text == "" {
			continue
		}
		key, err := chain.ParseHouseKey(text)
		if err != nil {
			return nil, fmt.Errorf("configuration: crypto.%s_xpub: %w", kind, err)
		}
		if published, err := chain.ParseHouseKey(chain.PublicTestKeys[kind]); a.cfg.Mode == Live && err == nil && published.String() == key.String() {
			return nil, fmt.Errorf("configuration: crypto.%s_xpub is a published test key: anybody could spend what is sent to it", kind)
		}
		out[kind] = key
	}
	return out, nil
}

// nodes are the networks that a node of our own looks after.
func (a *App) nodes(networks []chain.Network) (out []crypto.Custody, err error) {
	for _, pair := range strings.Split(a.cfg.Crypto.Nodes.Reveal(), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		id, url, _ := strings.Cut(strings.TrimSpace(pair), "=")
		i := slices.IndexFunc(networks, func(n chain.Network) bool { return n.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("configuration: crypto.nodes: there is no network %q", id)
		}
		plug, err := evm.New(evm.Config{Network: networks[i], URL: secret.NewText(url), Around: a.traced()})
		if err != nil {
			return nil, fmt.Errorf("configuration: crypto.nodes: %s: %w", id, err)
		}
		out = append(out, crypto.Custody{Name: "node:" + id, Plug: plug, Networks: []string{id}})
	}
	return out, nil
}

// tatum looks after the rest, if we are its customer.
func (a *App) tatum(networks []chain.Network) ([]crypto.Custody, error) {
	cfg := tatum.Config{
		ClientConfig: provider.ClientConfig{BaseURL: a.cfg.Tatum.BaseURL}, APIKey: a.cfg.Tatum.APIKey, HMACSecret: a.cfg.Tatum.HMACSecret,
		CallbackURL: a.cfg.CallbackBase + tatumPath, RemoteAddresses: a.cfg.Tatum.RemoteAddresses,
	}
	switch {
	case a.world != nil:
		cfg = a.world.sandbox.Tatum.PlugConfig(a.world.base)
	case cfg.APIKey.Reveal() == "":
		return nil, nil
	case cfg.BaseURL == "":
		cfg.BaseURL = "https://api.tatum.io"
	}
	cfg.Networks, cfg.Around = networks, a.traced()
	_, cfg.ReadDeadline = a.deadlines()
	plug, err := tatum.New(cfg, a.Clock)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	c := crypto.Custody{Name: tatumName, Plug: plug}
	for _, n := range networks {
		c.Networks = append(c.Networks, n.ID)
	}
	return []crypto.Custody{c}, nil
}

func (a *App) newCrypto(c custody) *crypto.Service {
	return crypto.New(crypto.Config{
		DB: a.DB, Book: a.Book, Clock: a.Clock, Log: a.log, Operations: a.Operations,
		Networks: c.networks, Custodies: c.plugs, HouseKeys: c.house, TestKeys: a.cfg.Mode == Sandbox,
	})
}

func (a *App) tatumDoor() http.Handler { return a.Crypto.Door(tatumName) }
