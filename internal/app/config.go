package app

import (
	"errors"
	"maps"
	"net/http"
	"path/filepath"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Config is everything that a deployment can set. The comment of a setting, and
// of a group of settings, is its description in docs/settings.md.
type Config struct {
	// `live`, `staging` (the test systems of the providers) or `sandbox` (simulated providers). A
	// database belongs to one mode (docs/operating/environments.md).
	Mode   Mode   `koanf:"mode"`
	Listen string `koanf:"listen"` // Address and port of the HTTP server. Set `tls.cert_file`, or put TLS in front of it.
	// Address and port of the operators' API (`/admin/`) and of the console (`/console/`), which `listen` then
	// answers with 404. Empty: `listen` serves them.
	AdminListen string `koanf:"admin_listen"`
	// Address and port of `/metrics`, which `listen` then answers with 404. It serves `/healthz` and
	// `/readyz` too. Empty: `listen` serves `/metrics`.
	MetricsListen string `koanf:"metrics_listen"`
	// `sqlite:PATH` or `postgres://…`. Except in sandbox mode, a URL that names another machine
	// needs `sslmode` (docs/operating/install.md). `pool_max_conns` in the URL of PostgreSQL bounds
	// the connections of one program. Without it the bound is 12, or the number of cores.
	// The group `pools` divides them.
	Database string `koanf:"database"`
	// URL of a standby of the PostgreSQL database. Lists with a count, statements, reports, the pages of operators, `kobo verify`
	// and the comparison of statements then read from it, and never what decides about money
	// (docs/operating/install.md). `pool_max_conns` in it is 4 if it is not given. Empty: none.
	Replica string `koanf:"replica"`
	// Whether `database` may be a Citus with several nodes. Its support is experimental
	// (docs/scaling.md). Without this setting no command works with one.
	ExperimentalCitus bool   `koanf:"experimental_citus"`
	Data              string `koanf:"data"` // Folder of the sandbox's books.
	// Bearer token that `/sandbox/` requires. Without a token `/sandbox/` answers only
	// programs of this machine, and only when `listen` is on loopback. Sandbox mode only.
	SandboxToken secret.Text `koanf:"sandbox_token"`
	// File that holds the last epoch (docs/operating/incidents.md). Empty: beside a
	// SQLite database, such as `kobo.db.epoch`, and no file for PostgreSQL.
	EpochFile string `koanf:"epoch_file"`
	// Public https URL, without a path, at which providers reach this program. Not in sandbox mode.
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
	// Address of the key of a KMS that wraps `master_key_file`: `hcvault://HOST[:PORT]/MOUNT/keys/NAME`
	// for HashiCorp Vault and OpenBao (docs/operating/keys.md).
	MasterKeyKMS      string      `koanf:"master_key_kms"`
	MasterKeyKMSToken secret.Text `koanf:"master_key_kms_token"` // Token of this program at the KMS. Set this or `master_key_kms_token_file`.
	// File that holds the token. Kobo reads it before each request to the KMS, so an agent may renew it.
	MasterKeyKMSTokenFile string `koanf:"master_key_kms_token_file"`
	// File of PEM certificates that sign the KMS's certificate. Empty: the certificates of the machine.
	MasterKeyKMSCAFile string `koanf:"master_key_kms_ca_file"`
	// File that holds the evidence key, which signs the ledger's history (docs/operating/keys.md).
	// Only sandbox mode does without it, and then signs with the master key.
	EvidenceKeyFile string `koanf:"evidence_key_file"`
	// Folder on other storage than the database's, for a copy of each checkpoint. A start compares the
	// database with the newest one (docs/operating/evidence.md).
	CheckpointFolder string `koanf:"checkpoint_folder"`
	// Whether acts that can lead to money leaving need a second operator: `on` or `off`.
	// Empty: `off` in sandbox mode, and otherwise `on` (docs/operating/operators.md).
	FourEyes string `koanf:"four_eyes"`
	// Whether the program serves the console, the web pages for people (docs/console.md): `on` or `off`.
	Console string `koanf:"console"`
	// Address of the console as browsers see it, with a name: `https://console.example.com`. Passkeys are
	// bound to this name, so a change of the name ends them. Empty: nobody can use a passkey.
	ConsoleOrigin string `koanf:"console_origin"`
	// What happens to a customer whose name does not match the BVN: `flag` opens the account, and the
	// customer's `nameMatch` and a list for operators show it; `refuse` opens no account
	// (docs/operating/daily.md).
	NameMatch string `koanf:"name_match"`
	// Longest time between two reads of an account's list of credits, `5m` to `168h`. Our own account, an
	// account with a credit in the last hour, and every account of up to 50 are read every five
	// minutes (docs/operating/daily.md).
	CreditPollPeriod time.Duration `koanf:"credit_poll_period"`
	// Years for which the record of identification of an erased customer is kept, 5 to 100
	// (docs/privacy.md).
	IdentityRetention int `koanf:"identity_retention"`
	// How long a provider call may take before its outcome is unknown. At least `1s`.
	Window time.Duration `koanf:"window"`
	// The bank of each kind of work, if there are several, such as `PAYOUT=second,
	// CUSTOMER/COMPANY=second, *=main`. COMPANY is a company's reference. See docs/operating/banks.md.
	BankRoutes string           `koanf:"bank_routes"`
	TLS        TLSConfig        `koanf:"tls"`
	VTU        VTUConfig        `koanf:"vtu"`
	Crypto     CryptoConfig     `koanf:"crypto"`
	Cards      CardConfig       `koanf:"cards"`
	Issuer     IssuerConfig     `koanf:"issuer"`
	Operators  PeopleConfig     `koanf:"operators"`
	Webhooks   WebhookConfig    `koanf:"webhooks"`
	Events     EventConfig      `koanf:"events"`
	RequestLog RequestLogConfig `koanf:"request_log"`
	Serve      ServeConfig      `koanf:"serve"`
	Limits     LimitConfig      `koanf:"limits"`
	Jobs       JobConfig        `koanf:"jobs"`
	Pools      PoolConfig       `koanf:"pools"`
	Log        LogConfig        `koanf:"log"`
	// OTLP/HTTP address of an OpenTelemetry collector, such as `http://collector:4318`
	// (docs/operating/install.md).
	Traces string `koanf:"traces"`

	// Providers are the settings groups of the providers by name, such as "vtpass".
	Providers map[string]Provider `koanf:"-"`
	// Banks are the settings groups below `banks`, by the names of the banks.
	Banks map[string]Provider `koanf:"-"`

	// SecretFiles are the files from which Load has read secrets.
	SecretFiles []string `koanf:"-"`

	// The fields below cannot be configured. Only tests set them.

	// DatabaseTimeout is the total time that a request may wait for the database.
	DatabaseTimeout time.Duration `koanf:"-"`
	// Machine, if set, replaces the machine's real clock. The check /readyz uses this clock to measure
	// the time since the database was last written to.
	Machine clock.Clock `koanf:"-"`
	// Around, if set, wraps each biller's plug, and AroundBanks wraps each bank's plug. A wrapper
	// can stop the program in the middle of a call, or make a provider misbehave.
	Around      func(provider.Biller) provider.Biller `koanf:"-"`
	AroundBanks func(provider.Bank) provider.Bank     `koanf:"-"`
	// AroundProviders, if set, wraps the handler of the simulated providers, for example to lose
	// requests and replies.
	AroundProviders func(http.Handler) http.Handler `koanf:"-"`
	// Network, if set, replaces the network of this machine between the program and the simulated
	// providers.
	Network Network `koanf:"-"`
}

// WebhookConfig is about deliveries of events to companies.
type WebhookConfig struct {
	// Days for which a finished delivery is kept, 1 to 3650. The events stay.
	KeepDays int `koanf:"keep_days"`
}

// RequestLogConfig is about the log of requests that each company can read.
type RequestLogConfig struct {
	// Days for which the log keeps a request, up to 365. Of one company it keeps 1,000,000 requests at most. `0`: no log.
	KeepDays int `koanf:"keep_days"`
}

// PeopleConfig is about the people who run Kobo (docs/operating/operators.md).
type PeopleConfig struct {
	// Days after which the key of a new operator expires, up to 3650. `0`: never.
	KeyDays int `koanf:"key_days"`
}

// EventConfig is about the age at which an owner may move events into files (docs/operating/growth.md).
type EventConfig struct {
	// Whole months for which `kobo archive` leaves events in the database, 3 to 1200. `0`: for ever.
	KeepMonths int `koanf:"keep_months"`
}

// LimitConfig are the rate limits.
type LimitConfig struct {
	Off              bool `koanf:"off"`                // Turns all rate limits off.
	CompanyPerSecond int  `koanf:"company_per_second"` // Requests per second of one company. The programs that run divide them equally.
	CompanyBurst     int  `koanf:"company_burst"`      // Requests of one company at once, divided in the same way.
	PersonPerSecond  int  `koanf:"person_per_second"`  // Visits per second of one person of a company at one program. A visit is a page, a file, a form or a stream.
	PersonBurst      int  `koanf:"person_burst"`       // Visits of one person at once.
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
	bound := c.Workers
	if bound < 2 || bound > mostWorkers {
		bound = mostWorkers // an invalid number of workers must not cause further errors
	}
	return errors.Join(
		errorIf(bound != c.Workers, "jobs.workers must be 2 to %d", mostWorkers),
		errorIf(c.Inbox < 1 || c.Inbox >= bound, "jobs.inbox must be at least 1 and less than jobs.workers"),
		errorIf(c.PerProvider < 1 || c.PerProvider > bound, "jobs.per_provider must be 1 to jobs.workers"),
	)
}

const mostWorkers = 256

// PoolConfig is about the connections to PostgreSQL, and about heavy reads (docs/operating/install.md).
type PoolConfig struct {
	// Connections for the reads of GET requests. One more is for heavy reads, one for `/readyz`, and
	// the rest of `pool_max_conns` for the ledger and the jobs: at least one. 0: a quarter. Fewer
	// than 4 connections are not divided.
	Reads int `koanf:"reads"`
	// Time limit of each SQL statement of a heavy read: a list with a filter, a count, a report. After
	// it the request gets 503. The pieces of an account statement have no limit. `100ms` to `9s`.
	HeavyLimit time.Duration `koanf:"heavy_limit"`
}

// LogConfig is how the log looks. The log goes to standard error.
type LogConfig struct {
	Level  string `koanf:"level"`  // `debug`, `info`, `warn` or `error`.
	Format string `koanf:"format"` // `json` or `text`.
}

// Defaults returns a configuration in which every setting has its default.
func Defaults() Config {
	return Config{
		Providers: maps.Clone(registered), Banks: map[string]Provider{},
		Mode: Live, Listen: "127.0.0.1:8080", Data: ".kobo", Window: 30 * time.Second, Console: "on", NameMatch: "flag", CreditPollPeriod: 6 * time.Hour, IdentityRetention: 5,
		Webhooks: WebhookConfig{KeepDays: 30}, Operators: PeopleConfig{KeyDays: 180},
		RequestLog: RequestLogConfig{KeepDays: 30},
		VTU:        VTUConfig{MostLoss: 5},
		Serve:      ServeConfig{Drain: 5 * time.Second},
		Limits:     LimitConfig{CompanyPerSecond: 100, CompanyBurst: 200, PersonPerSecond: 20, PersonBurst: 100, TokenPerMinute: 60, CallbacksPerSecond: 100, CallbacksBurst: 1000},
		Jobs:       JobConfig{Workers: job.Usual.Workers, Inbox: job.Usual.Reserved, PerProvider: job.Usual.PerProvider},
		Pools:      PoolConfig{HeavyLimit: 5 * time.Second},
		Log:        LogConfig{Level: "info", Format: "json"},
	}
}

// NeedsTwo reports whether acts that can lead to money leaving need a second operator.
func (c Config) NeedsTwo() bool {
	return c.FourEyes == "on" || c.FourEyes == "" && c.Mode.rules().needsTwo
}

// proxies returns the trusted proxies.
func (c Config) proxies() (peer.Proxies, error) {
	p, err := peer.Parse(c.TrustedProxies)
	return p, prefixed("trusted_proxies: ", err)
}

// epochFile returns the path of the file that holds the epoch, or "" for no file.
func (c Config) epochFile() string {
	path, lite := db.SQLitePath(c.Database)
	if c.EpochFile == "" && lite {
		return path + ".epoch"
	}
	return c.EpochFile
}

// keyring returns the master key from its setting or its file.
func (c Config) keyring() (*secret.Keyring, error) {
	f, err := c.MasterFile()
	if err != nil {
		return nil, err
	}
	if f.Path == "" {
		k, err := secret.Parse(c.MasterKey.Reveal())
		return k, prefixed("master_key: ", err)
	}
	k, err := readKeyring(f)
	return k, prefixed("master_key_file: ", err)
}

// Evidence returns the keys that sign the ledger's history.
func (c Config) Evidence() (*secret.Evidence, error) {
	k, err := c.evidence()
	if err != nil {
		return nil, err
	}
	return k.Evidence(), nil
}

// evidence returns the evidence keyring.
func (c Config) evidence() (k *secret.Keyring, err error) {
	switch {
	case c.EvidenceKeyFile != "":
		k, err = readKeyring(secret.File{Path: filepath.Clean(c.EvidenceKeyFile)})
		err = prefixed("evidence_key_file: ", err)
	case !c.Mode.rules().needsEvidence:
		k, err = c.keyring()
	default:
		err = errors.New("configuration: evidence_key_file is not set (make one with: kobo keygen --out FILE)")
	}
	return k, err
}

// readKeyring reads a keyring from a file that no other user may write.
func readKeyring(f secret.File) (*secret.Keyring, error) {
	if _, err := secret.CheckMode(f.Path); err != nil {
		return nil, err
	}
	return f.Read()
}
