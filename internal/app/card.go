package app

import (
	"strings"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/provider"
)

// CardConfig is about cards of all issuers.
type CardConfig struct {
	// Billing address of last resort, such as `1 Marina, Lagos, Lagos`. It serves
	// customers without an address whose company has none either.
	Address string `koanf:"address"`
}

// newCards returns the service for cards. New cards come from the only configured issuer.
func (a *App) newCards(issuers map[string]provider.Issuer) *card.Service {
	issuer := ""
	for name := range issuers {
		issuer = name
	}
	return card.New(card.Config{
		DB: a.DB, Book: a.Book, Clock: a.Clock, Log: a.log, Operations: a.Operations, Settlements: a.Settlements,
		Customers: a.Customers, Keys: a.Keys, Issuers: issuers, Issues: issuer, Window: a.cfg.Window, House: a.cfg.Cards.address(a.cfg.Mode),
	})
}

// address returns the billing address for customers without an address, from the setting.
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
