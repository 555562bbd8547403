package bench

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/report"
)

// instance is a throw-away Kobo: a folder, a database, a provider and the program.
type instance struct {
	folder, database string
	provider, kobo   *child
	postgres         []*db.DB // connections for statistics to each server of the database; none with SQLite
	processes        []process
	target           target
	companies        []Account
	undo             []func() error
}

// start starts an instance for a mix.
func (o Options) start(ctx context.Context, m mix) (i *instance, err error) {
	i = &instance{}
	defer func() {
		if err != nil {
			err = errors.Join(err, i.remove())
		}
	}()
	if i.folder, err = os.MkdirTemp(o.Folder, "kobo-bench-"); err != nil {
		return i, err
	}
	i.undo = append(i.undo, func() error { return os.RemoveAll(i.folder) })
	if err = i.found(ctx, o); err != nil {
		return i, err
	}
	r := role{Provider: true}
	var env []string
	if o.TLS {
		if r.Certificate, r.Key, err = certify(i.folder); err != nil {
			return i, err
		}
		env = append(env, "SSL_CERT_FILE="+r.Certificate)
	}
	var provider, kobo ready
	if m.soak == nil {
		if i.provider, provider, err = o.spawn(ctx, i, "provider", r, nil); err != nil {
			return i, err
		}
	}
	r = role{Data: i.folder, Database: i.database, ProviderURL: provider.Address, Companies: m.companies, Poor: m.poor, Soak: m.soak}
	if i.kobo, kobo, err = o.spawn(ctx, i, "kobo", r, env); err != nil {
		return i, err
	}
	i.target, i.companies = target{host: kobo.Address}, kobo.Companies
	if err = i.watch(ctx); err == nil {
		err = i.target.tokens(ctx, i.companies)
	}
	return i, err
}

// found creates the database.
func (i *instance) found(ctx context.Context, o Options) error {
	if o.Postgres == "" {
		i.database = "sqlite:" + filepath.Join(i.folder, "kobo.db")
		return nil
	}
	name := o.Name
	if name == "" {
		name = "kobo_bench_" + strings.ToLower(rand.Text()[:12])
	}
	s := server{o.Postgres}
	var err error
	if i.database, err = s.create(ctx, name); err != nil {
		return err
	}
	i.undo = append(i.undo, func() error { return s.drop(context.WithoutCancel(ctx), name) })
	return nil
}

// watch finds the processes of the instance. It connects to PostgreSQL after Kobo has migrated the
// database, because a migration refuses other programs.
func (i *instance) watch(ctx context.Context) (err error) {
	i.processes = []process{{name: "client", pid: os.Getpid()}}
	for name, c := range map[string]*child{"kobo": i.kobo, "provider": i.provider} {
		if c != nil {
			i.processes = append(i.processes, process{name: name, pid: c.Process.Pid})
		}
	}
	if i.database == "" || strings.HasPrefix(i.database, "sqlite:") {
		return nil
	}
	nodes, err := server{i.database}.nodes(ctx)
	if err != nil {
		return err
	}
	var servers []process
	for _, n := range nodes {
		d, err := db.Open(ctx, n.url)
		if err != nil {
			return err
		}
		i.undo = append(i.undo, func() error { d.Close(); return nil })
		i.postgres = append(i.postgres, d)
		pid, err := backend(ctx, d)
		if err != nil {
			return err
		}
		if main, here := postmaster(pid); here {
			servers = append(servers, process{"postgres", main, true})
		}
	}
	if len(servers) == len(nodes) { // the time of some nodes would look like that of all
		i.processes = append(i.processes, servers...)
	}
	return nil
}

// child is a child process. It ends when its standard input is closed.
type child struct {
	*exec.Cmd
	leash io.Closer
	log   string
}

// spawn starts a child process and waits until it serves.
func (o Options) spawn(ctx context.Context, i *instance, name string, r role, env []string) (*child, ready, error) {
	c := &child{Cmd: exec.Command(o.Child[0], o.Child[1:]...), log: filepath.Join(i.folder, name+".log")}
	c.Env = append(os.Environ(), env...)
	log, err := os.Create(c.log)
	if err != nil {
		return nil, ready{}, err
	}
	defer log.Close()
	c.Stderr = log
	in, err := c.StdinPipe()
	if err != nil {
		return nil, ready{}, err
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return nil, ready{}, err
	}
	c.leash = in
	i.undo = append(i.undo, c.stop)
	// If ctx ends, the closed pipe ends the child, and the read below ends too.
	stop := context.AfterFunc(ctx, func() { _ = in.Close() })
	defer stop()
	var is ready
	var line []byte
	if err = json.NewEncoder(in).Encode(r); err == nil {
		line, err = bufio.NewReader(out).ReadBytes('\n')
	}
	if err == nil {
		err = json.Unmarshal(line, &is)
	}
	if err != nil {
		return nil, is, fmt.Errorf("the %s process did not start: %w%s", name, err, c.said())
	}
	return c, is, nil
}

// said returns the end of the child's log.
func (c *child) said() string {
	text, err := os.ReadFile(c.log)
	if err != nil {
		return ""
	}
	return "\n" + string(text[max(0, len(text)-2000):])
}

// stop ends the child and waits for its end.
func (c *child) stop() error {
	if c.ProcessState != nil {
		return nil
	}
	err := c.leash.Close()
	kill := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() }) // Wait reports it
	defer kill.Stop()
	if e := c.Wait(); e != nil {
		return fmt.Errorf("a child process ended with %w%s", e, c.said())
	}
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	return err
}

// verify stops Kobo and checks its ledger as kobo verify does. It asks a program that the bench has
// not started over HTTP.
func (i *instance) verify(ctx context.Context) error {
	if i.kobo == nil {
		return i.asked()
	}
	if err := i.kobo.stop(); err != nil {
		return err
	}
	d, err := db.Open(ctx, i.database)
	if err != nil {
		return err
	}
	defer d.Close()
	r := report.New(d, clock.System{})
	companies, err := r.Companies(ctx)
	for _, one := range companies {
		v, e := r.Verify(ctx, one)
		if err = errors.Join(err, e); err != nil {
			return err
		}
		for _, line := range v.Lines() {
			err = errors.Join(err, errors.New(line))
		}
	}
	if err != nil {
		return fmt.Errorf("the ledger is not sound: %w", err)
	}
	return nil
}

// remove stops the processes and removes the database and the folder.
func (i *instance) remove() (err error) {
	for n := len(i.undo) - 1; n >= 0; n-- {
		err = errors.Join(err, i.undo[n]())
	}
	i.undo = nil
	return err
}

// measure reads what the processes and the database have used so far.
func (i *instance) measure(ctx context.Context) (map[string]usage, written, error) {
	all := map[string]usage{}
	var w written
	for _, p := range i.processes {
		u, err := p.use()
		if err != nil {
			return nil, w, err
		}
		sum := all[p.name]
		all[p.name] = usage{sum.cpu + u.cpu, sum.memory + u.memory, sum.written + u.written}
	}
	for _, d := range i.postgres {
		one, err := writtenBy(ctx, d)
		if err != nil {
			return nil, w, err
		}
		w = w.plus(one)
	}
	if len(i.postgres) > 1 {
		w.Files = nil // each shard has files of its own
	}
	if len(i.postgres) > 0 {
		return all, w, nil
	}
	files, err := filepath.Glob(filepath.Join(i.folder, "kobo.db*"))
	for _, path := range files {
		if info, e := os.Stat(path); e == nil {
			w.Stored += info.Size()
		}
	}
	return all, w, err
}
