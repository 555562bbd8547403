// Package vtpass simulates VTpass for the sandbox: it sells airtime, data, TV and power, and takes
// the price from a wallet. The wire format is described in docs/providers/vtpass.md.
package vtpass

import (
	"context"
	"crypto/subtle"
	"net/http"

	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	plug "github.com/kobo-waas/kobo/internal/provider/vtpass"
)

// The simulated VTpass has its paths below /vtpass/api. Its keys are not secret.
const (
	path      = "/vtpass/api"
	apiKey    = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
	publicKey = "PK_0a1b2c3d4e5f6071"
	secretKey = "SK_f9e8d7c6b5a49382"
	wallet    = "vtpass" // the name of the client's account
	contact   = "08000000000"
	// sellingOff is the setting that switches purchases off.
	sellingOff = "vtpass_off"
)

// Biller is the simulated VTpass. Its zero value can be passed to the sandbox server.
type Biller struct {
	*books.Books
	callbacks *books.Outbox
}

// Open creates the table of sales and the client's wallet.
func (b *Biller) Open(ctx context.Context, shared *books.Books) (books.Part, error) {
	b.Books = shared
	b.callbacks = &books.Outbox{Books: shared, Sender: wallet}
	err := b.Create(ctx, sales.Definition())
	if err == nil {
		err = b.OpenAccount(ctx, wallet)
	}
	return books.Part{Mount: b.mount, Requests: b.requests, Outbox: b.callbacks, Controls: map[string]books.Control{
		"POST /sandbox/vtpass-manners": books.Steer(b.setManners),
		"POST /sandbox/vtpass-reverse": books.Steer(b.reverseByHand),
		"POST /sandbox/vtpass-off":     b.SwitchOff(sellingOff),
	}}, err
}

// SetCallback sets the address of callbacks. At the real VTpass, this address is a setting on the
// dashboard.
func (b *Biller) SetCallback(callback string) error { return b.callbacks.SetCallback(callback) }

// PlugConfig returns a configuration with which the VTpass plug calls this biller. The caller sets
// the deadlines.
func (b *Biller) PlugConfig(baseURL string) plug.Config {
	return plug.Config{
		ClientConfig: provider.ClientConfig{BaseURL: baseURL + path}, APIKey: apiKey, PublicKey: publicKey, SecretKey: secretKey,
		Phone: contact,
	}
}

// Settings returns the settings with which another program calls this biller.
func (b *Biller) Settings(baseURL string) (map[string]string, error) {
	return map[string]string{
		"base_url": baseURL + path, "api_key": apiKey, "public_key": publicKey, "secret_key": secretKey, "phone": contact,
	}, nil
}

func (b *Biller) mount(outer *http.ServeMux) {
	mux := http.NewServeMux()
	reading := func(h http.HandlerFunc) http.HandlerFunc { return authenticated("public-key", publicKey, h) }
	writing := func(h http.HandlerFunc) http.HandlerFunc { return authenticated("secret-key", secretKey, h) }
	mux.HandleFunc("GET "+path+"/service-categories", reading(listServices))
	mux.HandleFunc("GET "+path+"/services", reading(listCategories))
	mux.HandleFunc("GET "+path+"/service-variations", reading(listVariations))
	mux.HandleFunc("POST "+path+"/merchant-verify", writing(books.Decoded(verify, refuseArguments)))
	mux.HandleFunc("POST "+path+"/pay", writing(b.Payment(path+"/pay", books.Decoded(b.pay, refuseArguments))))
	mux.HandleFunc("POST "+path+"/requery", writing(books.Decoded(b.requery, refuseArguments)))
	mux.HandleFunc("GET "+path+"/balance", reading(b.showBalance))
	outer.Handle("/vtpass/", mux)
}

// authenticated refuses a request without the API key, or without the second key that its HTTP
// method requires.
func authenticated(header, value string, next http.HandlerFunc) http.HandlerFunc {
	same := func(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
	return func(w http.ResponseWriter, r *http.Request) {
		if !same(r.Header.Get("api-key"), apiKey) || !same(r.Header.Get(header), value) {
			answer(w, http.StatusUnauthorized, "087", "INVALID CREDENTIALS", map[string]any{"errors": "Invalid credentials"})
			return
		}
		next(w, r)
	}
}

// answer sends a response in the envelope of all calls except lists.
func answer(w http.ResponseWriter, status int, code, description string, content any) {
	books.Write(w, status, map[string]any{"code": code, "response_description": description, "content": content})
}

// answerList sends a response in the envelope of lists.
func answerList(w http.ResponseWriter, content any) {
	books.Write(w, http.StatusOK, map[string]any{"response_description": "000", "content": content})
}

func refuse(w http.ResponseWriter, code, description string) {
	answer(w, http.StatusOK, code, description, map[string]any{"errors": description})
}

func refuseArguments(w http.ResponseWriter) { refuse(w, "011", "INVALID ARGUMENTS") }

func fail(w http.ResponseWriter) {
	books.Write(w, http.StatusInternalServerError, map[string]any{"message": "Server Error"})
}
