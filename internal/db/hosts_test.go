package db_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
)

// The primary freezes in a COMMIT, and another server is promoted. The COMMIT then ends as unknown, and later commits
// reach the new primary, also after the former one has woken and accepts connections again. A read that waits for the
// frozen server ends too.
func TestAFrozenPrimaryIsLeftWhenAnotherIsPromoted(t *testing.T) {
	servers := dbtest.Trio(t, "kobo")
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	url := fmt.Sprintf("postgres://kobo@%s,%s,%s/kobo?sslmode=disable&target_session_attrs=read-write", servers.Host(0), servers.Host(1), servers.Host(2))
	d, err := db.Open(ctx, url)
	must(err)
	defer d.Close()
	_, err = d.Exec(ctx, `CREATE TABLE note (n INT)`)
	must(err)

	former := servers.Primary()
	begun, frozen := make(chan bool, 16), make(chan bool)
	committed, read := make(chan error, 1), make(chan error, 1)
	go func() {
		committed <- d.Tx(ctx, func(q db.Querier) error {
			_, err := q.Exec(ctx, `INSERT INTO note VALUES (1)`)
			begun <- true
			<-frozen
			return err
		})
	}()
	go func() {
		read <- d.Snapshot(ctx, func(q db.Querier) error {
			_, err := db.One(ctx, q, db.Value[int], `SELECT count(*) FROM note`)
			begun <- true
			<-frozen
			if err == nil {
				_, err = db.One(ctx, q, db.Value[int], `SELECT count(*) FROM note`)
			}
			return err
		})
	}()
	<-begun
	<-begun
	must(servers.Freeze(former))
	close(frozen)
	must(servers.Failover(ctx))
	if err := <-committed; !errors.Is(err, db.ErrUncommitted) {
		t.Errorf("the COMMIT at the frozen server ended as %v, not as unknown", err)
	}
	if err := <-read; err == nil || ctx.Err() != nil {
		t.Errorf("the read at the frozen server: %v", err)
	}
	_, err = d.Exec(ctx, `INSERT INTO note VALUES (2)`)
	must(err)
	must(servers.Wake(former))
	for n := range 20 {
		_, err = d.Exec(ctx, `INSERT INTO note VALUES ($1)`, n+3)
		must(err)
	}
	conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://kobo@%s/kobo?sslmode=disable", servers.Host(servers.Primary())))
	must(err)
	defer conn.Close(context.WithoutCancel(ctx))
	var kept int
	must(conn.QueryRow(ctx, `SELECT count(*) FROM note WHERE n > 1`).Scan(&kept))
	if kept != 21 {
		t.Errorf("the new primary has %d of 21 commits", kept)
	}
}

// The primary freezes for a short time, another server is promoted meanwhile, and the former primary wakes. It would answer
// reads as if nothing had happened. A program that has not been told of the promotion never gets such an answer.
func TestAFormerPrimaryThatHasWokenIsNotRead(t *testing.T) {
	servers := dbtest.Trio(t, "kobo")
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	url := fmt.Sprintf("postgres://kobo@%s,%s,%s/kobo?sslmode=disable&target_session_attrs=read-write", servers.Host(0), servers.Host(1), servers.Host(2))
	d, err := db.Open(ctx, url)
	must(err)
	defer d.Close()
	_, err = d.Exec(ctx, `CREATE TABLE note (n INT)`)
	must(err)
	former := servers.Primary()
	must(servers.Freeze(former))
	asked := make(chan error, 4)
	for range cap(asked) { // these ask the frozen server, and get its reply when it wakes
		go func() {
			_, err := db.One(ctx, d, db.Value[int], `SELECT count(*) FROM note`)
			asked <- err
		}()
	}
	silent := time.After(600 * time.Millisecond) // longer than Kobo believes a primary without an answer
	must(servers.Failover(ctx))
	other, err := pgx.Connect(ctx, fmt.Sprintf("postgres://kobo@%s/kobo?sslmode=disable", servers.Host(servers.Primary())))
	must(err)
	defer other.Close(context.WithoutCancel(ctx))
	_, err = other.Exec(ctx, `INSERT INTO note VALUES (1)`)
	must(err)
	<-silent
	must(servers.Wake(former))
	for answers := 0; answers < 200; {
		n, err := db.One(ctx, d, db.Value[int], `SELECT count(*) FROM note`)
		must(ctx.Err())
		if err != nil {
			if !fault.Is(err, fault.Unavailable) {
				t.Fatalf("not a fault of the kind Unavailable: %v", err)
			}
			continue // an error is no answer
		}
		if answers++; n != 1 {
			t.Fatalf("answer %d has %d notes, not 1", answers, n)
		}
	}
	for range cap(asked) {
		if err := <-asked; err != nil && !fault.Is(err, fault.Unavailable) {
			t.Errorf("not a fault of the kind Unavailable: %v", err)
		}
	}
}
