package safehaven

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// tokenLife is the lifetime of an access token.
const tokenLife = time.Hour

type tokenRequest struct {
	GrantType     string `json:"grant_type"`
	ClientID      string `json:"client_id"`
	Assertion     string `json:"client_assertion"`
	AssertionType string `json:"client_assertion_type"`
}

// token handles POST /oauth2/token, whose body is JSON or a form. As RFC 7523 §3 requires, it
// checks the signature, the algorithm, the audience and the expiry of the assertion.
func (b *Bank) token(w http.ResponseWriter, r *http.Request) {
	req, err := readTokenRequest(w, r)
	switch {
	case err != nil:
		oauthError(w, http.StatusBadRequest, "invalid_request", "the request cannot be read")
		return
	case req.GrantType != "client_credentials":
		oauthError(w, http.StatusBadRequest, "unsupported_grant_type", "only client_credentials is known here")
		return
	case req.AssertionType != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer":
		oauthError(w, http.StatusBadRequest, "invalid_client", "client_assertion_type is not the JWT bearer type")
		return
	case req.ClientID != clientID:
		oauthError(w, http.StatusUnauthorized, "invalid_client", "no such client")
		return
	}
	_, err = jwt.Parse(req.Assertion, func(*jwt.Token) (any, error) { return &b.key.PublicKey, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithTimeFunc(b.Clock.Now), jwt.WithExpirationRequired(),
		jwt.WithIssuer(issuer), jwt.WithSubject(clientID), jwt.WithAudience(audience))
	if err != nil {
		oauthError(w, http.StatusUnauthorized, "invalid_client", "the client assertion is not valid")
		return
	}
	now := b.Clock.Now()
	access, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"sub": clientID, "iat": now.Unix(), "exp": now.Add(tokenLife).Unix(),
	}).SignedString(b.Secret)
	if err != nil {
		books.Fail(w)
		return
	}
	books.Write(w, http.StatusOK, map[string]any{
		"access_token":  access,
		"client_id":     clientID,
		"token_type":    "Bearer",
		"expires_in":    int64(tokenLife / time.Second),
		"ibs_client_id": ibsClientID,
		"ibs_user_id":   "64aa00000000000000000002",
	})
}

func oauthError(w http.ResponseWriter, status int, code, description string) {
	books.Write(w, status, map[string]string{"error": code, "error_description": description})
}

func readTokenRequest(w http.ResponseWriter, r *http.Request) (tokenRequest, error) {
	r.Body = http.MaxBytesReader(w, r.Body, books.RequestLimit)
	var req tokenRequest
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return req, json.NewDecoder(r.Body).Decode(&req)
	}
	if err := r.ParseForm(); err != nil {
		return req, errors.New("not a form")
	}
	return tokenRequest{
		GrantType:     r.PostForm.Get("grant_type"),
		ClientID:      r.PostForm.Get("client_id"),
		Assertion:     r.PostForm.Get("client_assertion"),
		AssertionType: r.PostForm.Get("client_assertion_type"),
	}, nil
}

// authenticated refuses a request without a valid bearer token (401). It also refuses a request
// without the client id that was issued with the token (403).
func (b *Bank) authenticated(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if ok {
			_, err := jwt.Parse(bearer, func(*jwt.Token) (any, error) { return b.Secret, nil },
				jwt.WithValidMethods([]string{"HS256"}), jwt.WithTimeFunc(b.Clock.Now),
				jwt.WithExpirationRequired(), jwt.WithSubject(clientID))
			ok = err == nil
		}
		switch {
		case !ok:
			books.Refuse(w, http.StatusUnauthorized, "The access token is missing, wrong or expired")
		case r.Header.Get("ClientID") != ibsClientID:
			books.Refuse(w, http.StatusForbidden, "ClientID is not the one that was issued")
		default:
			next(w, r)
		}
	})
}
