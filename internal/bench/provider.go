package bench

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
)

// instant is a server that speaks the wire format of Safe Haven, and confirms every payment at
// once. It keeps no books, so that its processor time disturbs the measured program little.
type instant struct {
	number atomic.Int64 // of the last session
	begun  string       // makes the sessions of each server different
}

// serve serves the connections of a listener until ctx ends. Open connections end with the process.
func (s *instant) serve(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() }) // Accept returns the error
	defer stop()
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go s.speak(c)
	}
}

// buffers are kept, because Kobo may open a connection for each payment.
var buffers = sync.Pool{New: func() any { return &buffer{make([]byte, 8<<10), make([]byte, 0, 1<<10)} }}

type buffer struct{ request, reply []byte }

// speak answers the requests of a connection until the client closes it.
func (s *instant) speak(c net.Conn) {
	defer func() { _ = c.Close() }() // the client has closed it, or asked for it
	b := buffers.Get().(*buffer)
	defer buffers.Put(b)
	buf := b.request
	for n := 0; ; {
		m, err := c.Read(buf[n:])
		if err != nil || n+m == len(buf) {
			return
		}
		n += m
		for {
			q, size := split(buf[:n])
			if size == 0 {
				break
			}
			if b.reply = s.reply(b.reply[:0], q); len(b.reply) == 0 {
				return
			}
			if _, err := c.Write(b.reply); err != nil || q.last {
				return
			}
			n = copy(buf, buf[size:n])
		}
	}
}

// query is a request to the provider.
type query struct {
	path, body []byte
	last       bool // the client wants the connection closed
}

var (
	bodyLength = []byte("Content-Length: ")
	closing    = []byte("Connection: close")
)

// split returns the first request of a text and its size, or 0 if a part of it is missing.
func split(text []byte) (q query, size int) {
	end := bytes.Index(text, headEnd)
	if end < 0 {
		return q, 0
	}
	head := text[:end]
	size = end + 4
	if at := bytes.Index(head, bodyLength); at >= 0 {
		value := head[at+len(bodyLength):]
		if e := bytes.IndexByte(value, '\r'); e >= 0 {
			value = value[:e]
		}
		n, err := strconv.Atoi(string(value))
		if err != nil {
			return q, 0
		}
		if size += n; len(text) < size {
			return q, 0
		}
	}
	_, line, _ := bytes.Cut(head, []byte(" "))
	q.path, _, _ = bytes.Cut(line, []byte(" "))
	q.body, q.last = text[end+4:size], bytes.Contains(head, closing)
	return q, size
}

// field returns the text of a field of a JSON object, with its quotation marks if it is a string.
func field(body []byte, name string) []byte {
	_, value, found := bytes.Cut(body, []byte(`"`+name+`":`))
	if !found || len(value) == 0 {
		return []byte("null")
	}
	if value[0] != '"' {
		return value[:bytes.IndexAny(value, ",}")]
	}
	return value[:bytes.IndexByte(value[1:], '"')+2]
}

const (
	sold     = `{"statusCode":200,"message":"Purchased successfully.","data":{"id":%[1]s,"reference":%[1]s,"externalReference":%[1]s,"status":"successful","transactionStatus":"successful","amount":%[2]s}}`
	named    = `{"statusCode":200,"responseCode":"00","message":"Account details fetched","data":{"responseCode":"00","sessionId":"%[1]s","bankCode":%[2]s,"accountNumber":%[3]s,"accountName":"OBI ADA","kycLevel":"3","bvn":""}}`
	sent     = `{"statusCode":200,"responseCode":"00","message":"Approved","data":{"_id":%[1]s,"sessionId":"%[2]s","paymentReference":%[1]s,"amount":%[3]s,"fees":0,"vat":0,"stampDuty":0,"responseCode":"00","responseMessage":"Approved","status":"Completed","queued":false,"limitExceeded":false,"isReversed":false}}`
	admitted = `{"access_token":"bench","client_id":"bench","token_type":"Bearer","expires_in":86400,"ibs_client_id":"bench"}`
)

var soldPath, recordPath = []byte("/vas/pay/"), []byte("/vas/transaction/")

// reply appends the response to a request. It appends nothing for a request that the bench never
// causes.
func (s *instant) reply(to []byte, q query) []byte {
	var body string
	switch path := string(q.path); {
	case bytes.HasPrefix(q.path, soldPath):
		body = fmt.Sprintf(sold, field(q.body, "externalReference"), field(q.body, "amount"))
	case bytes.HasPrefix(q.path, recordPath):
		body = fmt.Sprintf(sold, strconv.Quote(string(q.path[len(recordPath):])), "null")
	case path == "/transfers/name-enquiry":
		body = fmt.Sprintf(named, s.session(), field(q.body, "bankCode"), field(q.body, "accountNumber"))
	case path == "/transfers", path == "/transfers/status":
		body = fmt.Sprintf(sent, field(q.body, "paymentReference"), s.session(), field(q.body, "amount"))
	case path == "/oauth2/token":
		body = admitted
	default:
		return to
	}
	to = append(to, "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: "...)
	to = strconv.AppendInt(to, int64(len(body)), 10)
	if q.last {
		to = append(to, "\r\nConnection: close"...)
	}
	return append(append(to, "\r\n\r\n"...), body...)
}

// session returns a new session ID of NIP, which has 30 digits.
func (s *instant) session() string { return fmt.Sprintf("%s%012d", s.begun, s.number.Add(1)) }

// listen returns a listener on loopback, and the server's address. With a certificate it uses TLS.
func listen(own *tls.Certificate) (net.Listener, string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil || own == nil {
		if err != nil {
			return nil, "", err
		}
		return l, "http://" + l.Addr().String(), nil
	}
	// Go's HTTP client offers HTTP/2 for reads, and this server refuses it.
	cfg := &tls.Config{Certificates: []tls.Certificate{*own}, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}
	return tls.NewListener(l, cfg), "https://" + l.Addr().String(), nil
}
