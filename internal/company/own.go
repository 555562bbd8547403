package company

import (
	"context"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
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
	KeyID   string // the API key from which the access token comes; "" for a person
	Person  string // the name of the person who acts through a page; "" for a program
	PIN     secret.Text
}

// IssuedKey is a new API key with its text. Kobo never shows the text again.
type IssuedKey struct {
	Key
	Text secret.Text
}

// IssueOwnKey issues a further API key to the company that asks for it. The name is the company's own,
// and may be empty. If expiresAt is zero, the key does not expire. The response for an
// Idempotency-Key is in the same commit. If the company requires two people, the result is an approval that
// waits. The fault is Refused for a wrong or locked PIN and for too
// many keys, Forbidden if the key of the access token does not work, and Invalid for a past expiry.
func (s *Service) IssueOwnKey(ctx context.Context, by Access, name string, expiresAt time.Time, key *idempotency.Key) (OwnKey, error) {
	now := s.clock.Now()
	if err := inFuture(expiresAt, now); err != nil {
		return OwnKey{}, err
	}
	k, text := s.newKey(by.Company, now, expiresAt)
	k.Name = name
	issued := IssuedKey{k, text}
	var out OwnKey
	err := s.ownByPIN(ctx, by, func(u *ledger.Unit, all []Key) error {
		waits, err := s.needsSecond(ctx, u)
		switch {
		case err != nil:
			return err
		case waits:
			a, err := s.ask(ctx, u, by, ApproveIssue, Act{Name: name, ExpiresAt: expiresAt})
			if err != nil {
				return err
			}
			out = OwnKey{Waits: &a}
		default:
			if err := s.issueOwn(ctx, u, by, all, &issued); err != nil {
				return err
			}
			out = OwnKey{IssuedKey: issued}
		}
		key.Answer(u, out, nil)
		return nil
	})
	if err != nil {
		return OwnKey{}, err
	}
	return out, nil
}

// RevokeOwnKey revokes an API key of the company that asks for it, like RevokeKey. The last working
// key stays. If the company requires two people, the result is an approval that waits. The fault is Missing
// for an unknown key, and Refused for a revoked key, for the last working key, and for a wrong or locked PIN.
func (s *Service) RevokeOwnKey(ctx context.Context, by Access, keyID string) (waits *Approval, err error) {
	err = s.ownByPIN(ctx, by, func(u *ledger.Unit, all []Key) error {
		second, err := s.needsSecond(ctx, u)
		if err != nil {
			return err
		}
		if !second {
			waits = nil
			return s.revokeOwn(ctx, u, by, all, keyID)
		}
		trial := ledger.For(by.Company)
		last, err := s.revoke(&trial, keyID, all)
		if err == nil && last {
			err = errLastKey
		}
		if err != nil {
			return err
		}
		a, err := s.ask(ctx, u, by, ApproveRevoke, Act{KeyID: keyID})
		waits = &a
		return err
	})
	return waits, err
}

// needsSecond reports whether the company requires two people. The unit is refused if this has changed when
// it is committed.
func (s *Service) needsSecond(ctx context.Context, u *ledger.Unit) (bool, error) {
	r, err := s.twoPeople(ctx, u.Company)
	if err == nil && r.State != "" {
		u.Expect(rules.Record(r), r.State)
	}
	return r.State == ruleOn, err
}

// own commits an act on the company's keys that a second person has approved. It needs no PIN.
func (s *Service) own(ctx context.Context, by Access, act func(u *ledger.Unit, all []Key) error) error {
	return s.repeated(ctx, by, func(issued int64, all []Key) (refusal, err error) {
		u := ledger.For(by.Company)
		if err := act(&u, all); err != nil {
			return err, nil
		}
		u.Count(ownKeys, 1, issued+1)
		return nil, s.book.Commit(ctx, u)
	})
}

// ownByPIN commits an act of the company on its keys, with a right PIN. A wrong PIN counts as a wrong try.
// If the function act returns an error, ownByPIN commits only the right try.
func (s *Service) ownByPIN(ctx context.Context, by Access, act func(u *ledger.Unit, all []Key) error) error {
	return s.repeated(ctx, by, func(issued int64, all []Key) (refusal, err error) {
		err = s.try(ctx, by.Company, by.PIN.Reveal(), func(p pin) ledger.Unit {
			u := s.tried(p, by.PIN.Reveal())
			draft := u
			if refusal = act(&draft, all); refusal != nil {
				return u
			}
			draft.Count(ownKeys, 1, issued+1)
			return draft
		})
		return refusal, err
	})
}

// repeated runs an act on the company's keys. If another request has meanwhile issued or revoked a key of the
// company, or changed its rule, repeated begins again.
func (s *Service) repeated(ctx context.Context, by Access, act func(issued int64, all []Key) (refusal, err error)) error {
	for {
		issued, err := s.book.Last(ctx, by.Company, ownKeys)
		if err != nil {
			return err
		}
		all, err := s.Keys(ctx, by.Company)
		if err != nil {
			return err
		}
		works := slices.ContainsFunc(all, func(k Key) bool { return k.ID == by.KeyID && k.works(s.clock.Now()) })
		if by.Person == "" && !works {
			return errBadAccess
		}
		refusal, err := act(issued, all)
		switch {
		case ledger.Is(err, ledger.Moved, keys.Table, rules.Table, companies.Table):
		case ledger.IsOver(err, ownKeys):
		case ledger.Is(err, ledger.Over):
			return errNewKeys
		case err != nil:
			return explain(err)
		default:
			return refusal
		}
	}
}
