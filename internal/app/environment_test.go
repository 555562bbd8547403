package app

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/deployment"
	"github.com/kobo-waas/kobo/internal/secret"
)

// whole returns a valid configuration of a mode.
func whole(t *testing.T, m Mode) Config {
	t.Helper()
	cfg := Defaults()
	cfg.Mode, cfg.Database, cfg.MasterKey = m, "sqlite:x", secret.NewText(secret.Generate())
	cfg.ExperimentalCitus = dbtest.HasCitus()
	if m == Sandbox {
		return cfg
	}
	cfg.EvidenceKeyFile = filepath.Join(t.TempDir(), "evidence.key")
	if err := secret.Create(cfg.EvidenceKeyFile); err != nil {
		t.Fatal(err)
	}
	cfg.CallbackBase = "https://kobo.example.com"
	cfg.Providers["safehaven"] = SafeHavenConfig{ClientID: "c", DebitAccount: "0100000001", Assertion: secret.NewText("a")}
	return cfg
}

// bankAt returns a function that changes Safe Haven's settings.
func bankAt(change func(*SafeHavenConfig)) func(*Config) {
	return func(c *Config) {
		s := c.Providers["safehaven"].(SafeHavenConfig)
		change(&s)
		c.Providers["safehaven"] = s
	}
}

// otherProvider returns a function that configures a provider.
func otherProvider(name string, p Provider) func(*Config) {
	return func(c *Config) { c.Providers[name] = p }
}

func vtpassAt(address string) Provider {
	s := secret.NewText("s")
	return VTpassConfig{BaseURL: address, APIKey: s, PublicKey: s, SecretKey: s, Phone: "08012345678"}
}

func sudoAt(address, vault string) Provider {
	s := secret.NewText("s")
	return SudoConfig{BaseURL: address, VaultURL: vault, APIKey: s, DebitAccount: strings.Repeat("a", 24), WebhookAuthorization: s}
}

func tatumAt(address string) Provider {
	return TatumConfig{BaseURL: address, APIKey: secret.NewText("s"), HMACSecret: secret.NewText("a-secret-of-32-characters-or-more")}
}

// networksFile writes a list of networks to a file.
func networksFile(t *testing.T, id string, testnet bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "networks.json")
	text := fmt.Sprintf(`[{"id": %q, "chain": "bitcoin", "name": "Own", "kind": "bitcoin", "nativeAsset": "BTC", "decimals": 8,
		"confirmations": 2, "blockSeconds": 600, "testnet": %v, "tokens": []}]`, id, testnet)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// verdicts are the expected errors of a configuration in live mode, staging mode and sandbox mode. An
// empty text means that the configuration is accepted.
type verdicts [3]string

const (
	isTest  = " is a sandbox: live mode refuses to start with it"
	isLive  = " is the provider's live system: staging mode refuses to start with it"
	noHTTPS = " must be an https URL in "
)

// Each row changes a valid configuration of each mode. The mode accepts it, or refuses it with a
// sentence that names the setting.
func TestConfigurationsByEnvironment(t *testing.T) {
	own := "is for live mode and staging mode: the sandbox brings its own provider"
	for name, row := range map[string]struct {
		change func(*Config)
		want   verdicts
	}{
		"unchanged":        {func(*Config) {}, verdicts{}},
		"no evidence key":  {func(c *Config) { c.EvidenceKeyFile = "" }, verdicts{"evidence_key_file is not set", "evidence_key_file is not set", ""}},
		"no callback_base": {func(c *Config) { c.CallbackBase = "" }, verdicts{"live mode needs callback_base", "staging mode needs callback_base", ""}},
		"an http callback_base": {
			func(c *Config) { c.CallbackBase = "http://127.0.0.1" },
			verdicts{"live mode needs callback_base", "staging mode needs callback_base", "callback_base is for live mode and staging mode"},
		},
		"an http public_url": {
			func(c *Config) { c.PublicURL = "http://127.0.0.1:8080" },
			verdicts{"public_url must begin with https", "public_url must begin with https", ""},
		},
		"a database without sslmode": {
			func(c *Config) { c.Database = "postgres://db/kobo" },
			verdicts{"names another machine without sslmode", "names another machine without sslmode", ""},
		},
		"a sandbox token": {
			func(c *Config) { c.SandboxToken = secret.NewText("t") },
			verdicts{"sandbox_token is for sandbox mode: live mode refuses", "sandbox_token is for sandbox mode: staging mode refuses", ""},
		},
		"a published test key": {
			func(c *Config) { c.Crypto.EVMXpub = chain.PublicTestKeys[chain.EVM] },
			verdicts{"crypto.evm_xpub is a published test key", "", ""},
		},
		"a main network": {
			func(c *Config) { c.Crypto.Networks = networksFile(t, "own-main", false) },
			verdicts{"", "crypto.networks: own-main is a main network: staging mode refuses it", "own-main is a main network: sandbox mode refuses it"},
		},
		"a test network": {
			func(c *Config) { c.Crypto.Networks = networksFile(t, "own-test", true) },
			verdicts{"crypto.networks: own-test is a test network: live mode refuses it", "", ""},
		},
		"a node of a main network": {
			func(c *Config) { c.Crypto.Nodes = secret.NewText("base-mainnet=https://node.example") },
			verdicts{"", `there is no network "base-mainnet"`, `there is no network "base-mainnet"`},
		},
		"a node of a test network": {
			func(c *Config) { c.Crypto.Nodes = secret.NewText("ethereum-sepolia=https://node.example") },
			verdicts{`there is no network "ethereum-sepolia"`, "", ""},
		},

		"Safe Haven live":    {bankAt(func(s *SafeHavenConfig) { s.BaseURL = safeHavenSystems.live }), verdicts{"", "safehaven.base_url" + isLive, "safehaven.base_url " + own}},
		"Safe Haven test":    {bankAt(func(s *SafeHavenConfig) { s.BaseURL = safeHavenSystems.staging }), verdicts{"safehaven.base_url" + isTest, "", "safehaven.base_url " + own}},
		"Safe Haven by http": {bankAt(func(s *SafeHavenConfig) { s.BaseURL = "http://127.0.0.1:1" }), verdicts{"safehaven.base_url" + noHTTPS + "live", "safehaven.base_url" + noHTTPS + "staging", own}},
		"a proxy":            {bankAt(func(s *SafeHavenConfig) { s.BaseURL = "https://bank.example.com" }), verdicts{"", "", own}},
		"a test proxy":       {bankAt(func(s *SafeHavenConfig) { s.BaseURL = "https://bank-staging.example.com" }), verdicts{"safehaven.base_url" + isTest, "", own}},
		"a live audience":    {bankAt(func(s *SafeHavenConfig) { s.Audience = safeHavenSystems.live }), verdicts{"", "safehaven.audience" + isLive, ""}},
		"a test audience":    {bankAt(func(s *SafeHavenConfig) { s.Audience = safeHavenSystems.staging }), verdicts{"safehaven.audience" + isTest, "", ""}},
		"a short bank code":  {bankAt(func(s *SafeHavenConfig) { s.BankCode = "90286" }), verdicts{"safehaven.bank_code must be 6 digits", "safehaven.bank_code must be 6 digits", ""}},
		"no bank":            {otherProvider("safehaven", SafeHavenConfig{}), verdicts{"safehaven: the client id is missing", "safehaven: the client id is missing", ""}},

		"VTpass":      {otherProvider("vtpass", vtpassAt("")), verdicts{}},
		"VTpass live": {otherProvider("vtpass", vtpassAt("https://vtpass.com/api")), verdicts{"", "vtpass.base_url" + isLive, "vtpass.base_url " + own}},
		"VTpass www":  {otherProvider("vtpass", vtpassAt("https://WWW.vtpass.com/api")), verdicts{"", "vtpass.base_url" + isLive, own}},
		"VTpass test": {otherProvider("vtpass", vtpassAt("https://sandbox.vtpass.com/api")), verdicts{"vtpass.base_url" + isTest, "", own}},

		"Sudo":            {otherProvider("sudo", sudoAt("", "")), verdicts{}},
		"Sudo live":       {otherProvider("sudo", sudoAt("https://api.sudo.africa", "")), verdicts{"", "sudo.base_url" + isLive, own}},
		"Sudo test":       {otherProvider("sudo", sudoAt("https://api.sandbox.sudo.cards", "")), verdicts{"sudo.base_url" + isTest, "", own}},
		"Sudo live vault": {otherProvider("sudo", sudoAt("", "https://vault.sudo.cards")), verdicts{"", "sudo.vault_url" + isLive, own}},
		"Sudo test vault": {otherProvider("sudo", sudoAt("", "https://vault.sandbox.sudo.cards")), verdicts{"sudo.vault_url" + isTest, "", own}},

		"Tatum":           {otherProvider("tatum", tatumAt("")), verdicts{"", "", own}},
		"Tatum elsewhere": {otherProvider("tatum", tatumAt("https://api.test.tatum.example")), verdicts{"tatum.base_url" + isTest, "", own}},
	} {
		for i, m := range []Mode{Live, Staging, Sandbox} {
			cfg := whole(t, m)
			row.change(&cfg)
			err := cfg.check()
			if got := fmt.Sprint(err); row.want[i] == "" && err != nil || row.want[i] != "" && (err == nil || !strings.Contains(got, row.want[i])) {
				t.Errorf("%s in %s mode: %v; want %q", name, m, err, row.want[i])
			}
		}
	}
}

// Without further settings, the plugs call the systems of the mode.
func TestThePlugsHaveTheSystemsOfTheMode(t *testing.T) {
	for _, c := range []struct {
		mode                                      Mode
		environment                               deployment.Environment
		bank, code, vtpass, cards, vault, network string
	}{
		{Live, deployment.Live, "https://api.safehavenmfb.com", "090286", "https://vtpass.com/api", "https://api.sudo.africa", "https://vault.sudo.cards", "ethereum-mainnet"},
		{
			Staging, deployment.Staging, "https://api.sandbox.safehavenmfb.com", "999240", "https://sandbox.vtpass.com/api",
			"https://api.sandbox.sudo.cards", "https://vault.sandbox.sudo.cards", "ethereum-sepolia",
		},
	} {
		cfg := whole(t, c.mode)
		bank, err := cfg.Providers["safehaven"].(SafeHavenConfig).plug(c.mode, "safehaven")
		if err != nil || bank.BaseURL != c.bank || bank.BankCode != c.code || bank.Audience != "" {
			t.Errorf("%s: %s %s, %v", c.mode, bank.BaseURL, bank.BankCode, err)
		}
		if got := vtpassAt("").(VTpassConfig).plug(c.mode).BaseURL; got != c.vtpass {
			t.Errorf("%s: %s", c.mode, got)
		}
		cards := sudoAt("", "").(SudoConfig).plug(c.mode)
		if cards.BaseURL != c.cards || cards.VaultURL != c.vault {
			t.Errorf("%s: %s %s", c.mode, cards.BaseURL, cards.VaultURL)
		}
		if cards = sudoAt("https://cards.example", "").(SudoConfig).plug(c.mode); cards.VaultURL != "" {
			t.Errorf("%s: physical cards at %s", c.mode, cards.VaultURL)
		}
		networks, err := cfg.networks()
		if err != nil || networks[0].ID != c.network || c.mode.Environment() != c.environment {
			t.Errorf("%s: %s, %v", c.mode, networks[0].ID, err)
		}
	}
	for _, m := range []Mode{Live, Staging} {
		if vtpass, cards := (VTpassConfig{}).plug(m), (SudoConfig{}).plug(m); vtpass.BaseURL+cards.BaseURL+cards.VaultURL != "" {
			t.Errorf("%s: providers without a key are used: %+v %+v", m, vtpass, cards)
		}
	}
}

// The table in the documentation is that of the code.
func TestTheRulesAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "operating", "environments.md"))
	if err != nil {
		t.Fatal(err)
	}
	word := map[bool]string{true: "yes", false: "no"}
	of := reflect.TypeFor[rules]()
	for i := range of.NumField() {
		line := "| " + of.Field(i).Tag.Get("rule")
		for _, m := range []Mode{Sandbox, Staging, Live} {
			line += " | " + word[reflect.ValueOf(m.rules()).Field(i).Bool()]
		}
		if !strings.Contains(string(page), "\n"+line+" |\n") {
			t.Errorf("the page has no line %q", line+" |")
		}
	}
}

// A hosted sandbox, which listens beyond loopback, sends no webhooks to its own machine.
func TestAHostedSandboxSendsNoWebhooksToItself(t *testing.T) {
	for listen, want := range map[string]bool{
		"127.0.0.1:8080": true, "[::1]:0": true, "localhost:1": true, ":8080": false, "0.0.0.0:8080": false, "10.0.0.1:80": false,
	} {
		if got := (Config{Mode: Sandbox, Listen: listen}).webhooksHere(); got != want {
			t.Errorf("%s: %v", listen, got)
		}
	}
	if (Config{Mode: Staging, Listen: "127.0.0.1:8080"}).webhooksHere() {
		t.Error("staging mode sends webhooks to its own machine")
	}
}
