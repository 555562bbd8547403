package chain

import (
	"encoding/hex"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/btcutil/bech32"
	"golang.org/x/crypto/sha3"
)

// These version bytes are the first bytes of decoded addresses in base 58 with a checksum
// (Base58Check).
const (
	tronVersion        = 0x41
	bitcoinVersion     = 0x00
	bitcoinTestVersion = 0x6f
)

// write returns the address of a public key in the network's standard spelling.
func (n Network) write(public *btcec.PublicKey) string {
	switch n.Kind {
	case Bitcoin:
		hash := btcutil.Hash160(public.SerializeCompressed())
		if n.Legacy {
			return base58.CheckEncode(hash, n.bitcoinVersion())
		}
		return segwit(n.bitcoinPrefix(), hash)
	case Tron:
		return base58.CheckEncode(keccak(public.SerializeUncompressed()[1:])[12:], tronVersion)
	}
	return checksummed(keccak(public.SerializeUncompressed()[1:])[12:])
}

func (n Network) bitcoinVersion() byte {
	if n.Testnet {
		return bitcoinTestVersion
	}
	return bitcoinVersion
}

func (n Network) bitcoinPrefix() string {
	if n.Testnet {
		return "tb"
	}
	return "bc"
}

// segwit returns a Bitcoin address for a key hash, as a version 0 witness program (BIP-173).
func segwit(prefix string, hash []byte) string {
	five, err := bech32.ConvertBits(hash, 8, 5, true)
	if err != nil {
		panic(err) // cannot happen, because groups of eight bits always convert to groups of five
	}
	text, err := bech32.Encode(prefix, append([]byte{0}, five...))
	if err != nil {
		panic(err) // cannot happen, because ConvertBits returned valid groups
	}
	return text
}

func keccak(b []byte) []byte {
	h := sha3.NewLegacyKeccak256()
	h.Write(b)
	return h.Sum(nil)
}

// checksummed returns an Ethereum address as text. Its capital and small letters form a checksum
// (EIP-55).
func checksummed(address []byte) string {
	text := []byte(hex.EncodeToString(address))
	sum := keccak(text)
	for i, c := range text {
		if c >= 'a' && sum[i/2]>>(4*(1-i%2))&0xf >= 8 {
			text[i] = c - 'a' + 'A'
		}
	}
	return "0x" + string(text)
}

// Canonical returns an address in the network's standard spelling. The second result is false if
// the text is not an address of the network.
func (n Network) Canonical(address string) (string, bool) {
	switch n.Kind {
	case EVM:
		raw, err := hex.DecodeString(strings.TrimPrefix(strings.ToLower(address), "0x"))
		if err != nil || len(raw) != 20 || len(address) != 42 {
			return "", false
		}
		return checksummed(raw), true
	case Tron:
		raw, version, err := base58.CheckDecode(address)
		return address, err == nil && version == tronVersion && len(raw) == 20
	}
	if prefix, _, err := bech32.DecodeNoLimit(address); err == nil || strings.HasPrefix(strings.ToLower(address), n.bitcoinPrefix()+"1") {
		return strings.ToLower(address), prefix == n.bitcoinPrefix()
	}
	raw, _, err := base58.CheckDecode(address)
	return address, err == nil && len(raw) == 20
}

// Fold returns an address in the form for comparisons. On Ethereum, capital and small letters mean
// the same, so Fold returns small letters. On Tron they differ.
func (n Network) Fold(address string) string {
	if n.Kind == EVM {
		return strings.ToLower(address)
	}
	return address
}

// FoldHash returns the hash of a transaction in the form for comparisons: small letters, on Ethereum with 0x before them and
// on the other networks without. A text that is no hexadecimal number stays as it is.
func (n Network) FoldHash(hash string) string {
	small, isHash := bareHash(hash)
	switch {
	case !isHash:
		return hash
	case n.Kind == EVM:
		return "0x" + small
	}
	return small
}

// Hashes returns the usual spellings of a transaction's hash: in small and in capital letters, with and without 0x, and as
// it is.
func Hashes(hash string) []string {
	small, isHash := bareHash(hash)
	if !isHash {
		return []string{hash}
	}
	capital := strings.ToUpper(small)
	return []string{"0x" + small, small, "0x" + capital, "0X" + capital, capital, hash}
}

// bareHash returns a hexadecimal number in small letters without 0x.
func bareHash(hash string) (small string, isHash bool) {
	small = strings.TrimPrefix(strings.ToLower(hash), "0x")
	return small, small != "" && strings.Trim(small, "0123456789abcdef") == ""
}
