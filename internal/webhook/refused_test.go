package webhook

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"io"
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

// inner contains addresses of each kind that is not publicly reachable. Deliveries to these
// addresses are refused, except that the sandbox allows loopback addresses.
var inner = map[string][]string{
	"loopback":        {"127.0.0.1", "127.255.255.254", "::1"},
	"unspecified":     {"0.0.0.0", "0.1.2.3", "::"},
	"private":         {"10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.254", "192.168.0.1", "192.168.255.254"},
	"unique local":    {"fc00::1", "fd12:3456:789a::1"},
	"link-local":      {"169.254.0.1", "169.254.255.254", "fe80::1", "febf::1"},
	"site-local":      {"fec0::1"},
	"CGNAT":           {"100.64.0.1", "100.127.255.254"},
	"metadata":        {"169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254"},
	"IPv6-mapped":     {"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254"},
	"IPv4-compatible": {"::127.0.0.1", "::10.0.0.1"},
	"IPv4-translated": {"::ffff:0:7f00:1", "::ffff:0:a9fe:a9fe"},
	"NAT64":           {"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1"},
	"6to4, Teredo":    {"2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:7f00:1::"},
	"multicast":       {"224.0.0.1", "239.255.255.255", "ff02::1"},
	"broadcast":       {"255.255.255.255", "240.0.0.1"},
	"documentation":   {"192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"},
	"benchmarking":    {"198.18.0.1", "198.19.255.254", "2001:2::1"},
	"infrastructure":  {"192.88.99.1", "192.31.196.1", "192.52.193.1", "192.175.48.1", "2620:4f:8000::1", "100::1", "2001:20::1", "5f00::1"},
}

// Addresses that are not public are refused when an endpoint is saved, and again at the
// connection. This holds for an address in the url and for the address of a host name.
func TestWhatOnlyWeCanReachIsRefused(t *testing.T) {
	resolver, means := names(t)
	services := map[string]*Service{"live": strict(resolver), "sandbox": New(Config{Loopback: true, Resolver: resolver})}
	for kind, addresses := range inner {
		for _, address := range addresses {
			means.Store(address)
			for mode, s := range services {
				if ip := net.ParseIP(address); mode == "sandbox" && ip.IsLoopback() {
					continue
				}
				for _, host := range []string{net.JoinHostPort(address, "443"), "hooks.example.com"} {
					url := "https://" + host + "/"
					if err := s.guard.check(t.Context(), url); !fault.Is(err, fault.Refused) {
						t.Errorf("%s, %s (%s): %s was saved: %v", mode, kind, address, url, err)
					}
					if r := s.post(t.Context(), url, "id", nil, []secret.Text{aSecret()}); r.trouble != "the address is not public" {
						t.Errorf("%s, %s (%s): %s was dialled: %+v", mode, kind, address, url, r)
					}
				}
			}
		}
	}
}

// try posts a message to a server with this handler, and returns the result.
func try(t *testing.T, ctx context.Context, h http.HandlerFunc) result { //nolint:revive // t comes first, as in all tests
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	return New(Config{Loopback: true}).post(ctx, server.URL, "id", []byte("{}"), []secret.Text{aSecret()})
}

// A long response counts as a success, but only its beginning is read.
func TestOfALongAnswerTheBeginningIsRead(t *testing.T) {
	var wrote atomic.Int64
	long := strings.Repeat("a", enough) + strings.Repeat("b", 32<<20)
	r := try(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
		n, _ := io.WriteString(w, long)
		wrote.Store(int64(n))
	})
	if !r.isSuccess() || r.status != 200 || strings.Contains(r.excerpt, "b") || len(r.excerpt) > 4*excerptLength {
		t.Errorf("%+v", r)
	}
	if wrote.Load() > 16<<20 {
		t.Errorf("%d bytes were taken from the connection", wrote.Load())
	}
	r = try(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 64<<10))
	})
	if r.trouble != "the connection failed" {
		t.Errorf("a header without end: %+v", r)
	}
}

// The timeout also applies to an endpoint that sends its response byte by byte.
func TestADrippingAnswerIsCutOff(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // a shorter timeout than the usual 10 seconds
	defer cancel()
	r := try(t, ctx, func(w http.ResponseWriter, r *http.Request) {
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
				_, _ = io.WriteString(w, ".")
				_ = http.NewResponseController(w).Flush()
			}
		}
	})
	if r.isSuccess() || r.trouble != "no answer within 10 seconds" || r.status != 200 {
		t.Errorf("%+v", r)
	}
}

// A compressed response is not decompressed, so a small response cannot grow large in memory.
func TestNoAnswerIsUnpacked(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, err := z.Write(make([]byte, 32<<20))
	must(t, err)
	must(t, z.Close())
	r := try(t, t.Context(), func(w http.ResponseWriter, r *http.Request) {
		if accepts := r.Header.Get("Accept-Encoding"); accepts != "" {
			t.Errorf("asked for %s", accepts)
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	})
	if !r.isSuccess() || !strings.HasPrefix(r.excerpt, "\uFFFD") {
		t.Errorf("%+v", r)
	}
}

// A redirect counts as a failure and is not followed.
func TestNoRedirectIsFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		asked := 0
		r := try(t, t.Context(), func(w http.ResponseWriter, r *http.Request) {
			asked++
			http.Redirect(w, r, "/again", status)
		})
		if r.trouble != "redirects are not followed" || r.status != int64(status) || asked != 1 {
			t.Errorf("%+v, asked %d times", r, asked)
		}
	}
}

// A message is not sent to a server that lacks a valid certificate.
func TestTLSIsVerified(t *testing.T) {
	var reached atomic.Bool
	h := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) })
	unknown, plain, old := httptest.NewTLSServer(h), httptest.NewServer(h), httptest.NewUnstartedServer(h)
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11} //nolint:gosec // the service must refuse this old version
	old.StartTLS()
	for _, server := range []*httptest.Server{unknown, plain, old} {
		server.Config.ErrorLog = nil
		defer server.Close()
	}
	s := New(Config{Loopback: true})
	for url, want := range map[string]string{
		unknown.URL: "the certificate is not valid",
		"https://" + plain.Listener.Addr().String(): "the host does not speak TLS",
		old.URL: "the connection failed",
	} {
		if r := s.post(t.Context(), url, "id", []byte("{}"), []secret.Text{aSecret()}); r.trouble != want || r.status != 0 || reached.Load() {
			t.Errorf("%s: %+v, want %q; reached: %v", url, r, want, reached.Load())
		}
	}
}
