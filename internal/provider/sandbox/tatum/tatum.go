// Package tatum simulates Tatum for the sandbox: it watches addresses and reports the movements on
// them. The wire format is described in docs/providers/tatum.md.
//
// The simulated Tatum has one client and only test networks. New blocks arrive as the clock moves.
// They contain only the transactions that controls such as /sandbox/crypto-deposit create. Like the
// real Tatum, it offers test networks only to requests that ask for them, and it reads keys on Tron
// in hexadecimal form.
package tatum

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	plug "github.com/kobo-waas/kobo/internal/provider/tatum"
	"github.com/kobo-waas/kobo/internal/secret"
)

const (
	sender = "tatum" // the sender's name in the notices
	apiKey = "t-0f0e0d0c0b0a09080706050403020100"
	// hmacSetting is the name of the setting that stores the secret for signatures. If the secret
	// is "", notifications are not signed.
	hmacSetting = "tatum_hmac"
)

// CallbackBase is the beginning of the callback URL in all subscriptions. It is a placeholder:
// SetCallback sets the real address.
const CallbackBase = "http://kobo.invalid"

// Custodian is the simulated Tatum. Its zero value can be passed to the sandbox server.
type Custodian struct {
	*books.Books
	notices *books.Outbox
}

// Open creates the tables of subscriptions and transactions, and the outbox of notifications.
func (c *Custodian) Open(ctx context.Context, shared *books.Books) (books.Part, error) {
	c.Books = shared
	c.notices = &books.Outbox{Books: shared, Sender: sender, Redirect: true, Sign: c.sign}
	return books.Part{
		Mount: c.mount, Outbox: c.notices,
		Controls: map[string]books.Control{
			"POST /sandbox/crypto-deposit":    books.Steer(c.deposit),
			"POST /sandbox/crypto-withdrawal": books.Steer(c.withdraw),
			"POST /sandbox/crypto-drop":       books.Steer(c.dropTransaction),
			"POST /sandbox/crypto-manners":    books.Steer(c.setManners),
		},
	}, c.Create(ctx, subscriptions.Definition(), transactions.Definition())
}

// PlugConfig returns a configuration with which the Tatum plug calls this custodian.
func (c *Custodian) PlugConfig(baseURL string) plug.Config {
	return plug.Config{
		ClientConfig: provider.ClientConfig{BaseURL: baseURL}, APIKey: secret.NewText(apiKey), HMACSecret: secret.NewText(string(c.Secret)),
		CallbackURL: CallbackBase + "/callbacks/tatum", Networks: chain.Testnets(),
	}
}

// Settings returns the settings with which another program calls this custodian.
func (c *Custodian) Settings(baseURL string) (map[string]string, error) {
	return map[string]string{"base_url": baseURL, "api_key": apiKey, "hmac_secret": string(c.Secret)}, nil
}

// SetCallback sets the address of all notifications. Subscriptions cannot store this address,
// because they outlive a program whose port changes at each start.
func (c *Custodian) SetCallback(callback string) error { return c.notices.SetCallback(callback) }

func (c *Custodian) mount(mux *http.ServeMux) {
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"POST /v4/subscription":               c.subscribe,
		"GET /v4/subscription":                c.listSubscriptions,
		"DELETE /v4/subscription/{id}":        c.unsubscribe,
		"PUT /v4/subscription":                c.turnSignaturesOn,
		"DELETE /v4/subscription":             c.turnSignaturesOff,
		"GET /v4/subscription/webhook":        c.listNotices,
		"GET /v3/{chain}/address/{xpub}/{at}": c.showAddress,
		"GET /v3/{chain}/transaction/{hash}":  c.showTransaction,
		"GET /v3/{chain}/block/current":       c.showHead,
		"GET /v3/{chain}/info":                c.showInfo,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { answer(w, r, do) })
	}
}

// no is the error for a refusal, with Tatum's error code and message.
type no struct {
	status        int
	code, message string
}

func (n no) Error() string { return n.code }

func answer(w http.ResponseWriter, r *http.Request, do func(*http.Request) (any, error)) {
	r.Body = http.MaxBytesReader(w, r.Body, books.RequestLimit)
	var body any
	err := error(no{http.StatusUnauthorized, "ip-address-key.unauthorized", "Unable to find valid subscription for the API key"})
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("X-Api-Key")), []byte(apiKey)) == 1 {
		body, err = do(r)
	}
	var said no
	switch {
	case errors.As(err, &said):
	case err != nil:
		said = no{http.StatusInternalServerError, "internal", "Internal server error"}
	case body == nil:
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		books.Write(w, http.StatusOK, body)
		return
	}
	books.Write(w, said.status, map[string]any{"statusCode": said.status, "errorCode": said.code, "message": said.message})
}

func invalid(message string) error {
	return no{http.StatusBadRequest, "validation.failed", message}
}

// subscribe creates a subscription. Only one subscription is allowed per type, chain, address and
// URL.
func (c *Custodian) subscribe(r *http.Request) (any, error) {
	var req struct {
		Type string `json:"type"`
		Attr struct {
			Chain, Address, URL string
		} `json:"attr"`
	}
	if json.NewDecoder(r.Body).Decode(&req) != nil {
		return nil, invalid("The body cannot be read")
	}
	n, known := testnet(req.Attr.Chain)
	address, valid := n.Canonical(req.Attr.Address)
	switch {
	case req.Type != "ADDRESS_EVENT":
		return nil, no{http.StatusForbidden, "subscription.type.invalid", "This type of subscription is not offered"}
	case !known || !isTestnet(r):
		return nil, no{http.StatusForbidden, "subscription.attr.chain.invalid", "This chain is not offered"}
	case !valid || len(req.Attr.URL) == 0 || len(req.Attr.URL) > 500:
		return nil, invalid("attr.address or attr.url is not valid")
	}
	id := "66d0" + books.Digest("subscription", strings.Join([]string{req.Type, n.ID, address, req.Attr.URL}, " "))[:20]
	added, err := subscriptions.Add(r.Context(), c, subscription{id, req.Type, n.ID, address, req.Attr.URL, c.Now()})
	if err == nil && !added {
		err = no{http.StatusForbidden, "subscription.already.exists", "The subscription is there already"}
	}
	return map[string]string{"id": id}, err
}

func (c *Custodian) listSubscriptions(r *http.Request) (any, error) {
	size, offset, err := readPage(r)
	if err != nil {
		return nil, err
	}
	if !isTestnet(r) {
		return []any{}, nil
	}
	list, err := subscriptions.All(r.Context(), c, "lower(address) = lower($1) OR $1 = '' ORDER BY created_at, id LIMIT $2 OFFSET $3",
		r.URL.Query().Get("address"), size, offset)
	rows := make([]any, 0, len(list))
	for _, v := range list {
		rows = append(rows, map[string]any{
			"id": v.id, "type": v.kind, "attr": map[string]string{"chain": v.chain, "address": v.address, "url": v.url},
		})
	}
	return rows, err
}

// readPage reads the page of a request for a list. The parameter pageSize is required.
func readPage(r *http.Request) (size, offset int, err error) {
	q := r.URL.Query()
	size, wrong := strconv.Atoi(q.Get("pageSize"))
	if wrong != nil || size < 1 || size > 50 {
		return 0, 0, invalid("pageSize must be 1 to 50")
	}
	if text := q.Get("offset"); text != "" {
		if offset, wrong = strconv.Atoi(text); wrong != nil || offset < 0 {
			return 0, 0, invalid("offset must be a number")
		}
	}
	return size, offset, nil
}

func (c *Custodian) unsubscribe(r *http.Request) (any, error) {
	n, err := c.end(r.Context(), r.PathValue("id"))
	if err == nil && n == 0 {
		err = no{http.StatusNotFound, "subscription.not.found", "There is no such subscription"}
	}
	return nil, err
}

// turnSignaturesOn turns the signatures on for the whole account.
func (c *Custodian) turnSignaturesOn(r *http.Request) (any, error) {
	var req struct {
		Secret string `json:"hmacSecret"`
	}
	if json.NewDecoder(r.Body).Decode(&req) != nil || req.Secret == "" || len(req.Secret) > 100 {
		return nil, invalid("hmacSecret must have 1 to 100 characters")
	}
	return nil, c.Set(r.Context(), hmacSetting, req.Secret)
}

// turnSignaturesOff handles the DELETE without an id. A client that unsubscribes with an empty id
// makes this call by accident.
func (c *Custodian) turnSignaturesOff(r *http.Request) (any, error) {
	return nil, c.Set(r.Context(), hmacSetting, "")
}

// sign adds the signature of the body's raw bytes to the header, if signatures are turned on.
func (c *Custodian) sign(ctx context.Context, header http.Header, body string) error {
	hmac, err := c.Setting(ctx, hmacSetting)
	if hmac != "" {
		header.Set(plug.HashHeader, plug.Sign(hmac, []byte(body)))
	}
	return err
}

// listNotices lists the notifications that Tatum has sent.
func (c *Custodian) listNotices(r *http.Request) (any, error) {
	size, offset, err := readPage(r)
	if err != nil {
		return nil, err
	}
	if !isTestnet(r) {
		return []any{}, nil
	}
	q := r.URL.Query()
	list, err := c.notices.Sent(r.Context(), q.Get("failed") == "true", q.Get("direction") != "asc", size, offset)
	rows := make([]any, 0, len(list))
	for _, n := range list {
		rows = append(rows, map[string]any{
			"type": "ADDRESS_EVENT", "id": books.Digest("notice", strconv.FormatInt(n.ID, 10))[:24], "subscriptionId": n.About, "url": n.URL,
			"data": json.RawMessage(n.Body), "timestamp": n.At / 1000, "retryCount": n.Attempts, "failed": n.GivenUp(),
			"response": map[string]any{"code": n.Status, "networkError": n.Status == 0},
		})
	}
	return rows, err
}
