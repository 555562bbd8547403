package app

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/safehaven"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Mode is what a deployment is for.
type Mode string

// The two modes. Nothing near money asks which it is: they differ in the
// addresses that the plugs call, and in who moves the clock.
const (
	Live    Mode = "live"
	Sandbox Mode = "sandbox"
)

// Config is everything that a deployment can set. The comment of a setting, and
// of a group of settings, is its description in docs/settings.md.
type Config struct {
	Mode   Mode   `koanf:"mode"`   // `live` or `sandbox`.
	Listen string `koanf:"listen"` // Address and port of the HTTP server. Put TLS in front of it.
	// `sqlite:PATH` or `postgres://…`. `pool_max_conns` in the URL of PostgreSQL bounds
	// the connections of one program. Without it the bound is 12, or the number of cores.
	Database string `koanf:"database"`
	Data     string `koanf:"data"` // Folder of the sandbox's books.
	// Bearer token that `/sandbox/` requires. Without a token `/sandbox/` answers only
	// programs of this machine, and only when `listen` is on loopback. Live mode refuses it.
	SandboxToken secret.Text `koanf:"sandbox_token"`
	// File that holds the last epoch (docs/operating/incidents.md). Empty: beside a
	// SQLite database, such as `kobo.db.epoch`, and no file for PostgreSQL.
	EpochFile string `koanf:"epoch_file"`
	// Public https URL, without a path, at which providers reach this program. Live mode only.
	CallbackBase string `koanf:"callback_base"`
	// Public https URL, without a path, at which companies reach this program.
	// `kobo dev` takes it too, and `/openapi.json` names it. Empty: the address of the request.
	PublicURL string `koanf:"public_url"`
	// Networks or addresses of proxies whose `X-Forwarded-For` counts. A text
	// separates them by commas (docs/operating/install.md).
	TrustedProxies []string `koanf:"trusted_proxies"`
	// The master key itself. Set this or `master_key_file` (docs/operating/keys.md).
	MasterKey     secret.Text `koanf:"master_key"`
	MasterKeyFile string      `koanf:"master_key_file"` // File that holds the master key.
	// How long a provider call may take before its outcome is unknown. At least `1s`.
	Window    time.Duration   `koanf:"window"`
	SafeHaven SafeHavenConfig `koanf:"safehaven"`
	VTpass    VTpassConfig    `koanf:"vtpass"`
	VTU       VTUConfig       `koanf:"vtu"`
	Crypto    CryptoConfig    `koanf:"crypto"`
	Tatum     TatumConfig     `koanf:"tatum"`
	Sudo      SudoConfig      `koanf:"sudo"`
	Cards     CardConfig      `koanf:"cards"`
	Issuer    IssuerConfig    `koanf:"issuer"`
	Webhooks  WebhookConfig   `koanf:"webhooks"`
	Serve     ServeConfig     `koanf:"serve"`
	Limits    LimitConfig     `koanf:"limits"`
	Jobs      JobConfig       `koanf:"jobs"`
	Log       LogConfig       `koanf:"log"`
	// OTLP/HTTP address of an OpenTelemetry collector, such as `http://collector:4318`
	// (docs/operating/install.md).
	Traces string `koanf:"traces"`

	// Patience is how long a request waits for the database in all. Nothing
	// configures it: tests do not want to wait so long.
	Patience time.Duration `koanf:"-"`
	// Machine, if set, is the machine's own time for whatever asks how long nothing
	// was written. Nothing configures it.
	Machine clock.Clock `koanf:"-"`
	// Around, if set, wraps each plug that sells. Nothing configures it: it is
	// where tests stop the program in the middle of a call, or have a provider
	// misbehave.
	Around func(provider.Biller) provider.Biller `koanf:"-"`
	// AroundBanks does the same to those that hold accounts and pay out.
	AroundBanks func(provider.Bank) provider.Bank `koanf:"-"`
}

// SafeHavenConfig is our account at Safe Haven MFB. The group stays empty in
// sandbox mode. See docs/providers/safehaven.md.
type SafeHavenConfig struct {
	BaseURL        string      `koanf:"base_url"`         // `https://api.safehavenmfb.com`. Live mode only.
	ClientID       string      `koanf:"client_id"`        // OAuth client id.
	PrivateKeyFile string      `koanf:"private_key_file"` // File with the RSA key that signs the client assertion.
	Assertion      secret.Text `koanf:"assertion"`        // A long-lived assertion, instead of `private_key_file`.
	Issuer         string      `koanf:"issuer"`           // Your company URL, as registered with the OAuth client.
	Audience       string      `koanf:"audience"`         // Audience of the assertion. Empty: `base_url`.
	DebitAccount   string      `koanf:"debit_account"`    // The account that pays.
	AmountUnit     string      `koanf:"amount_unit"`      // Unit of VAS amounts: `naira` or `kobo`. Empty: `naira`.
}

// WebhookConfig is about deliveries of events to companies.
type WebhookConfig struct {
	// Days for which a finished delivery is kept, 1 to 3650. The events stay.
	KeepDays int `koanf:"keep_days"`
}

// LimitConfig are the rate limits.
type LimitConfig struct {
	Off              bool `koanf:"off"`                // Turns all rate limits off.
	CompanyPerSecond int  `koanf:"company_per_second"` // Requests per second of one company.
	CompanyBurst     int  `koanf:"company_burst"`      // Requests of one company at once.
	// Failed token operations, and requests of operators without a right key, per minute
	// and address.
	TokenPerMinute     int `koanf:"token_per_minute"`
	CallbacksPerSecond int `koanf:"callbacks_per_second"` // Callbacks per second from one address to one callback path.
	CallbacksBurst     int `koanf:"callbacks_burst"`      // Callbacks at once from one address to one provider's path.
}

// JobConfig is how much background work one program does at once (docs/operating/daily.md).
type JobConfig struct {
	Workers     int `koanf:"workers"`      // Jobs at once, 2 to 256.
	Inbox       int `koanf:"inbox"`        // Workers kept free for incoming money: notifications and the credit poll.
	PerProvider int `koanf:"per_provider"` // Jobs of one kind that may call one provider at once.
}

func (c JobConfig) check() error {
	var all []error
	workers := c.Workers
	if workers < 2 || workers > mostWorkers {
		all = append(all, fmt.Errorf("configuration: jobs.workers must be 2 to %d", mostWorkers))
		workers = mostWorkers // the others are held against a number that could be
	}
	if c.Inbox < 1 || c.Inbox >= workers {
		all = append(all, errors.New("configuration: jobs.inbox must be at least 1 and less than jobs.workers"))
	}
	if c.PerProvider < 1 || c.PerProvider > workers {
		all = append(all, errors.New("configuration: jobs.per_provider must be 1 to jobs.workers"))
	}
	return errors.Join(all...)
}

const mostWorkers = 256

// LogConfig is how the log looks. The log goes to standard error.
type LogConfig struct {
	Level  string `koanf:"level"`  // `debug`, `info`, `warn` or `error`.
	Format string `koanf:"format"` // `json` or `text`.
}

// Defaults are what a deployment gets that sets nothing.
func Defaults() Config {
	return Config{
		Mode: Live, Listen: "127.0.0.1:8080", Data: ".kobo", Window: 30 * time.Second,
		Webhooks: WebhookConfig{KeepDays: 30},
		Serve:    ServeConfig{Drain: 5 * time.Second},
		Limits:   LimitConfig{CompanyPerSecond: 100, CompanyBurst: 200, TokenPerMinute: 60, CallbacksPerSecond: 100, CallbacksBurst: 1000},
		Jobs:     JobConfig{Workers: job.Usual.Workers, Inbox: job.Usual.Reserved, PerProvider: job.Usual.PerProvider},
		Log:      LogConfig{Level: "info", Format: "json"},
	}
}

// Load reads the configuration: the defaults, over them the file (YAML; "" for
// none), over that the environment. A name that means nothing is an error, since
// a mistyped setting is a setting that is not made.
func Load(path string) (Config, error) {
	cfg := Defaults()
	k := koanf.New(".")
	if path != "" {
		if err := k.Load(file.Provider(path), yaml.Parser()); err != nil {
			return cfg, fmt.Errorf("configuration: %w", err)
		}
	}
	err := k.Load(env.Provider(".", env.Opt{Prefix: "KOBO_", TransformFunc: func(name, value string) (string, any) {
		name = strings.ToLower(strings.TrimPrefix(name, "KOBO_"))
		if strings.HasPrefix(name, "test_") {
			return "", nil // the test harness's own
		}
		return setting(name), value
	}}), nil)
	if err != nil {
		return cfg, fmt.Errorf("configuration: %w", err)
	}
	all := append(unknown(k), listed(k, "trusted_proxies"))
	if err := k.Unmarshal("", &cfg); err != nil {
		all = append(all, unreadable(err)...)
	}
	return cfg, wrongs(all...)
}

// settings are all names there are, the paths of Config's fields, by their
// spelling in the environment.
var settings = func() map[string]string {
	out := map[string]string{}
	for _, path := range paths(reflect.TypeFor[Config]()) {
		out[strings.ReplaceAll(path, ".", "_")] = path
	}
	return out
}()

// paths are those of a struct's named fields. One whose own fields have names is
// a group of settings; any other (a duration, a secret) is a setting.
func paths(t reflect.Type) (out []string) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		name := f.Tag.Get("koanf")
		if name == "" || name == "-" {
			continue
		}
		below := paths(f.Type)
		if below == nil {
			out = append(out, name)
		}
		for _, path := range below {
			out = append(out, name+"."+path)
		}
	}
	return out
}

// setting is the path of a name from the environment; an unknown one keeps its
// spelling, to be complained about.
func setting(name string) string {
	if path, ok := settings[name]; ok {
		return path
	}
	return name
}

// listed takes a text with commas in between for the list that a setting is.
func listed(k *koanf.Koanf, path string) error {
	text, ok := k.Get(path).(string)
	if !ok {
		return nil
	}
	return k.Set(path, strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' }))
}

func unknown(k *koanf.Koanf) (all []error) {
	for _, path := range k.Keys() {
		if settings[strings.ReplaceAll(path, ".", "_")] != path {
			all = append(all, fmt.Errorf("configuration: there is no setting %q", path))
		}
	}
	return all
}

func checkCallback(base string) error {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.User != nil {
		return errors.New("configuration: live mode needs callback_base, the public https URL (without a path) at which providers reach this program")
	}
	return nil
}

// checkPublic wants https, except for a sandbox on this machine.
func checkPublic(mode Mode, address string) error {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return nil
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return errors.New("configuration: public_url must be an https URL without a path, such as https://api.example.com")
	case u.Scheme == "http" && (mode != Sandbox || !pretend(u)):
		return errors.New("configuration: public_url must begin with https: secrets travel to it")
	}
	return nil
}

func (c SafeHavenConfig) checkLive() error {
	plug, unread := c.plug()
	wrong := checkReal("safehaven.base_url", c.BaseURL)
	if c.BaseURL == "" {
		wrong = errors.New("configuration: live mode needs safehaven.base_url")
	}
	if wrong != nil {
		plug.BaseURL = aRealAddress
	}
	all := []error{wrong, unread}
	switch signed := c.Assertion.Reveal() != ""; {
	case signed == (c.PrivateKeyFile != ""):
		all = append(all, errors.New("configuration: set either safehaven.private_key_file or safehaven.assertion"))
		plug.PrivateKeyPEM, plug.Assertion = "", "one of the two"
	case !signed && c.Issuer == "":
		all = append(all, errors.New("configuration: safehaven.private_key_file needs safehaven.issuer"))
		plug.Issuer = "the one that is missing"
	}
	if unread != nil {
		plug.PrivateKeyPEM, plug.Assertion = "", "the key that cannot be read"
	}
	_, err := safehaven.New(plug, clock.System{})
	return errors.Join(append(all, about("", err))...)
}

// pretend says whether an address is of a sandbox: a provider's, or one on this
// machine.
func pretend(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	return strings.Contains(host, "sandbox") || host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1"
}

// plug is the plug's own configuration.
func (c SafeHavenConfig) plug() (safehaven.Config, error) {
	out := safehaven.Config{
		ClientConfig: provider.ClientConfig{BaseURL: c.BaseURL}, ClientID: c.ClientID, Assertion: c.Assertion.Reveal(), Issuer: c.Issuer,
		Audience: c.Audience, DebitAccount: c.DebitAccount, AmountUnit: safehaven.Unit(c.AmountUnit),
	}
	if c.PrivateKeyFile != "" {
		pem, err := os.ReadFile(c.PrivateKeyFile)
		if err != nil {
			return out, fmt.Errorf("configuration: safehaven.private_key_file: %w", err)
		}
		out.PrivateKeyPEM = string(pem)
	}
	return out, nil
}

// proxies are the trusted ones.
func (c Config) proxies() (peer.Proxies, error) {
	p, err := peer.Parse(c.TrustedProxies)
	return p, about("trusted_proxies: ", err)
}

func (c Config) checkProxies() error {
	_, err := c.proxies()
	return err
}

// epochFile is where the epoch is written; "" for nowhere.
func (c Config) epochFile() string {
	path, lite := db.SQLitePath(c.Database)
	if c.EpochFile == "" && lite {
		return path + ".epoch"
	}
	return c.EpochFile
}

// keyring is the master key.
func (c Config) keyring() (*secret.Keyring, error) {
	if text := c.MasterKey.Reveal(); text != "" {
		k, err := secret.Parse(text)
		return k, about("master_key: ", err)
	}
	path := filepath.Clean(c.MasterKeyFile)
	if _, err := secret.CheckMode(path); err != nil {
		return nil, fmt.Errorf("configuration: master_key_file: %w", err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: master_key_file: %w", err)
	}
	k, err := secret.Parse(string(b))
	return k, about("master_key_file: ", err)
}
