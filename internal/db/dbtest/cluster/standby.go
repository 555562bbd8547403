package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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
	hosts := []string{r.Primary.host(), r.Standbys[0].host(), r.Standbys[1].host()}
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

func (c *Cluster) host() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)) }

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

// Promote makes a standby a primary.
func (c *Cluster) Promote() error { return c.control("promote") }

// control runs pg_ctl and waits until it is done.
func (c *Cluster) control(args ...string) error {
	args = append([]string{"-D", filepath.Join(c.dir, "data"), "-w", "-t", "60"}, args...)
	out, err := c.command(filepath.Join(c.bin, "pg_ctl"), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("pg_ctl %s: %w: %s\n%s", args[len(args)-1], err, out, c.logTail())
	}
	return nil
}

// Kill ends all processes of the server immediately, like a power failure, and waits until the port
// is closed.
func (c *Cluster) Kill(ctx context.Context) error {
	text, err := os.ReadFile(filepath.Join(c.dir, "data", "postmaster.pid"))
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	postmaster, err := strconv.Atoi(first)
	if err != nil {
		return fmt.Errorf("postmaster.pid: %w", err)
	}
	children := childrenOf(postmaster)
	if err := syscall.Kill(postmaster, syscall.SIGKILL); err != nil {
		return err
	}
	for _, child := range children {
		if err := syscall.Kill(child, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		conn, err := net.Dial("tcp", c.host())
		if err != nil {
			return nil // nothing listens on the port
		}
		_ = conn.Close()
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// childrenOf returns the processes that a process has started. Without /proc it returns none. The
// children of a postmaster then end by themselves soon after the postmaster.
func childrenOf(parent int) (children []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // cannot fail, because the pattern is well-formed
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended meanwhile
		}
		// The process name in brackets may contain any characters. The state and the parent's
		// process ID follow it.
		_, after, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
		fields := strings.Fields(after)
		if len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			children = append(children, pid)
		}
	}
	return children
}
