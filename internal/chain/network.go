// Package chain has the supported networks and tokens of blockchains. It derives addresses
// from extended public keys, and reads and writes amounts with all their decimals.
//
// The package has no private keys, so it can derive addresses but not spend deposits.
package chain

import (
	_ "embed" // networks.json
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Kind is a family of networks with equal addresses.
type Kind string

// The kinds of network.
const (
	EVM     Kind = "evm" // Ethereum and compatible networks
	Tron    Kind = "tron"
	Bitcoin Kind = "bitcoin"
)

// Kinds are all kinds. Networks of one kind share a company's key.
var Kinds = []Kind{EVM, Tron, Bitcoin}

// Network is a blockchain that accepts deposits.
type Network struct {
	ID            string  `json:"id"`    // ethereum-mainnet
	Chain         string  `json:"chain"` // ethereum
	Name          string  `json:"name"`  // Ethereum
	Kind          Kind    `json:"kind"`
	NativeAsset   string  `json:"nativeAsset"` // ETH
	Decimals      int     `json:"decimals"`    // of the native asset
	Tokens        []Token `json:"tokens"`
	Confirmations int64   `json:"confirmations"` // the number of blocks, with the transaction's own, that make it final
	BlockSeconds  int64   `json:"blockSeconds"`  // the time between two blocks
	Testnet       bool    `json:"testnet"`
	Legacy        bool    `json:"legacy"` // Bitcoin: addresses that begin with 1 instead of bc1
	Inactive      bool    `json:"inactive"`
}

// Token is an asset of a contract on a network. Only listed tokens are accepted, since anybody
// can make a token and call it USDT.
type Token struct {
	Symbol   string `json:"symbol"`
	Contract string `json:"contractAddress"`
	Decimals int    `json:"decimals"`
}

// Asset is a listed token, or the native asset, whose contract is empty.
type Asset = Token

//go:embed networks.json
var known []byte

// Mainnets returns the built-in networks whose assets have value.
func Mainnets() []Network { return some(false) }

// Testnets returns the built-in networks whose assets have no value, for sandboxes.
func Testnets() []Network { return some(true) }

func some(testnet bool) []Network {
	all, err := Read(known)
	if err != nil {
		panic("chain: the built-in list: " + err.Error())
	}
	var out []Network
	for _, n := range all {
		if n.Testnet == testnet {
			out = append(out, n)
		}
	}
	return out
}

// Read reads a list of networks and checks it, since a mistyped contract could be that of
// a worthless token.
func Read(text []byte) ([]Network, error) {
	var list []Network
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("the networks cannot be read: %w", err)
	}
	seen, all := map[string]bool{}, []error(nil)
	for i := range list {
		n := &list[i]
		if err := n.check(); err != nil {
			all = append(all, fmt.Errorf("network %q: %w", n.ID, err))
		}
		if seen[n.ID] {
			all = append(all, fmt.Errorf("network %q is listed twice", n.ID))
		}
		seen[n.ID] = true
	}
	return list, errors.Join(all...)
}

// mostDecimals limits the decimals of an asset. No real asset has that many.
const mostDecimals = 36

func (n *Network) check() error {
	switch {
	case n.ID == "" || n.Chain == "" || n.Name == "" || n.NativeAsset == "":
		return errors.New("id, chain, name and nativeAsset must be given")
	case n.Kind != EVM && n.Kind != Tron && n.Kind != Bitcoin:
		return fmt.Errorf("there is no kind %q", n.Kind)
	case n.Confirmations < 1 || n.BlockSeconds < 1:
		return errors.New("confirmations and blockSeconds must be at least 1")
	case n.Decimals < 0 || n.Decimals > mostDecimals:
		return errors.New("decimals must be 0 to 36")
	case n.Kind == Bitcoin && len(n.Tokens) > 0:
		return errors.New("there are no tokens on Bitcoin")
	}
	symbols := map[string]bool{n.NativeAsset: true}
	for _, t := range n.Tokens {
		canonical, ok := n.Canonical(t.Contract)
		switch {
		case !ok || canonical != t.Contract:
			return fmt.Errorf("the contract of %s is mistyped: its checksum is wrong", t.Symbol)
		case t.Symbol == "" || symbols[t.Symbol]:
			return fmt.Errorf("the symbol %q is empty or listed twice", t.Symbol)
		case t.Decimals < 0 || t.Decimals > mostDecimals:
			return fmt.Errorf("the decimals of %s must be 0 to 36", t.Symbol)
		}
		symbols[t.Symbol] = true
	}
	return nil
}

// Asset returns the asset with this contract, or the native one for "".
func (n Network) Asset(contract string) (Asset, bool) {
	if contract == "" {
		return Asset{Symbol: n.NativeAsset, Decimals: n.Decimals}, true
	}
	for _, t := range n.Tokens {
		if n.Fold(t.Contract) == n.Fold(contract) {
			return t, true
		}
	}
	return Asset{}, false
}

// BySymbol returns the asset with this symbol.
func (n Network) BySymbol(symbol string) (Asset, bool) {
	if symbol == n.NativeAsset {
		return n.Asset("")
	}
	for _, t := range n.Tokens {
		if t.Symbol == symbol {
			return t, true
		}
	}
	return Asset{}, false
}
