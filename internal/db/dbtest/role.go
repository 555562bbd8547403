package dbtest

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Role creates a role of PostgreSQL with a random name, which may log in and has no other rights. It
// returns the name, and the URL of the same database for this role. The role is removed when the
// test ends.
func Role(t testing.TB, database string) (name, as string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal("dbtest: not a URL")
	}
	name, password := "kobo_role_"+strings.ReplaceAll(uuid.NewString(), "-", ""), uuid.NewString()
	admin := func(statements ...string) {
		t.Helper()
		c, err := pgx.Connect(context.WithoutCancel(t.Context()), database)
		if err != nil {
			t.Fatalf("dbtest: %v", err)
		}
		defer func() { _ = c.Close(context.Background()) }()
		for _, s := range statements {
			if err := run(context.WithoutCancel(t.Context()), c, s); err != nil {
				t.Errorf("dbtest: %v", err)
			}
		}
	}
	admin("CREATE ROLE " + name + " LOGIN PASSWORD '" + password + "'")
	t.Cleanup(func() { admin("DROP OWNED BY "+name, "DROP ROLE "+name) })
	u.User = url.UserPassword(name, password)
	return name, u.String()
}
