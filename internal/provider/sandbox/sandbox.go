// Package sandbox is a pretend provider: a server that speaks Safe Haven's wire
// format, keeps its own books of what it sold, whose account is whose and what
// was paid in and out, and can be told to go wrong.
//
// The number that is bought for, or paid to, decides what happens (story.go). The books are
// a file of their own, so that what the provider did survives a crash of ours
// and can be compared with what we believe it did. Nothing in Kobo knows that
// it talks to a sandbox: it is reached over HTTP, as the real one is.
package sandbox

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider/safehaven"
)

// What the pretend Safe Haven knows of its one client. They are no secrets:
// the key is made for each set of books.
const (
	clientID     = "0f0e0d0c0b0a09080706050403020100"
	ibsClientID  = "64aa00000000000000000001"
	issuer       = "https://kobo.invalid"
	audience     = "https://safehaven.sandbox.invalid"
	debitAccount = "0100000001"
	bankCode     = "999240" // the pretend bank's own
)

// Config says where the books are and how the pretend provider behaves.
type Config struct {
	Path  string         // the file of the books; it is made if there is none
	Clock *clock.Movable // moved by the control endpoints; nil makes one
	// Hold is how long an answer that gets lost is held before the connection
	// is dropped; longer than the deadline of whoever waits. Zero means 30 s.
	Hold time.Duration
	// Callback is where transfers are told of that have no callback URL of their
	// own; SetCallback sets it later. It must be on this machine.
	Callback string
	// TokenLife is how long an access token is good. Zero means an hour.
	TokenLife time.Duration
	Log       *slog.Logger // nil: says nothing
}

// Sandbox is the pretend provider with its books open.
type Sandbox struct {
	books     *db.DB
	clock     *clock.Movable
	hold      time.Duration
	tokenLife time.Duration
	key       *rsa.PrivateKey // the client's; we only use its public half
	secret    []byte          // signs the access tokens

	refusals, losses atomic.Uint64 // which manner is next
	release          sync.Once
	released         chan struct{}

	callback atomic.Pointer[string]
	// Where the pretend Tatum's notifications go.
	tatumCallback atomic.Pointer[string]
	postman       *http.Client
	wake          chan struct{} // the sender looks
	posted        chan struct{} // the sender has stopped
	stop          context.CancelFunc
	log           *slog.Logger

	moving    sync.Mutex // one move of the clock at a time
	onAdvance func(ctx context.Context, offset time.Duration) error
}

// Open opens the books, makes them if there are none, and sets the clock to
// where it was left.
func Open(ctx context.Context, cfg Config) (*Sandbox, error) {
	if cfg.Clock == nil {
		cfg.Clock = new(clock.Movable)
	}
	if cfg.Hold <= 0 {
		cfg.Hold = 30 * time.Second
	}
	if cfg.TokenLife <= 0 {
		cfg.TokenLife = time.Hour
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	books, err := db.Open(ctx, "sqlite:"+cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	s := &Sandbox{
		books: books, clock: cfg.Clock, hold: cfg.Hold, tokenLife: cfg.TokenLife,
		released: make(chan struct{}), postman: postman(), wake: make(chan struct{}, 1), posted: make(chan struct{}), log: cfg.Log,
	}
	if err := errors.Join(s.SetCallback(cfg.Callback), s.prepare(ctx)); err != nil {
		books.Close()
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	go s.post(running)
	return s, nil
}

func (s *Sandbox) prepare(ctx context.Context) error {
	if err := s.createTables(ctx); err != nil {
		return err
	}
	secret, err := s.remembered(ctx, "token_secret", func() (string, error) {
		var b [32]byte
		_, err := rand.Read(b[:])
		return hex.EncodeToString(b[:]), err
	})
	if err != nil {
		return err
	}
	key, err := s.remembered(ctx, "client_key", newKey)
	if err != nil {
		return err
	}
	if s.key, err = jwt.ParseRSAPrivateKeyFromPEM([]byte(key)); err != nil {
		return errors.New("the key in the books cannot be read")
	}
	s.secret = []byte(secret)
	return s.Follow(ctx)
}

// Follow moves the clock to where the books say it is: where it was left, or
// where another program on the same books has moved it.
func (s *Sandbox) Follow(ctx context.Context) error {
	offset, err := s.setting(ctx, "clock_offset")
	if err != nil || offset == "" {
		return err
	}
	n, err := strconv.ParseInt(offset, 10, 64)
	if err != nil {
		return errors.New("the clock's offset in the books cannot be read")
	}
	if to := time.Duration(n) * time.Microsecond; to > s.clock.Offset() {
		s.clock.MoveTo(to)
		s.nudge()
	}
	return nil
}

// remembered is a setting, made when it is first asked for; of two programs on
// the same books one makes it and both use it.
func (s *Sandbox) remembered(ctx context.Context, name string, newValue func() (string, error)) (string, error) {
	value, err := s.setting(ctx, name)
	if err != nil || value != "" {
		return value, err
	}
	if value, err = newValue(); err != nil {
		return "", err
	}
	if err := s.setFirst(ctx, name, value); err != nil {
		return "", err
	}
	return s.setting(ctx, name)
}

func newKey() (string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})), nil
}

// Release lets go of the answers that are held, and of those that would be, so
// that a server need not wait for them when it shuts down.
func (s *Sandbox) Release() { s.release.Do(func() { close(s.released) }) }

// Close releases what is held, stops telling and closes the books. Stop serving
// first.
func (s *Sandbox) Close() {
	s.Release()
	s.stop()
	<-s.posted
	s.postman.CloseIdleConnections()
	s.books.Close()
}

// OnAdvance sets what is to be done after the clock was moved and before the
// control endpoint answers. Set it before serving.
func (s *Sandbox) OnAdvance(fn func(ctx context.Context, offset time.Duration) error) {
	s.moving.Lock()
	defer s.moving.Unlock()
	s.onAdvance = fn
}

// SafeHaven is the configuration with which the Safe Haven plug is our client.
// The deadlines are for the caller to set.
func (s *Sandbox) SafeHaven(baseURL string) safehaven.Config {
	return safehaven.Config{
		BaseURL:  baseURL,
		ClientID: clientID,
		PrivateKeyPEM: string(pem.EncodeToMemory(&pem.Block{
			Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(s.key),
		})),
		Issuer:       issuer,
		Audience:     audience,
		DebitAccount: debitAccount,
		BankCode:     bankCode,
	}
}

// Handler is the whole pretend provider: Safe Haven's paths and the control
// endpoints. Serve it on this machine's loopback address only.
func (s *Sandbox) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/sandbox/", s.Control())
	mux.Handle("/vtpass/", s.vtpass())
	mux.Handle("/sudo/", s.sudo())
	mux.HandleFunc("POST /oauth2/token", s.token)
	mux.Handle("GET /vas/services", s.known(s.services))
	mux.Handle("GET /vas/service/{id}/service-categories", s.known(s.categories))
	mux.Handle("GET /vas/service-category/{id}/products", s.known(s.products))
	mux.Handle("POST /vas/verify", s.known(s.verify))
	mux.Handle("POST /vas/pay/{kind}", s.known(s.orLate(s.pay)))
	mux.Handle("GET /vas/transaction/{reference}", s.known(s.transaction))
	mux.Handle("POST /identity/v2", s.known(s.initiate))
	mux.Handle("POST /identity/v2/validate", s.known(s.validate))
	mux.Handle("POST /accounts/v2/subaccount", s.known(s.openAccount))
	mux.Handle("GET /accounts", s.known(s.listAccounts))
	mux.Handle("GET /accounts/{id}", s.known(s.showAccount))
	mux.Handle("GET /accounts/{id}/statement", s.known(s.statement))
	mux.Handle("POST /virtual-accounts", s.known(s.openVirtual))
	mux.Handle("GET /virtual-accounts/{id}", s.known(s.showVirtual))
	mux.Handle("POST /virtual-accounts/status", s.known(s.virtualStatus))
	mux.Handle("GET /transfers/banks", s.known(s.banks))
	mux.Handle("POST /transfers/name-enquiry", s.known(s.nameEnquiry))
	mux.Handle("POST /transfers", s.known(s.orLate(s.transfer)))
	mux.Handle("POST /transfers/status", s.known(s.transferStatus))
	mux.Handle("GET /transfers", s.known(s.listTransfers))
	s.tatumAPI(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "Cannot "+r.Method+" "+r.URL.Path)
	})
	return mux
}
