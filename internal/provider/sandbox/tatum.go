package sandbox

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider/tatum"
	"github.com/kobo-waas/kobo/internal/secret"
)

// The pretend Tatum knows one client and the test networks. Its chains are
// blocks that pass with the clock, and in them only what /sandbox/crypto-deposit
// and its like have put there.

const tatumKey = "t-0f0e0d0c0b0a09080706050403020100"

var tatumTables = []string{
	`CREATE TABLE IF NOT EXISTS sandbox_subscription (
		id         TEXT NOT NULL PRIMARY KEY,
		type       TEXT NOT NULL,
		chain      TEXT NOT NULL,
		address    TEXT NOT NULL,
		url        TEXT NOT NULL,
		created_at BIGINT NOT NULL,
		UNIQUE (type, chain, address, url)
	)`,
	`CREATE TABLE IF NOT EXISTS sandbox_chain_transaction (
		hash         TEXT   NOT NULL PRIMARY KEY,
		chain        TEXT   NOT NULL,
		block_number BIGINT NOT NULL,
		dropped      BIGINT NOT NULL,
		created_at   BIGINT NOT NULL
	)`,
	`CREATE TABLE IF NOT EXISTS sandbox_chain_notice (
		id              INTEGER NOT NULL PRIMARY KEY,
		subscription_id TEXT    NOT NULL,
		url             TEXT    NOT NULL,
		data            TEXT    NOT NULL,
		state           TEXT    NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
		attempts        BIGINT  NOT NULL,
		code            BIGINT  NOT NULL,
		next_at         BIGINT  NOT NULL,
		lease_until     BIGINT  NOT NULL,
		created_at      BIGINT  NOT NULL
	)`,
}

// Tatum is the configuration with which the Tatum plug is our client. The
// callback URL names no real place: SetTatumCallback says where it is now.
func (s *Sandbox) Tatum(baseURL string) tatum.Config {
	return tatum.Config{
		BaseURL: baseURL, APIKey: secret.NewText(tatumKey), HMACSecret: secret.NewText(string(s.secret)),
		CallbackURL: "http://kobo.invalid/callbacks/tatum", Networks: chain.Testnets(),
	}
}

// tatumAPI adds Tatum's paths.
func (s *Sandbox) tatumAPI(mux *http.ServeMux) {
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"POST /v4/subscription":               s.subscribe,
		"GET /v4/subscription":                s.subscriptions,
		"DELETE /v4/subscription/{id}":        s.unsubscribe,
		"PUT /v4/subscription":                s.signOn,
		"DELETE /v4/subscription":             s.signOff,
		"GET /v4/subscription/webhook":        s.sentNotices,
		"GET /v3/{chain}/address/{xpub}/{at}": s.chainAddress,
		"GET /v3/{chain}/transaction/{hash}":  s.chainTransaction,
		"GET /v3/{chain}/block/current":       s.chainHead,
		"GET /v3/{chain}/info":                s.chainInfo,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.tatumAnswer(w, r, do) })
	}
}

// no is a refusal in Tatum's words.
type no struct {
	status        int
	code, message string
}

func (r no) Error() string { return r.code }

func (s *Sandbox) tatumAnswer(w http.ResponseWriter, r *http.Request, do func(*http.Request) (any, error)) {
	r.Body = http.MaxBytesReader(w, r.Body, requestLimit)
	var body any
	err := error(no{http.StatusUnauthorized, "ip-address-key.unauthorized", "Unable to find valid subscription for the API key"})
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("X-Api-Key")), []byte(tatumKey)) == 1 {
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
		write(w, http.StatusOK, body)
		return
	}
	write(w, said.status, map[string]any{"statusCode": said.status, "errorCode": said.code, "message": said.message})
}

func invalid(message string) error {
	return no{http.StatusBadRequest, "validation.failed", message}
}

// subscribe makes a subscription: one for each type, chain, address and URL.
func (s *Sandbox) subscribe(r *http.Request) (any, error) {
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
	case !known:
		return nil, no{http.StatusForbidden, "subscription.attr.chain.invalid", "This chain is not offered"}
	case !valid || len(req.Attr.URL) == 0 || len(req.Attr.URL) > 500:
		return nil, invalid("attr.address or attr.url is not valid")
	}
	id := "66d0" + digest("subscription", strings.Join([]string{req.Type, n.ID, address, req.Attr.URL}, " "))[:20]
	made, err := s.books.Exec(r.Context(), `
		INSERT INTO sandbox_subscription (id, type, chain, address, url, created_at) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
		id, req.Type, n.ID, address, req.Attr.URL, clock.Micros(s.clock.Now()))
	if err == nil && made == 0 {
		err = no{http.StatusForbidden, "subscription.already.exists", "The subscription is there already"}
	}
	return map[string]string{"id": id}, err
}

type subscription struct{ id, kind, chain, address, url string }

func (s subscription) body() any {
	return map[string]any{"id": s.id, "type": s.kind, "attr": map[string]string{"chain": s.chain, "address": s.address, "url": s.url}}
}

func scanSubscription(r db.Scanner) (v subscription, err error) {
	return v, r.Scan(&v.id, &v.kind, &v.chain, &v.address, &v.url)
}

func (s *Sandbox) subscriptions(r *http.Request) (any, error) {
	size, offset, err := tatumPage(r)
	if err != nil {
		return nil, err
	}
	list, err := db.All(r.Context(), s.books, func(row db.Scanner) (any, error) {
		v, err := scanSubscription(row)
		return v.body(), err
	}, `SELECT id, type, chain, address, url FROM sandbox_subscription WHERE lower(address) = lower($1) OR $1 = ''
		ORDER BY created_at, id LIMIT $2 OFFSET $3`, r.URL.Query().Get("address"), size, offset)
	if list == nil {
		list = []any{}
	}
	return list, err
}

// tatumPage reads the page that a list is asked for: the size must be given.
func tatumPage(r *http.Request) (size, offset int, err error) {
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

func (s *Sandbox) unsubscribe(r *http.Request) (any, error) {
	n, err := s.books.Exec(r.Context(), `DELETE FROM sandbox_subscription WHERE id = $1`, r.PathValue("id"))
	if err == nil && n == 0 {
		err = no{http.StatusNotFound, "subscription.not.found", "There is no such subscription"}
	}
	return nil, err
}

// signOn turns the signatures on for the whole account.
func (s *Sandbox) signOn(r *http.Request) (any, error) {
	var req struct {
		Secret string `json:"hmacSecret"`
	}
	if json.NewDecoder(r.Body).Decode(&req) != nil || req.Secret == "" || len(req.Secret) > 100 {
		return nil, invalid("hmacSecret must have 1 to 100 characters")
	}
	return nil, s.set(r.Context(), "tatum_hmac", req.Secret)
}

// signOff turns them off: the call that an empty id would make by accident.
func (s *Sandbox) signOff(r *http.Request) (any, error) {
	return nil, s.set(r.Context(), "tatum_hmac", "")
}
