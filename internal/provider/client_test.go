package provider

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func newClient(t *testing.T, base string) *Client {
	t.Helper()
	c, err := NewClient(ClientConfig{BaseURL: base, PayDeadline: 500 * time.Millisecond, ReadDeadline: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var post = Call{Method: http.MethodPost, Path: "/pay?number=08031234588", Body: map[string]string{"bvn": "22222222222"}}

// raw starts a TCP server that calls talk with each accepted connection. It returns the server's
// address.
func raw(t *testing.T, talk func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				talk(conn)
			}()
		}
	}()
	return l.Addr().String()
}

// readRequest reads one request from a connection. It reports whether that succeeded.
func readRequest(r *bufio.Reader) bool {
	req, err := http.ReadRequest(r)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err == nil
}

func TestNothingWasSent(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	untrusted := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request came through") }))
	defer untrusted.Close()
	silent := raw(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	reset := raw(t, func(net.Conn) {})
	for name, base := range map[string]string{
		"nobody listens":             closed.URL,
		"no such host":               "https://nowhere.invalid",
		"a certificate of no one":    untrusted.URL,
		"TLS that never comes about": "https://" + silent,
		"TLS that breaks off":        "https://" + reset,
	} {
		t.Run(name, func(t *testing.T) {
			r := newClient(t, base).Pay(t.Context(), post)
			if r.Trouble != CodeNotSent || r.Answer().Outcome != Rejected || r.Cause == nil {
				t.Errorf("%+v", r)
			}
		})
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if r := newClient(t, untrusted.URL).Pay(gone, post); r.Trouble != CodeNotSent {
		t.Errorf("after the caller went: %+v", r)
	}
	if r := newClient(t, untrusted.URL).Pay(t.Context(), Call{Method: "POST", Path: "/", Body: func() {}}); r.Trouble != CodeNotSent {
		t.Errorf("a body that is none: %+v", r)
	}
}

func TestUnknownOutcomes(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	for name, c := range map[string]struct {
		answer string // the server sends this and closes the connection
		code   string
	}{
		"closed":               {"", CodeConnection},
		"not HTTP":             {"hello\r\n\r\n", CodeConnection},
		"cut in the header":    {"HTTP/1.1 200 OK\r\nConte", CodeConnection},
		"cut in the body":      {ok + "Content-Length: 100\r\n\r\n{\"a\":", CodeConnection},
		"cut in a chunk":       {ok + "Transfer-Encoding: chunked\r\n\r\n20\r\n{\"a\":", CodeConnection},
		"500":                  {"HTTP/1.1 500 E\r\nContent-Length: 2\r\n\r\n{}", CodeServerError},
		"599":                  {"HTTP/1.1 599 E\r\nContent-Length: 2\r\n\r\n{}", CodeServerError},
		"502, cut in the body": {"HTTP/1.1 502 E\r\nContent-Length: 200\r\n\r\n{", CodeServerError},
		"408":                  {"HTTP/1.1 408 E\r\nContent-Length: 2\r\n\r\n{}", CodeServerError},
		"429":                  {"HTTP/1.1 429 E\r\nContent-Length: 2\r\n\r\n{}", CodeServerError},
		"a redirect":           {"HTTP/1.1 308 E\r\nLocation: /again\r\nContent-Length: 2\r\n\r\n{}", CodeUnreadable},
		"a redirect to a GET":  {"HTTP/1.1 302 E\r\nLocation: /again\r\nContent-Length: 2\r\n\r\n{}", CodeUnreadable},
		"too long":             {ok + "Content-Length: 1048577\r\n\r\n" + strings.Repeat("x", 1048577), CodeUnreadable},
		"another protocol":     {"HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhold", CodeUnreadable},
		"held":                 {"hold", CodeTimeout},
		"held in the body":     {ok + "Content-Length: 100\r\n\r\nhold", CodeTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			address := raw(t, func(conn net.Conn) {
				in := bufio.NewReader(conn)
				if !readRequest(in) {
					return
				}
				requests.Add(1)
				text, held := strings.CutSuffix(c.answer, "hold")
				_, _ = io.WriteString(conn, text) // the client may already have stopped reading
				if held {
					_, _ = in.ReadByte() // waits until the client gives up
				}
			})
			r := newClient(t, "http://"+address).Pay(t.Context(), post)
			if r.Trouble != c.code || r.Answer().Outcome != Unknown || r.Body != nil || requests.Load() != 1 {
				t.Errorf("%s %v after %d requests, %d bytes of body", r.Trouble, r.Cause, requests.Load(), len(r.Body))
			}
			for _, shown := range []string{fmt.Sprint(r.Cause), r.Error("P").Error(), r.Answer().Message} {
				if strings.Contains(shown, "0803") || strings.Contains(shown, "2222") || strings.Contains(shown, address+"/") {
					t.Errorf("it tells too much: %s", shown)
				}
			}
		})
	}
}

func TestARefusalIsAnAnswer(t *testing.T) {
	for _, status := range []int{200, 201, 400, 401, 402, 404, 409, 422} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, r.Header.Get("Content-Type"), r.Header.Get("ClientID"))
		}))
		call := post
		call.Header = http.Header{"ClientID": {"+me"}}
		r := newClient(t, s.URL+"/").Pay(t.Context(), call)
		if r.Trouble != "" || r.Status != status || string(r.Body) != "application/json+me" {
			t.Errorf("%d: %+v %s", status, r, r.Body)
		}
		s.Close()
	}
}

// A payment reaches the server only one time. The test server responds to the first request on each
// connection, and closes the connection at the second request. On a reused connection net/http
// would then send the second request again, because its Idempotency-Key header marks it as
// idempotent.
func TestPaymentsNeverLeaveTwice(t *testing.T) {
	var requests, connections atomic.Int32
	address := raw(t, func(conn net.Conn) {
		connections.Add(1)
		in := bufio.NewReader(conn)
		for n := 0; readRequest(in); n++ {
			requests.Add(1)
			if n > 0 {
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") // the request counter reveals a failed write
		}
	})
	call := post
	call.Header = http.Header{"Idempotency-Key": {"1"}}
	c := newClient(t, "http://"+address)
	const payments = 20
	for range payments {
		if r := c.Pay(t.Context(), call); r.Trouble != "" {
			t.Errorf("%+v", r)
		}
	}
	if requests.Load() != payments || connections.Load() != payments {
		t.Errorf("%d requests on %d connections for %d payments", requests.Load(), connections.Load(), payments)
	}

	// An ordinary net/http client does send the request twice here.
	requests.Store(0)
	careless := &http.Client{Transport: transport(true)}
	for range payments {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Idempotency-Key", "1")
		if res, err := careless.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, res.Body) // so that the client reuses the connection
			_ = res.Body.Close()
		}
	}
	if requests.Load() <= payments {
		t.Errorf("%d requests for %d payments: this server does not test what it should", requests.Load(), payments)
	}
}

func TestBeginOutlivesItsCaller(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	ctx, end := newClient(t, "https://a.example.test").Begin(gone)
	defer end()
	if ctx.Err() != nil {
		t.Error("the payment ended with its caller")
	}
	if by, ok := ctx.Deadline(); !ok || time.Until(by) > 500*time.Millisecond {
		t.Errorf("the payment ends at %v", by)
	}
}

func TestBaseURL(t *testing.T) {
	for base, good := range map[string]bool{
		"https://api.example.test": true, "http://127.0.0.1:1": true, "http://localhost": true, "http://[::1]:80": true,
		"http://api.example.test": false, "": false, "https://": false, "ftp://localhost": false,
		"https://me:secret@api.example.test": false, "https://api.example.test?x=1": false, "://": false,
	} {
		if _, err := NewClient(ClientConfig{BaseURL: base}); (err == nil) != good || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", base, err)
		}
	}
}

func TestMessage(t *testing.T) {
	for in, want := range map[string]string{
		" The  meter\nis unknown ":                   "The meter is unknown",
		"08031234588 has no 1000MB for 1500.50":      "… has no 1000MB for 1500.50",
		"account 0100 0000 01 of ada@example.test":   "account … of …",
		"token eyJ" + strings.Repeat("aB3_", 20):     "token …",
		strings.Repeat("é ", 150):                    strings.Repeat("é ", 99) + "é…",
		"bad \xff byte":                              "bad byte",
		"reference 0123456789abcdef0123456789abcdef": "reference …abcdef…abcdef",
		"PIN 1234 is wrong":                          "PIN … is wrong",
		"the OTP: 123456 has expired":                "the OTP … has expired",
		"Your OTP is 123456":                         "Your OTP …",
		"Invalid PIN supplied":                       "Invalid PIN supplied",
		"Token expired after 5 minutes":              "Token expired after 5 minutes",
		"OTP has expired":                            "OTP has expired",
		"GET /x?access_token=abc&b=1 failed":         "GET /x?access_token … failed",
		"Bearer a1b2c3 was refused":                  "Bearer … was refused",
		`{"password":"hunter"} is wrong`:             `{"password" … is wrong`,
		"client_id=abc, apiKey: def":                 "client_id … apiKey …",
		"sk_live_51abc is no key":                    "… is no key",
		"eyJhbGciOi.J9.abc is malformed":             "… is malformed",
		"Shipping code 12 for spinning 3":            "Shipping code 12 for spinning 3",
	} {
		if got := Message(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestErrorUnwraps(t *testing.T) {
	cause := errors.New("dial")
	err := Reply{Trouble: CodeNotSent, Cause: cause}.Error("Safe Haven")
	if !errors.Is(err, cause) || err.Error() != "Safe Haven: not_sent: the provider could not be reached: dial" {
		t.Error(err)
	}
}

// A reply reaches the plug without what PostgreSQL stores in no text. Nothing else of it changes.
func TestAReplyCanBeStored(t *testing.T) {
	for sent, want := range map[string]string{
		`{"a":"x\u0000y\u0000\u0000"}`:      `{"a":"x\ufffdy\ufffd\ufffd"}`,
		`{"a\u0000":["\\\u0000"]}`:          `{"a\ufffd":["\\\ufffd"]}`,
		`{"a":"\\u0000 \\\\u0000"}`:         `{"a":"\\u0000 \\\\u0000"}`, // backslashes, each before the text u0000
		`{"a":"\u00001 \u0001 \n\"\ud800"}`: `{"a":"\ufffd1 \u0001 \n\"\ud800"}`,
		"{\"a\":\"\xffb\xc3\"}":             "{\"a\":\"\ufffdb\ufffd\"}",
		`{"a":"ọ́ ₦ \u20a6"}`:               `{"a":"ọ́ ₦ \u20a6"}`,
		"\x00":                              "\x00", // no JSON, so no plug reads it
		`\`:                                 `\`,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, sent) }))
		if r := newClient(t, s.URL).Pay(t.Context(), post); string(r.Body) != want {
			t.Errorf("%q becomes %q, want %q", sent, r.Body, want)
		}
		s.Close()
	}
}
