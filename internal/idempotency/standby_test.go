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

// After a restart, a server may show a stored response that no standby has. The first connection to it may be that of a
// request that only reads. Such a request gets no response either before a commit that the standby has.
func TestAReadingRequestGetsNoAnswerWithoutItsStandby(t *testing.T) {
	server := dbtest.NewLone(t)
	clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	ring, err := secret.Parse(secret.Generate())
	if err != nil {
		t.Fatal(err)
	}
	program := func() *drawer {
		database := dbtest.Open(t, server.URL)
		d := &drawer{t: t, db: database, book: ledger.New(database, clk), clock: clk, company: "c1"}
		d.Service = idempotency.NewService(database, d.book, clk, ring)
		return d
	}
	writer, reader := program(), program()
	writer.commit(ledger.Found("c1"))
	if err := reader.book.Prove(t.Context(), "c1"); err != nil { // the reader has no doubt
		t.Fatal(err)
	}
	brief := func() context.Context { return db.Reading(db.Within(t.Context(), 500*time.Millisecond)) }
	server.Desert()
	u := ledger.For("c1")
	writer.key("answered").Answer(&u, "yes", nil)
	if err := writer.book.Commit(brief(), u); !fault.Is(err, fault.Unknown) {
		t.Errorf("told %v", err)
	}
	server.EndWaits()
	server.Do("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'kobo/%'")
	for range 3 { // the first one may meet a connection from before the restart
		if use, err := reader.Used(brief(), "c1", "answered"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("without the standby: %+v, %v", use.Answer, err)
		}
	}
	server.Rejoin()
	use, err := reader.Used(db.Reading(t.Context()), "c1", "answered")
	if err != nil || use.Answer == nil || use.Answer.Status != 200 {
		t.Errorf("with the standby: %+v, %v", use.Answer, err)
	}
}
