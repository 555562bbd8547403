package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
)

// Grant gives roles of PostgreSQL the rights to the tables of a database. The user in the URL must own
// the tables.
func (c Config) Grant(ctx context.Context, roles db.Roles) error {
	d, err := c.openPrimary(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Grant(ctx, roles)
}

// checkRights refuses to serve with a database role that lacks a right. It warns of a role that could
// change the history, except in sandbox mode.
func (a *App) checkRights(ctx context.Context) error {
	missing, excessive, err := a.DB.Rights(ctx)
	switch {
	case err != nil:
		return err
	case len(missing) > 0:
		return fmt.Errorf("the role of the database URL lacks rights to %s: run kobo migrate --grant-serve ROLE as the owner of the database",
			strings.Join(missing, ", "))
	case len(excessive) > 0 && a.cfg.Mode.rules().warnsOfExposure:
		a.log.Warn("this program's database role could change the history: serve with a role of its own (kobo migrate --grant-serve)",
			"tables", strings.Join(excessive, ", "))
	}
	return nil
}
