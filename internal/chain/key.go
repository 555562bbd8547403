package chain

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcutil/hdkeychain"
)

// Key is an extended public key (BIP-32) whose children are addresses. What
// belongs to the addresses is spent with the private half, which is not here.
type Key struct {
	node *hdkeychain.ExtendedKey
}

// The first four bytes of an extended public key, as wallets write them.
var (
	xpub     = []byte{0x04, 0x88, 0xb2, 0x1e}
	versions = map[string]bool{
		string(xpub): true, "\x04\x9d\x7c\xb2": true, "\x04\xb2\x47\x46": true, // xpub, ypub, zpub
		"\x04\x35\x87\xcf": true, "\x04\x4a\x52\x62": true, "\x04\x5f\x1c\xf6": true, // tpub, upub, vpub
	}
)

// Account levels of BIP-44: m / purpose' / coin' / account' / change / index.
const (
	accountDepth = 3
	changeDepth  = 4
)

// LastIndex is the last address a key can make: those above need the private
// key.
const LastIndex = hdkeychain.HardenedKeyStart - 1

// ParseKey reads a key as a wallet exports it for an account (depth 3, as in
// m/44'/60'/0'): its addresses are those of the external chain, /0/index. A key
// of that chain itself (depth 4) is taken as it is.
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

// ParseHouseKey reads an account's key below which every company gets a chain of
// its own: Child(n), and below that its addresses.
func ParseHouseKey(text string) (Key, error) {
	k, err := parse(text)
	if err == nil && k.node.Depth() != accountDepth {
		return Key{}, fmt.Errorf("the key must be of an account, such as m/44'/60'/0' (depth 3), not of depth %d", k.node.Depth())
	}
	return k, err
}

// ReadKey reads what String wrote.
func ReadKey(text string) (Key, error) { return parse(text) }

func parse(text string) (Key, error) {
	node, err := hdkeychain.NewKeyFromString(strings.TrimSpace(text))
	switch {
	case err != nil:
		// The library's error may quote the text, which may be a private key.
		return Key{}, errors.New("this is no extended public key: xpub…, zpub… and the like")
	case node.IsPrivate():
		return Key{}, errors.New("this is a PRIVATE key. It must not be here, and should not be used any more")
	case !versions[string(node.Version())]:
		return Key{}, errors.New("this is no extended public key: it must begin with xpub, ypub, zpub, tpub, upub or vpub")
	}
	// One key has one spelling, however the wallet wrote it.
	if !bytes.Equal(node.Version(), xpub) {
		if node, err = node.CloneWithVersion(xpub); err != nil {
			return Key{}, err
		}
	}
	return Key{node}, nil
}

// Child is the key at an index below this one.
func (k Key) Child(index uint32) (Key, error) {
	if index > LastIndex {
		return Key{}, fmt.Errorf("a public key has no child %d", index)
	}
	node, err := k.node.Derive(index)
	return Key{node}, err
}

// String is the key as an xpub. It spends nothing, but shows every address.
func (k Key) String() string { return k.node.String() }

// Address is the address at an index of the key, as the network writes it.
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

// PublicTestKeys are account keys of the well-known test mnemonic ("abandon …
// about"), by kind. Everybody has their private halves: they are for sandboxes,
// and a live program refuses them.
var PublicTestKeys = map[Kind]string{
	EVM:     "xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt",
	Tron:    "xpub6D1AabNHCupeiLM65ZR9UStMhJ1vCpyV4XbZdyhMZBiJXALQtmn9p42VTQckoHVn8WNqS7dqnJokZHAHcHGoaQgmv8D45oNUKx6DZMNZBCd",
	Bitcoin: "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs",
}
