package peer_test

import (
	"context"
	"net/http"
	"net/netip"
	"testing"

	"github.com/kobo-waas/kobo/internal/peer"
)

func proxies(t testing.TB) peer.Proxies {
	t.Helper()
	p, err := peer.Parse([]string{"10.0.0.0/8", "192.168.1.7", "fd00::/8"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func asked(remote string, headers ...string) *http.Request {
	r := &http.Request{RemoteAddr: remote, Header: http.Header{}}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

const (
	xff       = "X-Forwarded-For"
	forwarded = "Forwarded"
)

func TestTheClientIsTheRightmostUntrustedAddress(t *testing.T) {
	for _, c := range []struct {
		remote  string
		headers []string
		want    string
		unheard bool
	}{
		{"203.0.113.9:1", nil, "203.0.113.9", false},
		{"203.0.113.9:1", []string{xff, "1.1.1.1"}, "203.0.113.9", true},
		{"203.0.113.9:1", []string{forwarded, "for=1.1.1.1"}, "203.0.113.9", true},
		{"203.0.113.9:1", []string{xff, " , "}, "203.0.113.9", false},
		{"10.0.0.1:1", nil, "10.0.0.1", false},
		{"10.0.0.1:1", []string{xff, "1.1.1.1"}, "1.1.1.1", false},
		{"10.0.0.1:1", []string{xff, "6.6.6.6, 1.1.1.1"}, "1.1.1.1", false},
		{"10.0.0.1:1", []string{xff, "6.6.6.6,1.1.1.1 , 10.2.3.4, 192.168.1.7"}, "1.1.1.1", false},
		{"10.0.0.1:1", []string{xff, "6.6.6.6", xff, "1.1.1.1"}, "1.1.1.1", false},
		{"10.0.0.1:1", []string{xff, "1.1.1.1", xff, "10.9.9.9"}, "1.1.1.1", false},
		{"10.0.0.1:1", []string{xff, "10.3.3.3, 10.2.2.2"}, "10.3.3.3", false},
		{"[::ffff:10.0.0.1]:1", []string{xff, "::ffff:1.1.1.1"}, "1.1.1.1", false},
		{"[fd00::1]:1", []string{xff, "2001:db8::5%eth0"}, "2001:db8::5", false},
		{"10.0.0.1:1", []string{xff, "1.1.1.1:4711"}, "1.1.1.1", false},
		{"10.0.0.1:1", []string{xff, "[2001:db8::5]:443"}, "2001:db8::5", false},
		{"10.0.0.1:1", []string{xff, "[2001:db8::5]"}, "2001:db8::5", false},
		// An unreadable entry ends the search, and the last trusted proxy counts as the client.
		{"10.0.0.1:1", []string{xff, "bucket-7"}, "10.0.0.1", false},
		{"10.0.0.1:1", []string{xff, "1.1.1.1, bucket-7"}, "10.0.0.1", false},
		{"10.0.0.1:1", []string{xff, "1.1.1.1,, 10.2.2.2"}, "10.2.2.2", false},
		{"10.0.0.1:1", []string{xff, "\x00, 1.1.1.1"}, "1.1.1.1", false},
		// The header Forwarded counts only if there is no X-Forwarded-For.
		{"10.0.0.1:1", []string{forwarded, "for=6.6.6.6", xff, "1.1.1.1"}, "1.1.1.1", false},
		{"10.0.0.1:1", []string{xff, "", forwarded, "for=1.1.1.1"}, "1.1.1.1", false},
		{"10.0.0.1:1", []string{forwarded, `for=6.6.6.6, For="1.1.1.1:80";proto=https;by=10.0.0.1, for=10.0.0.2`}, "1.1.1.1", false},
		{"10.0.0.1:1", []string{forwarded, `proto=https; for="[2001:db8::5]:443"`}, "2001:db8::5", false},
		{"10.0.0.1:1", []string{forwarded, `for="6.6.6.6, for=1.1.1.1`}, "1.1.1.1", false},
		{"10.0.0.1:1", []string{forwarded, `for=1.1.1.1, for=_hidden`}, "10.0.0.1", false},
		{"10.0.0.1:1", []string{forwarded, `for=unknown`}, "10.0.0.1", false},
		{"10.0.0.1:1", []string{forwarded, `for="1.1.1.1`}, "10.0.0.1", false},
		{"10.0.0.1:1", []string{forwarded, `for=1.1.1.1;for=2.2.2.2`}, "10.0.0.1", false},
		{"10.0.0.1:1", []string{forwarded, `by=1.1.1.1`}, "10.0.0.1", false},
		{"@", []string{xff, "1.1.1.1"}, "@", true},
	} {
		if got, unheard := proxies(t).Client(asked(c.remote, c.headers...)); got != c.want || unheard != c.unheard {
			t.Errorf("%s %q: %s %t; want %s %t", c.remote, c.headers, got, unheard, c.want, c.unheard)
		}
	}
}

// The scheme and the host are those of the client's request to the first trusted proxy.
func TestTheHostIsTheOneThatWasAsked(t *testing.T) {
	const proto, host = "X-Forwarded-Proto", "X-Forwarded-Host"
	for _, c := range []struct {
		remote       string
		headers      []string
		scheme, host string
	}{
		{"10.0.0.1:1", nil, "", ""},
		{"203.0.113.9:1", []string{proto, "https", host, "a.example", forwarded, "for=1.1.1.1;proto=https;host=a.example"}, "", ""},
		{"@", []string{proto, "https"}, "", ""},
		{"10.0.0.1:1", []string{proto, "HTTPS", host, "a.example:443"}, "https", "a.example:443"},
		{"10.0.0.1:1", []string{proto, "http, https", host, "evil.example, a.example"}, "https", "a.example"},
		{"10.0.0.1:1", []string{host, "evil.example", host, "a.example"}, "", "a.example"},
		{"10.0.0.1:1", []string{forwarded, `for=1.1.1.1;proto=https;host="a.example:8443"`}, "https", "a.example:8443"},
		{"10.0.0.1:1", []string{forwarded, "for=6.6.6.6;host=evil.example, for=1.1.1.1;host=a.example;proto=https"}, "https", "a.example"},
		{"10.0.0.1:1", []string{forwarded, "for=6.6.6.6;host=evil.example, for=1.1.1.1;host=a.example;proto=https, for=10.2.3.4;host=inner;proto=http"}, "https", "a.example"},
		{"10.0.0.1:1", []string{forwarded, "host=a.example;proto=https"}, "https", "a.example"},
		{"10.0.0.1:1", []string{forwarded, "for=10.2.3.4;host=a.example;proto=https"}, "https", "a.example"},
		{"10.0.0.1:1", []string{forwarded, "for=1.1.1.1;host=a.example;proto=http", proto, "https"}, "https", "a.example"},
		{"10.0.0.1:1", []string{forwarded, `for=1.1.1.1;host="a.example`}, "", ""},
		{"10.0.0.1:1", []string{forwarded, "host=evil.example, for=1.1.1.1"}, "", ""},
	} {
		if scheme, host := proxies(t).Asked(asked(c.remote, c.headers...)); scheme != c.scheme || host != c.host {
			t.Errorf("%s %q: %q %q; want %q %q", c.remote, c.headers, scheme, host, c.scheme, c.host)
		}
	}
}

// Entries to the left of the trusted proxy's entry do not change the client address.
func FuzzACallerChoosesNoAddress(f *testing.F) {
	for _, s := range []string{"", "1.1.1.1", `for="`, `for="\`, "10.0.0.1", "[", ";;==,,", "\x00"} {
		f.Add(s)
	}
	p := proxies(f)
	f.Fuzz(func(t *testing.T, theirs string) {
		for _, r := range []*http.Request{
			asked("10.0.0.1:1", xff, theirs+", 9.9.9.9"), asked("10.0.0.1:1", xff, theirs, xff, "9.9.9.9"),
			asked("10.0.0.1:1", forwarded, theirs+", for=9.9.9.9"), asked("10.0.0.1:1", forwarded, theirs, forwarded, `for="9.9.9.9:1"`),
		} {
			if got, _ := p.Client(r); got != "9.9.9.9" {
				t.Errorf("%q: %s", theirs, got)
			}
		}
		alone, _ := p.Client(asked("10.0.0.1:1", xff, theirs))
		if _, err := netip.ParseAddr(alone); err != nil {
			t.Errorf("%q: %s is no address", theirs, alone)
		}
	})
}

func TestWrongProxiesAreRefused(t *testing.T) {
	for _, text := range []string{"", "x", "10.0.0.0/33", "0.0.0.0/0", "::/0", "fe80::1%eth0", "::ffff:10.0.0.1", "proxy.example.com"} {
		if p, err := peer.Parse([]string{"10.0.0.1", text}); err == nil {
			t.Errorf("%q: %v", text, p)
		}
	}
}

func TestACallerIsANetwork(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "2001:db8::1": "2001:db8::/64", "2001:db8:0:0:9::1": "2001:db8::/64", "@": "@", "": "",
	} {
		if got := peer.Network(address); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
	if got := peer.Of(peer.With(t.Context(), "192.0.2.1")); got != "192.0.2.1" || peer.Of(context.Background()) != "" {
		t.Error(got)
	}
}
