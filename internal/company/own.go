package company

import (
	"context"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/secret"
)

// A company issues and revokes its own API keys with its PIN. So a thief of only an API key can do
// neither.
//
// The access token must come from a key that works. Otherwise a thief could use the last minutes of an
// access token to replace the key that the company has just revoked.
//
// A thief of a key and of the PIN can revoke all other keys. An operator then revokes the thief's key,
// resets the PIN and issues a new key. None of the limits below binds operators, so the thief cannot
// use up what the operator needs.

const (
	// mostKeys is the number of working keys with which a company issues no further key.
	mostKeys = 20
	// mostNewKeys is the number of keys that a company issues on one day in Lagos. The exchange of a
	// key compares the key with all keys that the company has ever had, so their number must stay
	// small.
	mostNewKeys = 20
)

// ownKeys is the name of the counter of the keys that the company has issued itself. newKeys is the
// beginning of the names of the counters of each day.
const (
	ownKeys = "company/own-keys"
	newKeys = "company/new-keys/"
)

var (
	errLastKey  = fault.New(fault.Refused, "This is the last working API key. Issue another one first.").With(fault.LastAPIKey)
	errMostKeys = fault.Newf(fault.Refused, "At most %d API keys can work. Revoke one first.", mostKeys).With(fault.QuotaReached)
	errNewKeys  = fault.Newf(fault.Refused, "At most %d API keys can be issued on a day", mostNewKeys).With(fault.QuotaReached)
)

// Access is what a company presents to issue or revoke an API key.
type Access struct {
	Company string
	KeyID   string // the API key from which the access token comes
	PIN     secret.Text
}

// IssuedKey is a new API key with its text. Kobo never shows the text again.
type IssuedKey struct {
	Key
	Text secret.Text
}

// IssueOwnKey issues a further API key to the company that asks for it. The name is the company's own,
// and may be empty. If expiresAt is zero, the key does not expire. The response for an
// Idempotency-Key is in the same commit. The fault is Refused for a wrong or locked PIN and for too
// many keys, Forbidden if the key of the access token does not work, and Invalid for a past expiry.
func (s *Service) IssueOwnKey(ctx context.Context, by Access, name string, expiresAt time.Time, key *idempotency.Key) (IssuedKey, error) {
	now := s.clock.Now()
	if err := inFuture(expiresAt, now); err != nil {
		return IssuedKey{}, err
	}
	k, text := s.newKey(by.Company, now, expiresAt)
	k.Name = name
	out := IssuedKey{k, text}
	err := s.own(ctx, by, func(u *ledger.Unit, all []Key) error {
		working := slices.DeleteFunc(slices.Clone(all), func(k Key) bool { return !k.works(now) })
		if len(working) >= mostKeys {
			return errMostKeys
		}
		out.Others = len(working)
		for _, k := range all {
			if k.ID == by.KeyID {
				u.Expect(keys.Record(k), keyActive) // a revocation names all working keys in any case
			}
		}
		insertKey(u, out.Key, byCompany, peer.Of(ctx))
		u.Count(newKeys+now.In(clock.Lagos).Format(time.DateOnly), 1, mostNewKeys)
		s.self(ctx, by.Company).Audit(u, "company.key.issue", k.ID, nil, now)
		key.Answer(u, out, nil)
		return nil
	})
	if err != nil {
		return IssuedKey{}, err
	}
	return out, nil
}

// RevokeOwnKey revokes an API key of the company that asks for it, like RevokeKey. The last working
// key stays. The fault is Missing for an unknown key, and Refused for a revoked key, for the last
// working key, and for a wrong or locked PIN.
func (s *Service) RevokeOwnKey(ctx context.Context, by Access, keyID string) error {
	return s.own(ctx, by, func(u *ledger.Unit, all []Key) error {
		last, err := s.revoke(u, keyID, all)
		switch {
		case err != nil:
			return err
		case last:
			return errLastKey
		}
		now := s.clock.Now()
		event.Emit(u, event.APIKeyRevoked, revokedData{u.Company, keyID, byCompany, peer.Of(ctx)})
		s.self(ctx, by.Company).Audit(u, "company.key.revoke", keyID, nil, now)
		return nil
	})
}

// own commits an act of the company on its keys, with a right PIN. A wrong PIN counts as a wrong try.
// If the function act returns an error, own commits only the right try. If another request has
// meanwhile issued or revoked a key of the company, own begins again.
func (s *Service) own(ctx context.Context, by Access, act func(u *ledger.Unit, all []Key) error) error {
	for {
		issued, err := s.book.Last(ctx, by.Company, ownKeys)
		if err != nil {
			return err
		}
		all, err := s.Keys(ctx, by.Company)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(all, func(k Key) bool { return k.ID == by.KeyID && k.works(s.clock.Now()) })
		if at < 0 {
			return errBadAccess
		}
		var refusal error
		err = s.try(ctx, by.Company, by.PIN.Reveal(), func(p pin) ledger.Unit {
			u := s.tried(p, by.PIN.Reveal())
			draft := u
			if refusal = act(&draft, all); refusal != nil {
				return u
			}
			draft.Count(ownKeys, 1, issued+1)
			return draft
		})
		r := ledger.Refused(err)
		switch {
		case ledger.Is(err, ledger.Moved, keys.Table):
		case r != nil && r.Reason == ledger.Over && r.Count.Name == ownKeys:
		case r != nil && r.Reason == ledger.Over:
			return errNewKeys
		case err != nil:
			return explain(err)
		default:
			return refusal
		}
	}
}
