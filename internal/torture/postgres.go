package torture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db/cluster"
)

// Own is the value of Options.Postgres for servers that the run starts itself.
const Own = "own"

// serverPatience is the most time that a server may need to start, to take over or to follow.
const serverPatience = 3 * time.Minute

// servers are the PostgreSQL servers that a run has started itself: one, or a primary with two
// standbys. The programs reach each through a wire.
type servers struct {
	trio  *cluster.Trio // nil for one server
	lone  *cluster.Cluster
	wires []*wire
}

// startServers starts one server, or three. Each COMMIT is on a disk before its reply.
func startServers(ctx context.Context, o Options) (s *servers, err error) {
	s = &servers{}
	as := cluster.Options{Durable: true, Folder: o.Folder, Keep: o.Keep}
	if o.Standbys > 0 {
		s.trio, err = cluster.StartTrio(ctx, as)
	} else {
		s.lone, err = cluster.Start(ctx, as)
	}
	if err != nil {
		return nil, err
	}
	for _, c := range s.all() {
		w, err := newWire(c.Host())
		if err != nil {
			return nil, errors.Join(err, s.stop())
		}
		s.wires = append(s.wires, w)
	}
	return s, nil
}

func (s *servers) all() []*cluster.Cluster {
	if s.trio != nil {
		return s.trio.Servers[:]
	}
	return []*cluster.Cluster{s.lone}
}

// primary returns the number of the server that accepts writes.
func (s *servers) primary() int {
	if s.trio != nil {
		return s.trio.Primary()
	}
	return 0
}

// direct returns a URL that leads to the primary past the wires.
func (s *servers) direct(database string) string {
	var hosts []string
	for _, c := range s.all() {
		hosts = append(hosts, c.Host())
	}
	return address(hosts, database)
}

// through returns the URL that the programs use.
func (s *servers) through(database string) string {
	var hosts []string
	for _, w := range s.wires {
		hosts = append(hosts, w.address())
	}
	return address(hosts, database)
}

func address(hosts []string, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("kobo"), Host: strings.Join(hosts, ","), Path: "/" + database, RawQuery: "sslmode=disable"}
	if len(hosts) > 1 {
		u.RawQuery += "&target_session_attrs=read-write"
	}
	return u.String()
}

func (s *servers) stop() (err error) {
	for _, w := range s.wires {
		err = errors.Join(err, w.close())
	}
	if s.trio != nil {
		return errors.Join(err, s.trio.Stop())
	}
	return errors.Join(err, s.lone.Stop())
}

// losses returns what a kind of break has lost on all wires since the last call. A run without servers of its own has no wires.
func (s *servers) losses(kind string) (n int) {
	if s == nil {
		return 0
	}
	for _, w := range s.wires {
		n += w.losses(kind)
	}
	return n
}

// disturb makes all wires do something for a while.
func (s *servers) disturb(ctx context.Context, what string, length time.Duration) {
	for _, w := range s.wires {
		w.do(what)
	}
	wait(ctx, length)
	for _, w := range s.wires {
		w.do("")
	}
}

// killFor kills the primary, and starts it again after a while.
func (s *servers) killFor(ctx context.Context, length time.Duration) error {
	c := s.all()[s.primary()]
	mend, cancel := context.WithTimeout(context.WithoutCancel(ctx), serverPatience)
	defer cancel()
	if err := c.Kill(mend); err != nil {
		return err
	}
	wait(ctx, length)
	return errors.Join(c.Resume(), s.complete(mend))
}

// freezeFor freezes the primary for a while.
func (s *servers) freezeFor(ctx context.Context, length time.Duration) error {
	c := s.all()[s.primary()]
	if err := c.Freeze(); err != nil {
		return errors.Join(err, c.Wake())
	}
	wait(ctx, length)
	return c.Wake()
}

// complete waits until the standbys follow the primary. Without standbys nothing is to be waited for.
func (s *servers) complete(ctx context.Context) error {
	if s.trio == nil {
		return nil
	}
	return s.trio.AwaitStandbys(ctx, len(s.all())-1)
}

// failover makes a standby the primary after something has happened to the primary, and lets the
// former primary join as a standby. A primary that programs cannot reach is ended first, as a tool
// for failovers does, because it still reaches its standbys.
func (s *servers) failover(ctx context.Context, what string, notice time.Duration) (err error) {
	former := s.trio.Primary()
	c, w := s.trio.Servers[former], s.wires[former]
	mend, cancel := context.WithTimeout(context.WithoutCancel(ctx), serverPatience)
	defer cancel()
	switch what {
	case failoverKill:
		err = c.Kill(mend)
	case failoverFreeze:
		err = c.Freeze()
	case failoverCut:
		w.do(silence)
	}
	if err != nil {
		return err
	}
	wait(ctx, notice)
	if what == failoverCut {
		err = c.Kill(mend)
	}
	if err = errors.Join(err, s.trio.Failover(mend)); err != nil {
		return fmt.Errorf("%w%s", err, s.trio.Logs())
	}
	if what == failoverFreeze {
		err = c.Wake()
		wait(ctx, notice) // it is no primary any more, and does not know it yet
	}
	err = errors.Join(err, s.trio.Rejoin(mend, former))
	w.do("")
	return errors.Join(err, s.complete(mend))
}

// answers waits until the primary answers. It starts the primary again if it has ended.
func (s *servers) answers(ctx context.Context) error {
	c := s.all()[s.primary()]
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), serverPatience)
	defer cancel()
	for {
		failed := c.Ping(ctx)
		if failed == nil {
			return s.complete(ctx)
		}
		if !c.Runs() {
			failed = c.Resume()
		}
		if !wait(ctx, retry) {
			return cmp.Or(failed, ctx.Err())
		}
	}
}
