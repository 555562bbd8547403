package operator

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Record appends a line to the audit log about an act that changes no row, such as a change of a
// file on this machine. Details must contain no secret.
func (s *Service) Record(ctx context.Context, by Operator, action, subject string, details map[string]string) error {
	return s.db.Tx(ctx, func(q db.Querier) error {
		return s.insertLine(ctx, q, by.Note("", action, subject, details, s.clock.Now()))
	})
}

// Itself returns the operator for the program, when it acts without a request.
func Itself() Operator { return program }

// RecordIn appends a line about an act of the program itself, in the caller's transaction. Details
// must contain no secret.
func (s *Service) RecordIn(ctx context.Context, q db.Querier, action, subject string, details map[string]string) error {
	return s.NoteIn(ctx, q, program, action, subject, details)
}

// NoteIn appends a line about an act of an operator that is about no company, in the caller's
// transaction. Details must contain no secret.
func (s *Service) NoteIn(ctx context.Context, q db.Querier, by Operator, action, subject string, details map[string]string) error {
	return s.insertLine(ctx, q, by.Note("", action, subject, details, s.clock.Now()))
}

// Noting returns a function that adds a line about an act of the operator in the transaction of the act.
func (s *Service) Noting(by Operator, action string) func(ctx context.Context, q db.Querier, subject string, details map[string]string) error {
	return func(ctx context.Context, q db.Querier, subject string, details map[string]string) error {
		return s.NoteIn(ctx, q, by, action, subject, details)
	}
}

// RetireKeys revokes the working keys whose hashes were made with the given master key, which will
// be removed.
func (s *Service) RetireKeys(ctx context.Context, masterKey string) error {
	keys, err := s.Keys(ctx)
	for _, k := range keys {
		if err == nil && k.State == active && secret.KeyOf(k.hash) == masterKey {
			err = s.RevokeKey(ctx, program, k.Name)
		}
	}
	return err
}
