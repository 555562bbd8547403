package app

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// courtesy is how long a connection on which nothing was asked yet may stay once
// the program is told to stop: what is on its way gets there.
const courtesy = 500 * time.Millisecond

// newcomers are the connections on which nothing was asked yet, such as those that
// a browser or a load balancer opens ahead of need. An http.Server that ends waits
// five seconds for each of them, since it cannot tell them from a slow request.
type newcomers struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
}

// see is a server's ConnState.
func (n *newcomers) see(c net.Conn, s http.ConnState) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s != http.StateNew {
		delete(n.conns, c)
		return
	}
	if n.conns == nil {
		n.conns = map[net.Conn]bool{}
	}
	n.conns[c] = true
}

// dismiss closes those that have asked nothing after the courtesy. It does not
// wait.
func (n *newcomers) dismiss() { time.AfterFunc(courtesy, n.close) }

func (n *newcomers) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		_ = c.Close() // nobody has asked anything on it
	}
}
