package deployment

import (
	"context"
	"errors"
	"fmt"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
)

// Environment states against which systems a deployment works. A database belongs to one
// environment.
type Environment string

// The environments of a deployment.
const (
	Dev     Environment = "dev"     // providers that this program simulates
	Staging Environment = "staging" // the test systems of the providers, and test networks
	Live    Environment = "live"    // real money
)

// environmentSchema is the first schema in which a database has an environment.
const environmentSchema = 69

// OtherError means that a database belongs to a different environment than the program.
type OtherError struct{ Database, Program Environment }

// Error names both environments and the setting that decides.
func (e *OtherError) Error() string {
	return fmt.Sprintf("the database belongs to the environment %s, and this program is configured for %s: check the settings database and mode "+
		"(docs/operating/environments.md)", e.Database, e.Program)
}

// EnvironmentOf returns the environment to which a database belongs. It returns "" if no program
// has served with the database, or if the database has an earlier schema.
func EnvironmentOf(ctx context.Context, d *db.DB) (Environment, error) {
	have, _, err := d.Migrated(ctx)
	if err != nil || have < environmentSchema {
		return "", err
	}
	return environment(ctx, d)
}

// Match returns an OtherError if a database belongs to a different environment. A database without
// an environment matches every environment.
func Match(ctx context.Context, d *db.DB, program Environment) error {
	of, err := EnvironmentOf(ctx, d)
	if err != nil {
		return err
	}
	return match(of, program)
}

func match(database, program Environment) error {
	if database != "" && database != program {
		return &OtherError{database, program}
	}
	return nil
}

// Claim makes the database belong to an environment. It returns an OtherError if the database
// already belongs to a different environment.
func (s *Service) Claim(ctx context.Context, program Environment) error {
	of, err := environment(ctx, s.db)
	if err == nil && of != "" {
		return match(of, program)
	}
	if err != nil && !errors.Is(err, db.ErrNone) {
		return err
	}
	return s.db.Tx(ctx, func(q db.Querier) error {
		if err := errors.Join(found(ctx, q, id.New()), claim(ctx, q, program)); err != nil {
			return err
		}
		of, err := environment(ctx, q)
		if err != nil {
			return err
		}
		return match(of, program)
	})
}
