package operator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Key describes an operator's key. Kobo stores a hash of the key, and not the key.
type Key struct {
	ID        string    `db:"id,key"`
	Name      string    `db:"name"`
	hash      string    `db:"hash"`  // "" for a revoked key
	State     string    `db:"state"` // ACTIVE or REVOKED
	CreatedAt time.Time `db:"created_at"`
	Role      Role      `db:"role"`
	ExpiresAt time.Time `db:"expires_at"` // zero means never
	UsedAt    time.Time `db:"used_at"`    // the last use, up to an hour early; zero means never
	mac       string    // the MAC of the row, or "" if an earlier program wrote the row
}

const (
	active  = "ACTIVE"
	revoked = "REVOKED"
)

func (k Key) works(now time.Time) bool {
	return k.State == active && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt))
}

// keyPrefix makes an operator's key easy to find in a log or a repository, where a key must
// never be.
const keyPrefix = "kobo_admin_"

var (
	names   = regexp.MustCompile(`^[a-z0-9][a-z0-9._@-]{1,63}$`)
	digests = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// NewKey makes a key and its digest. The person who will use the key keeps it, and gives only the
// digest to the operators who add this person. So nobody else ever sees the key.
func NewKey() (key secret.Text, digest string) {
	text := keyPrefix + secret.Random()
	return secret.NewText(text), digestOf(text)
}

func digestOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// hashOf returns the stored hash of a key. The row's id and name are parts of the hash, so a copy of
// the hash in a row of another person does not work.
func (s *Service) hashOf(k Key, digest string) string {
	return s.keys.MAC("operator-key", k.ID, k.Name, digest)
}

// IssueKey makes a key for an admin of this name, and adds the admin. Kobo never shows the key
// again.
func (s *Service) IssueKey(ctx context.Context, by Operator, name string) (Key, secret.Text, error) {
	text, digest := NewKey()
	k, err := s.Add(ctx, by, name, Admin, digest)
	if err != nil {
		return Key{}, secret.Text{}, err
	}
	return k, text, nil
}

// Add adds an operator with a role and the key that has this digest (NewKey). A person has at most
// one working key, and gets a new key only after the revocation of the old one.
func (s *Service) Add(ctx context.Context, by Operator, name string, role Role, digest string) (Key, error) {
	if err := s.CheckAdd(ctx, name, role, digest); err != nil {
		return Key{}, err
	}
	k := Key{ID: id.New(), Name: name, State: active, CreatedAt: s.clock.Now(), Role: role}
	if s.KeyLife > 0 {
		k.ExpiresAt = k.CreatedAt.Add(s.KeyLife)
	}
	k.hash = s.hashOf(k, digest)
	line := by.Note("", "operator.key.issue", name, map[string]string{"keyId": k.ID, "role": string(role), "expiresAt": k.expiry()}, k.CreatedAt)
	err := s.change(ctx, by, line, errHasKey(name), func(q db.Querier) (int64, error) {
		return s.insertKey(ctx, q, k)
	})
	if err != nil {
		return Key{}, err
	}
	return k, nil
}

// CheckAdd returns an error if no operator with this name, role and digest can be added.
func (s *Service) CheckAdd(ctx context.Context, name string, role Role, digest string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if !digests.MatchString(digest) {
		return fault.New(fault.Invalid, `"keyDigest" must be the 64 characters that kobo operator key prints`)
	}
	if err := role.Check(); err != nil {
		return err
	}
	return s.isFree(ctx, name, digest)
}

func checkName(name string) error {
	if !names.MatchString(name) {
		return fault.New(fault.Invalid, `"name" must be 2 to 64 characters of a-z, 0-9, and . _ @ -`)
	}
	return nil
}

func errHasKey(name string) error {
	return fault.Newf(fault.Refused, "%s has a working key already", name)
}

// expiry returns the expiry of a key for the audit log.
func (k Key) expiry() string {
	if k.ExpiresAt.IsZero() {
		return "never"
	}
	return clock.Text(k.ExpiresAt)
}

// isFree returns a refusal if the name has a working key, or another operator has the key of this digest.
// With one key for two operators, Authenticate would refuse both.
func (s *Service) isFree(ctx context.Context, name, digest string) error {
	keys, err := s.Keys(ctx)
	for _, k := range keys {
		if k.Name == name && k.State == active {
			return errHasKey(name)
		}
		if k.Name != name && s.keys.Verify(k.hash, "operator-key", k.ID, k.Name, digest) {
			return fault.New(fault.Refused, "Another operator has the key of this digest: make a new key with kobo operator key")
		}
	}
	return err
}

// SetRole gives an operator another role. The last admin stays one, since then nobody could add another one over HTTP
// (a fault of the kind Refused).
func (s *Service) SetRole(ctx context.Context, by Operator, name string, role Role) (Key, error) {
	if err := role.Check(); err != nil {
		return Key{}, err
	}
	line := by.Note("", "operator.role", name, map[string]string{"role": string(role)}, s.clock.Now())
	err := s.change(ctx, by, line, errNoKey(name), func(q db.Querier) (int64, error) {
		if role != Admin {
			if err := s.keepAdmin(ctx, q, name); err != nil {
				return 0, err
			}
		}
		return s.changeKey(ctx, q, name, func(k *Key) { k.Role = role })
	})
	if err != nil {
		return Key{}, err
	}
	return s.find(ctx, name)
}

// RevokeKey revokes the working key of the person of this name. The proposals of this person that
// wait for a second operator end.
func (s *Service) RevokeKey(ctx context.Context, by Operator, name string) error {
	return s.revoke(ctx, by, name, func(db.Querier) error { return nil })
}

// Remove is RevokeKey for another operator. Nobody removes themselves, and the last admin stays, since then nobody
// could add another one over HTTP. Both faults are of the kind Refused.
func (s *Service) Remove(ctx context.Context, by Operator, name string) error {
	if name == by.Name {
		return errThemselves
	}
	return s.revoke(ctx, by, name, func(q db.Querier) error { return s.keepAdmin(ctx, q, name) })
}

var (
	errThemselves = fault.New(fault.Refused, "Nobody removes themselves: ask another admin")
	errLastAdmin  = fault.New(fault.Refused, "The last admin stays")
)

// keepAdmin returns a refusal if the operator of a name is the only admin who may act. Two admins whom others remove
// or demote at the same time wait for each other, because keepAdmin locks the admins' rows before it reads them.
func (s *Service) keepAdmin(ctx context.Context, q db.Querier, name string) error {
	if err := lockAdmins(ctx, q); err != nil {
		return err
	}
	keys, err := s.workingIn(ctx, q)
	admins := slices.DeleteFunc(keys, func(k Key) bool { return k.Role != Admin })
	if err == nil && len(admins) == 1 && admins[0].Name == name {
		err = errLastAdmin
	}
	return err
}

func (s *Service) revoke(ctx context.Context, by Operator, name string, may func(q db.Querier) error) error {
	now := s.clock.Now()
	line := by.Note("", "operator.key.revoke", name, nil, now)
	return s.change(ctx, by, line, errNoKey(name), func(q db.Querier) (int64, error) {
		if err := may(q); err != nil {
			return 0, err
		}
		// Without its hash, a change of the state alone does not make the key work again.
		n, err := s.changeKey(ctx, q, name, func(k *Key) { k.State, k.hash = revoked, "" })
		if n > 0 && err == nil {
			err = endProposalsOf(ctx, q, name, "The key of "+name+" was revoked", now)
		}
		return n, err
	})
}

func errNoKey(name string) error { return fault.Newf(fault.Missing, "%s has no working key", name) }

var (
	errWrongKey   = fault.New(fault.Unauthenticated, "Invalid admin key")
	errKeyExpired = fault.New(fault.Unauthenticated, "Admin key expired")
)

// Authenticate returns the operator of a key. It compares every working key in constant time,
// so the response time reveals nothing about the keys.
func (s *Service) Authenticate(ctx context.Context, key string) (Operator, error) {
	keys, err := s.Keys(ctx)
	if err == nil {
		keys, err = s.sound(ctx, s.db, keys)
	}
	if err != nil {
		return Operator{}, err
	}
	digest, bound, old := digestOf(key), []Key{}, []Key{}
	for _, k := range keys {
		if k.State == active && s.keys.Verify(k.hash, "operator-key", k.ID, k.Name, digest) {
			bound = append(bound, k)
		}
		// Before roles, the hash did not contain the row's id and name.
		if k.State == active && s.keys.Verify(k.hash, "admin-key", key) {
			old = append(old, k)
		}
	}
	if len(bound) == 0 {
		bound = old
	}
	if len(bound) != 1 { // with more than one, somebody has copied a row
		return Operator{}, errWrongKey
	}
	k, now := bound[0], s.clock.Now()
	if !k.works(now) {
		return Operator{}, errKeyExpired
	}
	isStale := len(old) > 0 || s.keys.Stale(k.hash)
	if isStale || now.Sub(k.UsedAt) >= time.Hour {
		// Operators must be able to read while the database cannot write. Then the last use stays the
		// earlier one, and the next use tries to store it again.
		if err := s.renewKey(ctx, k, s.hashOf(k, digest), now); err != nil && isStale {
			return Operator{}, err
		}
	}
	return Operator{Name: k.Name, Role: k.Role}, nil
}

// Find returns the operator of this name. It returns a fault of kind Missing if this person has no
// working key.
func (s *Service) Find(ctx context.Context, name string) (Operator, error) {
	k, err := s.find(ctx, name)
	return Operator{Name: k.Name, Role: k.Role}, err
}

func (s *Service) find(ctx context.Context, name string) (Key, error) {
	keys, err := s.working(ctx)
	at := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
	if err == nil && at < 0 {
		err = errNoKey(name)
	}
	if err != nil {
		return Key{}, err
	}
	return keys[at], nil
}

// Admins returns the number of operators with the role admin and a working key.
func (s *Service) Admins(ctx context.Context) (int, error) {
	keys, err := s.working(ctx)
	return len(slices.DeleteFunc(keys, func(k Key) bool { return k.Role != Admin })), err
}

func (s *Service) working(ctx context.Context) ([]Key, error) { return s.workingIn(ctx, s.db) }

func (s *Service) workingIn(ctx context.Context, q db.Querier) ([]Key, error) {
	keys, err := keysIn(ctx, q)
	if err != nil {
		return nil, err
	}
	now := s.clock.Now()
	return s.sound(ctx, q, slices.DeleteFunc(keys, func(k Key) bool { return !k.works(now) }))
}

// IsOperator reports whether a name belongs to an operator with the role least, who has had this name since
// the instant at. Such a name belongs to the owner of a working key, or to a user who runs commands on the
// machine itself.
func (s *Service) IsOperator(ctx context.Context, name string, least Role, at time.Time) (bool, error) {
	if strings.HasPrefix(name, locally) {
		return true, nil
	}
	err := s.Proposer(ctx, name, least, at)
	if fault.Is(err, fault.Missing) || fault.Is(err, fault.Forbidden) {
		return false, nil
	}
	return err == nil, err
}
