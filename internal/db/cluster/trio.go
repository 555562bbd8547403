package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Trio is three servers, of which one is the primary. Any of the three can become the primary, and a former primary
// becomes a standby of the new one. So a trio survives any number of failovers, one after the other. The primary replies
// to a commit only when at least one standby has it on its disk.
type Trio struct {
	Servers [3]*Cluster
	primary int
}

// StartTrio starts the three servers and waits until two standbys follow the primary. The servers are durable.
func StartTrio(ctx context.Context, o Options) (*Trio, error) {
	t := &Trio{}
	o.Durable, o.Synchronous, o.member = true, "ANY 1 (s0, s1, s2)", true
	for i := range t.Servers {
		if i > 0 {
			o.standby, o.of = nameOf(i), t.Servers[0]
		}
		var err error
		if t.Servers[i], err = Start(ctx, o); err == nil && i > 0 {
			err = t.followPrimary(ctx, i)
		}
		if err != nil {
			return nil, errors.Join(err, t.Stop())
		}
	}
	return t, nil
}

// Stop ends the servers and removes their data.
func (t *Trio) Stop() (err error) {
	for _, c := range t.Servers {
		if c != nil {
			err = errors.Join(err, c.Stop())
		}
	}
	return err
}

// Primary returns the number of the primary.
func (t *Trio) Primary() int { return t.primary }

// Standbys returns the numbers of the two other servers.
func (t *Trio) Standbys() []int {
	return slices.DeleteFunc([]int{0, 1, 2}, func(i int) bool { return i == t.primary })
}

// Host returns the address of a server.
func (t *Trio) Host(i int) string { return t.Servers[i].Host() }

// Failover makes the standby that is further ahead the primary, and lets the other standby follow it. It does not ask the
// old primary, which may be dead or frozen, and must reply to nobody any more.
func (t *Trio) Failover(ctx context.Context) error {
	heir, other := t.Standbys()[0], t.Standbys()[1]
	// From now on neither of them receives anything, so that the comparison stays true.
	if err := errors.Join(t.follow(ctx, heir, ""), t.follow(ctx, other, "")); err != nil {
		return err
	}
	if err := errors.Join(t.await(ctx, heir, notReceiving, 1), t.await(ctx, other, notReceiving, 1)); err != nil {
		return err
	}
	ahead, err := t.isAhead(ctx, other, heir)
	if err != nil {
		return err
	}
	if ahead {
		heir, other = other, heir
	}
	if err := t.Servers[heir].Promote(); err != nil {
		return err
	}
	t.primary = heir
	return t.followPrimary(ctx, other)
}

const (
	// What a standby has replayed counts too: after a change of the timeline it may have received nothing yet.
	received     = "SELECT greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())::text"
	notReceiving = "SELECT CASE WHEN count(*) = 0 THEN 1 ELSE 0 END FROM pg_stat_wal_receiver"
	streaming    = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
)

// isAhead reports whether a standby has more of the log than another one.
func (t *Trio) isAhead(ctx context.Context, a, b int) (bool, error) {
	var ahead bool
	var has [2]string
	for i, n := range []int{a, b} {
		if err := t.Servers[n].scan(ctx, received, &has[i]); err != nil {
			return false, err
		}
	}
	return ahead, t.Servers[a].scan(ctx, "SELECT '"+has[0]+"'::pg_lsn > '"+has[1]+"'::pg_lsn", &ahead)
}

// followPrimary lets a running standby follow the primary.
func (t *Trio) followPrimary(ctx context.Context, standby int) error {
	return t.follow(ctx, standby, t.Servers[t.primary].conninfo(nameOf(standby)))
}

func (t *Trio) follow(ctx context.Context, standby int, conninfo string) error {
	c := t.Servers[standby]
	return errors.Join(
		c.run(ctx, "ALTER SYSTEM SET primary_conninfo = '"+conninfo+"'"),
		c.run(ctx, "SELECT pg_reload_conf()"))
}

// Rejoin ends a former primary, rewinds its data to where the new primary has left it, and starts it as a standby. It
// returns when the new primary sends it the log.
func (t *Trio) Rejoin(ctx context.Context, former int) error {
	c := t.Servers[former]
	if err := c.Kill(ctx); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	// Before version 16, pg_rewind finds the new timeline only after a checkpoint.
	if err := t.Servers[t.primary].run(ctx, "CHECKPOINT"); err != nil {
		return err
	}
	data := filepath.Join(c.dir, "data")
	source := fmt.Sprintf("host=127.0.0.1 port=%d user=kobo dbname=postgres", t.Servers[t.primary].port)
	out, err := c.Command(filepath.Join(c.bin, "pg_rewind"), "-D", data, "--source-server="+source, "--no-sync", "-R").CombinedOutput()
	if err != nil {
		return fmt.Errorf("pg_rewind: %w: %s", err, out)
	}
	if err := c.Resume(); err != nil {
		return err
	}
	if err := t.followPrimary(ctx, former); err != nil {
		return err
	}
	return t.AwaitStandbys(ctx, 2)
}

// Revive starts a former primary again as it was: as a primary of its old timeline, which no standby follows. Only its
// clients write there, because autovacuum is off.
func (t *Trio) Revive(former int) error {
	c := t.Servers[former]
	return c.control("-l", filepath.Join(c.dir, "log"), "-o", c.settings+" -c autovacuum=off", "start")
}

// AwaitStandbys waits until the primary sends the log to a number of standbys.
func (t *Trio) AwaitStandbys(ctx context.Context, want int) error {
	return t.await(ctx, t.primary, streaming, want)
}

// await waits until a query returns a number that is large enough.
func (t *Trio) await(ctx context.Context, server int, query string, want int) error {
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		var now int
		err := t.Servers[server].scan(ctx, query, &now)
		if err != nil || now >= want {
			return err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: %d, not %d: %w%s", query, now, want, ctx.Err(), t.Logs())
		}
	}
}

// Logs returns the last lines of the log of each server.
func (t *Trio) Logs() (text string) {
	for i, c := range t.Servers {
		text += "\n" + nameOf(i) + ": " + c.logTail()
	}
	return text
}

// Freeze freezes a server.
func (t *Trio) Freeze(i int) error { return t.Servers[i].Freeze() }

// Wake lets a frozen server go on.
func (t *Trio) Wake(i int) error { return t.Servers[i].Wake() }

func nameOf(server int) string { return "s" + strconv.Itoa(server) }

func (c *Cluster) scan(ctx context.Context, query string, to any) error {
	conn, err := pgx.Connect(ctx, c.URL)
	if err != nil {
		return err
	}
	return errors.Join(conn.QueryRow(ctx, query).Scan(to), conn.Close(context.WithoutCancel(ctx)))
}

func (c *Cluster) run(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, c.URL)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
}
