package torture

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
)

// ownName matches the names of databases that a run may create, break and drop.
var ownName = regexp.MustCompile(`^kobo_torture_[a-z0-9]{1,40}$`)

// ErrForeign is the refusal of a database that the run has not created.
var ErrForeign = errors.New("kobo torture only touches databases whose names begin with kobo_torture_")

// errURL does not contain the URL, which may have a password.
var errURL = errors.New("the PostgreSQL URL cannot be read")

// server is a PostgreSQL server with a database of the run. The URL names an existing database, to
// which the run only connects.
type server struct{ url, name string }

func newServer(url string) *server {
	return &server{url, "kobo_torture_" + strings.ToLower(rand.Text()[:12])}
}

// database returns the URL of the run's database.
func (s server) database() (string, error) {
	u, err := url.Parse(s.url)
	if err != nil {
		return "", errURL
	}
	u.Path = "/" + s.name
	return u.String(), nil
}

func (s server) exec(ctx context.Context, command string) error {
	return s.do(ctx, func(d *db.DB) error {
		_, err := d.Exec(ctx, fmt.Sprintf(command, s.name)) // the name is a plain word, and a name cannot be a parameter
		return err
	})
}

// do connects to the server, unless the name is foreign.
func (s server) do(ctx context.Context, what func(d *db.DB) error) error {
	if !ownName.MatchString(s.name) {
		return fmt.Errorf("%w, not %q", ErrForeign, s.name)
	}
	d, err := db.Open(ctx, s.url)
	if err != nil {
		return err
	}
	defer d.Close()
	return what(d)
}

func (s server) create(ctx context.Context) error { return s.exec(ctx, "CREATE DATABASE %s") }

// drop removes the database, and ends its connections.
func (s server) drop(ctx context.Context) error {
	return s.exec(ctx, "DROP DATABASE IF EXISTS %s WITH (FORCE)")
}

// cut ends all connections to the database.
func (s server) cut(ctx context.Context) error {
	return s.do(ctx, func(d *db.DB) error {
		_, err := db.All(ctx, d, db.Value[bool], `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, s.name)
		return err
	})
}
