// Package cluster starts a private, throw-away PostgreSQL server, for tests and for kobo torture. It
// stops the server even if the program that started it is killed.
//
// The server listens on a free loopback port, trusts every local connection and stores its data in
// a temporary folder. PostgreSQL refuses to run as root, so for root the package starts the server
// as an unprivileged user.
package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// ErrAbsent means that no PostgreSQL server is installed on this machine.
var ErrAbsent = errors.New("no PostgreSQL server found (looked for initdb and pg_ctl in PATH and /usr/lib/postgresql/*/bin)")

// Cluster is a running, private PostgreSQL server.
type Cluster struct {
	// URL is the URL of the maintenance database. Its user has the right to create databases.
	URL string

	supervisor *exec.Cmd
	leash      io.Closer // the pipe to the supervisor; closing it makes the supervisor stop the server
	dir, bin   string
	keep       bool
	port       int
	settings   string // the options of the server's command line
	user       *syscall.SysProcAttr
}

// Options selects how a server runs.
type Options struct {
	// Durable makes the server write every commit to the disk before it replies, as in production.
	// Benchmarks need this. Tests run four times faster without it.
	Durable bool
	// Synchronous is the setting synchronous_standby_names. It names the standbys that must have a
	// commit before the server replies.
	Synchronous string
	// Folder is where the server makes its own folder. It is the system's temporary folder if empty.
	Folder string
	// Keep makes Stop leave the server's folder where it is.
	Keep bool

	standby string   // the name of this server as a standby
	of      *Cluster // the primary of this standby
	member  bool     // of a Trio: the server can change its part
}

// supervise is a shell script that reads from a pipe. When the program at the other end of the pipe
// dies, even by kill -9, the pipe closes. The script then stops the server, which may be frozen. If
// the server was killed before, the script removes the server's shared memory segment.
const supervise = `
trap '' PIPE
eval "$MAKE" >>"$DIR/log" 2>&1 || exit 1
"$BIN/pg_ctl" -D "$DIR/data" -l "$DIR/log" -o "$SETTINGS" -w -t 60 start >>"$DIR/log" 2>&1 || exit 1
echo ready
cat >/dev/null
if [ -f "$DIR/data/postmaster.pid" ]; then
	kill -CONT "$(head -n 1 "$DIR/data/postmaster.pid")" >/dev/null 2>&1
fi
"$BIN/pg_ctl" -D "$DIR/data" -m immediate -w stop >/dev/null 2>&1
if [ -f "$DIR/data/postmaster.pid" ]; then
	set -- $(sed -n 7p "$DIR/data/postmaster.pid") && ipcrm -m "$2" >/dev/null 2>&1
fi
[ -n "$KEEP" ] || { cd / && rm -rf "$DIR"; }
`

// These are the two ways to create the server's data. initdb creates new data, and backup copies
// the primary's data.
const (
	initdb = `"$BIN/initdb" -D "$DIR/data" -U kobo -A trust -E UTF8 --locale=C --no-sync --no-instructions`
	// rewindable makes data that pg_rewind can rewind. It starts the server without the options of the command line.
	// A standby looks for the new primary twice a second, instead of every five seconds.
	rewindable = ` --data-checksums && printf 'wal_keep_size = 1GB\nwal_retrieve_retry_interval = 500ms\n' >>"$DIR/data/postgresql.auto.conf"`

	backup = `"$BIN/pg_basebackup" -D "$DIR/data" -d "$FROM" -X stream -c fast --no-sync && touch "$DIR/data/standby.signal"`
)

// Start starts a cluster and waits until it responds.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	bin, err := Binaries()
	if err != nil {
		return nil, err
	}
	// Another program can take the free port before the server does, so Start tries three times.
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
	dir, err := os.MkdirTemp(o.Folder, "kobo-pg-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		URL: fmt.Sprintf("postgres://kobo@127.0.0.1:%d/postgres?sslmode=disable", port),
		dir: dir, bin: bin, keep: o.Keep, port: port, settings: settings(port, o),
	}
	if c.user, err = unprivileged(dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c.supervisor = c.Command("/bin/sh", "-c", supervise)
	data, from := initdb, ""
	if o.member {
		data += rewindable
	}
	if o.of != nil {
		data, from = backup, o.of.conninfo(o.standby)
	}
	c.supervisor.Env = append(c.supervisor.Env, "BIN="+bin, "DIR="+dir, "SETTINGS="+c.settings, "MAKE="+data, "FROM="+from)
	if o.Keep {
		c.supervisor.Env = append(c.supervisor.Env, "KEEP=yes")
	}
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

// Command returns a command that runs as the server's user.
func (c *Cluster) Command(name string, args ...string) *exec.Cmd {
	command := exec.Command(name, args...)
	command.Dir, command.SysProcAttr = c.dir, c.user
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	return command
}

// awaitReady waits until the supervisor writes "ready".
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

// Stop ends the server and removes its data, unless the data is to be kept.
func (c *Cluster) Stop() error {
	err := c.leash.Close()
	var exit *exec.ExitError
	// The exit code is ignored. If the server failed to start, Start returns the error of the
	// start.
	if e := c.supervisor.Wait(); e != nil && !errors.As(e, &exit) {
		err = errors.Join(err, e)
	}
	if c.keep {
		return err
	}
	return errors.Join(err, os.RemoveAll(c.dir))
}

// Binaries returns the folder with the programs of the newest installed server.
func Binaries() (string, error) {
	var folders []string
	if path, err := exec.LookPath("initdb"); err == nil {
		// Distributions link only some programs into PATH. Others, such as postgres, are in the
		// folder to which the link leads.
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		folders = append(folders, filepath.Dir(path))
	}
	installed, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // cannot fail, because the pattern is well-formed
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

// settings returns the options of the server's command line. Locale, encoding and trust are not
// among them, because initdb has set them.
func settings(port int, o Options) string {
	s := []string{
		"listen_addresses=127.0.0.1", fmt.Sprintf("port=%d", port), "unix_socket_directories=",
		"max_connections=200", "timezone=UTC", "max_wal_size=1GB", "shared_buffers=128MB",
	}
	if !o.Durable {
		s = append(s, "fsync=off", "synchronous_commit=off", "full_page_writes=off",
			"wal_level=minimal", "max_wal_senders=0", "autovacuum=off")
	}
	if o.Durable {
		// With mmap, a killed server leaves nothing in /dev/shm.
		s = append(s, "dynamic_shared_memory_type=mmap")
	}
	if o.Synchronous != "" {
		s = append(s, "synchronous_standby_names="+o.Synchronous)
	}
	if o.of != nil && !o.member {
		s = append(s, "primary_conninfo="+o.of.conninfo(o.standby))
	}
	return "-c '" + strings.Join(s, "' -c '") + "'"
}

// freePort returns a free port below those that systems give to outgoing connections and to listeners on port 0. A server
// that is killed and started again must find its port free.
func freePort() (port int, err error) {
	for range 100 {
		port = 15_000 + rand.IntN(17_000)
		var l net.Listener
		if l, err = net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, err
}

// logTail returns the end of the server's log, for the error of a failed start.
func (c *Cluster) logTail() string {
	log, err := os.ReadFile(filepath.Join(c.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(log[max(0, len(log)-2000):])
}
