package safehaven

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/sync/singleflight"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
)

const (
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	assertionLife = 5 * time.Minute
	// fallbackLife is the lifetime of a token whose reply has no expires_in. A token is replaced
	// when less than margin is left of its lifetime.
	fallbackLife = 2400 * time.Second
	margin       = 60 * time.Second
)

// signer returns the function that makes client assertions (RFC 7523 §3). That function signs a new
// assertion in each call, or returns the configured assertion.
func signer(cfg Config, clk clock.Clock) (func() (string, error), error) {
	if cfg.Assertion != "" {
		if cfg.PrivateKeyPEM != "" {
			return nil, errors.New("set the private key or the assertion, not both")
		}
		return func() (string, error) { return cfg.Assertion, nil }, nil
	}
	key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(cfg.PrivateKeyPEM))
	if err != nil {
		return nil, errors.New("the private key is not an RSA key in PEM form")
	}
	if cfg.Issuer == "" {
		return nil, errors.New("the issuer is missing")
	}
	audience := cmp.Or(cfg.Audience, strings.TrimRight(cfg.BaseURL, "/"))
	return func() (string, error) {
		now := clk.Now()
		return jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{
			"iss": cfg.Issuer,
			"sub": cfg.ClientID,
			"aud": audience,
			"iat": now.Unix(),
			"exp": now.Add(assertionLife).Unix(),
		}).SignedString(key)
	}, nil
}

// session is an access token and its client id. Safe Haven refuses the token without the client id.
type session struct {
	access, client string
	until          time.Time
}

// sessions stores the current session. Concurrent calls that need a new session share one token
// request.
type sessions struct {
	client   *provider.Client
	clientID string
	sign     func() (string, error)
	clock    clock.Clock

	flight singleflight.Group
	mu     sync.Mutex
	now    session
}

// current returns a valid session. If it gets no session, it returns a Reply with the trouble
// CodeNotSent, because the caller cannot send its request.
func (s *sessions) current(ctx context.Context) (session, *provider.Reply) {
	if kept, ok := s.kept(); ok {
		return kept, nil
	}
	// All waiting callers share the token request, so a cancelled caller must not cancel it.
	ch := s.flight.DoChan("token", func() (any, error) {
		if kept, ok := s.kept(); ok {
			return kept, nil
		}
		return s.fetch(context.WithoutCancel(ctx))
	})
	var err error
	select {
	case <-ctx.Done():
		err = ctx.Err()
	case r := <-ch:
		if r.Err == nil {
			return r.Val.(session), nil
		}
		err = r.Err
	}
	return session{}, &provider.Reply{Trouble: provider.CodeNotSent, Cause: err}
}

func (s *sessions) kept() (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.now.access != "" && s.clock.Now().Before(s.now.until)
}

// drop removes a refused session, unless a newer session has already replaced it.
func (s *sessions) drop(refused session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == refused {
		s.now = session{}
	}
}

type tokenRequest struct {
	GrantType     string `json:"grant_type"`
	ClientID      string `json:"client_id"`
	Assertion     string `json:"client_assertion"`
	AssertionType string `json:"client_assertion_type"`
}

type tokenAnswer struct {
	AccessToken string `json:"access_token"`
	ClientID    string `json:"ibs_client_id"`
	ExpiresIn   text   `json:"expires_in"`
	Error       text   `json:"error"`
	Description text   `json:"error_description"`
}

func (s *sessions) fetch(ctx context.Context) (session, error) {
	assertion, err := s.sign()
	if err != nil {
		return session{}, err
	}
	asked := s.clock.Now()
	reply := s.client.Read(ctx, provider.Call{Method: http.MethodPost, Path: "/oauth2/token", Body: tokenRequest{
		GrantType: "client_credentials", ClientID: s.clientID, Assertion: assertion, AssertionType: assertionType,
	}})
	if reply.Trouble != "" {
		return session{}, reply.Error("Safe Haven")
	}
	var a tokenAnswer
	err = json.Unmarshal(reply.Body, &a)
	if reply.Status != http.StatusOK || err != nil || a.AccessToken == "" || a.ClientID == "" {
		code, why := cmp.Or(string(a.Error), strconv.Itoa(reply.Status)), "no access token was given"
		if a.Description != "" {
			why += ": " + provider.Message(string(a.Description)) // "the assertion has expired" tells operators what to repair
		}
		return session{}, &provider.Error{Provider: "Safe Haven", Code: code, Message: why}
	}
	life := fallbackLife
	if n, err := strconv.Atoi(string(a.ExpiresIn)); err == nil && n > 0 {
		life = time.Duration(n) * time.Second
	}
	fresh := session{access: a.AccessToken, client: a.ClientID, until: asked.Add(life - margin)}
	s.mu.Lock()
	s.now = fresh
	s.mu.Unlock()
	return fresh, nil
}
