package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Wrongs is a list of configuration errors. Its Error method prints one error per line.
type Wrongs []error

// Error returns the list, one error per line.
func (w Wrongs) Error() string {
	lines := make([]string, len(w))
	for i, one := range w {
		lines[i] = strings.ReplaceAll(one.Error(), "\n", "; ")
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the list.
func (w Wrongs) Unwrap() []error { return w }

// listErrors returns all errors as one list. An error that joins several errors is split up. The
// result is nil if there is no error.
func listErrors(all ...error) error {
	if out := split(errors.Join(all...)); len(out) > 0 {
		return Wrongs(out)
	}
	return nil
}

// split returns the single errors that a joined error contains.
func split(err error) (out []error) {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error }) //nolint:errorlint // a wrapper around joined errors stays
	if !ok {
		return []error{err}
	}
	for _, one := range joined.Unwrap() {
		out = append(out, split(one)...)
	}
	return out
}

// unreadable splits the error of the configuration's decoder into one error for each setting.
func unreadable(err error) (out []error) {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		if joined, ok := inner.(interface{ Unwrap() []error }); ok {
			return joined.Unwrap()
		}
	}
	return []error{err}
}

// prefixed puts the path of a setting before each of the joined errors.
func prefixed(setting string, err error) error {
	var out []error
	for _, one := range split(err) {
		out = append(out, fmt.Errorf("configuration: %s%w", setting, one))
	}
	return errors.Join(out...)
}

// ofPlug replaces the plug's name at the start of each error with the path of the settings group,
// such as "banks.main".
func ofPlug(group string, err error) error {
	var out []error
	for _, one := range split(err) {
		out = append(out, fmt.Errorf("configuration: %s: %w", group, errors.Unwrap(one)))
	}
	return errors.Join(out...)
}

// errorIf returns a configuration error if wrong is true, and otherwise nil.
func errorIf(wrong bool, format string, args ...any) error {
	if !wrong {
		return nil
	}
	return fmt.Errorf("configuration: "+format, args...)
}

// failure drops the value that a call returns, and returns only its error.
func failure[T any](_ T, err error) error { return err }

// Check returns all errors of a configuration. The argument read is the error that occurred while
// the configuration was read, and is part of the result.
func (c Config) Check(read error) error { return merged(read, c.check()) }

// CheckDatabase checks only the database setting, for commands that need no other setting.
func (c Config) CheckDatabase(read error) error { return merged(read, c.checkDatabase()) }

// merged joins the error from reading the configuration with the errors from checking it. If both
// report a missing database, it reports this only once.
func merged(read, found error) error {
	all := split(found)
	switch {
	case errors.Is(read, ErrNoDatabase):
		all = slices.DeleteFunc(all, func(err error) bool { return errors.Is(err, ErrNoDatabase) })
	case read != nil && !errors.As(read, new(Wrongs)):
		return read // the settings of an unreadable file cannot be checked
	}
	return listErrors(append([]error{read}, all...)...)
}

// check returns all errors of a configuration.
func (c Config) check() error {
	return listErrors(
		c.checkOwn(), c.checkListeners(), failure(NewLogger(io.Discard, c.Log)), c.checkDatabase(), c.checkTransport(), c.checkKey(),
		c.checkCrypto(),
		c.Jobs.check(), c.checkLimits(), failure(c.Issuer.letterhead()), checkPublic(c.Mode, c.PublicURL), failure(c.proxies()),
		checkTraces(c.Traces), c.checkProviders(), c.checkMode(),
	)
}

func (c Config) checkOwn() error {
	all := errors.Join(
		c.Mode.Check(),
		errorIf(c.Window < time.Second, "window must be at least 1s"),
		errorIf(c.Webhooks.KeepDays < 1 || c.Webhooks.KeepDays > 3650, "webhooks.keep_days must be 1 to 3650"),
		errorIf(c.RequestLog.KeepDays < 0 || c.RequestLog.KeepDays > 365, "request_log.keep_days must be 0 to 365"),
		errorIf(c.Console != "on" && c.Console != "off", "console must be on or off, not %q", c.Console),
		checkOrigin(c.ConsoleOrigin),
		errorIf(c.NameMatch != "flag" && c.NameMatch != "refuse", "name_match must be flag or refuse, not %q", c.NameMatch),
		errorIf(c.CreditPollPeriod < 5*time.Minute || c.CreditPollPeriod > 7*24*time.Hour, "credit_poll_period must be 5m to 168h"),
		errorIf(!slices.Contains([]string{"", "on", "off"}, c.FourEyes), "four_eyes must be on or off, not %q", c.FourEyes),
		errorIf(c.Operators.KeyDays < 0 || c.Operators.KeyDays > 3650, "operators.key_days must be 0 to 3650"),
		errorIf(c.Pools.Reads < 0, "pools.reads must not be negative"),
		errorIf(c.Pools.HeavyLimit < 100*time.Millisecond || c.Pools.HeavyLimit > 9*time.Second, "pools.heavy_limit must be 100ms to 9s"),
		errorIf(c.VTU.MostLoss < 0 || c.VTU.MostLoss > 100, "vtu.most_loss must be 0 to 100"),
		errorIf(c.IdentityRetention < 5 || c.IdentityRetention > 100, "identity_retention must be 5 to 100"),
		errorIf(c.Events.KeepMonths != 0 && (c.Events.KeepMonths < 3 || c.Events.KeepMonths > 1200), "events.keep_months must be 0 or 3 to 1200"),
		errorIf(c.Serve.Drain < 0 || c.Serve.Drain > 10*time.Minute, "serve.drain must be 0s to 10m"),
	)
	if c.CheckpointFolder != "" {
		all = errors.Join(all, prefixed("checkpoint_folder: ", failure(os.ReadDir(c.CheckpointFolder))))
	}
	if c.EpochFile != "" {
		all = errors.Join(all, prefixed("epoch_file: ", failure(os.Stat(filepath.Dir(c.EpochFile)))))
	}
	return all
}

// checkMode refuses settings that are valid only in other modes.
func (c Config) checkMode() error {
	if !c.Mode.rules().simulates {
		return errors.Join(c.checkCallback(),
			errorIf(c.SandboxToken.Reveal() != "", "sandbox_token is for sandbox mode: %s mode refuses to start with it", c.Mode))
	}
	return errorIf(c.CallbackBase != "",
		"callback_base is for live mode and staging mode: the sandbox knows where this program is")
}

// checkListeners checks the addresses of the listeners, and their certificates.
func (c Config) checkListeners() error {
	all := []error{checkListen("listen", c.Listen), c.TLS.check(c.AdminListen, c.MetricsListen)}
	taken := []string{c.Listen}
	for _, one := range []struct{ setting, address string }{{"admin_listen", c.AdminListen}, {"metrics_listen", c.MetricsListen}} {
		if one.address != "" {
			all = append(all, checkListen(one.setting, one.address),
				errorIf(slices.Contains(taken, one.address) && !strings.HasSuffix(one.address, ":0"), "%s must be an address of its own, not %s", one.setting, one.address))
			taken = append(taken, one.address)
		}
	}
	return errors.Join(all...)
}

// checkListen checks that net.Listen can use the address.
func checkListen(setting, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	return prefixed(setting+": ", err)
}

// ErrNoDatabase means that no setting names the database.
var ErrNoDatabase = errors.New("configuration: database is not set (sqlite:PATH or postgres://…)")

func (c Config) checkDatabase() error {
	if c.Database == "" {
		return ErrNoDatabase
	}
	all := []error{prefixed("database: ", db.CheckURL(c.Database))}
	if c.Replica != "" {
		all = append(all, prefixed("replica: ", db.CheckURL(c.Replica)))
		for _, url := range []string{c.Database, c.Replica} {
			_, lite := db.SQLitePath(url)
			all = append(all, errorIf(lite, "replica: only PostgreSQL has replicas"))
		}
	}
	return errors.Join(all...)
}

// checkTransport refuses a database on another machine if its URL does not decide about TLS.
func (c Config) checkTransport() error {
	var all []error
	for name, url := range map[string]string{"database": c.Database, "replica": c.Replica} {
		all = append(all, errorIf(c.Mode.rules().needsSSLMode && db.CheckURL(url) == nil && db.TransportOf(url) == db.Undecided,
			"%s: the URL names another machine without sslmode: add sslmode=verify-full (sslmode=disable allows connections without TLS)", name))
	}
	return errors.Join(all...)
}

// pools returns how the connections are divided.
func (c Config) pools() db.Pools {
	return db.Pools{Reads: c.Pools.Reads, Heavy: c.Pools.HeavyLimit, Replica: c.Replica, Undivided: !c.ExperimentalCitus}
}

// OpenDatabase opens the database, and the replica if there is one, and nothing else.
func (c Config) OpenDatabase(ctx context.Context) (*db.DB, error) {
	return db.OpenWith(ctx, c.Database, c.pools())
}

// openPrimary opens the database alone, for a command that changes its schema.
func (c Config) openPrimary(ctx context.Context) (*db.DB, error) {
	return db.OpenWith(ctx, c.Database, db.Pools{Undivided: !c.ExperimentalCitus})
}

func (c Config) checkKey() error {
	keys := failure(c.keyring())
	if c.MasterKey.Reveal() == "" && c.MasterKeyFile == "" {
		keys = errors.New("configuration: master_key or master_key_file is not set (make one with: kobo keygen)")
	}
	if c.EvidenceKeyFile == "" && !c.Mode.rules().needsEvidence {
		return keys // the master key signs the evidence
	}
	return errors.Join(keys, failure(c.Evidence()))
}

// checkLimits checks the rate limits, unless they are off.
func (c Config) checkLimits() error {
	l := c.Limits.limits()
	if l == nil {
		return nil
	}
	return errors.Join(prefixed("limits.company_…: ", l.Company.Check()), prefixed("limits.person_…: ", c.Limits.visits().Check()), prefixed("limits.token_…: ", l.Token.Check()), prefixed("limits.callbacks_…: ", l.Callbacks.Check()))
}

func (c Config) checkCallback() error {
	if !c.Mode.rules().needsCallback {
		return nil
	}
	u, err := url.Parse(c.CallbackBase)
	return errorIf(err != nil || u.Scheme != "https" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.User != nil,
		"%s mode needs callback_base, the public https URL (without a path) at which providers reach this program", c.Mode)
}

// checkPublic checks public_url. It requires https, except in sandbox mode for this
// machine or an address that contains "sandbox".
func checkPublic(mode Mode, address string) error {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return nil
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return errors.New("configuration: public_url must be an https URL without a path, such as https://api.example.com")
	}
	plain := mode.rules().plainPublicURL && (provider.IsLocal(u) || strings.Contains(strings.ToLower(u.Hostname()), "sandbox"))
	return errorIf(u.Scheme == "http" && !plain, "public_url must begin with https: secrets travel to it")
}

// checkOrigin returns an error if passkeys cannot be used at the console's address.
func checkOrigin(origin string) error {
	if origin == "" {
		return nil
	}
	if err := person.CheckOrigin(origin); err != nil {
		return fmt.Errorf("console_origin: %w", err)
	}
	return nil
}
