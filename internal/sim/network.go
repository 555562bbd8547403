package sim

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// network connects a program with its simulated providers and its callers. It exists in memory only,
// because the virtual time stands still while a goroutine waits for a real network. Each life of a
// program has a network of its own, so that Cut ends all its connections.
type network struct {
	mu        sync.Mutex
	cut       bool
	port      int
	listeners map[int]*listener
	conns     map[*conn]bool
}

func newNetwork() *network {
	return &network{port: 40000, listeners: map[int]*listener{}, conns: map[*conn]bool{}}
}

// Listen opens a listener. Port 0 of the address means an unused port.
func (n *network) Listen(_, address string) (net.Listener, error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if at.Port == 0 {
		n.port++
		at.Port = n.port
	}
	if n.cut || n.listeners[at.Port] != nil {
		return nil, syscall.EADDRINUSE
	}
	l := &listener{network: n, at: at, accepted: make(chan net.Conn), closed: make(chan struct{})}
	n.listeners[at.Port] = l
	return l, nil
}

// DialContext connects to a listener. Without a listener it returns "connection refused".
func (n *network) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	l := n.listeners[at.Port]
	n.port++
	from := &net.TCPAddr{IP: at.IP, Port: n.port}
	n.mu.Unlock()
	if l == nil {
		return nil, syscall.ECONNREFUSED
	}
	near, far := net.Pipe()
	ours, theirs := n.add(near, from, at), n.add(far, at, from)
	select {
	case l.accepted <- theirs:
		return ours, nil
	case <-l.closed:
		err = syscall.ECONNREFUSED
	case <-ctx.Done():
		err = ctx.Err()
	}
	_, _ = ours.Close(), theirs.Close() // a pipe closes without an error
	return nil, err
}

// add registers one end of a connection. After Cut it closes the end immediately.
func (n *network) add(end net.Conn, local, remote *net.TCPAddr) *conn {
	c := &conn{Conn: end, network: n, local: local, remote: remote}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut {
		_ = end.Close() // a pipe closes without an error
		return c
	}
	n.conns[c] = true
	return c
}

// Cut closes all listeners and connections, as the end of a machine does. Nobody can connect
// afterwards.
func (n *network) Cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = true
	for _, l := range n.listeners {
		l.once.Do(func() { close(l.closed) })
	}
	n.listeners = map[int]*listener{}
	for c := range n.conns {
		_ = c.Conn.Close() // a pipe closes without an error
	}
	n.conns = map[*conn]bool{}
}

// listener is a port on which a server waits for connections.
type listener struct {
	network  *network
	at       *net.TCPAddr
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends the listener. Its connections stay open.
func (l *listener) Close() error {
	l.network.mu.Lock()
	defer l.network.mu.Unlock()
	l.once.Do(func() { close(l.closed) })
	if l.network.listeners[l.at.Port] == l {
		delete(l.network.listeners, l.at.Port)
	}
	return nil
}

// Addr returns the address on loopback.
func (l *listener) Addr() net.Addr { return l.at }

// conn is one end of a connection. Its addresses are on loopback.
type conn struct {
	net.Conn
	network       *network
	local, remote *net.TCPAddr
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

// Close ends the connection at both ends.
func (c *conn) Close() error {
	c.network.mu.Lock()
	delete(c.network.conns, c)
	c.network.mu.Unlock()
	return c.Conn.Close()
}
