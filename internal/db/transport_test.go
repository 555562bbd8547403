package db_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
)

// Only a URL that names another machine can be without TLS, and only sslmode decides.
func TestTheURLDecidesAboutTLS(t *testing.T) {
	t.Setenv("PGSSLMODE", "")
	for url, want := range map[string]db.Transport{
		"sqlite:/var/lib/kobo/kobo.db":                        db.Private,
		"postgres:///kobo?host=/var/run/postgresql":           db.Private,
		"postgres://kobo@localhost/kobo":                      db.Private,
		"postgres://kobo@127.0.0.1:5433/kobo":                 db.Private,
		"postgres://kobo@[::1]/kobo?sslmode=disable":          db.Private,
		"postgres://kobo@db/kobo":                             db.Undecided,
		"postgres://kobo@db/kobo?sslmode=prefer":              db.Undecided,
		"postgres://kobo@db/kobo?sslmode=allow":               db.Undecided,
		"postgres://kobo@db/kobo?sslmode=disable":             db.Plain,
		"postgresql://kobo@10.0.0.7/kobo?sslmode=require":     db.Encrypted,
		"postgres://kobo@a,b/kobo?sslmode=verify-full":        db.Encrypted,
		"postgres://kobo@localhost,b/kobo?sslmode=disable":    db.Plain,
		"postgres://kobo@127.0.0.1,b/kobo":                    db.Undecided,
		"postgres://kobo:secret@db/kobo?sslmode=no-such-mode": db.Undecided,
	} {
		if got := db.TransportOf(url); got != want {
			t.Errorf("%s: %d, want %d", url, got, want)
		}
	}
	t.Setenv("PGSSLMODE", "verify-full")
	if got := db.TransportOf("postgres://kobo@db/kobo"); got != db.Encrypted {
		t.Errorf("PGSSLMODE does not count: %d", got)
	}
}
