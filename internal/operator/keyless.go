package operator

import (
	"context"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
)

// Working returns the rows of the operators who may act now, the oldest first. It finds each operator once.
func (s *Service) Working(ctx context.Context) ([]Key, error) { return s.working(ctx) }

// Change runs do and appends a line of no company to the audit log, in one transaction. If do changes no
// row, Change returns the refusal. Details must contain no secret. An act of a proposal is done at most once.
func (s *Service) Change(ctx context.Context, by Operator, action, subject string, details map[string]string, refusal error, do func(q db.Querier) (int64, error)) error {
	return s.change(ctx, by, by.Note("", action, subject, details, s.clock.Now()), refusal, do)
}

// Approved reports whether the operator carries out an act that a second operator has approved.
func (o Operator) Approved() bool { return o.act != nil }

// CheckInvite returns an error if nobody of this name can be invited with this role.
func (s *Service) CheckInvite(ctx context.Context, name string, role Role) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := role.Check(); err != nil {
		return err
	}
	_, err := s.invited(ctx, s.db, name, role)
	return err
}

// Invited returns the row of an operator who is invited to sign in as a person, in the caller's transaction.
// A new operator gets a row without a key: no key ever matches the row. An operator who exists keeps the
// role, which must be the given one.
func (s *Service) Invited(ctx context.Context, q db.Querier, by Operator, name string, role Role) (Key, error) {
	found, err := s.invited(ctx, q, name, role)
	if found.ID != "" || err != nil {
		return found, err
	}
	k := Key{ID: id.New(), Name: name, State: active, CreatedAt: s.clock.Now(), Role: role}
	if s.KeyLife > 0 {
		k.ExpiresAt = k.CreatedAt.Add(s.KeyLife)
	}
	n, err := s.insertKey(ctx, q, k)
	if err == nil && n == 0 {
		err = errHasKey(name)
	}
	if err != nil {
		return Key{}, err
	}
	line := by.Note("", "operator.key.issue", name, map[string]string{"keyId": k.ID, "role": string(role), "expiresAt": k.expiry(), "key": "none"}, k.CreatedAt)
	return k, s.insertLine(ctx, q, line)
}

// invited returns the row of the operator of this name, or an empty row if there is none.
func (s *Service) invited(ctx context.Context, q db.Querier, name string, role Role) (Key, error) {
	keys, err := keysIn(ctx, q)
	at := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name && k.State == active })
	if err != nil || at < 0 {
		return Key{}, err
	}
	sound, err := s.sound(ctx, q, []Key{keys[at]})
	switch k := keys[at]; {
	case err != nil:
		return Key{}, err
	case len(sound) == 0:
		return Key{}, fault.Newf(fault.Refused, "The row of %s in the database is not as Kobo wrote it: remove %s first", name, name)
	case !k.works(s.clock.Now()):
		return Key{}, fault.Newf(fault.Refused, "The access of %s has expired: remove %s first", name, name)
	case k.Role != role:
		return Key{}, fault.Newf(fault.Refused, "%s has the role %s: invite with this role, or change the role first", name, k.Role)
	default:
		return k, nil
	}
}

// SignedLines returns the signed lines of the audit log about a subject since an instant, in the
// order of their numbers. The company is "" for lines of no company.
func (s *Service) SignedLines(ctx context.Context, company, subject string, since time.Time) ([]Line, error) {
	return s.signed(ctx, company, subject, since)
}
