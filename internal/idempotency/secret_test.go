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

// An answer that shows a secret is replayed to the byte, and is not to be read in
// the database.
func TestAnAnswerWithASecretIsKeptSealed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ring, err := secret.Parse(secret.Generate())
		if err != nil {
			t.Fatal(err)
		}
		book, company := ledger.New(d, clock.System{}), id.Cuid()
		keys := idempotency.NewService(d, book, clock.System{}).Sealing(ring)
		if err := book.Commit(t.Context(), ledger.Unit{Company: company, Found: true}); err != nil {
			t.Fatal(err)
		}
		const body = `{"secret":"whsec_hidden"}`
		k, _, err := keys.Open(t.Context(), company, "a", "print")
		if err == nil {
			err = keys.Freeze(t.Context(), k, idempotency.Answer{Status: 200, Body: []byte(body), Secret: true})
		}
		if err != nil {
			t.Fatal(err)
		}
		kept, err := db.One(t.Context(), d, db.Value[string], `SELECT body FROM idempotency_key WHERE company_id = $1`, company)
		if err != nil || strings.Contains(kept, "hidden") {
			t.Errorf("%q, %v", kept, err)
		}
		_, again, err := keys.Open(t.Context(), company, "a", "print")
		if err != nil || again == nil || string(again.Body) != body || !again.Secret || again.Status != 200 {
			t.Errorf("replayed: %+v, %v", again, err)
		}
		used, err := keys.Used(t.Context(), company, "a")
		if err != nil || used.Answer == nil || string(used.Answer.Body) != body {
			t.Errorf("looked up: %+v, %v", used, err)
		}
		if _, err := keys.Used(t.Context(), company, "b"); !fault.Is(err, fault.Missing) {
			t.Errorf("another key: %v", err)
		}
	})
}
