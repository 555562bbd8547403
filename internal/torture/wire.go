package torture

import (
	"errors"
	"net"
	"sync"
)

// These are the things that a wire does to the connections through it.
const (
	silence    = "silent connections"
	lostBefore = "COMMIT lost before"
	lostAfter  = "COMMIT lost after"
)

// wire forwards the connections of the programs to a PostgreSQL server on this machine, without
// TLS. A break makes it lose bytes or COMMITs.
type wire struct {
	listener net.Listener
	server   string
	tasks    sync.WaitGroup

	mu    sync.Mutex
	links map[*link]bool // nil after close
	does  string         // a break, or "" when all is forwarded
	lost  map[string]int // by what the wire did: COMMITs, and connections that lost bytes
}

func newWire(server string) (*wire, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &wire{listener: l, server: server, links: map[*link]bool{}, lost: map[string]int{}}
	w.tasks.Go(w.accept)
	return w, nil
}

// address is where the programs reach the server.
func (w *wire) address() string { return w.listener.Addr().String() }

func (w *wire) accept() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return // close was called
		}
		w.tasks.Go(func() { w.open(client) })
	}
}

// open connects a client with the server, until one of them ends the connection.
func (w *wire) open(client net.Conn) {
	server, err := net.Dial("tcp", w.server)
	if err != nil {
		_ = client.Close() // the server is down, as the client now sees
		return
	}
	l := newLink(w, client, server)
	w.mu.Lock()
	known := w.links != nil
	if known {
		w.links[l] = true
	}
	w.mu.Unlock()
	if !known {
		l.close()
		return
	}
	var both sync.WaitGroup
	for _, copies := range []func() error{l.fromClient, l.fromServer} {
		both.Go(func() {
			_ = copies() // the error is the end of the connection, which both sides see
			l.close()
		})
	}
	both.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.links, l)
}

// now returns what the wire does at the moment.
func (w *wire) now() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.does
}

// swallows reports whether the bytes of a connection are lost. From the first lost byte on, all are.
func (w *wire) swallows(l *link) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.does == silence && !l.deaf {
		l.deaf = true
		w.lost[silence]++
	}
	return l.deaf
}

// do makes the wire do something from now on. A connection that has lost bytes is closed as soon as
// the wire forwards again.
func (w *wire) do(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.does = what
	if what != "" {
		return
	}
	for l := range w.links {
		if l.deaf {
			l.close()
		}
	}
}

func (w *wire) lose(how string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost[how]++
}

// losses returns how many COMMITs a kind of break has lost since the last call, or how many connections have lost bytes by silence. An
// answer that is lost after the end of its break counts for the next break of this kind.
func (w *wire) losses(kind string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, w.lost[kind] = w.lost[kind], 0
	return n
}

func (w *wire) close() error {
	err := w.listener.Close()
	w.mu.Lock()
	for l := range w.links {
		l.close()
	}
	w.links = nil
	w.mu.Unlock()
	w.tasks.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
