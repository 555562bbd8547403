package torture

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/leash"
)

// program is one of the programs of a run. The breaker kills, freezes and starts it again.
type program struct {
	name string
	role role
	args []string
	log  string

	mu      sync.Mutex
	process *leash.Process // nil while the program is down
	url     string
	deaths  []string // the ends of the program by itself that kill has found
	started int      // counts the starts
	again   []failure
}

// failure is a start that did not succeed, and after which restart tried again. At is microseconds since the begin of the run.
type failure struct {
	At   int64
	Says string
}

func newProgram(n int, args []string, r role) *program {
	return &program{name: fmt.Sprintf("program %d", n+1), role: r, args: args, log: filepath.Join(r.Data, fmt.Sprintf("program-%d.log", n+1))}
}

// start starts the program and returns its credentials.
func (p *program) start(ctx context.Context) (app.Credentials, error) {
	var c app.Credentials
	process, err := leash.Start(ctx, leash.Command{Args: p.args, Log: p.log}, p.role, &c)
	if err != nil {
		return c, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.process, p.url = process, c.BaseURL
	p.started++
	return c, nil
}

// restart starts the program until it serves. A start fails while the database is away. Parameter now returns the microseconds
// since the begin of the run.
func (p *program) restart(ctx context.Context, now func() int64) error {
	const pause, patience = 300 * time.Millisecond, 2 * time.Minute
	for began := time.Now(); ; {
		_, err := p.start(ctx)
		if err == nil || ctx.Err() != nil || time.Since(began) > patience {
			return err
		}
		p.mu.Lock()
		p.again = append(p.again, failure{now(), p.name + ": " + err.Error()})
		p.mu.Unlock()
		if !wait(ctx, pause) {
			return ctx.Err()
		}
	}
}

// address returns the program's URL, or "" while the program is down.
func (p *program) address() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process == nil {
		return ""
	}
	return p.url
}

func (p *program) running() *leash.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process
}

func (p *program) forget() *leash.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.process
	p.process, p.url = nil, ""
	return was
}

// kill kills the program as kill -9 does. It notes a program that has ended by itself before, which a kill would hide.
func (p *program) kill() {
	was := p.forget()
	if was == nil {
		return
	}
	select {
	case <-was.Died():
		p.mu.Lock()
		p.deaths = append(p.deaths, p.name+": the process ended by itself"+was.Said())
		p.mu.Unlock()
	default:
	}
	was.Kill()
}

// stop stops the program as a signal does.
func (p *program) stop() error {
	if was := p.forget(); was != nil {
		return was.Stop()
	}
	return nil
}

// wait waits for a duration. It returns false if the context ended.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
