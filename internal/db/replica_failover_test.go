package db_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// A replica that hangs uses only a part of the time that a request may wait, and the primary answers. When the replica has
// become the primary, reads go to the other standby.
func TestReadsLeaveAReplicaThatHangsOrIsPromoted(t *testing.T) {
	servers := dbtest.Trio(t, "kobo")
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do := func(server int, statement string) {
		t.Helper()
		conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://kobo@%s/kobo?sslmode=disable", servers.Host(server)))
		must(err)
		defer conn.Close(context.WithoutCancel(ctx))
		_, err = conn.Exec(ctx, statement)
		must(err)
	}
	url := fmt.Sprintf("postgres://kobo@%s,%s,%s/kobo?sslmode=disable&target_session_attrs=read-write", servers.Host(0), servers.Host(1), servers.Host(2))
	replica := fmt.Sprintf("postgres://kobo@%s,%s/kobo?sslmode=disable&target_session_attrs=standby", servers.Host(1), servers.Host(2))
	d, err := db.OpenWith(ctx, url, db.Pools{Replica: replica})
	must(err)
	defer d.Close()
	_, err = d.Exec(ctx, `CREATE TABLE note (n INT)`)
	must(err)
	read := func() (fromStandby bool, err error) {
		err = d.Snapshot(db.Reading(db.Within(ctx, 4*time.Second)), func(q db.Querier) (err error) {
			fromStandby, err = db.One(ctx, q, db.Value[bool], `SELECT pg_is_in_recovery()`)
			return err
		})
		return fromStandby, err
	}
	// Until the program has seen a promotion, a read may get an error.
	until := func(what string) {
		t.Helper()
		began := time.Now()
		for {
			fromStandby, err := read()
			if err == nil && fromStandby {
				break
			}
			if time.Since(began) > 20*time.Second {
				t.Fatal(what, err)
			}
			<-time.After(50 * time.Millisecond)
		}
		t.Logf("%s: %v", what, time.Since(began))
	}
	until("no standby answers")
	must(servers.Freeze(1))
	began := time.Now()
	fromStandby, err := read()
	if must(err); fromStandby {
		t.Error("the frozen standby has answered")
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the frozen standby held a read for %v", took)
	}
	must(servers.Wake(1))
	until("the standby does not answer again")

	former := servers.Primary()
	must(servers.Freeze(former))
	must(servers.Failover(ctx))
	must(servers.Rejoin(ctx, former))
	t.Logf("the primary is %d", servers.Primary())
	do(servers.Primary(), `CHECKPOINT`)
	for _, standby := range servers.Standbys() {
		do(standby, `CHECKPOINT`) // a restart point on the new timeline
	}
	until("the other standby does not answer")
}
