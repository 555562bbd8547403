package chain_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/hdkeychain"

	"github.com/kobo-waas/kobo/internal/chain"
)

func network(t testing.TB, id string) chain.Network {
	t.Helper()
	for _, n := range append(chain.Mainnets(), chain.Testnets()...) {
		if n.ID == id {
			return n
		}
	}
	t.Fatalf("there is no network %s", id)
	return chain.Network{}
}

// The derived addresses equal the published addresses of the test mnemonic "abandon … about", and
// the addresses in BIP-84.
func TestAddressesFollowFromTheKey(t *testing.T) {
	legacy := network(t, "bitcoin-mainnet")
	legacy.Legacy = true
	legacyTest := network(t, "bitcoin-testnet")
	legacyTest.Legacy = true
	const (
		eth  = "xpub6EF8jXqFeFEW5bwMU7RpQtHkzE4KJxcqJtvkCjJumzW8CPpacXkb92ek4WzLQXjL93HycJwTPUAcuNxCqFPKKU5m5Z2Vq4nCyh5CyPeBFFr"
		tron = "xpub6EuK4CZWW5urEHdwAVDdDw327danAtccFcrXYvgf1DHrPXRwErt36xStQ2PNhn4hpwzPbzJ8pJVpewgChRnSs59q5Ay61GCfQZKUe71gbLq"
		btc  = "xpub6ELHKXNimKbxMCytPh7EdC2QXx46T9qLDJWGnTraz1H9kMMFdcduoU69wh9cxP12wDxqAAfbaESWGYt5rREsX1J8iR2TEunvzvddduAPYcY"
	)
	for _, c := range []struct {
		key     string
		network chain.Network
		index   int64
		want    string
	}{
		{eth, network(t, "ethereum-mainnet"), 0, "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"},
		{eth, network(t, "polygon-mainnet"), 1, "0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0"},
		{eth, network(t, "ethereum-sepolia"), 2, "0xb6716976A3ebe8D39aCEB04372f22Ff8e6802D7A"},
		{tron, network(t, "tron-mainnet"), 0, "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH"},
		{tron, network(t, "tron-mainnet"), 1, "TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK"},
		{btc, legacy, 0, "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA"},
		// These addresses are from BIP-84, for account 0 of the same mnemonic.
		{chain.PublicTestKeys[chain.Bitcoin], network(t, "bitcoin-mainnet"), 0, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"},
		{chain.PublicTestKeys[chain.Bitcoin], network(t, "bitcoin-mainnet"), 1, "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g"},
		// An account's key gives the addresses of the account's external chain.
		{chain.PublicTestKeys[chain.EVM], network(t, "ethereum-mainnet"), 0, "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"},
		{chain.PublicTestKeys[chain.Tron], network(t, "tron-testnet"), 1, "TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK"},
	} {
		k, err := chain.ParseKey(c.key)
		if err != nil {
			t.Fatal(err)
		}
		got, err := k.Address(c.network, c.index)
		if err != nil || got != c.want {
			t.Errorf("%s, index %d: %s (%v), want %s", c.network.ID, c.index, got, err, c.want)
		}
		if again, ok := c.network.Canonical(got); !ok || again != got {
			t.Errorf("%s: its own address is %q %v", c.network.ID, again, ok)
		}
	}
	k, err := chain.ParseKey(btc)
	if err != nil {
		t.Fatal(err)
	}
	if a, err := k.Address(legacyTest, 0); err != nil || a[0] != 'm' && a[0] != 'n' {
		t.Errorf("a legacy address of the test network: %s %v", a, err)
	}
	if a, err := k.Address(network(t, "bitcoin-testnet"), 0); err != nil || !strings.HasPrefix(a, "tb1q") {
		t.Errorf("an address of the test network: %s %v", a, err)
	}
}

// A child key equals the one in test vector 2 of BIP-32. A hardened child or a negative index is
// refused.
func TestChildrenOfBIP32(t *testing.T) {
	const (
		parent = "xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH"
		master = "xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB"
	)
	k, err := chain.ReadKey(master)
	if err != nil {
		t.Fatal(err)
	}
	child, err := k.Child(0)
	if err != nil || child.String() != parent {
		t.Errorf("m/0 is %s (%v)", child, err)
	}
	if _, err := k.Child(chain.LastIndex + 1); err == nil {
		t.Error("a public key has a hardened child")
	}
	if _, err := k.Address(network(t, "tron-mainnet"), -1); err == nil {
		t.Error("there is an address -1")
	}
}

func TestWrongKeysAreRefused(t *testing.T) {
	const private = "xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U"
	const master = "xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB"
	for _, text := range []string{"", "xpub", private, master, master[:len(master)-1] + "C", strings.ToLower(master)} {
		_, err := chain.ParseKey(text)
		if err == nil {
			t.Errorf("%.10s was taken", text)
		}
		if err != nil && len(text) > 9 && strings.Contains(err.Error(), text[:9]) {
			t.Errorf("the refusal quotes the key: %v", err)
		}
	}
	if _, err := chain.ParseHouseKey(master); err == nil {
		t.Error("a master key is no account's key")
	}
	account, err := chain.ParseHouseKey(chain.PublicTestKeys[chain.Bitcoin])
	if err != nil || !strings.HasPrefix(account.String(), "xpub") {
		t.Errorf("%v, %v: one key has one spelling", account, err)
	}
	key, err := chain.ParseKey(account.String())
	if zero, _ := account.Child(0); err != nil || key.String() != zero.String() {
		t.Errorf("an account's addresses are not below its chain 0: %v", err)
	}
	if _, err := hdkeychain.NewKeyFromString(key.String()); err != nil {
		t.Error(err)
	}
}

func TestWrongAddressesAreRefused(t *testing.T) {
	for _, c := range []struct {
		id, address, want string
	}{
		{"ethereum-mainnet", "0x9858effd232b4033e47d90003d41ec34ecaeda94", "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"},
		{"ethereum-mainnet", "0X9858EFFD232B4033E47D90003D41EC34ECAEDA94", "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"},
		{"ethereum-mainnet", "9858effd232b4033e47d90003d41ec34ecaeda94", ""},
		{"ethereum-mainnet", "0x9858effd232b4033e47d90003d41ec34ecaeda9", ""},
		{"ethereum-mainnet", "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH", ""},
		{"tron-mainnet", "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH", "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH"},
		{"tron-mainnet", "tuezsdksodhqmezwihtdobin46zxhgwydh", ""},
		{"tron-mainnet", "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA", ""},
		{"bitcoin-mainnet", "BC1QCR8TE4KR609GCAWUTMRZA0J4XV80JY8Z306FYU", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"},
		{"bitcoin-mainnet", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyv", ""},
		{"bitcoin-mainnet", "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA", "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA"},
	} {
		got, ok := network(t, c.id).Canonical(c.address)
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s %s: %q %v", c.id, c.address, got, ok)
		}
	}
}

func TestAmountsAreExact(t *testing.T) {
	for _, c := range []struct {
		text     string
		decimals int
		units    string // "" if the text must be refused
		written  string
	}{
		{"0.25", 18, "250000000000000000", "0.25"},
		{"0.000000000000000001", 18, "1", "0.000000000000000001"},
		{"1e-18", 18, "1", "0.000000000000000001"},
		{"1e-7", 8, "10", "0.0000001"},
		{"2.50", 6, "2500000", "2.5"},
		{"-3", 6, "-3000000", "-3"},
		{"100", 0, "100", "100"},
		{"115792089237316195423570985008687907853269984665640564039457.584007913129639935", 18, "115792089237316195423570985008687907853269984665640564039457584007913129639935", "115792089237316195423570985008687907853269984665640564039457.584007913129639935"},
		{"0.0000001", 6, "", ""},
		{"1e-19", 18, "", ""},
		{"1e400", 6, "", ""},
		{"1e-999999999", 6, "", ""},
		{strings.Repeat("9", 101), 6, "", ""},
		{"", 6, "", ""},
		{"1,5", 6, "", ""},
		{"0x10", 6, "", ""},
		{"NaN", 6, "", ""},
		{"--1", 6, "", ""},
	} {
		units, err := chain.ParseUnits(c.text, c.decimals)
		if c.units == "" {
			if err == nil {
				t.Errorf("%s at %d decimals is %s", c.text, c.decimals, units)
			}
			continue
		}
		if err != nil || units.String() != c.units {
			t.Errorf("%s at %d decimals is %v (%v), want %s", c.text, c.decimals, units, err, c.units)
			continue
		}
		if got := chain.FormatUnits(units, c.decimals); got != c.written {
			t.Errorf("%s is written %s, want %s", c.units, got, c.written)
		}
	}
	big1, _ := new(big.Int).SetString("12999999999999999999", 10)
	if got := chain.Whole(big1, 18).String(); got != "12" {
		t.Errorf("12.99… is %s whole ones", got)
	}
}

func TestWrongNetworksAreRefused(t *testing.T) {
	const good = `{"id":"a","chain":"a","name":"A","kind":"evm","chainId":7,"finality":"safe","nativeAsset":"ETH","decimals":18,"confirmations":1,"blockSeconds":1,"tokens":[
		{"symbol":"USDT","contractAddress":"0xdAC17F958D2ee523a2206206994597C13D831ec7","decimals":6}]}`
	list, err := chain.Read([]byte("[" + good + "]"))
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := list[0].Asset("0xDAC17f958d2ee523a2206206994597c13d831ec7"); !ok || a.Symbol != "USDT" {
		t.Errorf("the token by its contract: %+v", a)
	}
	if a, ok := list[0].BySymbol("ETH"); !ok || a.Contract != "" || a.Decimals != 18 {
		t.Errorf("the native asset: %+v", a)
	}
	if _, ok := list[0].BySymbol("USDC"); ok {
		t.Error("an asset that is not listed")
	}
	for _, change := range [][2]string{
		{"dAC1", "dAc1"},
		{`"kind":"evm"`, `"kind":"evn"`},
		{`"kind":"evm"`, `"kind":"bitcoin"`},
		{`"kind":"evm"`, `"kind":"tron"`},
		{`"chainId":7,`, ``},
		{`"chainId":7,`, `"chainId":-7,`},
		{`"finality":"safe"`, `"finality":"latest"`},
		{`"confirmations":1`, `"confirmations":0`},
		{`"symbol":"USDT"`, `"symbol":"ETH"`},
		{`"decimals":6`, `"decimals":99`},
		{`"decimals":18`, `"decimals":-1`},
		{`"name":"A"`, `"nane":"A"`},
		{`"id":"a"`, `"id":""`},
		{`]}`, `]},` + good},
	} {
		if _, err := chain.Read([]byte("[" + strings.Replace(good, change[0], change[1], 1) + "]")); err == nil {
			t.Errorf("%s → %s was taken", change[0], change[1])
		}
	}
	if len(chain.Mainnets()) < 5 || len(chain.Testnets()) < 4 {
		t.Error("networks are wanting")
	}
}

// A list of networks that is older than the field chainId keeps the numbers of the built-in networks.
func TestAnOlderListHasTheNumbersOfBuiltInNetworks(t *testing.T) {
	list, err := chain.Read([]byte(`[{"id":"polygon-mainnet","chain":"polygon","name":"Polygon","kind":"evm","nativeAsset":"POL","decimals":18,"confirmations":1,"blockSeconds":1}]`))
	if err != nil || list[0].ChainID != 137 || list[0].Finality != "" {
		t.Errorf("%+v %v", list, err)
	}
}

// The key and its address are published in the tests of Tatum's own client programs.
func TestAKeyInHexadecimalForm(t *testing.T) {
	const published = "0244b3f40c6e570ae0032f6d7be87737a6c4e5314a4a1a82e22d0460a0d0cd794936c61f0c80dc74ace4cd04690d4eeb1aa6555883be006e1748306faa7ed3a26a"
	key, err := chain.ReadHexKey(published)
	if err != nil {
		t.Fatal(err)
	}
	address, err := key.Address(network(t, "tron-mainnet"), 1)
	if err != nil || address != "TFFBpkRNro4Pe4154ayGWx7C6Ev7BvQZ6t" {
		t.Errorf("%s %v", address, err)
	}
	if text, err := key.Hex(); err != nil || text != published {
		t.Errorf("%s %v", text, err)
	}
	for _, wrong := range []string{"", "0x" + published, published[2:], "05" + published[2:], published + "00"} {
		if _, err := chain.ReadHexKey(wrong); err == nil {
			t.Errorf("%q was taken", wrong)
		}
	}
}

// A filter contains exactly the items that were added. TestARealChainIsRead in package evm compares
// the filters with those of a real chain.
func TestABloomFilter(t *testing.T) {
	const contract, topic = "0xdac17f958d2ee523a2206206994597c13d831ec7", "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
	both, ok := chain.BloomOf(contract, topic)
	one, _ := chain.BloomOf(contract)
	other, _ := chain.BloomOf("0x1c7d4b196cb0c7b01d743fbc6116a902379c7238")
	if !ok || !both.Contains(one) || one.Contains(both) || both.Contains(other) || both.IsFull() {
		t.Errorf("%x", both)
	}
	for _, wrong := range []string{"", "0x", "0x1", "ff", "0x" + strings.Repeat("0", 510), "0x" + strings.Repeat("g", 512)} {
		if _, ok := chain.ParseBloom(wrong); ok {
			t.Errorf("%q is a filter", wrong)
		}
	}
	if b, ok := chain.ParseBloom("0x" + strings.Repeat("f", 512)); !ok || !b.IsFull() || !b.Contains(both) {
		t.Error("a full filter")
	}
}

// An amount does not change when it is parsed, formatted and parsed again.
func FuzzParseUnits(f *testing.F) {
	for _, text := range []string{"0.25", "1e-7", "-3", "115792089237316195423570985008687907853269984665640564039457.5", "1e40"} {
		f.Add(text, uint8(18))
	}
	f.Fuzz(func(t *testing.T, text string, decimals uint8) {
		places := int(decimals % 37)
		units, err := chain.ParseUnits(text, places)
		if err != nil {
			return
		}
		written := chain.FormatUnits(units, places)
		if again, err := chain.ParseUnits(written, places); err == nil && again.Cmp(units) != 0 {
			t.Errorf("%q is %s, written %s, and read as %s", text, units, written, again)
		}
		if strings.ContainsAny(written, "eE") {
			t.Errorf("%q is written %s", text, written)
		}
	})
}
