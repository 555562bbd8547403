package company

import (
	"context"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/deployment"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// prefix returns the first characters of new API keys. They make a key easy to find in a log or a
// repository, where a key must never be. Earlier releases began all keys with kobo_key_.
func (s *Service) prefix() string {
	if s.Environment == deployment.Live {
		return "kobo_live_"
	}
	return "kobo_test_"
}

// Key describes an API key. Kobo stores a hash of the key, and not the key.
type Key struct {
	Company   string    `db:"company_id,key"`
	ID        string    `db:"id,key"`
	hash      string    `db:"hash,changes"`
	State     string    `db:"state,state"` // ACTIVE or REVOKED
	CreatedAt time.Time `db:"created_at"`
	ExpiresAt time.Time `db:"expires_at"` // zero means never
	Name      string    `db:"name"`       // the company's own name for the key; "" for none
	Ending    string    `db:"ending"`     // the last four characters of the key; "" for a key of an early release
	Others    int       // of a new key: the number of the company's other working keys
}

const (
	keyActive  = "ACTIVE"
	keyRevoked = "REVOKED"
)

func (s *Service) newKey(reference string, now, expiresAt time.Time) (Key, secret.Text) {
	text := s.prefix() + secret.Random()
	return Key{
		ID: id.New(), Company: reference, State: keyActive, CreatedAt: now, ExpiresAt: expiresAt,
		hash: s.keys.MAC("api-key", reference, text), Ending: text[len(text)-4:],
	}, secret.NewText(text)
}

// insertKey makes a unit insert an API key and report the key to the company. The address is that of the
// company's own request, or "" for an act of an operator.
func insertKey(u *ledger.Unit, k Key, by author, address string) {
	u.Insert(keys.Record(k))
	event.Emit(u, event.APIKeyIssued, issuedData{u.Company, k.ID, k.Name, clock.Optional(k.ExpiresAt), by, k.Others, address})
}

// Working returns a company's API keys that work now, the oldest first.
func (s *Service) Working(ctx context.Context, reference string) ([]Key, error) {
	all, err := s.Keys(ctx, reference)
	now := s.clock.Now()
	return slices.DeleteFunc(all, func(k Key) bool { return !k.works(now) }), err
}

// issuedData and revokedData are the data of the events that report an API key. They do not contain
// the key.
type (
	issuedData struct {
		CompanyID string  `json:"companyId"`
		ID        string  `json:"id"`
		Name      string  `json:"name,omitempty"`
		ExpiresAt *string `json:"expiresAt"`
		By        author  `json:"by"`
		OtherKeys int     `json:"otherKeys"`
		Address   string  `json:"sourceAddress,omitempty"` // of the company's own request
	}
	revokedData struct {
		CompanyID string `json:"companyId"`
		ID        string `json:"id"`
		By        author `json:"by"`
		Address   string `json:"sourceAddress,omitempty"` // of the company's own request
	}
)

// CheckExpiry returns an error if an API key cannot have this expiry. A zero expiry means never.
func (s *Service) CheckExpiry(expiresAt time.Time) error { return inFuture(expiresAt, s.clock.Now()) }

// inFuture returns an error if an expiry is in the past, or if its year has no form in JSON (RFC 3339). A zero expiry
// means never.
func inFuture(expiresAt, now time.Time) error {
	switch {
	case expiresAt.IsZero():
	case !expiresAt.After(now):
		return fault.New(fault.Invalid, `"expiresAt" must be in the future`)
	case expiresAt.UTC().Year() > 9999:
		return fault.New(fault.Invalid, `"expiresAt" must be before the year 10000`)
	}
	return nil
}

// IssueKey issues an additional API key to a company. Kobo never shows the key again. Older keys
// stay valid. If expiresAt is zero, the key does not expire.
func (s *Service) IssueKey(ctx context.Context, by Actor, reference string, expiresAt time.Time) (Key, secret.Text, error) {
	now := s.clock.Now()
	if err := inFuture(expiresAt, now); err != nil {
		return Key{}, secret.Text{}, err
	}
	others, err := s.Working(ctx, reference)
	if err != nil {
		return Key{}, secret.Text{}, err
	}
	key, text := s.newKey(reference, now, expiresAt)
	key.Others = len(others)
	u := ledger.For(reference)
	insertKey(&u, key, byOperator, "")
	by.Audit(&u, "company.key.issue", key.ID, nil, now)
	if err := s.book.Commit(ctx, u); err != nil {
		return Key{}, secret.Text{}, explain(err)
	}
	return key, text, nil
}

// RevokeKey revokes an API key and the tokens of that key. Every program refuses its access tokens within
// a second (Follow). If no working key is left, all accounts that were verified for payouts must be
// verified again (see Credentials).
func (s *Service) RevokeKey(ctx context.Context, by Actor, reference, keyID string) error {
	for {
		all, err := s.Keys(ctx, reference)
		if err != nil {
			return err
		}
		u := ledger.For(reference)
		last, err := s.revoke(&u, keyID, all)
		if err != nil {
			return err
		}
		if err := s.touch(ctx, &u); err != nil {
			return err
		}
		if last {
			voidCredentials(&u)
		}
		event.Emit(&u, event.APIKeyRevoked, revokedData{reference, keyID, byOperator, ""})
		by.Audit(&u, "company.key.revoke", keyID, nil, s.clock.Now())
		if err = s.book.Commit(ctx, u); ledger.Is(err, ledger.Moved) {
			continue // another request has just revoked one of these keys or moved the KYB, so try again
		}
		return explain(err)
	}
}

// CheckRevocation returns an error if the company has no working API key with this ID.
func (s *Service) CheckRevocation(ctx context.Context, reference, keyID string) error {
	all, err := s.Keys(ctx, reference)
	if err == nil {
		u := ledger.For(reference)
		_, err = s.revoke(&u, keyID, all)
	}
	return err
}

// revoke makes a unit revoke a key. The ledger refuses the unit if a different request has meanwhile
// revoked a working key of the company. The result last is true if no working key is left.
func (s *Service) revoke(u *ledger.Unit, keyID string, all []Key) (last bool, err error) {
	now := s.clock.Now()
	found, last := false, true
	for _, k := range all {
		switch {
		case k.ID == keyID && k.State == keyRevoked:
			return false, fault.New(fault.Refused, "API key is revoked already").With(fault.APIKeyInvalid)
		case k.ID == keyID:
			found, k.State = true, keyRevoked
		case !k.works(now):
			continue
		default:
			last = false
		}
		u.Transition(keys.Record(k), keyActive).Only()
	}
	if !found {
		return false, fault.New(fault.Missing, "API key not found")
	}
	return last, nil
}

// Status returns ACTIVE, EXPIRED or REVOKED.
func (k Key) Status(now time.Time) string {
	if k.State == keyActive && k.expired(now) {
		return "EXPIRED"
	}
	return k.State
}

// works reports whether the key gives tokens now.
func (k Key) works(now time.Time) bool { return k.State == keyActive && !k.expired(now) }

func (k Key) expired(now time.Time) bool { return !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt) }

var (
	errWrongKey   = fault.New(fault.Unauthenticated, "Unauthorized: Invalid API key").With(fault.APIKeyInvalid)
	errKeyExpired = fault.New(fault.Unauthenticated, "Bad Request: API KEY EXPIRED").With(fault.APIKeyExpired)
)

// proven returns the company's key whose text is apiKey. If the stored hash was made with an older
// master key, proven replaces the hash. So operators can remove the older master key later.
func (s *Service) proven(ctx context.Context, reference, apiKey string) (Key, error) {
	all, err := s.Keys(ctx, reference)
	if err != nil {
		return Key{}, err
	}
	for _, k := range all {
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

// rehashKey replaces the hash of a key with a newer hash of the same key, unless another request has
// replaced the hash or revoked the key meanwhile.
func (s *Service) rehashKey(ctx context.Context, k Key, hash string) error {
	seen, u := k.hash, ledger.For(k.Company)
	k.hash = hash
	u.Transition(keys.Record(k), keyActive).Expect("hash", seen)
	return ledger.Except(s.book.Commit(ctx, u), ledger.Moved)
}
