// Package chain knows blockchains as a bookkeeper needs them: which networks and
// tokens are taken, how an address follows from an extended public key, and how
// an amount with eighteen decimals is read and written without losing any.
//
// There are no private keys here, and nothing that could use one: whoever can
// make addresses cannot spend what is sent to them.
package chain

import (
	_ "embed" // networks.json
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Kind is how a network makes addresses and counts.
type Kind string

// The kinds of network.
const (
	EVM     Kind = "evm" // Ethereum, and whatever runs its machine
	Tron    Kind = "tron"
	Bitcoin Kind = "bitcoin"
)

// Kinds are all of them. Networks of one kind share a company's key.
var Kinds = []Kind{EVM, Tron, Bitcoin}

// Network is one blockchain on which deposits are taken.
type Network struct {
	ID            string  `json:"id"`    // ethereum-mainnet
	Chain         string  `json:"chain"` // ethereum
	Name          string  `json:"name"`  // Ethereum
	Kind          Kind    `json:"kind"`
	NativeAsset   string  `json:"nativeAsset"` // ETH
	Decimals      int     `json:"decimals"`    // of the native asset
	Tokens        []Token `json:"tokens"`
	Confirmations int64   `json:"confirmations"` // blocks, its own included, before a transaction counts
	BlockSeconds  int64   `json:"blockSeconds"`  // how far blocks are apart
	Testnet       bool    `json:"testnet"`
	Legacy        bool    `json:"legacy"` // Bitcoin: addresses that begin with 1 instead of bc1
	Inactive      bool    `json:"inactive"`
}

// Token is an asset that lives in a contract on a network. Only what is listed
// is taken: anybody can make a token and call it USDT.
type Token struct {
	Symbol   string `json:"symbol"`
	Contract string `json:"contractAddress"`
	Decimals int    `json:"decimals"`
}

// Asset is something that can be deposited: a listed token, or the native asset,
// whose contract is empty.
type Asset = Token

//go:embed networks.json
var known []byte

// Mainnets and Testnets are the networks that the program knows by itself.
func Mainnets() []Network { return some(false) }

// Testnets are where assets have no value: what a sandbox deals in.
func Testnets() []Network { return some(true) }

func some(testnet bool) []Network {
	all, err := Read(known)
	if err != nil {
		panic("chain: the list that is part of the program: " + err.Error())
	}
	var out []Network
	for _, n := range all {
		if n.Testnet == testnet {
			out = append(out, n)
		}
	}
	return out
}

// Read reads a list of networks and refuses one that cannot be right: a mistyped
// contract would be a token that nobody has, or somebody's invention.
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
			all = append(all, fmt.Errorf("network %q is there twice", n.ID))
		}
		seen[n.ID] = true
	}
	return list, errors.Join(all...)
}

// mostDecimals is more than any asset has.
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
		return errors.New("decimals make no sense")
	case n.Kind == Bitcoin && len(n.Tokens) > 0:
		return errors.New("there are no tokens on it")
	}
	symbols := map[string]bool{n.NativeAsset: true}
	for _, t := range n.Tokens {
		canonical, ok := n.Canonical(t.Contract)
		switch {
		case !ok || canonical != t.Contract:
			return fmt.Errorf("the contract of %s is mistyped: its checksum is wrong", t.Symbol)
		case t.Symbol == "" || symbols[t.Symbol]:
			return fmt.Errorf("the symbol %q is empty or there twice", t.Symbol)
		case t.Decimals < 0 || t.Decimals > mostDecimals:
			return fmt.Errorf("the decimals of %s make no sense", t.Symbol)
		}
		symbols[t.Symbol] = true
	}
	return nil
}

// Asset is the listed asset with this contract; the native one for "".
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

// BySymbol is the listed asset of this name.
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
