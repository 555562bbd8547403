// Package cluster starts a private, throw-away PostgreSQL for tests and stops
// it again, whatever becomes of the program that asked for it.
//
// The server listens on a free loopback port, trusts every local connection and
// keeps its data in a temporary folder that goes with it. It never runs as
// root: PostgreSQL refuses to, so a test run by root hands it to an
// unprivileged user.
package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// ErrAbsent means that no PostgreSQL server is installed here.
var ErrAbsent = errors.New("no PostgreSQL server found (looked for initdb and pg_ctl in PATH and /usr/lib/postgresql/*/bin)")

// Cluster is a running private server.
type Cluster struct {
	// URL is the maintenance database, with the right to create others.
	URL string

	supervisor *exec.Cmd
	leash      io.Closer // closing it tells the supervisor to stop the server
	dir        string
}

// Options say what the server is for.
type Options struct {
	// Durable keeps every commit on the disk before it is answered, as in
	// production. Benchmarks need it; tests are four times faster without.
	Durable bool
}

// The supervisor is a shell that holds its standard input: when the program at
// the other end dies, even by kill -9, the pipe closes, the shell reads the end
// and stops the server. Nothing else would tell it.
const supervise = `
trap '' PIPE
"$BIN/initdb" -D "$DIR/data" -U kobo -A trust -E UTF8 --locale=C --no-sync --no-instructions >>"$DIR/log" 2>&1 || exit 1
"$BIN/pg_ctl" -D "$DIR/data" -l "$DIR/log" -o "$SETTINGS" -w -t 60 start >>"$DIR/log" 2>&1 || exit 1
echo ready
cat >/dev/null
"$BIN/pg_ctl" -D "$DIR/data" -m immediate -w stop >/dev/null 2>&1
cd / && rm -rf "$DIR"
`

// Start makes a cluster and waits until it answers.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	bin, err := Binaries()
	if err != nil {
		return nil, err
	}
	// Another program can take the free port before the server does.
	for range 3 {
		var c *Cluster
		if c, err = start(ctx, bin, o); err == nil {
			return c, nil
		}
	}
	return nil, err
}

func start(ctx context.Context, bin string, o Options) (*Cluster, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kobo-pg-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, URL: fmt.Sprintf("postgres://kobo@127.0.0.1:%d/postgres?sslmode=disable", port)}
	attributes, err := unprivileged(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c.supervisor = exec.Command("/bin/sh", "-c", supervise)
	c.supervisor.Dir = dir
	c.supervisor.SysProcAttr = attributes
	c.supervisor.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "BIN=" + bin, "DIR=" + dir, "SETTINGS=" + settings(port, o)}
	leash, err := c.supervisor.StdinPipe()
	if err != nil {
		return nil, err
	}
	c.leash = leash
	answer, err := c.supervisor.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.supervisor.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := awaitReady(ctx, answer); err != nil {
		err = fmt.Errorf("starting PostgreSQL from %s: %w\n%s", bin, err, c.logTail())
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// awaitReady reads the supervisor's one word.
func awaitReady(ctx context.Context, answer io.Reader) error {
	heard := make(chan error, 1)
	go func() {
		line, err := bufio.NewReader(answer).ReadString('\n')
		if err == nil && line != "ready\n" {
			err = fmt.Errorf("the supervisor said %q", line)
		}
		heard <- err
	}()
	select {
	case err := <-heard:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stop ends the server and removes its data.
func (c *Cluster) Stop() error {
	err := c.leash.Close()
	var exit *exec.ExitError
	// A server that never started has said so already: its exit code is no news.
	if e := c.supervisor.Wait(); e != nil && !errors.As(e, &exit) {
		err = errors.Join(err, e)
	}
	return errors.Join(err, os.RemoveAll(c.dir))
}

// Binaries is the folder of the newest installed server.
func Binaries() (string, error) {
	var folders []string
	if path, err := exec.LookPath("initdb"); err == nil {
		// Distributions link single programs into PATH; their neighbours
		// (share files, postgres) are found from where the link points.
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		folders = append(folders, filepath.Dir(path))
	}
	installed, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is well-formed
	slices.SortFunc(installed, func(a, b string) int { return version(b) - version(a) })
	for _, folder := range append(folders, installed...) {
		if runnable(folder, "initdb") && runnable(folder, "pg_ctl") && runnable(folder, "postgres") {
			return folder, nil
		}
	}
	return "", ErrAbsent
}

func version(bin string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	if err != nil {
		return 0
	}
	return n
}

func runnable(folder, name string) bool {
	info, err := os.Stat(filepath.Join(folder, name))
	return err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}

// settings are the server's command line. Locale, encoding and trust belong to
// initdb.
func settings(port int, o Options) string {
	s := []string{
		"listen_addresses=127.0.0.1", fmt.Sprintf("port=%d", port), "unix_socket_directories=",
		"max_connections=200", "timezone=UTC", "max_wal_size=1GB", "shared_buffers=128MB",
	}
	if !o.Durable {
		s = append(s, "fsync=off", "synchronous_commit=off", "full_page_writes=off",
			"wal_level=minimal", "max_wal_senders=0", "autovacuum=off")
	}
	return "-c " + strings.Join(s, " -c ")
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// unprivileged gives the folder to the user the server will run as. The group
// of its own keeps a Ctrl-C at the terminal from reaching the supervisor before
// it has stopped the server.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() != 0 {
		return attributes, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			continue
		}
		gid, err := strconv.Atoi(u.Gid)
		if err != nil {
			continue
		}
		attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return attributes, os.Chown(dir, uid, gid)
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")
}

// logTail is the end of the server's log, for the message of a failed start.
func (c *Cluster) logTail() string {
	log, err := os.ReadFile(filepath.Join(c.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(log[max(0, len(log)-2000):])
}
