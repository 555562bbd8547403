package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/secret"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kobo.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The environment overrides the file, and the file overrides the defaults.
func TestSettingsComeFromTheFileAndTheEnvironment(t *testing.T) {
	path := file(t, `
database: postgres://from-the-file
window: 20s
safehaven:
  client_id: from-the-file
  debit_account: "0100000001"
limits:
  company_per_second: 7
`)
	for name, value := range map[string]string{
		"KOBO_DATABASE": "sqlite:from-the-environment.db", "KOBO_SAFEHAVEN_CLIENT_ID": "from-the-environment",
		"KOBO_LIMITS_OFF": "true", "KOBO_LIMITS_TOKEN_PER_MINUTE": "9", "KOBO_MASTER_KEY": "a secret", "KOBO_TEST_ANYTHING": "not ours", "KOBO_WEBHOOKS_KEEP_DAYS": "90",
		"KOBO_JOBS_WORKERS": "32", "KOBO_JOBS_PER_PROVIDER": "8",
		"KOBO_SERVE_DRAIN": "8s", "KOBO_TRUSTED_PROXIES": "10.0.0.0/8,192.0.2.7",
	} {
		t.Setenv(name, value)
	}
	cfg, err := app.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := app.Defaults()
	want.Database, want.Window, want.MasterKey = "sqlite:from-the-environment.db", 20*time.Second, secret.NewText("a secret")
	want.Providers["safehaven"] = app.SafeHavenConfig{ClientID: "from-the-environment", DebitAccount: "0100000001"}
	want.Limits = app.LimitConfig{Off: true, CompanyPerSecond: 7, CompanyBurst: 200, PersonPerSecond: 20, PersonBurst: 100, TokenPerMinute: 9, CallbacksPerSecond: 100, CallbacksBurst: 1000}
	want.TrustedProxies = []string{"10.0.0.0/8", "192.0.2.7"}
	want.Webhooks.KeepDays, want.Serve.Drain = 90, 8*time.Second
	want.Jobs = app.JobConfig{Workers: 32, Inbox: 4, PerProvider: 8}
	if fmt.Sprintf("%+v", cfg) != fmt.Sprintf("%+v", want) || cfg.MasterKey.Reveal() != "a secret" {
		t.Errorf("loaded %+v\nwant   %+v", cfg, want)
	}
	if shown := fmt.Sprintf("%+v %#v", cfg, cfg); strings.Contains(shown, "a secret") {
		t.Error("the master key shows when the configuration is printed")
	}
}

// A list may be a YAML list, or a text with commas between the items.
func TestTrustedProxiesAreAListOrAText(t *testing.T) {
	for _, text := range []string{
		"10.0.0.0/8, 192.0.2.7", "10.0.0.0/8,192.0.2.7", `"10.0.0.0/8 ,192.0.2.7"`, "[10.0.0.0/8, 192.0.2.7]", "\n- 10.0.0.0/8\n- 192.0.2.7",
	} {
		cfg, err := app.Load(file(t, "trusted_proxies: "+text))
		if got := strings.Join(cfg.TrustedProxies, "|"); err != nil || got != "10.0.0.0/8|192.0.2.7" {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

// An unknown setting is an error, because a mistyped setting would otherwise have no effect.
func TestASettingThatDoesNotExistIsAnError(t *testing.T) {
	for name, load := range map[string]func() (app.Config, error){
		"in the file":      func() (app.Config, error) { return app.Load(file(t, "databse: x")) },
		"deep in the file": func() (app.Config, error) { return app.Load(file(t, "safehaven:\n  baseurl: x")) },
		"no YAML":          func() (app.Config, error) { return app.Load(file(t, "{")) },
		"no such file":     func() (app.Config, error) { return app.Load("no-such-file.yaml") },
		"not a duration":   func() (app.Config, error) { return app.Load(file(t, "window: soon")) },
		"in the environment": func() (app.Config, error) {
			t.Setenv("KOBO_DATABSE", "x")
			return app.Load("")
		},
	} {
		if _, err := load(); err == nil || !strings.HasPrefix(err.Error(), "configuration: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// In both the file and the environment, the settings of a bank contain the bank's name.
func TestBanksComeFromTheFileAndTheEnvironment(t *testing.T) {
	path := file(t, `
bank_routes: PAYOUT=second
banks:
  main: {plug: safehaven, client_id: from-the-file, debit_account: "0100000001"}
  second: {plug: safehaven, client_id: a}
`)
	for name, value := range map[string]string{
		"KOBO_BANKS_SECOND_CLIENT_ID": "b", "KOBO_BANKS_SECOND_ASSERTION": "a secret", "KOBO_BANKS_THE_3RD_PLUG": "safehaven",
		"KOBO_BANKS_THE_3RD_PRIVATE_KEY_FILE": "key.pem",
	} {
		t.Setenv(name, value)
	}
	cfg, err := app.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]app.Provider{
		"main":    app.SafeHavenConfig{ClientID: "from-the-file", DebitAccount: "0100000001"},
		"second":  app.SafeHavenConfig{ClientID: "b", Assertion: secret.NewText("a secret")},
		"the_3rd": app.SafeHavenConfig{PrivateKeyFile: "key.pem"},
	}
	if len(cfg.Banks) != len(want) || cfg.BankRoutes != "PAYOUT=second" {
		t.Errorf("loaded %+v", cfg.Banks)
	}
	for name, group := range want {
		if fmt.Sprint(cfg.Banks[name]) != fmt.Sprint(group) {
			t.Errorf("%s: %+v, want %+v", name, cfg.Banks[name], group)
		}
	}
	if s, ok := cfg.Banks["second"].(app.SafeHavenConfig); !ok || s.Assertion.Reveal() != "a secret" {
		t.Error("the assertion is not the one of the environment")
	}
	if shown := fmt.Sprintf("%+v %#v", cfg, cfg.Banks); strings.Contains(shown, "a secret") {
		t.Error("the assertion shows when the configuration is printed")
	}
}

// Checking an empty configuration returns errors and does not panic.
func TestAnEmptyConfigurationIsRefused(t *testing.T) {
	if err := (app.Config{}).Check(nil); err == nil || !strings.Contains(err.Error(), "mode must be live, staging or sandbox") {
		t.Error(err)
	}
}

// The first start reports the errors of all banks, each with the path of its setting.
func TestTheErrorsOfAllBanksAreToldTogether(t *testing.T) {
	head := "mode: live\ndatabase: sqlite:/nowhere/kobo.db\ncallback_base: https://pay.example.com\nevidence_key_file: " + live(t).EvidenceKeyFile + "\n"
	t.Setenv("KOBO_MASTER_KEY", secret.Generate())
	const whole = "{plug: safehaven, base_url: https://api.safehavenmfb.com, client_id: c, debit_account: '0100000001', assertion: signed}"
	const other = "{plug: safehaven, base_url: https://api.safehavenmfb.com, client_id: d, debit_account: '0100000002', assertion: signed}"
	const twin = "{plug: safehaven, base_url: https://API.safehavenmfb.com/, client_id: e, debit_account: '0100000001', assertion: signed}"
	for text, want := range map[string][]string{
		"banks: {main: " + whole + ", second: " + other + "}":                                   nil,
		"banks: {first: " + whole + "}":                                                         nil,
		"banks: {a: " + whole + ", b: " + other + "}\nbank_routes: '*=b'":                       nil,
		"banks: {a: " + whole + ", b: " + other + "}\nbank_routes: '*=b'\nvtu: {routes: '*=a'}": nil,
		"banks: {main: {plug: safehaven}, second: {plug: safehaven, base_url: 'http://x', private_key_file: /none}}": {
			"banks.second.base_url must be an https URL", "set either banks.main.private_key_file or banks.main.assertion",
			"banks.second.private_key_file: open /none", "banks.main: the client id is missing", "banks.second: the debit account is missing",
		},
		"banks: {main: " + whole + ", second: " + whole + "}":          {"the banks main and second have the same client_id or debit_account"},
		"banks: {main: " + whole + ", second: " + twin + "}":           {"the banks main and second have the same client_id or debit_account"},
		"banks: {main: {plug: gringotts}}":                             {`banks.main.plug must be one of [safehaven], not "gringotts"`},
		"banks: {main: {base_url: x}}":                                 {`banks.main.plug must be one of [safehaven], not ""`},
		"banks: {main: {plug: safehaven, baseurl: x}}":                 {`there is no setting "banks.main.baseurl"`},
		"banks: {main: " + whole + ", vtpass: " + other + "}":          {"banks.vtpass: this is the name of another provider"},
		"banks: {Main: " + whole + "}":                                 {"banks.Main: a name has small letters"},
		"banks: {safehaven: " + whole + "}\nsafehaven: {client_id: x}": {"safehaven and banks.safehaven name the same bank"},
		"banks: {a: " + whole + ", b: " + other + "}": {
			"bank_routes names no bank for CORPORATE", "bank_routes names no bank for PAYOUT", "such as *=NAME",
		},
		"banks: {main: " + whole + "}\nbank_routes: 'PAYOUT=second, SALE=main, PAYOUT/='": {
			`bank_routes names "second", which is not configured`, `the route "SALE=main" names no kind of work: CORPORATE, CUSTOMER, VIRTUAL_ACCOUNT, PAYOUT or *`,
			`a route is written PAYOUT=bank or PAYOUT/COMPANY=bank, not "PAYOUT/="`,
		},
		"banks: {main: " + whole + ", b: " + other + "}\njobs: {inbox: 1}":                                                                                 {"jobs.inbox must be at least 2"},
		"banks: {main: " + whole + "}\nvtu: {routes: DATA=safehaven}":                                                                                      {`vtu.routes names "safehaven", which is not configured`},
		"banks: {main: " + whole + "}\nvtu: {wallet_low: 'main=50000.5'}":                                                                                  nil,
		"banks: {main: " + whole + "}\nsudo: {api_key: k, debit_account: 0123456789abcdef01234567, webhook_authorization: w}\nvtu: {wallet_low: 'sudo=5'}": nil,
		"banks: {main: " + whole + "}\nvtu: {wallet_low: 'main, main=1.005, main=0, sudo=5, main=5, main=6'}": {
			`a level is written PROVIDER=NAIRA, one for each provider, not "main"`, `not " main=1.005"`, `not " main=0"`, `not " main=6"`,
			`vtu.wallet_low names "sudo", which is not configured`,
		},
	} {
		cfg, err := app.Load(file(t, head+text))
		err = cfg.Check(err)
		if want == nil && err != nil {
			t.Errorf("%s: %v", text, err)
		}
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: no %q in: %v", text, w, err)
			}
		}
	}
}

// live returns a valid configuration for live mode.
func live(t *testing.T) app.Config {
	t.Helper()
	cfg := app.Defaults()
	cfg.EvidenceKeyFile = filepath.Join(t.TempDir(), "evidence.key")
	if err := secret.Create(cfg.EvidenceKeyFile); err != nil {
		t.Fatal(err)
	}
	cfg.Database, cfg.MasterKey = "sqlite:/nowhere/kobo.db", secret.NewText(secret.Generate())
	cfg.CallbackBase = "https://pay.example.com"
	cfg.Providers["safehaven"] = app.SafeHavenConfig{
		BaseURL: "https://api.safehavenmfb.com", ClientID: "c", DebitAccount: "0100000001", Assertion: secret.NewText("signed"),
	}
	return cfg
}

// kms converts a function that changes the settings of a KMS into a function that first sets valid ones.
func kms(change func(*app.Config)) func(*app.Config) {
	return func(c *app.Config) {
		c.MasterKey, c.MasterKeyFile = secret.Text{}, c.EvidenceKeyFile
		c.MasterKeyKMS, c.MasterKeyKMSTokenFile = "hcvault://v/transit/keys/k", "token"
		change(c)
	}
}

// safehaven converts a function that changes Safe Haven's settings into a function that changes the
// whole configuration.
func safehaven(change func(*app.SafeHavenConfig)) func(*app.Config) {
	return func(c *app.Config) {
		s := c.Providers["safehaven"].(app.SafeHavenConfig)
		change(&s)
		c.Providers["safehaven"] = s
	}
}

func TestItRefusesToStartWithWhatCannotWork(t *testing.T) {
	open := func(cfg app.Config) error {
		a, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
		if err == nil {
			a.Close()
		}
		return err
	}
	if err := open(live(t)); err == nil || strings.Contains(err.Error(), "configuration") {
		t.Fatalf("a configuration in which only the folder is missing: %v", err)
	}
	for want, change := range map[string]func(*app.Config){
		"mode must be live, staging or sandbox":       func(c *app.Config) { c.Mode = "test" },
		"database is not set":                         func(c *app.Config) { c.Database = "" },
		"master_key or master_key_file":               func(c *app.Config) { c.MasterKey = secret.Text{} },
		"window must be at least":                     func(c *app.Config) { c.Window = time.Millisecond },
		"trusted_proxies: \"0.0.0.0/0\" is everybody": func(c *app.Config) { c.TrustedProxies = []string{"10.0.0.1", "0.0.0.0/0"} },
		"trusted_proxies: \"proxy\" is no network":    func(c *app.Config) { c.TrustedProxies = []string{"proxy"} },
		"serve.drain must be 0s to 10m":               func(c *app.Config) { c.Serve.Drain = -time.Second },
		"safehaven.base_url is for live mode":         func(c *app.Config) { c.Mode, c.CallbackBase = app.Sandbox, "" },
		"safehaven: the client id is missing":         func(c *app.Config) { c.Providers["safehaven"] = app.SafeHavenConfig{} },
		"must be an https URL":                        safehaven(func(s *app.SafeHavenConfig) { s.BaseURL = "http://api.safehavenmfb.com" }),
		"is a sandbox: live mode":                     safehaven(func(s *app.SafeHavenConfig) { s.BaseURL = "https://API.Sandbox.safehavenmfb.com" }),
		"vtpass.base_url is a sandbox": func(c *app.Config) {
			c.Providers["vtpass"] = app.VTpassConfig{BaseURL: "https://sandbox.vtpass.com/api"}
		},
		"sudo.base_url is a sandbox":             func(c *app.Config) { c.Providers["sudo"] = app.SudoConfig{BaseURL: "https://localhost:1"} },
		"live mode needs callback_base":          func(c *app.Config) { c.CallbackBase = "http://pay.example.com" },
		"issuer.address has 4 lines":             func(c *app.Config) { c.Issuer.Address = "1\n2\n3\n4" },
		"a line of issuer.name must be text":     func(c *app.Config) { c.Issuer.Name = strings.Repeat("M", 81) },
		"a line of issuer.support must be text":  func(c *app.Config) { c.Issuer.Support = "help\x1b[1m" },
		"issuer.logo: open no-such-file":         func(c *app.Config) { c.Issuer.Logo = "no-such-file.png" },
		"issuer.logo: neither PNG nor JPEG":      func(c *app.Config) { c.Issuer.Logo = "config_test.go" },
		"public_url must be an https URL":        func(c *app.Config) { c.PublicURL = "https://api.example.com/kobo" },
		"public_url must begin with https":       func(c *app.Config) { c.PublicURL = "http://api.example.com" },
		"begin with https: secrets":              func(c *app.Config) { c.PublicURL = "http://mysandbox.example.com" },
		"with https: secrets travel":             func(c *app.Config) { c.PublicURL = "http://127.0.0.1:8080" },
		"sandbox_token is for sandbox mode":      func(c *app.Config) { c.SandboxToken = secret.NewText("abc") },
		"either safehaven.private_key_file":      safehaven(func(s *app.SafeHavenConfig) { s.PrivateKeyFile = "key.pem" }),
		"jobs.workers must be 2 to 256":          func(c *app.Config) { c.Jobs.Workers = 1 },
		"less than jobs.workers":                 func(c *app.Config) { c.Jobs.Inbox = 16 },
		"jobs.inbox must be at least 1":          func(c *app.Config) { c.Jobs.Inbox = 0 },
		"jobs.per_provider must be 1 to":         func(c *app.Config) { c.Jobs.PerProvider = 17 },
		"must begin with sqlite: or postgres://": func(c *app.Config) { c.Database = "kobo.db" },
		"evidence_key_file is not set":           func(c *app.Config) { c.EvidenceKeyFile = "" },
		"evidence_key_file: stat no-such-file":   func(c *app.Config) { c.EvidenceKeyFile = "no-such-file" },
		"master_key_kms wraps a file":            func(c *app.Config) { c.MasterKeyKMS, c.MasterKeyKMSTokenFile = "hcvault://v/transit/keys/k", "token" },
		"need master_key_kms":                    func(c *app.Config) { c.MasterKeyKMSToken = secret.NewText("token") },
		"set either master_key_kms_token or":     kms(func(c *app.Config) { c.MasterKeyKMSToken = secret.NewText("token") }),
		"master_key_kms needs master_key_kms_to": kms(func(c *app.Config) { c.MasterKeyKMSTokenFile = "" }),
		"\"aws-kms://key\" is not supported":     kms(func(c *app.Config) { c.MasterKeyKMS = "aws-kms://key" }),
		"master_key_kms: open no-such-file":      kms(func(c *app.Config) { c.MasterKeyKMSCAFile = "no-such-file" }),
		"master_key_file":                        func(c *app.Config) { c.MasterKey, c.MasterKeyFile = secret.Text{}, "no-such-file" },
	} {
		cfg := live(t)
		change(&cfg)
		if err := open(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	cfg := live(t)
	cfg.Database = dbtest.EmptyURL(t, db.SQLite)
	if err := open(cfg); err == nil || !strings.Contains(err.Error(), "run kobo migrate") {
		t.Errorf("a database without a schema: %v", err)
	}
	cfg.Database = dbtest.URL(t, db.SQLite)
	if _, err := dbtest.Open(t, cfg.Database).Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1); UPDATE db_schema SET serves = 99999`); err != nil {
		t.Fatal(err)
	}
	if err := open(cfg); err == nil || !strings.Contains(err.Error(), "for a newer Kobo") {
		t.Errorf("a database of a later program: %v", err)
	}
}

// The second start of a development program uses the company that the first start created. A start
// with the option fresh creates a new company. Only the file's owner can read the credentials.
func TestADevelopmentProgramRemembersAndForgets(t *testing.T) {
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			data, database := t.TempDir(), dbtest.EmptyURL(t, dialect)
			start := func(fresh bool) (app.Credentials, int64) {
				t.Helper()
				cfg := app.DevConfig(data, database)
				cfg.ExperimentalCitus = dbtest.HasCitus()
				a, c, err := app.OpenDev(context.WithoutCancel(t.Context()), cfg, fresh, slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatal(err)
				}
				defer a.Close()
				_, n, err := a.Companies.List(t.Context(), company.Filter{}, 10, 0)
				if err != nil {
					t.Fatal(err)
				}
				return c, n
			}
			first, _ := start(false)
			second, n := start(false)
			if first != second || n != 1 {
				t.Errorf("a second start: %d companies, %v, was %v", n, second, first)
			}
			third, n := start(true)
			if third.Reference == first.Reference || third.APIKey == first.APIKey || n != 1 {
				t.Errorf("a fresh start: %d companies, %v, was %v", n, third, first)
			}
			for _, name := range []string{"dev.json", "master.key"} {
				info, err := os.Stat(filepath.Join(data, name))
				if err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%s: %v, %v", name, info.Mode(), err)
				}
			}
			b, err := os.ReadFile(filepath.Join(data, "dev.json"))
			shown := map[string]any{}
			if err == nil {
				err = json.Unmarshal(b, &shown)
			}
			if _, there := shown["console_url"]; err != nil || !there || shown["pin"] != "1234" {
				t.Errorf("the credentials: %s, %v", b, err)
			}
		})
	}
}

func TestTheLogHidesWhatMustNotBeRead(t *testing.T) {
	var out strings.Builder
	log, err := app.NewLogger(&out, app.LogConfig{Level: "info", Format: "json"})
	if err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"test", "live", "key", "admin"} {
		key := "kobo_" + prefix + "_" + strings.Repeat("hidden-", 6) + "h"
		log.Info("said "+key, "text", "of "+key+"; again: "+key, "error", fmt.Errorf("wrong %s", key))
	}
	if s := out.String(); strings.Contains(s, "hidden") || strings.Count(s, `"said kobo_live_[redacted]"`) != 1 || !strings.Contains(s, `"wrong kobo_key_[redacted]"`) {
		t.Errorf("logged: %s", s)
	}
	log.Info("x", "api_key", "hidden-1", "pin", "hidden-2", "bvn", "hidden-3", "key", secret.NewText("hidden-4"), "company", "shown")
	log.Debug("quiet")
	if s := out.String(); strings.Contains(s, "hidden") || !strings.Contains(s, "shown") || strings.Contains(s, "quiet") {
		t.Errorf("logged: %s", s)
	}
	for _, cfg := range []app.LogConfig{{Level: "loud", Format: "json"}, {Level: "info", Format: "xml"}} {
		if _, err := app.NewLogger(&out, cfg); err == nil {
			t.Errorf("a log that is %+v", cfg)
		}
	}
}

// In sandbox mode kobo serve creates its data folder if the folder does not exist.
func TestTheSandboxMakesItsFolder(t *testing.T) {
	cfg := app.Defaults()
	cfg.Mode, cfg.Database, cfg.MasterKey = app.Sandbox, dbtest.URL(t, db.SQLite), secret.NewText(secret.Generate())
	cfg.Data = filepath.Join(t.TempDir(), "not", "there")
	a, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
}
