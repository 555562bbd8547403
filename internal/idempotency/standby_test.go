package idempotency_test

import (
	"context"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// If the standby does not have a stored response, the methods of the service do not return that
// response.
func TestAnAnswerWithoutItsStandbyIsNotGiven(t *testing.T) {
	server := dbtest.NewLone(t)
	database := dbtest.Open(t, server.URL)
	clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	ring, err := secret.Parse(secret.Generate())
	if err != nil {
		t.Fatal(err)
	}
	d := &drawer{t: t, db: database, book: ledger.New(database, clk), clock: clk, company: "c1"}
	d.Service = idempotency.NewService(database, d.book, clk, ring)
	d.commit(ledger.Found("c1"))
	answered, cut, twin := d.key("answered"), d.key("cut off"), d.key("answered")
	brief := func() context.Context { return db.Within(t.Context(), 500*time.Millisecond) }
	server.Desert()
	u := ledger.For("c1")
	answered.Answer(&u, "yes", nil)
	cut.Begin(&u, "thing", clk.Now())
	if err := d.book.Commit(brief(), u); !fault.Is(err, fault.Unknown) {
		t.Errorf("told %v", err)
	}
	server.EndWaits()
	d.clock.Advance(time.Hour)
	if _, err := d.Used(brief(), "c1", "cut off"); err != nil {
		t.Errorf("the row is not to be seen: %v", err)
	}
	for name, ask := range map[string]func() error{
		"Open":            func() error { _, _, err := d.Open(brief(), "c1", "answered", "print"); return err },
		"Open, to resume": func() error { _, _, err := d.Open(brief(), "c1", "cut off", "print"); return err },
		"Used":            func() error { _, err := d.Used(brief(), "c1", "answered"); return err },
		"Settle":          func() error { _, err := d.Settle(brief(), twin, no); return err },
	} {
		if err := ask(); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s without the standby: %v", name, err)
		}
	}
	server.Rejoin()
	d.stored("answered", `200 "yes"`)
}
