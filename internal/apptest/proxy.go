package apptest

import (
	"bytes"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy forwards connections between a program and PostgreSQL. A test can make the proxy break
// them.
type Proxy struct {
	listener net.Listener
	server   string

	mu    sync.Mutex
	lines map[*line]bool
	cut   bool
	mute  atomic.Bool
	fate  func(forward, closeClient func())
	about []byte // the next COMMIT counts only if its transaction has this text
	tasks sync.WaitGroup
}

// line is one connection through the proxy.
type line struct {
	client, server net.Conn
	// silent is set when the client must receive no further data. The proxy still reads what the
	// server sends.
	silent   atomic.Bool
	answered chan struct{}
}

// forward sends the client's last message to the server, and waits for the server's reply.
func (l *line) forward(word []byte) {
	l.silent.Store(true)
	if _, err := l.server.Write(word); err == nil {
		<-l.answered
	}
}

func (l *line) close() {
	_ = l.client.Close() // either connection may be closed already
	_ = l.server.Close()
}

// NewProxy returns a proxy for a database, and its URL. The URL turns prepared statements off,
// so that the proxy can read the SQL statements.
func NewProxy(t testing.TB, database string) (*Proxy, string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, server: u.Host, lines: map[*line]bool{}}
	u.Host = listener.Addr().String()
	query := u.Query()
	query.Set("default_query_exec_mode", "cache_describe")
	u.RawQuery = query.Encode()
	p.tasks.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.Cut()
		p.tasks.Wait()
	})
	return p, u.String()
}

// Cut closes all connections. It also closes every new connection immediately.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	for l := range p.lines {
		l.close()
	}
}

// Silence keeps all connections open, including new ones, but forwards no data.
func (p *Proxy) Silence() { p.mute.Store(true) }

// Mend makes the proxy forward new connections again. After Silence it closes the old connections,
// since they have lost data.
func (p *Proxy) Mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
	if p.mute.Swap(false) {
		for l := range p.lines {
			l.close()
		}
	}
}

// AtCommit calls the function fate at the next COMMIT of a client. In fate, the test may forward
// the COMMIT to the server and close the client's connection, in either order. The server's reply
// to the COMMIT is dropped. It is for tests of a ledger: a whole program also commits work of its own,
// such as the plan of its recurring jobs, and its test names the transaction with AtCommitOf.
func (p *Proxy) AtCommit(fate func(forward, closeClient func())) { p.AtCommitOf("", fate) }

// AtCommitOf is AtCommit for the next transaction in whose SQL statements the text stands.
func (p *Proxy) AtCommitOf(text string, fate func(forward, closeClient func())) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fate, p.about = fate, []byte(text)
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		l := &line{client: client, server: server, answered: make(chan struct{})}
		p.mu.Lock()
		p.lines[l] = true
		if p.cut {
			l.close()
		}
		p.mu.Unlock()
		p.tasks.Go(func() { p.fromClient(l) })
		p.tasks.Go(func() { p.fromServer(l) })
	}
}

// fromClient forwards the client's messages to the server. At a COMMIT for which AtCommit has set a
// function, it calls that function and stops.
func (p *Proxy) fromClient(l *line) {
	defer p.forget(l)
	buffer, tail, transaction := make([]byte, 64<<10), []byte(nil), []byte(nil)
	for {
		n, err := l.client.Read(buffer)
		if err != nil {
			return
		}
		if p.mute.Load() {
			continue
		}
		if bytes.Contains(bytes.ToUpper(buffer[:n]), begin) {
			transaction = nil
		}
		transaction = append(transaction, buffer[:n]...)
		said := append(tail, buffer[:n]...)
		if bytes.Contains(said, commit) && bytes.Contains(said, execute) {
			if fate := p.fateOf(transaction); fate != nil {
				chunk := bytes.Clone(buffer[:n])
				fate(func() { l.forward(chunk) }, func() { _ = l.client.Close() })
				return
			}
		}
		tail = bytes.Clone(said[max(0, len(said)-len(commit)):])
		if _, err := l.server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// A message that only prepares a COMMIT does not execute it. So the proxy searches for both the
// message that prepares it and the message that executes it.
var (
	begin   = []byte("BEGIN")
	commit  = []byte("COMMIT")
	execute = []byte("E\x00\x00\x00\x09\x00\x00\x00\x00\x00")
)

// fateOf returns the function that AtCommit has set for this transaction, and forgets it.
func (p *Proxy) fateOf(transaction []byte) func(forward, closeClient func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fate == nil || !bytes.Contains(transaction, p.about) {
		return nil
	}
	fate := p.fate
	p.fate = nil
	return fate
}

func (p *Proxy) fromServer(l *line) {
	defer p.forget(l)
	defer close(l.answered)
	buffer := make([]byte, 64<<10)
	for {
		n, err := l.server.Read(buffer)
		if err == nil && !l.silent.Load() && !p.mute.Load() {
			_, err = l.client.Write(buffer[:n])
		}
		if err != nil || l.silent.Load() {
			return
		}
	}
}

func (p *Proxy) forget(l *line) {
	l.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.lines, l)
}
