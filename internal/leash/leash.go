// Package leash starts child processes that end with their parent. The parent holds the child's
// standard input, and its first line tells the child what to do. The child answers with one line
// once it serves, and ends when the input ends. The parent's death ends the input too.
package leash

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Process is a running child process.
type Process struct {
	*exec.Cmd
	in   io.Closer
	log  string
	end  sync.Once
	died chan struct{}
	err  error // how the process ended; set before died is closed
}

// Command says what to start.
type Command struct {
	Args []string // the program and its arguments
	Env  []string // beside the parent's environment
	Log  string   // the file to which the child's standard error is appended
}

// Start starts a child, sends it the role as JSON, and waits for its line, which it decodes into
// ready. If ctx ends before that line, the child ends.
func Start(ctx context.Context, c Command, role, ready any) (*Process, error) {
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &Process{Cmd: exec.Command(c.Args[0], c.Args[1:]...), log: c.Log, died: make(chan struct{})}
	p.Env, p.Stderr = append(os.Environ(), c.Env...), log
	in, err := p.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	p.in = in
	// If ctx ends, the closed pipe ends the child, and the read below ends too.
	stop := context.AfterFunc(ctx, func() { _ = in.Close() })
	defer stop()
	line, err := hear(in, bufio.NewReader(out), role)
	if err == nil {
		err = json.Unmarshal(line, ready)
	}
	go p.wait()
	if err != nil {
		p.Kill()
		return nil, fmt.Errorf("a child process did not start: %w%s", err, p.Said())
	}
	return p, nil
}

func hear(in io.Writer, out *bufio.Reader, role any) ([]byte, error) {
	if err := json.NewEncoder(in).Encode(role); err != nil {
		return nil, err
	}
	return out.ReadBytes('\n')
}

func (p *Process) wait() {
	p.err = p.Wait()
	close(p.died)
}

// Died returns a channel that is closed when the process has ended.
func (p *Process) Died() <-chan struct{} { return p.died }

// Said returns the end of the child's log.
func (p *Process) Said() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return ""
	}
	return "\n" + string(text[max(0, len(text)-2000):])
}

// Kill kills the child and waits for its end.
func (p *Process) Kill() {
	_ = p.Process.Kill() // the process may have ended already
	<-p.died
	p.end.Do(func() { _ = p.in.Close() })
}

// Stop ends the child as a signal does, and waits for its end. After a minute it kills the child.
// A child that has ended by itself is an error, and so is one that ended with an error.
func (p *Process) Stop() (err error) {
	p.end.Do(func() {
		select {
		case <-p.died:
			err = errors.New("the process ended by itself")
		default:
		}
		if e := p.in.Close(); !errors.Is(e, os.ErrClosed) {
			err = errors.Join(err, e)
		}
		kill := time.AfterFunc(time.Minute, func() { _ = p.Process.Kill() }) // p.err reports the end
		defer kill.Stop()
		<-p.died
		if err = errors.Join(err, p.err); err != nil {
			err = fmt.Errorf("a child process ended with %w%s", err, p.Said())
		}
	})
	return err
}

// Hold reads the role in the child. It returns a context that ends when the parent ends, and the
// function that sends the child's line.
func Hold(ctx context.Context, in io.Reader, out io.Writer, role any) (context.Context, func(ready any) error, error) {
	d := json.NewDecoder(in)
	if err := d.Decode(role); err != nil {
		return nil, nil, fmt.Errorf("only Kobo itself starts this command: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in) // returns when the parent ends
		stop()
	}()
	return ctx, func(ready any) error { return json.NewEncoder(out).Encode(ready) }, nil
}
