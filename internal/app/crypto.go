package app

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/provider/evm"
	"github.com/kobo-waas/kobo/internal/secret"
)

// CryptoConfig is about the blockchains on which deposits are taken. See
// docs/providers/evm.md and docs/providers/tatum.md.
type CryptoConfig struct {
	// File with the networks and tokens, in the form of `internal/chain/networks.json`.
	// Empty: the program's own list.
	Networks string `koanf:"networks"`
	// JSON-RPC nodes of Ethereum-like networks, such as `ethereum-mainnet=https://…,
	// base-mainnet=https://…`. A network without a node is watched by Tatum.
	Nodes     secret.Text `koanf:"nodes"`
	NodeBatch int         `koanf:"node_batch"` // JSON-RPC calls in one request to a node, at most. 0: 50. Halves itself if a node refuses so many.
	NodeSpan  int         `koanf:"node_span"`  // Blocks in one read of a node, at most. 0: 20. Halves itself if a node refuses a call.
	// JSON-RPC calls that a node allows in a second. 0: 100.
	NodeCallsPerSecond int `koanf:"node_calls_per_second"`

	EVMXpub     string `koanf:"evm_xpub"`     // Extended public key for EVM addresses of companies without a key.
	TronXpub    string `koanf:"tron_xpub"`    // The same for Tron.
	BitcoinXpub string `koanf:"bitcoin_xpub"` // The same for Bitcoin.
}

// custody is the configuration of crypto. It has the networks, the fintech's public keys, and the
// custodians, which watch addresses.
type custody struct {
	networks []chain.Network
	house    map[chain.Kind]chain.Key
	plugs    []crypto.Custody
}

// checkCrypto checks the networks, the fintech's public keys and the nodes. It can check the
// nodes only if the networks are readable.
func (c Config) checkCrypto() error {
	networks, unread := c.networks()
	_, keys := c.houseKeys()
	if unread != nil {
		return errors.Join(unread, keys)
	}
	_, nodes := c.nodes(networks, func(string, *evm.Config) {})
	return errors.Join(keys, nodes)
}

// custody returns the configuration of crypto. Its only custodians are our own nodes.
func (a *App) custody() (out custody, err error) {
	if out.networks, err = a.cfg.networks(); err != nil {
		return out, err
	}
	if out.house, err = a.cfg.houseKeys(); err != nil {
		return out, err
	}
	out.plugs, err = a.cfg.nodes(out.networks, a.prepareNode)
	return out, err
}

// unwatched returns the networks for which no custodian is configured yet.
func (c custody) unwatched() []chain.Network {
	return slices.DeleteFunc(slices.Clone(c.networks), func(n chain.Network) bool {
		return slices.ContainsFunc(c.plugs, func(p crypto.Custody) bool { return slices.Contains(p.Networks, n.ID) })
	})
}

func (c Config) networks() ([]chain.Network, error) {
	switch {
	case c.Crypto.Networks != "":
		text, err := os.ReadFile(filepath.Clean(c.Crypto.Networks))
		if err != nil {
			return nil, prefixed("crypto.networks: ", err)
		}
		list, err := chain.Read(text)
		return list, errors.Join(prefixed("crypto.networks: ", err), c.Mode.checkNetworks(list))
	case c.Mode.rules().testNetworks:
		// The private keys of the sandbox's addresses are publicly known, so only test networks are used,
		// whose coins have no value.
		return chain.Testnets(), nil
	}
	return chain.Mainnets(), nil
}

func (c Config) houseKeys() (map[chain.Kind]chain.Key, error) {
	given := map[chain.Kind]string{
		chain.EVM: c.Crypto.EVMXpub, chain.Tron: c.Crypto.TronXpub, chain.Bitcoin: c.Crypto.BitcoinXpub,
	}
	out, all := map[chain.Kind]chain.Key{}, []error(nil)
	for _, kind := range slices.Sorted(maps.Keys(given)) {
		text := given[kind]
		if text == "" && c.Mode == Sandbox {
			text = chain.PublicTestKeys[kind]
		}
		if text == "" {
			continue
		}
		key, err := chain.ParseHouseKey(text)
		if err != nil {
			all = append(all, fmt.Errorf("configuration: crypto.%s_xpub: %w", kind, err))
			continue
		}
		if published, err := chain.ParseHouseKey(chain.PublicTestKeys[kind]); !c.Mode.rules().testKeys && err == nil && published.String() == key.String() {
			all = append(all, fmt.Errorf("configuration: crypto.%s_xpub is a published test key: anybody could spend what is sent to it", kind))
		}
		out[kind] = key
	}
	return out, errors.Join(all...)
}

// nodes returns the custodians that watch networks through our own nodes. The function prepare
// completes the configuration of each node.
func (c Config) nodes(networks []chain.Network, prepare func(name string, c *evm.Config)) (out []crypto.Custody, err error) {
	var all []error
	for _, pair := range strings.Split(c.Crypto.Nodes.Reveal(), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		id, url, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || strings.Contains(id, "/") { // the error leaves out the text, which may be a URL with an access key
			all = append(all, errors.New("configuration: crypto.nodes: a node is written network=https://…"))
			continue
		}
		i := slices.IndexFunc(networks, func(n chain.Network) bool { return n.ID == id })
		if i < 0 {
			all = append(all, fmt.Errorf("configuration: crypto.nodes: there is no network %q", id))
			continue
		}
		name, cfg := "node:"+id, evm.Config{
			Network: networks[i], URL: secret.NewText(url),
			BatchSize: c.Crypto.NodeBatch, Span: c.Crypto.NodeSpan, PerSecond: c.Crypto.NodeCallsPerSecond,
		}
		prepare(name, &cfg)
		plug, err := evm.New(cfg)
		if err != nil {
			all = append(all, fmt.Errorf("configuration: crypto.nodes: %s: %w", id, err))
			continue
		}
		out = append(out, crypto.Custody{Name: name, Plug: plug, Networks: []string{id}})
	}
	return out, errors.Join(all...)
}

func (a *App) newCrypto(c custody) *crypto.Service {
	return crypto.New(crypto.Config{
		DB: a.DB, Book: a.Book, Clock: a.Clock, Log: a.log, Operations: a.Operations, Ask: a.Settlements.Ask,
		Networks: c.networks, Custodies: c.plugs, HouseKeys: c.house, TestKeys: a.cfg.Mode.rules().testKeys,
	})
}
