package webhook

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"code.dny.dev/ssrf"

	"github.com/kobo-waas/kobo/internal/fault"
)

// timeout is the maximum duration of one attempt.
const timeout = 10 * time.Second

// azure is an address that lists of private addresses do not contain. On a virtual machine in
// Azure, it is the metadata service, which returns the machine's secrets.
var azure = netip.MustParsePrefix("168.63.129.16/32")

// guard refuses addresses that are only reachable from inside, such as private networks, this
// machine or a cloud's metadata service. It checks the addresses of a host when an endpoint is
// saved. At each connection it also checks the dialled address, since the host may have a
// different address by then.
type guard struct {
	loopback bool
	safe     *ssrf.Guardian
	resolver *net.Resolver
}

func newGuard(loopback bool, resolver *net.Resolver) guard {
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	options := []ssrf.Option{ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(azure)}
	if loopback {
		options = append(options,
			ssrf.WithAllowedV4Prefixes(netip.MustParsePrefix("127.0.0.0/8")), ssrf.WithAllowedV6Prefixes(netip.MustParsePrefix("::1/128")))
	}
	return guard{loopback: loopback, safe: ssrf.New(options...), resolver: resolver}
}

// client returns the HTTP client for deliveries. The client does not follow redirects, does not
// use a proxy, and does not dial addresses that the guard refuses.
func (g guard) client() *http.Client {
	dialer := &net.Dialer{Timeout: timeout, Control: g.safe.Safe, Resolver: g.resolver}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: timeout, ForceAttemptHTTP2: true,
			MaxIdleConns: 1024, MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second,
			MaxResponseHeaderBytes: 32 << 10, DisableCompression: true,
			// Pings detect a dead HTTP/2 connection before the attempt ends, so the next attempt
			// opens a new connection.
			HTTP2: &http.HTTP2Config{SendPingTimeout: timeout / 2, PingTimeout: timeout / 4},
		},
	}
}

func refused(message string) error {
	return fault.New(fault.Refused, message).With(fault.URLNotAllowed)
}

var (
	// almostIP matches names that some resolvers interpret as an IP address, such as 127.1,
	// 0x7f000001 or 2130706433. The last part of a real host name is never a number.
	almostIP = regexp.MustCompile(`(^|\.)(0[xX][0-9a-fA-F]*|[0-9]+)\.?$`)
	// inside matches names that exist only inside a network.
	inside = regexp.MustCompile(`(?i)(^|\.)(localhost|local|internal|intranet|lan|home|corp|localdomain)\.?$`)
)

// check returns an error if the address may not be the url of an endpoint.
func (g guard) check(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Opaque != "" || len(address) > 2000 || strings.ContainsAny(address, " \\\t\r\n") {
		return refused("The url must be an absolute https address")
	}
	host := u.Hostname()
	switch {
	case strings.ContainsFunc(u.Host, func(c rune) bool { return c > unicode.MaxASCII }):
		// An HTTP client may convert letters of other scripts to ASCII, and then dial a host that
		// was not checked.
		return refused("The host of the url must be in ASCII (xn--…)")
	case !hasValidPort(u):
		return refused("The port of the url must be 1 to 65535")
	case u.User != nil:
		return refused("The url must not hold a user or a password")
	case u.Fragment != "":
		return refused("The url must not have a fragment")
	case u.Scheme == "http" && g.loopback && g.isOnThisMachine(ctx, host):
		return nil
	case u.Scheme != "https":
		return refused("The url must be https")
	}
	return g.checkHost(ctx, host)
}

func hasValidPort(u *url.URL) bool {
	if u.Port() == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && n > 0
}

func (g guard) checkHost(ctx context.Context, host string) error {
	if ip, err := netip.ParseAddr(host); err == nil {
		return g.checkIP(ip)
	}
	if g.loopback && strings.EqualFold(host, "localhost") {
		return nil
	}
	if !strings.Contains(strings.Trim(host, "."), ".") || strings.Contains(host, "..") || almostIP.MatchString(host) || inside.MatchString(host) {
		return refused("The url must name a public host")
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	addresses, err := g.resolver.LookupHost(ctx, host)
	if err != nil {
		// If the host has no address now, the url is accepted. Each connection checks the address
		// again.
		return nil //nolint:nilerr // a failed lookup is not an error here
	}
	for _, a := range addresses {
		ip, err := netip.ParseAddr(a)
		if err != nil {
			return refused("The url must name a public host")
		}
		if err := g.checkIP(ip); err != nil {
			return err
		}
	}
	return nil
}

func (g guard) checkIP(ip netip.Addr) error {
	network := "tcp4"
	if ip.Is6() {
		network = "tcp6"
	}
	if err := g.safe.Safe(network, netip.AddrPortFrom(ip.WithZone(""), 443).String(), nil); err != nil || ip.Zone() != "" {
		return refused("The url must not lead into a private network")
	}
	return nil
}

// isOnThisMachine reports whether all addresses of a host are loopback addresses.
func (g guard) isOnThisMachine(ctx context.Context, host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback()
	}
	if !strings.EqualFold(host, "localhost") {
		return false
	}
	addresses, err := g.resolver.LookupHost(ctx, host)
	for _, a := range addresses {
		if ip, bad := netip.ParseAddr(a); bad != nil || !ip.IsLoopback() {
			return false
		}
	}
	return err == nil
}

// isForbidden reports whether the error of a connection means that the guard refused the address.
func isForbidden(err error) bool {
	for _, e := range []error{ssrf.ErrProhibitedIP, ssrf.ErrProhibitedNetwork, ssrf.ErrProhibitedPort, ssrf.ErrInvalidHostPort} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
