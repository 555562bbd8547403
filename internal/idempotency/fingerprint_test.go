package idempotency_test

import (
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// What a request held cannot be tried out on the row that is kept of it.
func TestAFingerprintIsKeptUnderAKey(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		ring, err := secret.Parse(secret.Generate())
		if err != nil {
			t.Fatal(err)
		}
		book, company := ledger.New(database, clock.System{}), id.Cuid()
		keys := idempotency.NewService(database, book, clock.System{}).Sealing(ring)
		if err := book.Commit(t.Context(), ledger.Unit{Company: company, Found: true}); err != nil {
			t.Fatal(err)
		}
		k, _, err := keys.Open(t.Context(), company, "a", "print")
		if err == nil {
			err = keys.Freeze(t.Context(), k, idempotency.Answer{Status: 200, Body: []byte(`{}`)})
		}
		if err != nil {
			t.Fatal(err)
		}
		kept, err := db.One(t.Context(), database, db.Value[string],
			`SELECT fingerprint FROM idempotency_key WHERE company_id = $1`, company)
		if err != nil || strings.Contains(kept, "print") {
			t.Errorf("%q, %v", kept, err)
		}
		if _, a, err := keys.Open(t.Context(), company, "a", "print"); err != nil || a == nil {
			t.Errorf("the same request: %v, %v", a, err)
		}
		if _, _, err := keys.Open(t.Context(), company, "a", "another"); !fault.Is(err, fault.Mismatch) {
			t.Errorf("another request: %v", err)
		}
	})
}
