package torture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
)

// link is one connection through a wire. It reads as much of PostgreSQL's protocol as it needs to
// find each COMMIT (https://www.postgresql.org/docs/current/protocol-message-formats.html).
type link struct {
	wire           *wire
	client, server net.Conn

	deaf bool        // it has lost bytes, and loses all that follow; under the lock of the wire
	gone atomic.Bool // the answer to a COMMIT, and all that follows, is lost

	// Only fromClient uses these: which prepared statements and portals are a COMMIT.
	statements, portals map[string]bool
}

func newLink(w *wire, client, server net.Conn) *link {
	return &link{wire: w, client: client, server: server, statements: map[string]bool{}, portals: map[string]bool{}}
}

func (l *link) close() {
	_ = l.client.Close() // either may be closed already
	_ = l.server.Close()
}

// message is a message of the protocol. Its kind is 0 for the first messages of a client.
type message struct {
	kind byte
	body []byte
	raw  []byte
}

// largest is a limit for the length of a message, so that wrong bytes are not taken for one.
const largest = 256 << 20

var errProtocol = errors.New("these bytes are not PostgreSQL's protocol")

func readMessage(r *bufio.Reader, typed bool) (m message, err error) {
	head := 4
	if typed {
		head = 5
	}
	m.raw = make([]byte, head)
	if _, err = io.ReadFull(r, m.raw); err != nil {
		return m, err
	}
	if typed {
		m.kind = m.raw[0]
	}
	length := binary.BigEndian.Uint32(m.raw[head-4:])
	if length < 4 || length > largest {
		return m, errProtocol
	}
	m.raw = append(m.raw, make([]byte, length-4)...)
	m.body = m.raw[head:]
	_, err = io.ReadFull(r, m.body)
	return m, err
}

// text returns the text at the begin of a message, and the rest.
func text(body []byte) (string, []byte) {
	s, rest, _ := bytes.Cut(body, []byte{0})
	return string(s), rest
}

// commits reports whether the text of a simple query or of a prepared statement has a COMMIT.
func commits(sql string) bool {
	for s := range strings.SplitSeq(sql, ";") {
		if strings.EqualFold(strings.TrimSpace(s), "COMMIT") {
			return true
		}
	}
	return false
}

// executesCommit reports whether a message of the client makes the server execute a COMMIT.
func (l *link) executesCommit(m message) bool {
	switch m.kind {
	case 'Q': // simple query
		sql, _ := text(m.body)
		return commits(sql)
	case 'P': // parse: a name and a statement
		name, rest := text(m.body)
		sql, _ := text(rest)
		l.statements[name] = commits(sql)
	case 'B': // bind: the name of a portal and the name of a statement
		portal, rest := text(m.body)
		name, _ := text(rest)
		l.portals[portal] = l.statements[name]
	case 'E': // execute: the name of a portal
		portal, _ := text(m.body)
		return l.portals[portal]
	}
	return false
}

// fromClient forwards what the client says.
func (l *link) fromClient() error {
	in, out := bufio.NewReaderSize(l.client, 64<<10), bufio.NewWriterSize(l.server, 64<<10)
	for typed := false; ; typed = true {
		m, err := readMessage(in, typed)
		if err != nil {
			return err
		}
		commit := typed && l.executesCommit(m)
		switch does := l.wire.now(); {
		case l.wire.swallows(l):
			continue
		case commit && does == lostBefore:
			l.wire.lose(lostBefore)
			return nil
		case commit && does == lostAfter:
			l.gone.Store(true)
		}
		if _, err = out.Write(m.raw); err == nil && in.Buffered() == 0 {
			err = out.Flush()
		}
		if err != nil {
			return err
		}
	}
}

// fromServer forwards what the server says. After the answer to a COMMIT that is lost, it ends the
// connection. An answer that is not "COMMIT" is lost too, but does not count.
func (l *link) fromServer() error {
	in, out := bufio.NewReaderSize(l.server, 64<<10), bufio.NewWriterSize(l.client, 64<<10)
	executed := false
	for {
		m, err := readMessage(in, true)
		if err != nil {
			return err
		}
		switch {
		case l.wire.swallows(l):
			continue
		case l.gone.Load():
			if said, _ := text(m.body); m.kind == 'C' && said == "COMMIT" { // command complete
				executed = true
			}
			if m.kind != 'Z' { // ready for the next query
				continue
			}
			if executed {
				l.wire.lose(lostAfter)
			}
			return nil
		}
		if _, err = out.Write(m.raw); err == nil && in.Buffered() == 0 {
			err = out.Flush()
		}
		if err != nil {
			return err
		}
	}
}
