package app

import (
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
)

// Wrongs are all that is wrong with a configuration, each in a line of its own.
type Wrongs []error

// Error is the lines.
func (w Wrongs) Error() string {
	lines := make([]string, len(w))
	for i, one := range w {
		lines[i] = strings.ReplaceAll(one.Error(), "\n", "; ")
	}
	return strings.Join(lines, "\n")
}

// Unwrap are the errors that it was made of.
func (w Wrongs) Unwrap() []error { return w }

// wrongs gathers errors, those that are several taken apart. Without any it is nil.
func wrongs(all ...error) error {
	var out Wrongs
	for _, err := range all {
		out = append(out, taken(err)...)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// taken are the errors of which one was made by errors.Join.
func taken(err error) (out []error) {
	if err == nil {
		return nil
	}
	several, ok := err.(interface{ Unwrap() []error }) //nolint:errorlint // what is around it belongs to it
	if !ok {
		return []error{err}
	}
	for _, one := range several.Unwrap() {
		out = append(out, taken(one)...)
	}
	return out
}

// unreadable are the settings whose values are none.
func unreadable(err error) (out []error) {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		if several, ok := inner.(interface{ Unwrap() []error }); ok {
			for _, one := range several.Unwrap() {
				out = append(out, fmt.Errorf("configuration: %w", one))
			}
			return out
		}
	}
	return []error{fmt.Errorf("configuration: %w", err)}
}

// about puts the setting's name before each of the errors that were joined.
func about(setting string, err error) error {
	var out []error
	for _, one := range taken(err) {
		out = append(out, fmt.Errorf("configuration: %s%w", setting, one))
	}
	return errors.Join(out...)
}

// Check tells all that is wrong with a configuration, beside what was wrong when
// it was read.
func (c Config) Check(read error) error {
	return beside(read, c.check())
}

// CheckDatabase is Check for what needs the database alone.
func (c Config) CheckDatabase(read error) error {
	return beside(read, c.checkDatabase())
}

// beside are the errors that were read and those that were found. A missing database
// is told once, in the words of the reader.
func beside(read, found error) error {
	all := taken(found)
	switch {
	case errors.Is(read, ErrNoDatabase):
		all = slices.DeleteFunc(all, func(err error) bool { return errors.Is(err, ErrNoDatabase) })
	case read != nil && !errors.As(read, new(Wrongs)):
		return read // a file that cannot be read says nothing about its settings
	}
	return wrongs(append([]error{read}, all...)...)
}

// check refuses what cannot work, and in live mode what would only seem to. All
// that is wrong is told together.
func (c Config) check() error {
	_, log := NewLogger(io.Discard, c.Log)
	all := []error{
		c.checkOwn(), checkListen(c.Listen), log, c.checkDatabase(), c.checkKey(), c.checkProviders(),
		c.checkCrypto(), c.Jobs.check(), c.checkLimits(), c.Issuer.check(), checkPublic(c.Mode, c.PublicURL), c.checkProxies(), checkTraces(c.Traces),
	}
	switch c.Mode {
	case Live:
		all = append(all, checkCallback(c.CallbackBase), c.checkNoSandbox())
	case Sandbox:
		all = append(all, c.checkSandbox())
	}
	return wrongs(all...)
}

func (c Config) checkOwn() error {
	var all []error
	if c.Mode != Live && c.Mode != Sandbox {
		all = append(all, fmt.Errorf(`configuration: mode must be live or sandbox, not %q`, c.Mode))
	}
	if c.Window < time.Second {
		all = append(all, errors.New("configuration: window must be at least 1s"))
	}
	if c.Webhooks.KeepDays < 1 || c.Webhooks.KeepDays > 3650 {
		all = append(all, errors.New("configuration: webhooks.keep_days must be 1 to 3650"))
	}
	if c.Serve.Drain < 0 || c.Serve.Drain > 10*time.Minute {
		all = append(all, errors.New("configuration: serve.drain must be 0s to 10m"))
	}
	if c.EpochFile != "" {
		_, err := os.Stat(filepath.Dir(c.EpochFile))
		all = append(all, about("epoch_file: ", err))
	}
	return wrongs(all...)
}

// checkListen looks at the address that net.Listen will be given.
func checkListen(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	return about("listen: ", err)
}

// ErrNoDatabase says that nothing names the database.
var ErrNoDatabase = errors.New("configuration: database is not set (sqlite:PATH or postgres://…)")

func (c Config) checkDatabase() error {
	if c.Database == "" {
		return ErrNoDatabase
	}
	if err := db.CheckURL(c.Database); err != nil {
		return fmt.Errorf("configuration: database: %w", err)
	}
	return nil
}

func (c Config) checkKey() error {
	if c.MasterKey.Reveal() == "" && c.MasterKeyFile == "" {
		return errors.New("configuration: master_key or master_key_file is not set (make one with: kobo keygen)")
	}
	_, err := c.keyring()
	return err
}

// checkLimits looks at what a bucket cannot keep, where the limits are on.
func (c Config) checkLimits() error {
	l := c.Limits.limits()
	if l == nil {
		return nil
	}
	return errors.Join(about("limits.company_…: ", l.Company.Check()), about("limits.token_…: ", l.Token.Check()), about("limits.callbacks_…: ", l.Callbacks.Check()))
}

// validAddress stands for an address that was refused. A plug that is made with it
// tells what else is wrong.
const validAddress = "https://provider.example"

// ofPlug puts the group's path in place of the plug's name before its errors.
func ofPlug(group string, err error) error {
	var out []error
	for _, one := range taken(err) {
		out = append(out, fmt.Errorf("configuration: %s: %w", group, errors.Unwrap(one)))
	}
	return errors.Join(out...)
}

// checkReal wants an address of a provider's that is no sandbox.
func checkReal(setting, address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "https":
		return fmt.Errorf("configuration: %s must be an https URL in live mode", setting)
	case pretend(u):
		return fmt.Errorf("configuration: %s is a sandbox: live mode refuses to start with it", setting)
	}
	return nil
}

// checkNoSandbox refuses in live mode what steers a sandbox.
func (c Config) checkNoSandbox() error {
	if c.SandboxToken.Reveal() != "" {
		return errors.New("configuration: sandbox_token is for sandbox mode: live mode refuses to start with it")
	}
	return nil
}

func (c Config) checkSandbox() error {
	if c.CallbackBase != "" {
		return errors.New("configuration: callback_base is for live mode: the sandbox knows where this program is")
	}
	return nil
}
