package app

import (
	"cmp"
	"errors"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	simulated "github.com/kobo-waas/kobo/internal/provider/sandbox/sudo"
	"github.com/kobo-waas/kobo/internal/provider/sudo"
	"github.com/kobo-waas/kobo/internal/secret"
)

func init() { register("sudo", SudoConfig{}) }

// SudoConfig is our account at Sudo, which issues cards. The group stays empty in
// sandbox mode. See docs/providers/sudo.md.
type SudoConfig struct {
	// Empty: `https://api.sudo.africa` in live mode, and `https://api.sandbox.sudo.cards` in staging mode.
	BaseURL string `koanf:"base_url"`
	// Empty: `https://vault.sudo.cards` in live mode, and `https://vault.sandbox.sudo.cards` in staging
	// mode. If only `vault_url` is empty, there are no physical cards.
	VaultURL      string      `koanf:"vault_url"`
	APIKey        secret.Text `koanf:"api_key"`        // Bearer token of every call. Without it and `base_url`, there are no cards.
	DebitAccount  string      `koanf:"debit_account"`  // Id of our settlement account at Sudo. Card fundings are paid from it.
	FundingSource string      `koanf:"funding_source"` // Sudo's id of a funding source for new cards. Usually empty.
	Program       string      `koanf:"program"`        // Sudo's id of a card program for new cards. Usually empty.
	AmountUnit    string      `koanf:"amount_unit"`    // `major` (naira) or `minor` (kobo). Empty: `major`.
	// `true` once Sudo has confirmed in writing that every transfer is on the debit
	// account's list. A funding that is not on the list then was not made.
	CompleteList         bool        `koanf:"complete_list"`
	WebhookAuthorization secret.Text `koanf:"webhook_authorization"` // `Authorization` header of Sudo's notifications.
	Approve              bool        `koanf:"approve"`               // `true` approves authorization requests.
}

func (c SudoConfig) check(m Mode, _ string) error {
	if m == Sandbox {
		return errorIf(c.BaseURL+c.VaultURL != "", "sudo.… is for live mode and staging mode: the sandbox brings its own provider")
	}
	plug := c.plug(m)
	all := errors.Join(m.checkAddress("sudo.base_url", &plug.BaseURL, sudoSystems, sudoVaults), m.checkAddress("sudo.vault_url", &plug.VaultURL, sudoSystems, sudoVaults))
	if plug.BaseURL != "" {
		all = errors.Join(all, prefixed("", failure(sudo.New(plug, clock.System{}))))
	}
	return all
}

// These are the addresses of Sudo's systems, and of the vaults for card numbers.
var (
	sudoSystems = systems{live: "https://api.sudo.africa", staging: "https://api.sandbox.sudo.cards"}
	sudoVaults  = systems{live: "https://vault.sudo.cards", staging: "https://vault.sandbox.sudo.cards"}
)

// plug converts the settings to the configuration of Sudo's plug. Its address is "" if there are no
// cards.
func (c SudoConfig) plug(m Mode) sudo.Config {
	address, vault := c.BaseURL, c.VaultURL
	if address == "" && c.APIKey.Reveal() != "" {
		address, vault = sudoSystems.of(m), cmp.Or(vault, sudoVaults.of(m))
	}
	return sudo.Config{
		ClientConfig: provider.ClientConfig{BaseURL: address}, VaultURL: vault, APIKey: c.APIKey.Reveal(), DebitAccount: c.DebitAccount, FundingSource: c.FundingSource,
		Program: c.Program, Unit: sudo.Unit(c.AmountUnit), CompleteList: c.CompleteList,
		WebhookAuthorization: c.WebhookAuthorization.Reveal(), Approve: c.Approve,
	}
}

// issues reports whether Sudo is configured.
func (c SudoConfig) issues(m Mode) bool { return m == Sandbox || c.plug(m).BaseURL != "" }

func (SudoConfig) systems() []systems { return []systems{sudoSystems} }

func (SudoConfig) simulated() books.Provider { return &simulated.Issuer{} }

func (c SudoConfig) connect(a *App, name string, p *plugs) error {
	cfg := c.plug(a.cfg.Mode)
	if s, ok := a.sandbox.provider(name).(*simulated.Issuer); ok {
		cfg = s.PlugConfig(a.sandbox.address(name))
	}
	if cfg.BaseURL == "" {
		return nil
	}
	a.prepare(name, &cfg.ClientConfig)
	plug, err := sudo.New(cfg, a.Clock)
	if err == nil {
		p.issuers[name] = plug
	}
	return err
}
