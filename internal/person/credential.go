package person

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Kind is a kind of credential.
type Kind string

// These are the kinds. A person signs in by a passkey, or by a password and a code together.
const (
	Passkey  Kind = "PASSKEY"
	Password Kind = "PASSWORD"
	Code     Kind = "CODE" // the secret of an app that makes one-time codes (TOTP)
)

// Credential is what a person proves with who they are.
type Credential struct {
	Company   string    `db:"company,key"`
	ID        string    `db:"id,key"`
	PersonID  string    `db:"person_id"`
	Kind      Kind      `db:"kind"`
	Label     string    `db:"label"` // what the person calls a passkey
	State     string    `db:"state"`
	CreatedAt time.Time `db:"created_at"`
	secret    string    `db:"secret"`  // sealed, and bound to the row
	step      int64     `db:"step"`    // the last used code, or the beginning of the last sign-in by the passkey
	UsedAt    time.Time `db:"used_at"` // zero means never
	mac       string
}

// SealedAs is the column to which the sealed secrets are bound.
const SealedAs = "person_credential.secret"

func (c Credential) place() secret.Place {
	return secret.Place{Company: c.Company, Column: SealedAs, Row: c.ID}
}

// Credentials returns the working credentials of a person, the oldest first.
func (s *Service) Credentials(ctx context.Context, p Person) ([]Credential, error) {
	all, err := s.credentialsOf(ctx, s.DB, p)
	out := all[:0]
	for _, c := range all {
		if c.State == active && s.isSigned(credentials.Table, c.row(), c.mac) {
			out = append(out, c)
		}
	}
	return out, err
}

// Access is what a person has to sign in with.
type Access struct {
	// SignsIn is true if the person has a passkey or a password, or an open session. Otherwise the person waits for a
	// link, or has lost the only way in.
	SignsIn bool
	// UsedAt is the latest use of these, and zero for never. A removed passkey or password is forgotten.
	UsedAt time.Time
}

// Access returns what a person has to sign in with.
func (s *Service) Access(ctx context.Context, p Person) (Access, error) {
	return s.accessIn(ctx, s.DB, p)
}

func (s *Service) accessIn(ctx context.Context, q db.Querier, p Person) (out Access, err error) {
	held, err := s.credentialsOf(ctx, q, p)
	if err != nil {
		return out, err
	}
	opened, err := sessionsOf(ctx, q, p)
	if err != nil {
		return out, err
	}
	used := func(at time.Time) {
		if at.After(out.UsedAt) {
			out.UsedAt = at
		}
	}
	for _, c := range held {
		if c.State == active && s.isSigned(credentials.Table, c.row(), c.mac) {
			out.SignsIn = true
			used(c.UsedAt)
		}
	}
	now := s.Machine.Now()
	for _, x := range opened {
		out.SignsIn = out.SignsIn || x.role == p.Role && !x.isOver(now)
		used(x.UsedAt)
	}
	return out, nil
}

func (s *Service) credential(ctx context.Context, p Person, kind Kind) (Credential, string, error) {
	all, err := s.Credentials(ctx, p)
	for _, c := range all {
		if c.Kind == kind && err == nil {
			text, err := s.Keys.Open(c.place(), c.secret)
			if err != nil {
				return Credential{}, "", err
			}
			return c, text.Reveal(), nil
		}
	}
	return Credential{}, "", err
}

// newCredential returns the row of a new credential.
func (s *Service) newCredential(p Person, kind Kind, label, text string) (Credential, error) {
	c := Credential{Company: p.Company, ID: id.New(), PersonID: p.ID, Kind: kind, Label: label, State: active, CreatedAt: s.Clock.Now()}
	var err error
	c.secret, err = s.Keys.Seal(c.place(), text)
	return c, err
}

// add stores new credentials. A new password and its code replace the earlier ones.
func (s *Service) add(ctx context.Context, q db.Querier, p Person, all ...Credential) error {
	by := p.Author().From(ctx)
	earlier, err := s.credentialsOf(ctx, q, p)
	if err != nil {
		return err
	}
	for _, c := range all {
		for _, old := range earlier {
			if old.Kind == c.Kind && old.Kind != Passkey && old.State == active {
				if err := s.removeIn(ctx, q, by, p, old); err != nil {
					return err
				}
			}
		}
		if err := s.insertCredential(ctx, q, c); err != nil {
			return err
		}
		details := p.details("credentialId", c.ID, "kind", string(c.Kind), "label", c.Label)
		if err := s.Operators.NoteIn(ctx, q, by, "person.credential.add", p.subject(), details); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes a credential of a person, and ends all sessions of the person but one. A password leaves together with its
// code.
func (s *Service) Remove(ctx context.Context, p Person, keep Session, credentialID string) error {
	return s.DB.Tx(ctx, func(q db.Querier) error {
		all, err := s.credentialsOf(ctx, q, p)
		if err != nil {
			return err
		}
		var kind Kind
		for _, c := range all {
			if c.ID == credentialID && c.State == active {
				kind = c.Kind
			}
		}
		if kind == "" {
			return fault.New(fault.Missing, "You have no such passkey or password")
		}
		for _, c := range all {
			together := kind != Passkey && c.Kind != Passkey
			if c.State == active && (c.ID == credentialID || together) {
				if err := s.removeIn(ctx, q, p.Author().From(ctx), p, c); err != nil {
					return err
				}
			}
		}
		return s.endOthers(ctx, q, p, keep)
	})
}

func (s *Service) removeIn(ctx context.Context, q db.Querier, by operator.Operator, p Person, c Credential) error {
	gone := c
	gone.State, gone.secret = removed, ""
	n, err := s.updateCredential(ctx, q, c, gone)
	if err == nil && n == 0 {
		err = errChanged
	}
	if err != nil {
		return err
	}
	details := p.details("credentialId", c.ID, "kind", string(c.Kind), "label", c.Label)
	return s.Operators.NoteIn(ctx, q, by, "person.credential.remove", p.subject(), details)
}
