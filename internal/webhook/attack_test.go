package webhook

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"code.dny.dev/ssrf"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/secret"
)

// A response that switches to a different protocol is a failure, even if the connection stays
// open.
func TestNoOtherProtocolIsSpoken(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // a shorter timeout than the usual 10 seconds
	defer cancel()
	held := make(chan net.Conn, 1)
	ended := make(chan result, 1)
	go func() {
		ended <- try(t, ctx, func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, err = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
			}
			if err != nil {
				t.Error(err)
			}
			held <- c
		})
	}()
	defer func() { _ = (<-held).Close() }()
	limit := time.NewTimer(10 * time.Second)
	defer limit.Stop()
	select {
	case r := <-ended:
		if r.status != 101 || r.trouble != "the answer was 101" {
			t.Errorf("%+v", r)
		}
	case <-limit.C:
		t.Error("it is still listened to")
	}
}

// The attempt fails if the endpoint sends an endless series of interim responses.
func TestAnnouncementsAreCutOff(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	r := try(t, ctx, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			w.WriteHeader(http.StatusEarlyHints)
		}
	})
	if r.isSuccess() || r.status != 0 {
		t.Errorf("%+v", r)
	}
}

// A host name with both a public and a private address is refused when its url is saved. At a
// connection, the private address is not dialled, even if the public address is unreachable.
func TestAPrivateAddressAmongPublicOnes(t *testing.T) {
	resolver, means := names(t)
	s := strict(resolver)
	for _, both := range []string{"93.184.216.34,10.0.0.1", "127.0.0.1,93.184.216.34", "93.184.216.34,fd00::1", "2606:2800:220:1::1,169.254.169.254"} {
		means.Store(both)
		if err := s.guard.check(t.Context(), "https://hooks.example.com/"); !fault.Is(err, fault.Refused) {
			t.Errorf("%s: %v", both, err)
		}
	}
	inside, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var reached atomic.Bool
	ended := make(chan struct{})
	defer func() { _ = inside.Close(); <-ended }()
	go func() {
		defer close(ended)
		for c, err := inside.Accept(); err == nil; c, err = inside.Accept() {
			reached.Store(true)
			_ = c.Close()
		}
	}()
	_, port, err := net.SplitHostPort(inside.Addr().String())
	must(t, err)
	// The test uses 127.0.0.2, where no server listens, in place of a public address.
	s.guard.safe = ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(netip.MustParsePrefix("127.0.0.2/32")))
	s.client = s.guard.client()
	for _, both := range []string{"127.0.0.2,127.0.0.1", "127.0.0.1,127.0.0.2"} {
		means.Store(both)
		if r := s.post(t.Context(), "https://hooks.example.com:"+port+"/", "id", nil, []secret.Text{aSecret()}); r.isSuccess() || reached.Load() {
			t.Errorf("%s: %+v, reached: %v", both, r, reached.Load())
		}
	}
}

// The proxy settings in the environment are ignored, because a proxy would dial addresses that
// the guard refuses.
func TestNoProxyIsAsked(t *testing.T) {
	var asked atomic.Bool
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	s := strict(nil)
	if s.client.Transport.(*http.Transport).Proxy != nil {
		t.Error("the client would ask for a proxy")
	}
	r := s.post(t.Context(), "https://10.0.0.1/", "id", nil, []secret.Text{aSecret()})
	if r.trouble != "the address is not public" || asked.Load() {
		t.Errorf("%+v, the proxy was asked: %v", r, asked.Load())
	}
}

// modern returns three things: an HTTP/2 server, a service that may connect to the server and
// trusts its certificate, and the transport of that service.
func modern(t *testing.T, h http.HandlerFunc) (*httptest.Server, *Service, *http.Transport) {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	s := New(Config{Loopback: true})
	transport := s.client.Transport.(*http.Transport)
	trusted := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	transport.TLSClientConfig = &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}
	return server, s, transport
}

// The limits on an endpoint's response also apply to HTTP/2.
func TestHTTP2IsNoWayAround(t *testing.T) {
	var wrote atomic.Int64
	server, s, _ := modern(t, func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("%s is spoken", r.Proto)
		}
		switch r.URL.Path {
		case "/long":
			n, _ := io.WriteString(w, strings.Repeat("a", 64<<20))
			wrote.Store(int64(n))
		case "/drip":
			for tick := time.NewTicker(10 * time.Millisecond); r.Context().Err() == nil; <-tick.C {
				_, _ = io.WriteString(w, ".")
				_ = http.NewResponseController(w).Flush()
			}
		case "/header":
			w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
		case "/redirect":
			http.Redirect(w, r, "/", http.StatusPermanentRedirect)
		}
	})
	for path, want := range map[string]string{
		"/long": "", "/drip": "no answer within 10 seconds", "/header": "the connection failed", "/redirect": "redirects are not followed", "/": "",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if path == "/drip" {
			cancel()
			ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond) // a shorter timeout than the usual 10 seconds
		}
		if r := s.post(ctx, server.URL+path, "id", []byte("{}"), []secret.Text{aSecret()}); r.trouble != want {
			t.Errorf("%s: %+v, want %q", path, r, want)
		}
		cancel()
	}
	if wrote.Load() > 16<<20 {
		t.Errorf("%d bytes were taken from the connection", wrote.Load())
	}
}

// A connection can be dead without being closed. The service then detects that and opens a new
// connection.
func TestAForgottenConnectionIsGivenUp(t *testing.T) {
	server, s, transport := modern(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	if ping := transport.HTTP2; ping.SendPingTimeout+ping.PingTimeout >= timeout || ping.SendPingTimeout == 0 {
		t.Errorf("%+v is too late", ping)
	}
	transport.HTTP2.SendPingTimeout, transport.HTTP2.PingTimeout = 300*time.Millisecond, 700*time.Millisecond
	way, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = way.Close() }()
	var connections, forgotten atomic.Int64
	go func() {
		for {
			from, err := way.Accept()
			if err != nil {
				return
			}
			number := connections.Add(1)
			to, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				_ = from.Close()
				continue
			}
			lives := func() bool { return number > forgotten.Load() }
			go pass(from, to, lives)
			go pass(to, from, lives)
		}
	}()
	post := func() result {
		return s.post(t.Context(), "https://"+way.Addr().String()+"/", "id", []byte("{}"), []secret.Text{aSecret()})
	}
	if r := post(); !r.isSuccess() {
		t.Fatalf("%+v", r)
	}
	forgotten.Store(1)
	if r := post(); r.trouble != "the connection failed" {
		t.Errorf("on the forgotten connection: %+v", r)
	}
	if r := post(); !r.isSuccess() || connections.Load() != 2 {
		t.Errorf("after it: %+v, %d connections", r, connections.Load())
	}
}

// pass copies bytes between two connections, in one direction. Once lives returns false, it
// silently drops the bytes.
func pass(from, to net.Conn, lives func() bool) {
	defer func() { _ = to.Close() }()
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if lives() {
			_, _ = to.Write(buffer[:n]) // the other side may have closed
		}
	}
}

// A message is sent only to a server whose certificate was issued for the host and has not expired.
func TestACertificateIsOfThisHostAndNow(t *testing.T) {
	var reached atomic.Bool
	server, s, transport := modern(t, func(http.ResponseWriter, *http.Request) { reached.Store(true) })
	resolver, means := names(t)
	means.Store("127.0.0.1")
	dialer := &net.Dialer{Resolver: resolver}
	transport.DialContext = dialer.DialContext
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	must(t, err)
	post := func(url string) result { return s.post(t.Context(), url, "id", nil, []secret.Text{aSecret()}) }
	if r := post("https://hooks.example.org:" + port + "/"); r.trouble != "the certificate is not valid" || reached.Load() {
		t.Errorf("another's certificate: %+v, reached: %v", r, reached.Load())
	}
	transport.TLSClientConfig.Time = func() time.Time { return time.Now().AddDate(100, 0, 0) }
	if r := post(server.URL + "/"); r.trouble != "the certificate is not valid" || reached.Load() {
		t.Errorf("one that has run out: %+v, reached: %v", r, reached.Load())
	}
	transport.TLSClientConfig.Time = nil
	if r := post(server.URL + "/"); !r.isSuccess() || !reached.Load() {
		t.Errorf("a good one: %+v", r)
	}
}
