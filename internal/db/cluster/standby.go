package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Replicated is a primary with two streaming standbys. The primary replies to a commit only when at
// least one standby has it.
type Replicated struct {
	Primary  *Cluster
	Standbys [2]*Cluster
}

// StartReplicated starts the three servers and waits until they respond.
func StartReplicated(ctx context.Context) (*Replicated, error) {
	r := &Replicated{}
	var err error
	if r.Primary, err = Start(ctx, Options{Durable: true, Synchronous: "ANY 1 (s1, s2)"}); err != nil {
		return nil, err
	}
	for i := range r.Standbys {
		name := fmt.Sprintf("s%d", i+1)
		if r.Standbys[i], err = Start(ctx, Options{Durable: true, standby: name, of: r.Primary}); err != nil {
			return nil, errors.Join(err, r.Stop())
		}
	}
	return r, nil
}

// Stop ends the servers and removes their data.
func (r *Replicated) Stop() error {
	var err error
	for _, c := range []*Cluster{r.Standbys[0], r.Standbys[1], r.Primary} {
		if c != nil {
			err = errors.Join(err, c.Stop())
		}
	}
	return err
}

// URL returns the URL of a database on whichever of the three servers accepts writes.
func (r *Replicated) URL(database string) string {
	hosts := []string{r.Primary.Host(), r.Standbys[0].Host(), r.Standbys[1].Host()}
	return "postgres://kobo@" + strings.Join(hosts, ",") + "/" + database + "?sslmode=disable&target_session_attrs=read-write"
}

// StopStandbys stops both standbys, so that no later commit gets a reply. A test can promote the
// first standby, because it has every commit that got a reply. To ensure this, StopStandbys stops
// the second standby first and then waits until the first standby has confirmed one more commit.
func (r *Replicated) StopStandbys(ctx context.Context) error {
	if err := r.Standbys[1].Halt(); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, r.Primary.URL)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE TABLE last_of_both ()")
	return errors.Join(err, conn.Close(ctx), r.Standbys[0].Halt())
}

// Host returns the address of the server.
func (c *Cluster) Host() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)) }

// conninfo returns the connection string with which a standby of this name reaches the primary.
func (c *Cluster) conninfo(standby string) string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=kobo application_name=%s", c.port, standby)
}

// Halt stops the server cleanly. Resume starts it again.
func (c *Cluster) Halt() error { return c.control("-m", "fast", "stop") }

// Resume starts a server that was halted or killed.
func (c *Cluster) Resume() error {
	return c.control("-l", filepath.Join(c.dir, "log"), "-o", c.settings, "start")
}

// Ping asks the server for an answer.
func (c *Cluster) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.URL)
	if err != nil {
		return err
	}
	return errors.Join(conn.Ping(ctx), conn.Close(ctx))
}

// Promote makes a standby a primary.
func (c *Cluster) Promote() error { return c.control("promote") }

// control runs pg_ctl and waits until it is done.
func (c *Cluster) control(args ...string) error {
	args = append([]string{"-D", filepath.Join(c.dir, "data"), "-w", "-t", "60"}, args...)
	out, err := c.Command(filepath.Join(c.bin, "pg_ctl"), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("pg_ctl %s: %w: %s\n%s", args[len(args)-1], err, out, c.logTail())
	}
	return nil
}
