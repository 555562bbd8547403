package chain

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/hdkeychain"
)

// Key is an extended public key (BIP-32). Addresses are derived from its children. Spending the
// deposits needs the private key, which the program does not have.
type Key struct {
	node *hdkeychain.ExtendedKey
}

// The version bytes (the first four bytes) of the extended public keys that wallets export.
var (
	xpub     = []byte{0x04, 0x88, 0xb2, 0x1e}
	versions = map[string]bool{
		string(xpub): true, "\x04\x9d\x7c\xb2": true, "\x04\xb2\x47\x46": true, // xpub, ypub, zpub
		"\x04\x35\x87\xcf": true, "\x04\x4a\x52\x62": true, "\x04\x5f\x1c\xf6": true, // tpub, upub, vpub
	}
)

// The depths of two levels in a BIP-44 path: m / purpose' / coin' / account' / change / index.
const (
	accountDepth = 3
	changeDepth  = 4
)

// LastIndex is the highest derivation index of an address. Higher indexes need the private key.
const LastIndex = hdkeychain.HardenedKeyStart - 1

// ParseKey parses a key that a wallet exports. For the key of an account (depth 3, as in
// m/44'/60'/0'), ParseKey returns the key of the account's external chain. A key of depth 4 is
// already the key of an external chain, so ParseKey returns it unchanged.
func ParseKey(text string) (Key, error) {
	k, err := parse(text)
	if err != nil {
		return Key{}, err
	}
	switch k.node.Depth() {
	case accountDepth:
		return k.Child(0)
	case changeDepth:
		return k, nil
	}
	return Key{}, fmt.Errorf("the key must be of an account, such as m/44'/60'/0' (depth 3), or of its external chain (depth 4), not of depth %d", k.node.Depth())
}

// ParseHouseKey parses the fintech's account key, from which many companies' addresses are derived.
// Each company gets a separate child of this key, Child(n), for its addresses.
func ParseHouseKey(text string) (Key, error) {
	k, err := parse(text)
	if err == nil && k.node.Depth() != accountDepth {
		return Key{}, fmt.Errorf("the key must be of an account, such as m/44'/60'/0' (depth 3), not of depth %d", k.node.Depth())
	}
	return k, err
}

// ReadKey parses a text that String returned.
func ReadKey(text string) (Key, error) { return parse(text) }

func parse(text string) (Key, error) {
	node, err := hdkeychain.NewKeyFromString(strings.TrimSpace(text))
	switch {
	case err != nil:
		// The library's error is dropped, because it may quote a private key.
		return Key{}, errors.New("this is no extended public key: xpub…, zpub… and the like")
	case node.IsPrivate():
		return Key{}, errors.New("this is a PRIVATE key. It must not be here, and should not be used any more")
	case !versions[string(node.Version())]:
		return Key{}, errors.New("this is no extended public key: it must begin with xpub, ypub, zpub, tpub, upub or vpub")
	}
	// Wallets write the same key with different version bytes. Kobo stores it as an xpub.
	if !bytes.Equal(node.Version(), xpub) {
		if node, err = node.CloneWithVersion(xpub); err != nil {
			return Key{}, err
		}
	}
	return Key{node}, nil
}

// Child returns the child key at a derivation index.
func (k Key) Child(index uint32) (Key, error) {
	if index > LastIndex {
		return Key{}, fmt.Errorf("a public key has no child %d", index)
	}
	node, err := k.node.Derive(index)
	return Key{node}, err
}

// String returns the key as an xpub. The xpub reveals every derived address but cannot spend
// deposits.
func (k Key) String() string { return k.node.String() }

// Hex returns the key in the hexadecimal form that some interfaces want on Tron: the compressed
// public key, followed by the chain code.
func (k Key) Hex() (string, error) {
	public, err := k.node.ECPubKey()
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(append(public.SerializeCompressed(), k.node.ChainCode()...)), nil
}

// ReadHexKey parses a text that Hex returned.
func ReadHexKey(text string) (Key, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != publicBytes+chainCodeBytes {
		return Key{}, errors.New("this is no extended public key in hexadecimal form")
	}
	if _, err := btcec.ParsePubKey(raw[:publicBytes]); err != nil {
		return Key{}, err
	}
	// The form has neither the key's depth nor its parent. No address depends on them.
	return Key{hdkeychain.NewExtendedKey(xpub, raw[:publicBytes], raw[publicBytes:], make([]byte, 4), changeDepth, 0, false)}, nil
}

// The lengths of the two parts of a key in hexadecimal form.
const (
	publicBytes    = 33
	chainCodeBytes = 32
)

// Address returns the address at a derivation index in the network's standard spelling.
func (k Key) Address(n Network, index int64) (string, error) {
	if index < 0 || index > LastIndex {
		return "", fmt.Errorf("there is no address %d", index)
	}
	child, err := k.Child(uint32(index))
	if err != nil {
		return "", err
	}
	public, err := child.node.ECPubKey()
	if err != nil {
		return "", err
	}
	return n.write(public), nil
}

// PublicTestKeys maps each kind of network to an account key of the published test mnemonic
// ("abandon … about"). The private keys are public too. Only sandboxes may use these keys, and a
// live program refuses them.
var PublicTestKeys = map[Kind]string{
	EVM:     "xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt",
	Tron:    "xpub6D1AabNHCupeiLM65ZR9UStMhJ1vCpyV4XbZdyhMZBiJXALQtmn9p42VTQckoHVn8WNqS7dqnJokZHAHcHGoaQgmv8D45oNUKx6DZMNZBCd",
	Bitcoin: "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs",
}
