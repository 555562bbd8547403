// Package sudo simulates Sudo for the sandbox: it issues cards, and moves money to the cards'
// accounts. The wire format is described in docs/providers/sudo.md.
package sudo

import (
	"context"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	plug "github.com/kobo-waas/kobo/internal/provider/sudo"
)

// The simulated Sudo has its paths below /sudo. Its keys are not secret.
const (
	path          = "/sudo"
	apiKey        = "sudo-sandbox-key"
	webhookHeader = "sudo-sandbox-webhook"
	account       = "66a0000000000000000000d0" // the client's settlement account at Sudo
	business      = "66a0000000000000000000b1"
)

// nextCard is the name of the setting that stores the story (test scenario) for the next order of a
// card.
const nextCard = "next card"

// Issuer is the simulated Sudo. Its zero value can be passed to the sandbox server.
type Issuer struct {
	*books.Books
}

// Open creates the tables of customers, cards and transfers, and the client's account.
func (i *Issuer) Open(ctx context.Context, shared *books.Books) (books.Part, error) {
	i.Books = shared
	err := i.Create(ctx, customers.Definition(), cards.Definition(), transfers.Definition())
	if err == nil {
		err = i.OpenAccount(ctx, account)
	}
	return books.Part{
		Mount: i.mount, Requests: i.requests,
		Controls: map[string]books.Control{
			"POST /sandbox/next-card":    i.TellNext(nextCard),
			"POST /sandbox/card-notice":  books.Steer(i.notice),
			"POST /sandbox/card-manners": books.Steer(i.setManners),
		},
	}, err
}

// PlugConfig returns a configuration with which the Sudo plug calls this issuer. The caller sets
// the deadlines. The configuration declares the list of transfers as complete.
func (i *Issuer) PlugConfig(baseURL string) plug.Config {
	return plug.Config{
		ClientConfig: provider.ClientConfig{BaseURL: baseURL + path}, VaultURL: baseURL + path, APIKey: apiKey, DebitAccount: account,
		CompleteList: true, WebhookAuthorization: webhookHeader,
	}
}

// Settings returns the settings with which another program calls this issuer.
func (i *Issuer) Settings(baseURL string) (map[string]string, error) {
	return map[string]string{
		"base_url": baseURL + path, "vault_url": baseURL + path, "api_key": apiKey, "debit_account": account,
		"complete_list": "true", "webhook_authorization": webhookHeader,
	}, nil
}

func (i *Issuer) mount(outer *http.ServeMux) {
	mux := http.NewServeMux()
	for pattern, next := range map[string]http.HandlerFunc{
		"POST /customers":            books.Decoded(i.newCustomer, refuseBody),
		"POST /cards":                books.Decoded(i.newCard, refuseBody),
		"GET /cards":                 i.listCards,
		"GET /cards/{id}":            i.showCard,
		"PUT /cards/{id}":            books.Decoded(i.setStatus, refuseBody),
		"GET /cards/{id}/balance":    i.showBalance,
		"GET /cards/{id}/{part}":     byPart("customer", i.listCards, "token", i.newToken),
		"PUT /cards/{id}/send-pin":   i.sendPIN,
		"POST /accounts/transfer":    i.Payment(path+"/accounts/transfer", books.Decoded(i.transfer, refuseBody)),
		"GET /accounts/{id}/balance": i.showFloat,
		"GET /accounts/{id}/{part}":  byPart("transfers", i.showTransfer, "transactions", i.listTransfers),
	} {
		method, at, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+path+at, authenticated(next))
	}
	outer.Handle(path+"/", mux)
}

// byPart serves the paths list/{part} and {id}/name, because the router of net/http cannot
// distinguish such paths.
func byPart(list string, listed http.HandlerFunc, name string, named http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.PathValue("id") == list:
			listed(w, r)
		case r.PathValue("part") == name:
			named(w, r)
		default:
			books.Refuse(w, http.StatusNotFound, "Cannot GET "+r.URL.Path)
		}
	}
}

func authenticated(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+apiKey)) != 1 {
			books.Refuse(w, http.StatusUnauthorized, "Invalid token")
			return
		}
		next(w, r)
	}
}

func refuseBody(w http.ResponseWriter) { refuseField(w, "body", "must be an object") }

// refuseField sends the refusal for a field that breaks a rule. Its message is an array.
func refuseField(w http.ResponseWriter, property, rule string) {
	books.Write(w, http.StatusBadRequest, map[string]any{
		"statusCode": http.StatusBadRequest, "error": "Bad Request", "message": []any{map[string]any{
			"property": property, "constraints": map[string]string{"check": property + " " + rule},
		}},
	})
}
