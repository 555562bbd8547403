package idempotency_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// Stored responses lose their bodies after 13 months, also encrypted ones, in several batches. Younger
// responses stay. The Idempotency-Keys stay for ever, and their requests are not executed again.
func TestOldBodiesGoAndKeysStay(t *testing.T) {
	each(t, func(t *testing.T, d *drawer) {
		secret := idempotency.Answer{Status: 200, Body: []byte(`{"secret":"x"}`), Secret: true, Public: []byte(`{}`)}
		if err := d.Freeze(t.Context(), d.key("secret"), secret); err != nil {
			t.Fatal(err)
		}
		const many = 2007 // more than two batches
		_, err := d.db.Exec(t.Context(), `INSERT INTO idempotency_key
			(company_id, value, fingerprint, state, subject, running_until, status, body, created_at)
			WITH RECURSIVE n (g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM n WHERE g < $1)
			SELECT company_id, 'many ' || CAST(g AS TEXT), fingerprint, state, subject, 0, status, body, created_at
			FROM n, idempotency_key WHERE company_id = $2 AND value = 'secret'`, many, d.company)
		if err != nil {
			t.Fatal(err)
		}
		d.clock.Advance(380 * 24 * time.Hour)
		if err := d.Freeze(t.Context(), d.key("young"), idempotency.Answer{Status: 400, Body: []byte(`{"no":1}`)}); err != nil {
			t.Fatal(err)
		}
		clear := func() {
			t.Helper()
			if next, err := d.Clear(t.Context(), job.Job{}); err != nil || !next.After(d.clock.Now()) {
				t.Fatalf("next %v, %v", next, err)
			}
		}
		clear()
		if n := d.kept(`SELECT CAST(count(*) AS TEXT) FROM idempotency_key WHERE company_id = $1 AND body <> ''`); n != strconv.Itoa(many+2) {
			t.Errorf("after 380 days %s bodies are left", n)
		}
		d.clock.Advance(40 * 24 * time.Hour)
		clear()
		if n := d.kept(`SELECT CAST(count(*) AS TEXT) FROM idempotency_key WHERE company_id = $1 AND body <> ''`); n != "1" {
			t.Errorf("after 14 months %s bodies are left", n)
		}
		if n := d.kept(`SELECT CAST(count(*) AS TEXT) FROM idempotency_key WHERE company_id = $1`); n != strconv.Itoa(many+2) {
			t.Errorf("after 14 months %s keys are left", n)
		}
		d.stored("young", `400 {"no":1}`)
		key, answer, err := d.Open(t.Context(), d.company, "secret", "print")
		if err != nil || answer != nil || !fault.Is(key.Expired(), fault.Mismatch) {
			t.Fatalf("%+v, %v", answer, err)
		}
		// Nothing stores a response again.
		given := idempotency.Answer{Status: 200, Body: []byte(`{"made":"anew"}`)}
		if a, err := d.Settle(t.Context(), key, given); err != nil || string(a.Body) != string(given.Body) {
			t.Errorf("settled %+v, %v", a, err)
		}
		if err := d.Finish(t.Context(), key, "x", nil); err != nil {
			t.Error(err)
		}
		if body := d.kept(`SELECT body FROM idempotency_key WHERE company_id = $1 AND value = 'secret'`); body != "" {
			t.Errorf("stored again: %s", body)
		}
		d.refused("secret", "another", fault.Mismatch)
	})
}

// A run that is over its limit at a company without old responses is followed by runs that go on after that company. So the last
// company is cleared too.
func TestTheLastCompanyIsClearedToo(t *testing.T) {
	each(t, func(t *testing.T, d *drawer) {
		const first = "a" // before each reference
		d.commit(ledger.Found(first))
		if err := d.Freeze(t.Context(), d.key("old"), idempotency.Answer{Status: 400, Body: []byte(`{"no":1}`)}); err != nil {
			t.Fatal(err)
		}
		d.clock.Advance(430 * 24 * time.Hour)
		if _, err := d.db.Exec(t.Context(), `INSERT INTO idempotency_key (company_id, value, fingerprint, state, subject, running_until, status, body, created_at)
			SELECT $1, value, fingerprint, state, subject, 0, status, body, $2 FROM idempotency_key`, first, clock.Micros(d.clock.Now())); err != nil {
			t.Fatal(err)
		}
		idempotency.LimitClear(d.Service, 0)
		for _, run := range []struct {
			pause time.Duration
			body  string
		}{{0, `{"no":1}`}, {0, ""}, {24 * time.Hour, ""}} {
			next, err := d.Clear(t.Context(), job.Job{})
			if err != nil || !next.Equal(d.clock.Now().Add(run.pause)) {
				t.Fatalf("next %v, %v", next, err)
			}
			if body := d.kept(`SELECT body FROM idempotency_key WHERE company_id = $1`); body != run.body {
				t.Errorf("the body is %q, not %q", body, run.body)
			}
		}
	})
}
