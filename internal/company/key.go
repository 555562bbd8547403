package company

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// keyPrefix makes an API key recognisable where it should not be: in a log, in
// a repository.
const keyPrefix = "kobo_key_"

// Key is what is known of an API key once it has been handed over.
type Key struct {
	ID        string
	Company   string
	State     string // ACTIVE or REVOKED
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	hash      string
}

const (
	keyActive  = "ACTIVE"
	keyRevoked = "REVOKED"
)

func (s *Service) newKey(reference string, now, expiresAt time.Time) (Key, secret.Text) {
	text := keyPrefix + secret.Random()
	return Key{
		ID: id.New(), Company: reference, State: keyActive, CreatedAt: now, ExpiresAt: expiresAt,
		hash: s.keys.MAC("api-key", reference, text),
	}, secret.NewText(text)
}

// IssueKey gives a company one more API key, shown this once. Older keys stay
// valid. A zero expiresAt means that it does not expire.
func (s *Service) IssueKey(ctx context.Context, by Actor, reference string, expiresAt time.Time) (Key, secret.Text, error) {
	now := s.clock.Now()
	if !expiresAt.IsZero() && !expiresAt.After(now) {
		return Key{}, secret.Text{}, fault.New(fault.Invalid, `"expiresAt" must be in the future`)
	}
	key, text := s.newKey(reference, now, expiresAt)
	err := s.book.Commit(ctx, ledger.Unit{
		Company: reference,
		Claims:  []db.Record{key.record()},
		Notes:   []db.Record{by.Note(reference, "company.key.issue", key.ID, nil, now)},
	})
	if err != nil {
		return Key{}, secret.Text{}, explain(err)
	}
	return key, text, nil
}

// RevokeKey ends an API key, and with it the refresh token that was had for it.
// Access tokens run out by themselves. The revocation of the last key that works
// voids what the PIN has permitted (Credentials).
func (s *Service) RevokeKey(ctx context.Context, by Actor, reference, keyID string) error {
	for {
		keys, err := s.findKeys(ctx, reference)
		if err != nil {
			return err
		}
		u, err := s.revocation(by, reference, keyID, keys)
		if err != nil {
			return err
		}
		if err = s.book.Commit(ctx, u); ledger.Is(err, ledger.Moved) {
			continue // a key was revoked since they were read
		}
		return explain(err)
	}
}

// revocation is the unit that revokes a key, as long as the company's other keys
// are as they were read.
func (s *Service) revocation(by Actor, reference, keyID string, keys []Key) (ledger.Unit, error) {
	now := s.clock.Now()
	u := ledger.Unit{
		Company: reference, Tallies: []ledger.Tally{voided},
		Notes: []db.Record{by.Note(reference, "company.key.revoke", keyID, nil, now)},
	}
	found := false
	for _, k := range keys {
		to := keyActive
		switch {
		case k.ID == keyID && k.State == keyRevoked:
			return u, fault.New(fault.Refused, "API key is revoked already")
		case k.ID == keyID:
			found, to = true, keyRevoked
		case k.State == keyRevoked || k.expired(now):
			continue
		default:
			u.Tallies = nil // another key works
		}
		u.Moves = append(u.Moves, ledger.Move{Table: keyTable, Key: []any{reference, k.ID}, From: []string{keyActive}, To: to})
	}
	if !found {
		return u, fault.New(fault.Missing, "API key not found")
	}
	return u, nil
}

func (k Key) expired(now time.Time) bool { return !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt) }

// Keys are a company's API keys, the oldest first.
func (s *Service) Keys(ctx context.Context, reference string) ([]Key, error) {
	return s.findKeys(ctx, reference)
}

var (
	errWrongKey   = fault.New(fault.Unauthenticated, "Unauthorized: Invalid API key")
	errKeyExpired = fault.New(fault.Unauthenticated, "Bad Request: API KEY EXPIRED")
)

// proven finds the key that apiKey is. One hashed with an older master key is
// hashed anew on the way, so that the older one can be retired.
func (s *Service) proven(ctx context.Context, reference, apiKey string) (Key, error) {
	keys, err := s.findKeys(ctx, reference)
	if err != nil {
		return Key{}, err
	}
	for _, k := range keys {
		if !s.keys.Verify(k.hash, "api-key", reference, apiKey) {
			continue
		}
		switch {
		case k.State != keyActive:
			return Key{}, errWrongKey
		case k.expired(s.clock.Now()):
			return Key{}, errKeyExpired
		case s.keys.Stale(k.hash):
			return k, s.rehashKey(ctx, k, s.keys.MAC("api-key", reference, apiKey))
		}
		return k, nil
	}
	return Key{}, errWrongKey
}
