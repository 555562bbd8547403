package webhook

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/secret"
)

// names returns a resolver that uses a fake name server, and a value that holds the server's
// addresses. The test stores addresses in the value, separated by commas. For every name, the
// server returns the stored addresses.
func names(t *testing.T) (*net.Resolver, *atomic.Value) {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	address := &atomic.Value{}
	address.Store("")
	go func() {
		packet := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(packet)
			if err != nil {
				return
			}
			_, _ = server.WriteTo(answerTo(packet[:n], address.Load().(string)), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", server.LocalAddr().String())
	}}, address
}

// answerTo returns the response to a DNS query. The response contains those addresses that have
// the requested type (RFC 1035 §4).
func answerTo(question []byte, addresses string) []byte {
	end := 12
	for question[end] != 0 {
		end += int(question[end]) + 1
	}
	end += 5
	kind := binary.BigEndian.Uint16(question[end-4:])
	a := append([]byte(nil), question[:end]...)
	a[2], a[3] = 0x81, 0x80
	clear(a[6:12])
	for _, address := range strings.Split(addresses, ",") {
		data := net.ParseIP(address).To4()
		if strings.Contains(address, ":") {
			data = net.ParseIP(address).To16()
		}
		if data == nil || kind == 1 && len(data) != 4 || kind == 28 && len(data) != 16 || kind != 1 && kind != 28 {
			continue
		}
		a[7]++
		a = append(a, 0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(data)))
		a = append(a, data...)
	}
	return a
}

// strict returns a service that refuses loopback addresses, as in live mode.
func strict(r *net.Resolver) *Service { return New(Config{Resolver: r}) }

func TestAddressesThatMayNotBeSaved(t *testing.T) {
	resolver, address := names(t)
	address.Store("93.184.216.34")
	live, sandbox := strict(resolver).guard, newGuard(true, resolver)
	for _, bad := range []string{
		"", "hello", "/path", "ftp://example.com/", "http://example.com/", "https://", "https:///x", "https:example.com",
		"https://user:word@example.com/", "https://example.com/#part", "https://exa mple.com/", `https://example.com\@10.0.0.1/`,
		"https://127.0.0.1/", "https://127.9.9.9/", "https://[::1]/", "https://0.0.0.0/", "https://[::]/",
		"https://10.0.0.1/", "https://172.16.5.4/", "https://192.168.1.1/", "https://100.64.0.1/", "https://198.18.0.1/",
		"https://169.254.169.254/latest/meta-data/", "https://[fe80::1]/", "https://[fe80::1%25eth0]/", "https://[fd00:ec2::254]/", "https://[fc00::1]/",
		"https://[::ffff:127.0.0.1]/", "https://[::ffff:10.0.0.1]/", "https://[::ffff:a9fe:a9fe]/", "https://[64:ff9b::7f00:1]/", "https://[2002:7f00:1::]/",
		"https://224.0.0.1/", "https://255.255.255.255/", "https://192.0.2.1/",
		"https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/", "https://10.1/", "https://127.0.0.1./",
		"https://0251.0376.0251.0376/", "https://0xa9.0xfe.0xa9.0xfe/", "https://0xA9FEA9FE/", "https://0xa9fea9fe./", "https://2852039166/",
		"https://169.254.43518/", "https://169.0xfe.43518/", "https://00000177.0.0.1/", "https://example.0x7f/", "https://127.0.0.1%2f.example.com/",
		"https://[0:0:0:0:0:ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[::1", "https://[127.0.0.1]/", "https://[2606:2800:220:1::1%25eth0]/",
		"https://localhost.localdomain/", "https://a.localhost../", "https://localhost../", "https://example.com../", "https://x.internal./",
		"https://localhost/", "https://api.localhost/", "https://LOCALHOST./", "https://metadata.google.internal/", "https://printer.local/", "https://intranet/",
		"https://example.com/" + strings.Repeat("x", 2000),
		"https://example.com:0/", "https://example.com:65536/", "https://example.com:/", "https://example.com:-1/", "https://example.com:https/",
		"https://example.com/\r\nHost: inside/", "https://example.com\r\n.evil.example/", "https://exa%0d%0ample.com/", "https://%31%30.0.0.1/",
		"https://münchen.example/", "https://１０.0.0.1/", "https://10。0。0。1/", "https://127.0.0.①/", "https://%E2%91%A0.0.0.1/", "https://ⓛocalhost.example/",
		"https://user@example.com/", "https://:word@example.com/", "https://@example.com/", "https://example.com@10.0.0.1/",
	} {
		if err := live.check(t.Context(), bad); !fault.Is(err, fault.Refused) {
			t.Errorf("live: %q: %v", bad, err)
		}
		here := strings.HasPrefix(bad, "https://127.") && bad != "https://127.1/" && bad != "https://127.0.0.1./" ||
			bad == "https://[::1]/" || bad == "https://localhost/"
		if err := sandbox.check(t.Context(), bad); !here && !fault.Is(err, fault.Refused) {
			t.Errorf("sandbox: %q: %v", bad, err)
		}
	}
	for _, good := range []string{
		"https://example.com/hooks?x=1", "https://example.com:8443/", "HTTPS://EXAMPLE.COM./", "https://example.com?@10.0.0.1/", "https://127.0.0.1.example.com/", "https://xn--mnchen-3ya.example/", "https://example.com/%0d%0aX-Injected:%20y", "https://93.184.216.34/", "https://[2606:2800:220:1:248:1893:25c8:1946]/",
	} {
		if err := live.check(t.Context(), good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, good := range []string{"http://127.0.0.1:3000/", "http://[::1]:3000/", "https://127.0.0.1/", "https://example.com/"} {
		if err := sandbox.check(t.Context(), good); err != nil {
			t.Errorf("sandbox: %q: %v", good, err)
		}
	}
	for _, bad := range []string{"http://10.0.0.1/", "http://example.com/", "http://169.254.169.254/"} {
		if err := sandbox.check(t.Context(), bad); !fault.Is(err, fault.Refused) {
			t.Errorf("sandbox: %q: %v", bad, err)
		}
	}
}

// An endpoint is refused if its host name has a private address of any kind.
func TestNamesOfPrivateAddressesMayNotBeSaved(t *testing.T) {
	resolver, address := names(t)
	for _, ip := range []string{
		"127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.0.9", "100.100.100.200", "169.254.169.254", "0.0.0.0", "::1", "fd00::1", "fe80::1", "::ffff:10.0.0.1",
	} {
		address.Store(ip)
		if err := strict(resolver).guard.check(t.Context(), "https://hooks.example.com/"); !fault.Is(err, fault.Refused) {
			t.Errorf("%s: %v", ip, err)
		}
	}
	// A host name that has no address now is accepted, since each connection checks the address
	// again.
	address.Store("")
	if err := strict(resolver).guard.check(t.Context(), "https://hooks.example.com/"); err != nil {
		t.Error(err)
	}
}

// A host name may have a public address when its url is saved, and a private address later. The
// connection to the private address is then refused.
func TestARebindingNameIsRefusedAtTheConnection(t *testing.T) {
	var reached atomic.Bool
	inside := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer inside.Close()
	_, port, err := net.SplitHostPort(inside.Listener.Addr().String())
	must(t, err)
	resolver, address := names(t)
	s := strict(resolver)
	url := "https://hooks.example.com:" + port + "/"
	address.Store("93.184.216.34")
	must(t, s.guard.check(t.Context(), url))
	address.Store("127.0.0.1")
	if r := s.post(t.Context(), url, "id", nil, []secret.Text{aSecret()}); r.trouble != "the address is not public" || reached.Load() {
		t.Errorf("%+v, reached: %v", r, reached.Load())
	}
}

func TestPrivateAddressesAreRefusedAtTheConnection(t *testing.T) {
	s := strict(nil)
	sandbox := New(Config{Loopback: true})
	for _, bad := range []string{
		"https://10.0.0.1/", "https://172.16.0.1/", "https://192.168.0.1/", "https://100.64.0.1/", "https://169.254.169.254/",
		"https://[fe80::1]/", "https://[fd00::1]/", "https://[::ffff:10.0.0.1]/", "https://[::ffff:169.254.169.254]/", "https://[64:ff9b::a9fe:a9fe]/",
		"https://0.0.0.0/",
	} {
		for name, one := range map[string]*Service{"live": s, "sandbox": sandbox} {
			if r := one.post(t.Context(), bad, "id", nil, []secret.Text{aSecret()}); r.trouble != "the address is not public" {
				t.Errorf("%s: %s: %+v", name, bad, r)
			}
		}
	}
	for _, here := range []string{"https://127.0.0.1:1/", "https://[::1]:1/", "https://localhost:1/"} {
		if r := s.post(t.Context(), here, "id", nil, []secret.Text{aSecret()}); r.trouble != "the address is not public" {
			t.Errorf("live: %s: %+v", here, r)
		}
	}
}

// An endpoint's response cannot redirect us to a different address or exhaust our memory.
func TestAnswersAreNotTrusted(t *testing.T) {
	var reached atomic.Bool
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer inside.Close()
	var wrote atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, inside.URL, http.StatusTemporaryRedirect)
		case "/endless":
			for r.Context().Err() == nil && wrote.Load() < 64<<20 {
				n, err := w.Write([]byte(strings.Repeat("x", 1<<16)))
				wrote.Add(int64(n))
				if err != nil {
					return
				}
			}
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("half"))
		case "/garbage":
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte("\x00\xff\r\n<b>no</b>\x1b[31m"))
		}
	}))
	defer server.Close()
	s := New(Config{Loopback: true})
	post := func(path string) result {
		return s.post(t.Context(), server.URL+path, "id", []byte("{}"), []secret.Text{aSecret()})
	}
	if r := post("/redirect"); r.trouble != "redirects are not followed" || r.status != 307 || reached.Load() {
		t.Errorf("a redirect: %+v, followed: %v", r, reached.Load())
	}
	if r := post("/endless"); !r.isSuccess() || len(r.excerpt) > 4*excerptLength || wrote.Load() > 32<<20 {
		t.Errorf("an endless answer: %v, %d bytes of excerpt, %d written", r.trouble, len(r.excerpt), wrote.Load())
	}
	if r := post("/cut"); r.trouble != "the connection failed" || r.status != 200 {
		t.Errorf("an answer cut short: %+v", r)
	}
	if r := post("/garbage"); strings.ContainsAny(r.excerpt, "\x00\x1b\r\n") || !strings.Contains(r.excerpt, "<b>no</b>") {
		t.Errorf("garbage: %+v", r)
	}
	server.Close()
	// An idle connection may fail first, before a new connection is refused.
	if r := post("/gone"); r.trouble != "the connection was refused" && r.trouble != "the connection failed" {
		t.Errorf("nobody there: %+v", r)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = deaf.Close() }()
	if r := s.post(ctx, "http://"+deaf.Addr().String()+"/", "id", nil, []secret.Text{aSecret()}); r.trouble != "no answer within 10 seconds" {
		t.Errorf("no answer: %+v", r)
	}
}
