package app

import (
	"errors"
	"strings"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/sudo"
	"github.com/kobo-waas/kobo/internal/secret"
)

// sudoName is the name under which the books know Sudo.
const sudoName = "sudo"

// SudoConfig is our account at Sudo, which issues cards. The group stays empty in
// sandbox mode. See docs/providers/sudo.md.
type SudoConfig struct {
	BaseURL       string      `koanf:"base_url"`       // `https://api.sudo.africa`. Live mode only. Empty: no cards.
	VaultURL      string      `koanf:"vault_url"`      // `https://vault.sudo.cards`. Empty: no physical cards.
	APIKey        secret.Text `koanf:"api_key"`        // Bearer token of every call.
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

// CardConfig is what cards of all issuers have in common.
type CardConfig struct {
	// Billing address of last resort, such as `1 Marina, Lagos, Lagos`. It serves
	// customers without an address whose company has none either.
	Address string `koanf:"address"`
}

func (c SudoConfig) check(mode Mode) error {
	if mode == Sandbox && c.BaseURL+c.VaultURL != "" {
		return errors.New("configuration: sudo.… is for live mode: the sandbox brings its own provider")
	}
	var all []error
	plug := c.plug()
	real := func(setting string, address *string) {
		if *address == "" {
			return
		}
		if err := checkReal(setting, *address); err != nil {
			all = append(all, err)
			*address = aRealAddress
		}
	}
	real("sudo.base_url", &plug.BaseURL)
	real("sudo.vault_url", &plug.VaultURL)
	if plug.BaseURL != "" {
		_, err := sudo.New(plug, clock.System{})
		all = append(all, about("", err))
	}
	return errors.Join(all...)
}

// plug is the plug's own configuration.
func (c SudoConfig) plug() sudo.Config {
	return sudo.Config{
		ClientConfig: provider.ClientConfig{BaseURL: c.BaseURL}, VaultURL: c.VaultURL, APIKey: c.APIKey.Reveal(), DebitAccount: c.DebitAccount, FundingSource: c.FundingSource,
		Program: c.Program, Unit: sudo.Unit(c.AmountUnit), CompleteList: c.CompleteList,
		WebhookAuthorization: c.WebhookAuthorization.Reveal(), Approve: c.Approve,
	}
}

// sudo is the plug for Sudo, or none where it is not configured.
func (a *App) sudo() (map[string]provider.Issuer, error) {
	cfg := a.cfg.Sudo.plug()
	if a.world != nil {
		cfg = a.world.sandbox.Sudo.PlugConfig(a.world.base)
	}
	if cfg.BaseURL == "" {
		return nil, nil
	}
	cfg.PayDeadline, cfg.ReadDeadline = a.deadlines()
	cfg.Around = a.traced()
	plug, err := sudo.New(cfg, a.Clock)
	if err != nil {
		return nil, err
	}
	return map[string]provider.Issuer{sudoName: plug}, nil
}

// newCards opens the business of cards.
func (a *App) newCards(issuers map[string]provider.Issuer) *card.Service {
	return card.New(card.Config{
		DB: a.DB, Book: a.Book, Clock: a.Clock, Log: a.log, Operations: a.Operations, Settlements: a.Settlements,
		Customers: a.Customers, Keys: a.Keys, Issuers: issuers, Issues: sudoName, Window: a.cfg.Window, House: a.cfg.Cards.address(a.cfg.Mode),
	})
}

// address is the last resort for a billing address.
func (c CardConfig) address(mode Mode) customer.Address {
	text := c.Address
	if text == "" && mode == Sandbox {
		text = "1 Sandbox Street, Lagos, Lagos"
	}
	parts := strings.Split(text, ",")
	if len(parts) < 3 {
		return customer.Address{}
	}
	n := len(parts)
	return customer.Address{
		Line1: strings.TrimSpace(strings.Join(parts[:n-2], ",")), City: strings.TrimSpace(parts[n-2]), State: strings.TrimSpace(parts[n-1]),
		Country: "NG",
	}
}
