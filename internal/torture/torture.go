// Package torture starts throw-away instances of Kobo, drives them with a random mix of payments,
// breaks them on a seeded schedule, and then checks that nothing was lost or done twice.
package torture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
)

// Options choose what a run does.
type Options struct {
	Seed     uint64
	Duration time.Duration // how long the load lasts; the end takes about a minute more
	Clients  int
	Programs int
	Postgres string   // the URL of a PostgreSQL server, or Own; SQLite if empty
	Standbys int      // of the run's own server: 0 or 2
	Only     []string // the kinds of breaks; all if empty
	Folder   string   // for the instance; the system's temporary folder if empty
	Keep     bool     // keeps the folder of the instance, with the logs
	History  string   // the file to which the history is written; none if empty
	Child    []string // the command that runs Child
	Progress io.Writer
	Version  string

	replayed *History // nil unless a history is replayed
}

// ErrOptions is an invalid combination of options.
var ErrOptions = errors.New("invalid options")

// Check returns an error if the options are not valid.
func (o Options) Check() error {
	switch {
	case o.Duration < time.Second || o.Duration > 24*time.Hour:
		return fmt.Errorf("%w: --minutes must be above 0, and at most 1440", ErrOptions)
	case o.Clients < 1 || o.Clients > 100:
		return fmt.Errorf("%w: --clients must be 1 to 100", ErrOptions)
	case o.Programs < 1 || o.Programs > 3:
		return fmt.Errorf("%w: --programs must be 1 to 3", ErrOptions)
	case o.Standbys != 0 && o.Standbys != 2:
		return fmt.Errorf("%w: --standbys must be 0 or 2", ErrOptions)
	case o.Standbys != 0 && o.Postgres != Own:
		return fmt.Errorf("%w: --standbys needs --postgres %s", ErrOptions, Own)
	}
	return nil
}

func (o Options) header() Header {
	h := Header{Version: o.Version, Began: time.Now().UTC(), Seed: o.Seed, Duration: o.Duration, Clients: o.Clients, Programs: o.Programs, Engine: "sqlite", PayoutFee: payoutFee, Format: format}
	switch {
	case o.Standbys > 0:
		h.Engine = fmt.Sprintf("its own postgres with %d standbys", o.Standbys)
	case o.Postgres == Own:
		h.Engine = "its own postgres"
	case o.Postgres != "":
		h.Engine = "postgres"
	}
	return h
}

// run is a run at work.
type run struct {
	Options
	*world
	folder   string
	database string   // for the run itself
	reached  string   // for the programs
	server   *server  // nil with SQLite
	base     *servers // nil without servers of the run's own
	programs []*program
	copier   *copier // nil if the run cannot back the database up
	clients  []*client
	undo     []func() error
}

// Run makes one run and returns its history. An error means that the run could not be made or
// finished; Check tells what it found.
func Run(ctx context.Context, o Options) (h History, err error) {
	if err = o.Check(); err != nil {
		return h, err
	}
	r := &run{Options: o}
	defer func() {
		for i := len(r.undo) - 1; i >= 0; i-- {
			err = errors.Join(err, r.undo[i]())
		}
	}()
	if err = r.prepare(ctx); err != nil {
		return h, err
	}
	f, err := r.work(ctx)
	h, e := r.end(f)
	return h, errors.Join(err, e)
}

// prepare makes the folder, the database, the programs and the companies.
func (r *run) prepare(ctx context.Context) (err error) {
	if r.folder, err = os.MkdirTemp(r.Folder, "kobo-torture-"); err != nil {
		return err
	}
	if !r.Keep {
		r.undo = append(r.undo, func() error { return os.RemoveAll(r.folder) })
	}
	if err = r.found(ctx); err != nil {
		return err
	}
	r.copier = newCopier(r.folder, r.database, r.server, r.base)
	var first app.Credentials
	for n := range r.Programs {
		p := newProgram(n, r.Child, role{Data: r.folder, Database: r.reached})
		r.programs = append(r.programs, p)
		r.undo = append(r.undo, func() error { p.kill(); return nil })
		if first, err = p.start(ctx); err != nil {
			return err
		}
	}
	hook, err := newReceiver()
	if err != nil {
		return err
	}
	r.undo = append(r.undo, func() error { return hook.close(context.WithoutCancel(ctx)) })
	record, err := newRecorder(r.History, r.header())
	if err != nil {
		return err
	}
	r.world = &world{recorder: record, fleet: newFleet(r.programs), hook: hook}
	return r.populate(ctx, first)
}

// work makes the load with its breaks, lets everything come to its end, and reads the facts.
func (r *run) work(ctx context.Context) (f Facts, err error) {
	load := r.load
	if r.replayed != nil {
		load = r.replay
	}
	if err = load(ctx); err != nil {
		return f, err
	}
	found, err := r.settle(ctx, r.clients, r.copier, r.say)
	if err != nil {
		return f, fmt.Errorf("settling: %w", err)
	}
	r.say("reading the facts")
	if f, err = r.gather(ctx); err != nil {
		return f, fmt.Errorf("reading the facts: %w", err)
	}
	if err = r.explain(ctx, f, found); err != nil {
		return f, err
	}
	if f.Unsent, err = r.unsent(ctx, f); err != nil {
		return f, err
	}
	for i, c := range r.companies {
		if err = r.receipts(ctx, c, &f.Companies[i]); err != nil {
			return f, err
		}
	}
	f.Cases, f.Faults = found, r.fleet.faults.all()
	for _, p := range r.programs {
		if e := p.stop(); e != nil {
			f.Starts = append(f.Starts, p.name+": "+e.Error())
		}
		f.Starts, f.Again, f.Started = append(f.Starts, p.deaths...), append(f.Again, p.again...), f.Started+p.started
	}
	f.Panics, err = r.panics()
	if err == nil {
		f.Verify, f.Read, err = r.verify(ctx)
	}
	return f, err
}

// breaker returns what breaks the programs of the run.
func (r *run) breaker() *breaker {
	return &breaker{world: r.world, programs: r.programs, server: r.server, base: r.base, only: r.Only, copier: r.copier}
}

// load drives the programs and breaks them for the duration of the run.
func (r *run) load(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, r.Duration)
	defer stop()
	counters := make([]*counter, 0, len(r.companies))
	for _, c := range r.companies {
		counters = append(counters, &counter{company: c})
	}
	var all sync.WaitGroup
	errs := make([]error, r.Clients+2)
	for n := range r.Clients {
		at := counters[n%len(counters)]
		c := &client{world: r.world, number: n, seed: r.Seed, counter: at, own: at.company}
		r.clients = append(r.clients, c)
		all.Go(func() {
			if errs[n] = c.run(ctx); errs[n] != nil {
				stop()
			}
		})
	}
	b := r.breaker()
	all.Go(func() {
		if errs[r.Clients] = b.run(ctx, r.Seed); errs[r.Clients] != nil {
			stop()
		}
	})
	all.Go(func() {
		if errs[r.Clients+1] = r.operate(ctx); errs[r.Clients+1] != nil {
			stop()
		}
	})
	for wait(ctx, time.Second) {
		r.mu.Lock()
		calls, breaks := len(r.history.Calls), len(r.history.Breaks)
		r.mu.Unlock()
		r.say(fmt.Sprintf("%4d s left, %d calls, %d breaks", (r.Duration-time.Since(r.began))/time.Second, calls, breaks))
	}
	all.Wait()
	return errors.Join(errs...)
}

func (r *run) say(what string) { fmt.Fprintf(r.Progress, "\rseed %d: %-50s", r.Seed, what) }

// panics returns the lines of the programs' logs that tell of a crash.
func (r *run) panics() (lines []string, err error) {
	for _, p := range r.programs {
		text, err := os.ReadFile(p.log)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			if tellsOfPanic(line) {
				lines = append(lines, p.name+": "+strings.TrimSpace(line))
			}
		}
	}
	return lines, nil
}

// tellsOfPanic reports whether a line of a log tells of a crash, or of a panic after which the program has gone on.
func tellsOfPanic(line string) bool {
	return strings.Contains(line, "panic") || strings.HasPrefix(line, "fatal error:") || strings.Contains(line, "DATA RACE")
}

// found creates the database.
func (r *run) found(ctx context.Context) (err error) {
	switch r.Postgres {
	case "":
		r.database = "sqlite:" + filepath.Join(r.folder, "kobo.db")
		r.reached = r.database
		return nil
	case Own:
		if r.base, err = startServers(ctx, r.Options); err != nil {
			return err
		}
		r.undo = append(r.undo, r.base.stop)
		r.server = newServer(r.base.direct("postgres"))
	default:
		r.server = newServer(r.Postgres)
	}
	if r.database, err = r.server.database(); err == nil {
		err = r.server.create(ctx)
	}
	if r.reached = r.database; r.base != nil { // the database goes with its server
		r.reached = r.base.through(r.server.name)
		return err
	}
	if err == nil {
		r.undo = append(r.undo, func() error { return r.server.drop(context.WithoutCancel(ctx)) })
	}
	return err
}
