package main

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"

	"github.com/kobo-waas/kobo/internal/chain"
)

const (
	attachedAccount = "settlement.bank_account_attached"
	changedStatus   = "settlement.status_changed"
	adjusted        = "settlement.adjusted"
	openedAccount   = "settlement.account_created"
	changedAlert    = "settlement.alert_changed"
	changedAddress  = "card.address_changed"
	changedKey      = "crypto.key_changed"
)

// ofNewcomer are kinds of events that happen to a new company, like all kinds of company.
var ofNewcomer = []string{
	kybChanged, attachedAccount, changedStatus, adjusted, openedAccount, changedAlert, changedAddress, changedKey,
}

// accountOf returns a recipe in which an operator opens a settlement account for the new company, and
// makes a request about that account.
func accountOf(path string, body func() map[string]any) recipe {
	return func(s *script) {
		operated("settlement-accounts", map[string]any{"name": "Trigger"})(s)
		s.operate("companies/"+s.Reference+"/settlement-accounts/1/"+path, body(), nil)
	}
}

// adjustedAccount opens a settlement account for the new company. One operator then requests an adjustment,
// and a second operator approves it.
func adjustedAccount(s *script) {
	operated("settlement-accounts", map[string]any{"name": "Trigger"})(s)
	var asked struct{ ID string }
	s.operate("companies/"+s.Reference+"/adjustments", map[string]any{
		"settlementId": 1, "amount": 1500, "direction": "credit", "reason": "kobo trigger",
	}, &asked)
	s.AdminKey = s.SecondAdminKey
	s.operate("adjustments/"+asked.ID+"/approve", nil, nil)
}

// changedXpub sets a key that no other company has: a published test key with a random chain code.
func changedXpub(s *script) {
	var xpub string
	s.step(func() error {
		published, err := chain.ParseKey(chain.PublicTestKeys[chain.EVM])
		if err != nil {
			return err
		}
		text, err := published.Hex()
		if err != nil {
			return err
		}
		chainCode := make([]byte, 32)
		rand.Read(chainCode)
		key, err := chain.ReadHexKey(text[:len(text)-2*len(chainCode)] + hex.EncodeToString(chainCode))
		xpub = key.String()
		return err
	})
	operated("xpubs", map[string]any{"chain": "evm", "xpub": xpub})(s)
}

// attachable returns a bank account that is attached to no company yet.
func attachable() map[string]any {
	return map[string]any{"bank": "safehaven", "accountNumber": "9" + digits()[1:], "accountName": "KOBO TRIGGER"}
}

func inactive() map[string]any { return map[string]any{"status": "INACTIVE", "reason": "kobo trigger"} }

// kybChanged cannot happen to the development company, because that company stays approved.
const kybChanged = "kyb.changed"

// erasedCustomer has an operator erase a new customer.
func erasedCustomer(s *script) { s.operate("customers/"+s.customerAccount()+"/erase", nil, nil) }

// newcomer creates a company. The further steps of the script then run as that company.
func (s *script) newcomer() {
	var made struct{ Reference, APIKey string }
	s.operate("companies", map[string]string{"name": "Kobo Trigger"}, &made)
	s.developer = &developer{Credentials: s.Credentials, http: s.http}
	s.Reference, s.APIKey = made.Reference, made.APIKey
}

// takeOn approves the company as an operator would: it sets each KYB status, and then switches the
// company live. Each of these changes causes an event.
func takeOn(s *script) {
	for _, status := range []string{"IN_PROGRESS", "SUBMITTED", "APPROVED"} {
		s.operate("companies/"+s.Reference+"/kyb", map[string]string{"status": status}, nil)
	}
	s.operate("companies/"+s.Reference+"/live", map[string]bool{"live": true}, nil)
}

// operated returns a recipe in which an operator makes a request about the new company.
func operated(path string, body map[string]any) recipe {
	return func(s *script) {
		takeOn(s)
		s.operate("companies/"+s.Reference+"/"+path, body, nil)
	}
}

// revokedKey issues a second API key and revokes it.
func revokedKey(s *script) {
	takeOn(s)
	keys := "companies/" + s.Reference + "/api-keys"
	var second struct{ ID string }
	s.operate(keys, map[string]any{}, &second)
	s.admin(http.MethodDelete, keys+"/"+second.ID, nil, nil)
}

// lockedPIN sets a PIN and tries five wrong ones.
func lockedPIN(s *script) {
	operated("pin", map[string]any{"pin": "1234"})(s)
	for range 5 {
		s.order("01", "company/pin", map[string]string{"currentPin": "0000", "pin": "4321"})
	}
}

func unlockedPIN(s *script) {
	lockedPIN(s)
	s.operate("companies/"+s.Reference+"/pin/unlock", map[string]any{}, nil)
}

// renewalDue tells the company that its API keys and its PIN have to be used within a week.
func renewalDue(s *script) {
	s.simulate("renewal", map[string]string{"companyId": s.Reference}, nil)
}
