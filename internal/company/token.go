package company

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/maypok86/otter/v2"

	"github.com/kobo-waas/kobo/internal/clock"
)

// These are the lifetimes of tokens. The contract sets fifteen minutes for the access token,
// and sets nothing for the refresh token. With thirty days, a company that calls the API at
// least once a month needs its API key only once.
const (
	AccessLife  = 15 * time.Minute
	RefreshLife = 30 * 24 * time.Hour
)

// use is the purpose of a token, and part of the signed claims. A refresh token cannot
// authenticate a request, and an access token cannot be exchanged for a new token.
type use string

const (
	access  use = "access"
	refresh use = "refresh"
)

type claims struct {
	jwt.RegisteredClaims
	Use use `json:"use"`
	// Key is the ID of the API key from which the token comes.
	Key string `json:"key,omitempty"`
}

// issue returns a token for the company, signed with the current key. The header contains the
// id of that key.
func (s *Service) issue(u use, reference, tokenID, keyID string, life time.Duration) (string, error) {
	now := s.clock.Now()
	t := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Subject: reference, ID: tokenID,
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(life)),
		},
		Use: u, Key: keyID,
	})
	keyID, key := s.signer.Current()
	t.Header["kid"] = keyID
	signed, err := t.SignedString(key)
	if err != nil {
		return "", fmt.Errorf("company: %w", err)
	}
	return signed, nil
}

// read verifies a token for one use, and returns its claims. A token must be signed with HS256 and
// a key of the keyring, and must have an expiry.
func (s *Service) read(u use, token string) (c claims, err error) {
	_, err = jwt.ParseWithClaims(token, &c, s.verifyingKey,
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithExpirationRequired(), jwt.WithStrictDecoding(), jwt.WithTimeFunc(s.clock.Now))
	switch {
	case err != nil:
		return c, err
	case c.Use != u:
		return c, fmt.Errorf("company: a token for %q instead of %q", c.Use, u)
	case c.Subject == "":
		return c, fmt.Errorf("company: a token without a company")
	}
	return c, nil
}

// verified is an access token that the service has verified.
type verified struct {
	reference string
	keyID     string // the API key from which the token comes
	expires   time.Time
}

// newVerified returns a cache of verified access tokens by their SHA-256 hashes. A token that fails
// never enters the cache, so strangers cannot fill it.
func newVerified(clk clock.Clock) *otter.Cache[[sha256.Size]byte, verified] {
	return otter.Must(&otter.Options[[sha256.Size]byte, verified]{
		MaximumSize:      100_000,
		ExpiryCalculator: otter.ExpiryWriting[[sha256.Size]byte, verified](AccessLife),
		Clock:            ticking{clk},
	})
}

// holder returns the company of an access token. The token itself decides nothing but its company,
// its API key and its expiry. A key is removed only when all access tokens of that key have expired. So a token
// needs one verification of its signature, and a check of its expiry on each use.
func (s *Service) holder(token string) (verified, error) {
	hash := sha256.Sum256([]byte(token))
	if v, found := s.verified.GetIfPresent(hash); found && s.clock.Now().Before(v.expires) {
		return v, nil
	}
	c, err := s.read(access, token)
	if err != nil {
		return verified{}, err
	}
	v := verified{c.Subject, c.Key, c.ExpiresAt.Time}
	s.verified.Set(hash, v)
	return v, nil
}

func (s *Service) verifyingKey(t *jwt.Token) (any, error) {
	keyID, _ := t.Header["kid"].(string)
	key, ok := s.signer.Find(keyID)
	if !ok {
		return nil, fmt.Errorf("company: no key %q", keyID)
	}
	return key, nil
}
