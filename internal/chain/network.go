// Package chain lists the supported blockchain networks and tokens. It derives addresses from
// extended public keys, and parses and formats amounts with all their decimals.
//
// The package never handles private keys, so it can derive addresses but cannot spend deposits.
package chain

import (
	"cmp"
	_ "embed" // networks.json
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Kind is a group of networks on which a key gives the same addresses.
type Kind string

// The kinds of network.
const (
	EVM     Kind = "evm" // Ethereum and compatible networks
	Tron    Kind = "tron"
	Bitcoin Kind = "bitcoin"
)

// Kinds contains all kinds of network. A company uses the same key for all networks of a kind.
var Kinds = []Kind{EVM, Tron, Bitcoin}

// Network is a blockchain that accepts deposits.
type Network struct {
	ID    string `json:"id"`    // such as ethereum-mainnet
	Chain string `json:"chain"` // such as ethereum
	Name  string `json:"name"`  // such as Ethereum
	Kind  Kind   `json:"kind"`
	// ChainID is the number by which an Ethereum-like network tells itself apart from other
	// networks. Other kinds of network have none. Without it, the built-in network's number is used.
	ChainID       int64   `json:"chainId"`
	NativeAsset   string  `json:"nativeAsset"` // such as ETH
	Decimals      int     `json:"decimals"`    // the decimals of the native asset
	Tokens        []Token `json:"tokens"`
	Confirmations int64   `json:"confirmations"` // how many blocks make a transaction final, including the transaction's block
	// Finality is the tag of the last block that the network never replaces: finalized or safe. A
	// node answers it. Without a tag, and without a node, the number of confirmations decides.
	Finality     string `json:"finality"`
	BlockSeconds int64  `json:"blockSeconds"` // the usual time between two blocks, in seconds
	Testnet      bool   `json:"testnet"`
	Legacy       bool   `json:"legacy"` // on Bitcoin, whether addresses begin with 1 instead of bc1
	Inactive     bool   `json:"inactive"`
}

// Token is an asset that a contract on a network defines. Kobo accepts only listed tokens, because
// anybody can create a token and call it USDT.
type Token struct {
	Symbol   string `json:"symbol"`
	Contract string `json:"contractAddress"`
	Decimals int    `json:"decimals"`
}

// Asset is a listed token or the native asset of a network. The native asset has an empty contract.
type Asset = Token

//go:embed networks.json
var known []byte

// chainIDs maps the built-in networks to their numbers. A fintech's own list of networks may be
// older than the field chainId.
var chainIDs = func() map[string]int64 {
	var list []Network
	if err := json.Unmarshal(known, &list); err != nil {
		panic("chain: the built-in list: " + err.Error())
	}
	out := map[string]int64{}
	for _, n := range list {
		out[n.ID] = n.ChainID
	}
	return out
}()

// Mainnets returns the built-in networks whose assets have a market value.
func Mainnets() []Network { return some(false) }

// Testnets returns the built-in networks whose assets have no market value, for sandboxes.
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

// Read parses a list of networks and checks it. A mistyped contract address could otherwise be the
// address of a worthless token.
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
		n.ChainID = cmp.Or(n.ChainID, chainIDs[n.ID])
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

// mostDecimals is the highest number of decimals of an asset. No real asset has so many.
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
	case n.Kind == EVM && n.ChainID <= 0:
		return errors.New("chainId must be given, such as 1 for Ethereum: a node of a different chain would report worthless coins")
	case n.Kind != EVM && (n.ChainID != 0 || n.Finality != ""):
		return errors.New("only Ethereum-like networks have a chainId and a finality")
	case n.Finality != "" && n.Finality != "finalized" && n.Finality != "safe":
		return errors.New("finality must be finalized or safe, or be left out")
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

// Asset returns the asset with this contract, or the native asset if the contract is "".
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
