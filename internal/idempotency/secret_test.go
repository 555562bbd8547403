package idempotency_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
)

// kept runs a query on the company's only row, and returns the column that the query selects.
func (d *drawer) kept(query string) string {
	d.t.Helper()
	text, err := db.One(d.t.Context(), d.db, db.Value[string], query, d.company)
	if err != nil {
		d.t.Fatal(err)
	}
	return text
}

// The stored fingerprint is a keyed hash, so a reader of the table cannot find the request by
// trying all possible requests.
func TestAFingerprintIsHashedWithAKey(t *testing.T) {
	each(t, func(t *testing.T, d *drawer) {
		if err := d.Freeze(t.Context(), d.key("a"), idempotency.Answer{Status: 200, Body: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		if kept := d.kept(`SELECT fingerprint FROM idempotency_key WHERE company_id = $1`); kept == "" || strings.Contains(kept, "print") {
			t.Errorf("kept: %q", kept)
		}
		d.stored("a", `200 {}`)
		d.refused("a", "another", fault.Mismatch)
	})
}

// A response with a secret is repeated byte for byte, although the database stores it encrypted.
func TestAnAnswerWithASecretIsEncrypted(t *testing.T) {
	each(t, func(t *testing.T, d *drawer) {
		const body = `{"secret":"whsec_hidden"}`
		const public = `{"id":"1"}`
		err := d.Freeze(t.Context(), d.key("a"), idempotency.Answer{Status: 200, Body: []byte(body), Secret: true, Public: []byte(public)})
		if err != nil {
			t.Fatal(err)
		}
		if kept := d.kept(`SELECT body FROM idempotency_key WHERE company_id = $1`); kept == "" || strings.Contains(kept, "hidden") {
			t.Errorf("kept: %q", kept)
		}
		_, again, err := d.Open(t.Context(), d.company, "a", "print")
		if err != nil || again == nil || string(again.Body) != body || !again.Secret || again.Status != 200 {
			t.Errorf("replayed: %+v, %v", again, err)
		}
		used, err := d.Used(t.Context(), d.company, "a")
		if err != nil || used.Answer == nil || string(used.Answer.Body) != body {
			t.Errorf("looked up: %+v, %v", used, err)
		}
		d.clock.Advance(10 * time.Minute)
		d.stored("a", "200 "+public)
		used, err = d.Used(t.Context(), d.company, "a")
		if err != nil || used.Answer == nil || string(used.Answer.Body) != public || used.Answer.Secret {
			t.Errorf("looked up after ten minutes: %+v, %v", used, err)
		}
		if _, err := d.Used(t.Context(), d.company, "b"); !fault.Is(err, fault.Missing) {
			t.Errorf("another key: %v", err)
		}
	})
}

// A response that was stored while the clock was ten days ahead shows no secret when the clock is right again, because nobody knows how
// old it is. The clock of another program may be half a minute behind.
func TestAnAnswerOfAClockAheadShowsNoSecret(t *testing.T) {
	for ahead, want := range map[time.Duration]string{10 * 24 * time.Hour: `{"id":"1"}`, 30 * time.Second: `{"secret":"whsec_hidden"}`} {
		t.Run(ahead.String(), func(t *testing.T) {
			each(t, func(t *testing.T, d *drawer) {
				d.clock.Jump(ahead)
				a := idempotency.Answer{Status: 200, Body: []byte(`{"secret":"whsec_hidden"}`), Secret: true, Public: []byte(`{"id":"1"}`)}
				if err := d.Freeze(t.Context(), d.key("a"), a); err != nil {
					t.Fatal(err)
				}
				d.clock.Jump(-ahead)
				d.stored("a", "200 "+want)
				used, err := d.Used(t.Context(), d.company, "a")
				if err != nil || used.Answer == nil || string(used.Answer.Body) != want {
					t.Errorf("looked up: %+v, %v", used, err)
				}
			})
		})
	}
}
