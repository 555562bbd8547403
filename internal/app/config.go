package app

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/provider"
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
	Window time.Duration `koanf:"window"`
	// The bank of each kind of work, if there are several, such as `PAYOUT=second,
	// CUSTOMER/COMPANY=second, *=main`. COMPANY is a company's reference. See docs/operating/banks.md.
	BankRoutes string        `koanf:"bank_routes"`
	VTU        VTUConfig     `koanf:"vtu"`
	Crypto     CryptoConfig  `koanf:"crypto"`
	Cards      CardConfig    `koanf:"cards"`
	Issuer     IssuerConfig  `koanf:"issuer"`
	Webhooks   WebhookConfig `koanf:"webhooks"`
	Serve      ServeConfig   `koanf:"serve"`
	Limits     LimitConfig   `koanf:"limits"`
	Jobs       JobConfig     `koanf:"jobs"`
	Log        LogConfig     `koanf:"log"`
	// OTLP/HTTP address of an OpenTelemetry collector, such as `http://collector:4318`
	// (docs/operating/install.md).
	Traces string `koanf:"traces"`

	// Providers are the groups of settings of providers, such as "vtpass".
	Providers map[string]Provider `koanf:"-"`
	// Banks are the groups below `banks`, by the names of the banks.
	Banks map[string]Provider `koanf:"-"`

	// No setting has the rest: tests set it.

	// Patience is how long a request waits for the database in all.
	Patience time.Duration `koanf:"-"`
	// Machine, if set, is the machine's own clock. It tells for how long nothing was
	// written.
	Machine clock.Clock `koanf:"-"`
	// Around, if set, wraps each biller's plug, and AroundBanks each bank's. A wrapper
	// can stop the program in the middle of a call, or make a provider misbehave.
	Around      func(provider.Biller) provider.Biller `koanf:"-"`
	AroundBanks func(provider.Bank) provider.Bank     `koanf:"-"`
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
		Providers: map[string]Provider{}, Banks: map[string]Provider{},
		Mode: Live, Listen: "127.0.0.1:8080", Data: ".kobo", Window: 30 * time.Second,
		Webhooks: WebhookConfig{KeepDays: 30},
		Serve:    ServeConfig{Drain: 5 * time.Second},
		Limits:   LimitConfig{CompanyPerSecond: 100, CompanyBurst: 200, TokenPerMinute: 60, CallbacksPerSecond: 100, CallbacksBurst: 1000},
		Jobs:     JobConfig{Workers: job.Usual.Workers, Inbox: job.Usual.Reserved, PerProvider: job.Usual.PerProvider},
		Log:      LogConfig{Level: "info", Format: "json"},
	}
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

// pretend says whether an address is of a sandbox: a provider's, or one on this
// machine.
func pretend(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	return strings.Contains(host, "sandbox") || host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1"
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
