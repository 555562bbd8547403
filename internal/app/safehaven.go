package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/safehaven"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	simulated "github.com/kobo-waas/kobo/internal/provider/sandbox/safehaven"
	"github.com/kobo-waas/kobo/internal/secret"
)

func init() { registerBank("safehaven", SafeHavenConfig{}) }

// SafeHavenConfig is our account at Safe Haven MFB. The group stays empty in
// sandbox mode. See docs/providers/safehaven.md.
type SafeHavenConfig struct {
	// Empty: `https://api.safehavenmfb.com` in live mode, and `https://api.sandbox.safehavenmfb.com` in
	// staging mode.
	BaseURL        string      `koanf:"base_url"`
	ClientID       string      `koanf:"client_id"`        // OAuth client id.
	PrivateKeyFile string      `koanf:"private_key_file"` // File with the RSA key that signs the client assertion.
	Assertion      secret.Text `koanf:"assertion"`        // A long-lived assertion, instead of `private_key_file`.
	Issuer         string      `koanf:"issuer"`           // Your company URL, as registered with the OAuth client.
	Audience       string      `koanf:"audience"`         // Audience of the assertion. Empty: `base_url`.
	DebitAccount   string      `koanf:"debit_account"`    // The account that pays.
	BankCode       string      `koanf:"bank_code"`        // Safe Haven's own bank code. Empty: `090286` in live mode, `999240` in staging mode.
	AmountUnit     string      `koanf:"amount_unit"`      // Unit of VAS amounts: `naira` or `kobo`; or by kind: `DATA=kobo, *=naira`. Empty: `naira`.
	// Whether the bank finds sales by our reference: `proven` or `unproven`; or by kind: `DATA=proven,
	// *=unproven`. While it is unproven, a sale that the bank does not find is never refunded by
	// itself. The first sale that the bank finds proves its kind. Empty: `unproven`, in sandbox mode
	// `proven`.
	LookupByReference string `koanf:"lookup_by_reference"`
}

func (c SafeHavenConfig) check(m Mode, group string) error {
	if err := failure(c.lookup(m)); err != nil {
		return fmt.Errorf("configuration: %s.%w", group, err)
	}
	if m == Sandbox {
		return errorIf(c.BaseURL != "", "%s.base_url is for live mode and staging mode: the sandbox brings its own provider", group)
	}
	plug, unread := c.plug(m, group)
	signed := c.Assertion.Reveal() != ""
	unclear, unnamed := signed == (c.PrivateKeyFile != ""), !signed && c.Issuer == ""
	all := []error{
		m.checkAddress(group+".base_url", &plug.BaseURL, safeHavenSystems), m.checkSystem(group+".audience", c.Audience, safeHavenSystems), unread,
		errorIf(!bankCode.MatchString(plug.BankCode), "%s.bank_code must be 6 digits", group),
		errorIf(unclear, "set either %[1]s.private_key_file or %[1]s.assertion", group),
		errorIf(!unclear && unnamed, "%[1]s.private_key_file needs %[1]s.issuer", group),
	}
	// Valid values replace the values that were refused above, because the plug's own check then finds
	// the remaining errors.
	if unclear || unnamed || unread != nil {
		plug.PrivateKeyPEM, plug.Assertion = "", "signed"
	}
	return errors.Join(append(all, ofPlug(group, failure(safehaven.New(plug, clock.System{}))))...)
}

// These are the addresses of Safe Haven's systems, and the code of the bank in each of them.
var (
	safeHavenSystems   = systems{live: "https://api.safehavenmfb.com", staging: "https://api.sandbox.safehavenmfb.com"}
	safeHavenBankCodes = systems{live: "090286", staging: "999240"}
)

var bankCode = regexp.MustCompile(`^[0-9]{6}$`)

// lookup reads lookup_by_reference. The simulated bank documents the look-up by our reference, and
// Safe Haven does not.
func (c SafeHavenConfig) lookup(m Mode) (provider.ByKind, error) {
	otherwise := provider.Unproven
	if m == Sandbox {
		otherwise = provider.Proven
	}
	return provider.ParseLookup(c.LookupByReference, otherwise)
}

// plug converts the settings to the configuration of the plug.
func (c SafeHavenConfig) plug(m Mode, group string) (safehaven.Config, error) {
	out := safehaven.Config{
		ClientConfig: provider.ClientConfig{BaseURL: cmp.Or(c.BaseURL, safeHavenSystems.of(m))}, ClientID: c.ClientID, Assertion: c.Assertion.Reveal(), Issuer: c.Issuer,
		Audience: c.Audience, DebitAccount: c.DebitAccount, BankCode: cmp.Or(c.BankCode, safeHavenBankCodes.of(m)), AmountUnit: safehaven.Unit(c.AmountUnit),
	}
	if c.PrivateKeyFile != "" {
		pem, err := os.ReadFile(c.PrivateKeyFile)
		if err != nil {
			return out, fmt.Errorf("configuration: %s.private_key_file: %w", group, err)
		}
		out.PrivateKeyPEM = string(pem)
	}
	return out, nil
}

func (SafeHavenConfig) systems() []systems { return []systems{safeHavenSystems} }

func (SafeHavenConfig) simulated() books.Provider { return &simulated.Bank{} }

// marks returns two strings that identify this configuration's bank account: one for the OAuth
// client, and one for the account that pays. Two configurations that share a mark use the same
// bank account.
func (c SafeHavenConfig) marks(m Mode) []string {
	var out []string
	base := cmp.Or(c.BaseURL, safeHavenSystems.of(m))
	for kind, value := range map[string]string{"client": c.ClientID, "account": c.DebitAccount} {
		if value != "" {
			hash := sha256.Sum256([]byte(kind + "\n" + strings.TrimRight(strings.ToLower(base), "/") + "\n" + value))
			out = append(out, hex.EncodeToString(hash[:]))
		}
	}
	slices.Sort(out)
	return out
}

func (SafeHavenConfig) sells(Mode) bool { return true }

func (c SafeHavenConfig) connect(a *App, name string, p *plugs) error {
	cfg, err := c.plug(a.cfg.Mode, name)
	if s, ok := a.sandbox.provider(name).(*simulated.Bank); ok {
		cfg, err = s.PlugConfig(a.sandbox.address(name)), nil
	}
	if err != nil {
		return err
	}
	a.prepare(name, &cfg.ClientConfig)
	plug, err := safehaven.New(cfg, a.Clock)
	if err != nil {
		return err
	}
	p.billers[name] = plug
	if p.lookups[name], err = c.lookup(a.cfg.Mode); err != nil {
		return err
	}
	own := bank{Bank: plug, verifier: plug, float: cfg.DebitAccount}
	if s, ok := a.sandbox.provider(name).(*simulated.Bank); ok {
		own.verifier = acquainted{plug, s}
	} else {
		own.marks = c.marks(a.cfg.Mode)
	}
	p.banks[name] = own
	return nil
}

// acquainted tells the simulated bank the name of each person to whom it has sent an OTP. So the bank
// has the name of each BVN's owner, as a real bank has.
type acquainted struct {
	provider.Verifier
	bank *simulated.Bank
}

// Start sends an OTP, and introduces the person to the bank.
func (v acquainted) Start(ctx context.Context, s provider.IdentityStart) provider.Answer {
	a := v.Verifier.Start(ctx, s)
	if a.Outcome == provider.Confirmed && s.Name.Reveal() != "" {
		if err := v.bank.Introduce(ctx, a.Reference, s.BVN, s.Name); err != nil {
			return provider.Answer{Code: provider.CodeConnection, Message: "the sandbox could not store the name"}
		}
	}
	return a
}
