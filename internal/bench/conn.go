package bench

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// conn is a keep-alive connection of HTTP/1.1 that sends ready-made requests. net/http would cost
// several times as much processor time as the measured program.
type conn struct {
	target
	ctx  context.Context // its end closes the connection
	net  net.Conn
	stop func() bool
	buf  []byte
}

// target is the address of a program.
type target struct {
	host   string // with its port
	secure bool   // use TLS
}

func (t target) dial(ctx context.Context) (net.Conn, error) {
	if t.secure {
		return new(tls.Dialer).DialContext(ctx, "tcp", t.host)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", t.host)
}

// slowest is the time after which a request without a response counts as failed.
const slowest = 40 * time.Second

// do sends a request and reads its response. The body is valid until the next call.
func (c *conn) do(request []byte) (status int, body []byte, err error) {
	if c.net == nil {
		opened, err := c.dial(c.ctx)
		if err != nil {
			return 0, nil, err
		}
		c.net, c.stop = opened, context.AfterFunc(c.ctx, func() { _ = opened.Close() }) // the caller sees that its read failed
	}
	if err = c.net.SetDeadline(time.Now().Add(slowest)); err == nil {
		_, err = c.net.Write(request)
	}
	if err == nil {
		status, body, err = c.read()
	}
	if err != nil {
		c.close()
	}
	return status, body, err
}

func (c *conn) close() {
	if c.net != nil {
		c.stop()
		_ = c.net.Close() // the connection is not used any more
		c.net = nil
	}
}

var errResponse = errors.New("the response is not HTTP/1.1")

func (c *conn) read() (status int, body []byte, err error) {
	if c.buf == nil {
		c.buf = make([]byte, 16<<10)
	}
	for n := 0; ; {
		if n == len(c.buf) {
			c.buf = append(c.buf, make([]byte, len(c.buf))...)
		}
		m, err := c.net.Read(c.buf[n:])
		if n += m; err != nil {
			return 0, nil, err
		}
		status, body, whole, err := parse(c.buf[:n])
		if whole || err != nil {
			return status, body, err
		}
	}
}

var (
	headEnd = []byte("\r\n\r\n")
	length  = []byte("\r\nContent-Length: ")
	chunked = []byte("\r\nTransfer-Encoding: chunked\r\n")
)

// parse returns the status and the body of a response. It returns false if a part of the response
// is still missing.
func parse(text []byte) (status int, body []byte, whole bool, err error) {
	end := bytes.Index(text, headEnd)
	if end < 0 {
		return 0, nil, false, nil
	}
	head, rest := text[:end+2], text[end+4:]
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 ")) || len(head) < 12 {
		return 0, nil, false, errResponse
	}
	if status, err = strconv.Atoi(string(head[9:12])); err != nil {
		return 0, nil, false, errResponse
	}
	if bytes.Contains(head, chunked) {
		body, whole, err = dechunk(rest)
		return status, body, whole, err
	}
	at := bytes.Index(head, length)
	if at < 0 {
		return status, nil, status == 204 || status == 304, nil
	}
	value := head[at+len(length):]
	n, err := strconv.Atoi(string(value[:bytes.IndexByte(value, '\r')]))
	if err != nil {
		return 0, nil, false, errResponse
	}
	if len(rest) < n {
		return status, nil, false, nil
	}
	return status, rest[:n], true, nil
}

// dechunk joins the chunks of a body.
func dechunk(text []byte) (body []byte, whole bool, err error) {
	for {
		end := bytes.Index(text, headEnd[:2])
		if end < 0 {
			return nil, false, nil
		}
		n, err := strconv.ParseInt(string(text[:end]), 16, 32)
		if err != nil {
			return nil, false, errResponse
		}
		if text = text[end+2:]; len(text) < int(n)+2 {
			return nil, false, nil
		}
		if n == 0 {
			return body, true, nil
		}
		body, text = append(body, text[:n]...), text[n+2:]
	}
}

// request returns the text of an HTTP request. The token and the body may be empty. Each of the
// further headers ends with a line break.
func (t target) request(method, path, token, body, headers string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n%s", method, path, t.host, headers)
	if token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", token)
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	fmt.Fprintf(&b, "\r\n%s", body)
	return b.Bytes()
}
