// Package safehaven simulates Safe Haven Microfinance Bank for the sandbox.
//
// The simulated bank sells airtime, data, TV and power, and verifies identities. It opens accounts,
// receives credits, pays to other banks and provides a statement. The wire format is described in
// docs/providers/safehaven.md.
package safehaven

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"sync"

	"github.com/golang-jwt/jwt/v5"

	"github.com/kobo-waas/kobo/internal/provider"
	plug "github.com/kobo-waas/kobo/internal/provider/safehaven"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// The simulated bank has one client, with these settings. The settings are not secret, since the
// books of each program have a separate key.
const (
	clientID      = "0f0e0d0c0b0a09080706050403020100"
	ibsClientID   = "64aa00000000000000000001"
	issuer        = "https://kobo.invalid"
	audience      = "https://safehaven.sandbox.invalid"
	debitAccount  = "0100000001"
	mainAccountID = "64cc00000000000000000001" // the bank's id of the debit account
	clientName    = "KOBO"                     // the names of the client's accounts begin with this word
	bankCode      = "999240"                   // the code of the simulated bank
	sender        = "safehaven"                // the sender's name in the notices
)

// Bank is the simulated Safe Haven. Its zero value can be passed to the sandbox server.
type Bank struct {
	*books.Books
	key     *rsa.PrivateKey // the client's private key; the bank uses only its public key
	notices *books.Outbox
	series  int64 // added to the serial numbers of accounts
}

// Number sets the number of this bank. Banks with different numbers never have an account number in
// common.
func (b *Bank) Number(n int) { b.series = int64(n) * 5_000_000 }

// Open creates the bank's tables, the client's key and the client's account.
func (b *Bank) Open(ctx context.Context, shared *books.Books) (books.Part, error) {
	b.Books = shared
	b.notices = &books.Outbox{Books: shared, Sender: sender}
	if err := b.prepare(ctx); err != nil {
		return books.Part{}, err
	}
	return books.Part{
		Mount: b.mount, Requests: b.requests, Outbox: b.notices, Float: debitAccount,
		Controls: map[string]books.Control{
			"POST /sandbox/bank-manners":   books.Steer(b.setManners),
			"POST /sandbox/credit":         books.Steer(b.creditByHand),
			"GET /sandbox/otp/":            b.showOTP,
			"POST /sandbox/account-name":   books.Steer(b.renameAccount),
			"POST /sandbox/reverse":        books.Steer(b.reverseByHand),
			"POST /sandbox/statement-line": books.Steer(b.plantLine),
			"POST /sandbox/next-account":   b.TellNext(nextAccount),
			"POST /sandbox/vas-reference":  books.Steer(b.setReference),
			"POST /sandbox/transfer-list":  books.Steer(b.setListing),
			"POST /sandbox/vas-off":        b.SwitchOff(vasOff),
		},
	}, nil
}

func (b *Bank) prepare(ctx context.Context) error {
	if err := b.Create(ctx, tables...); err != nil {
		return err
	}
	key, err := b.Remember(ctx, "client_key", newKey)
	if err != nil {
		return err
	}
	if b.key, err = jwt.ParseRSAPrivateKeyFromPEM([]byte(key)); err != nil {
		return errors.New("the key in the books cannot be read")
	}
	if err := b.OpenAccount(ctx, debitAccount); err != nil {
		return err
	}
	_, err = holders.Add(ctx, b, holder{number: debitAccount, id: mainAccountID, kind: "main", name: clientName + " SETTLEMENT"})
	return err
}

// newKey makes the key of the client. New books of one process have the same key, because it takes long to make one, and a process of tests opens
// many simulated banks.
var newKey = sync.OnceValues(func() (string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	return encoded(key), nil
})

func encoded(key *rsa.PrivateKey) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

// PlugConfig returns a configuration with which the Safe Haven plug calls this bank. The caller
// sets the deadlines.
func (b *Bank) PlugConfig(baseURL string) plug.Config {
	return plug.Config{
		ClientConfig: provider.ClientConfig{BaseURL: baseURL}, ClientID: clientID, PrivateKeyPEM: encoded(b.key), Issuer: issuer,
		Audience: audience, DebitAccount: debitAccount, BankCode: bankCode,
	}
}

// Settings returns the settings with which another program calls this bank. The bank signs an
// assertion for that program, so the client's key stays in the books.
func (b *Bank) Settings(baseURL string) (map[string]string, error) {
	now := b.Clock.Now()
	assertion, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{
		"iss": issuer, "sub": clientID, "aud": audience, "iat": now.Unix(), "exp": now.Add(tokenLife).Unix(),
	}).SignedString(b.key)
	return map[string]string{
		"base_url": baseURL, "client_id": clientID, "assertion": assertion, "audience": audience, "debit_account": debitAccount, "bank_code": bankCode,
	}, err
}

// SetCallback sets the address of notices about accounts that have no callback URL. At the real
// bank, this address is a setting on the dashboard.
func (b *Bank) SetCallback(callback string) error { return b.notices.SetCallback(callback) }

func (b *Bank) mount(mux *http.ServeMux) {
	mux.HandleFunc("POST /oauth2/token", b.token)
	for pattern, next := range map[string]http.HandlerFunc{
		"GET /vas/services":                        b.listServices,
		"GET /vas/service/{id}/service-categories": b.listCategories,
		"GET /vas/service-category/{id}/products":  b.listProducts,
		"POST /vas/verify":                         books.Reading(b.Books, b.verify),
		"POST /vas/pay/{kind}":                     b.Payment("/vas/pay/{kind}", books.Reading(b.Books, b.pay)),
		"GET /vas/transaction/{reference}":         b.showSale,
		"POST /identity/v2":                        books.Reading(b.Books, b.startIdentity),
		"POST /identity/v2/validate":               books.Reading(b.Books, b.validateIdentity),
		"POST /accounts/v2/subaccount":             books.Reading(b.Books, b.openAccount),
		"GET /accounts":                            b.listAccounts,
		"GET /accounts/{id}/statement":             b.showStatement,
		"POST /virtual-accounts":                   books.Reading(b.Books, b.openVirtual),
		"GET /virtual-accounts/{id}":               b.showVirtual,
		"POST /virtual-accounts/status":            b.showStatus(true),
		"GET /transfers/banks":                     b.listBanks,
		"POST /transfers/name-enquiry":             books.Reading(b.Books, b.enquireName),
		"POST /transfers":                          b.Payment("/transfers", books.Reading(b.Books, b.transfer)),
		"POST /transfers/status":                   b.showStatus(false),
		"GET /transfers":                           b.listTransfers,
	} {
		mux.Handle(pattern, b.authenticated(next))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		books.Refuse(w, http.StatusNotFound, "Cannot "+r.Method+" "+r.URL.Path)
	})
}
