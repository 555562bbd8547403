// Package peer finds the client address of a request behind proxies.
//
// A caller can write anything into X-Forwarded-For and Forwarded. A trusted proxy adds
// its caller's address on the right. So the package reads both headers from the right,
// and stops at the first address that is no trusted proxy.
package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the networks of trusted proxies.
type Proxies []netip.Prefix

// Parse reads networks (10.0.0.0/8) and single addresses.
func Parse(list []string) (Proxies, error) {
	out, all := make(Proxies, 0, len(list)), []error(nil)
	for _, text := range list {
		network, err := netip.ParsePrefix(text)
		if address, failed := netip.ParseAddr(text); failed == nil && address.Zone() == "" {
			network, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		switch {
		case err != nil || network.Addr().Is4In6():
			all = append(all, fmt.Errorf("%q is no network such as 10.0.0.0/8", text))
		case network.Bits() == 0:
			all = append(all, fmt.Errorf("%q is everybody: every caller could choose an address", text))
		}
		out = append(out, network.Masked())
	}
	if err := errors.Join(all...); err != nil {
		return nil, err
	}
	return out, nil
}

func (p Proxies) trust(a netip.Addr) bool {
	for _, network := range p {
		if network.Contains(a) {
			return true
		}
	}
	return false
}

// Client returns the client address of a request. Unheard is true if the request names other
// addresses in its headers, but does not come from a trusted proxy.
func (p Proxies) Client(r *http.Request) (address string, unheard bool) {
	hops, forwarded := hopsOf(r)
	at, ok := parse(r.RemoteAddr)
	if !ok {
		return r.RemoteAddr, forwarded
	}
	if !p.trust(at) {
		return at.String(), forwarded
	}
	for i := len(hops) - 1; i >= 0 && p.trust(at); i-- {
		next, ok := parse(hops[i])
		if !ok {
			break // the client of an unreadable entry is the proxy that added the entry
		}
		at = next
	}
	return at.String(), false
}

// Asked returns the scheme and the host of the client's request, from the headers of trusted
// proxies: X-Forwarded-Proto and X-Forwarded-Host, or else Forwarded. Without a trusted
// header the result is empty.
func (p Proxies) Asked(r *http.Request) (scheme, host string) {
	at, ok := parse(r.RemoteAddr)
	if !ok || !p.trust(at) {
		return "", ""
	}
	elements := strings.Split(strings.Join(r.Header.Values("Forwarded"), ","), ",")
	first := len(elements) // the element of the first trusted proxy, which saw the client
	for ; first > 0 && ok && p.trust(at); first-- {
		at, ok = parse(pairOf(elements[first-1], "for"))
	}
	scheme, host = last(r, "X-Forwarded-Proto"), last(r, "X-Forwarded-Host")
	if first < len(elements) {
		scheme, host = cmp.Or(scheme, pairOf(elements[first], "proto")), cmp.Or(host, pairOf(elements[first], "host"))
	}
	return strings.ToLower(scheme), host
}

// last returns the last item of a list header. The nearest proxy has written it.
func last(r *http.Request, header string) string {
	line := strings.Join(r.Header.Values(header), ",")
	return strings.TrimSpace(line[strings.LastIndex(line, ",")+1:])
}

// hopsOf returns the addresses in the headers, the nearest proxy's last.
func hopsOf(r *http.Request) (hops []string, any bool) {
	if line := strings.Join(r.Header.Values("X-Forwarded-For"), ","); strings.Trim(line, ", \t") != "" {
		return strings.Split(line, ","), true
	}
	line := strings.Join(r.Header.Values("Forwarded"), ",")
	if strings.Trim(line, ", \t") == "" {
		return nil, false
	}
	// No address has a comma. So an open quote ends with the caller's own element, and the
	// proxy's element stays readable.
	for element := range strings.SplitSeq(line, ",") {
		hops = append(hops, pairOf(element, "for"))
	}
	return hops, true
}

// pairOf returns a value of an element of Forwarded (RFC 7239), or empty.
func pairOf(element, wanted string) (found string) {
	for pair := range strings.SplitSeq(element, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || !strings.EqualFold(name, wanted) {
			continue
		}
		if found != "" {
			return "" // two values are no address
		}
		found = value
		if inner, quoted := strings.CutPrefix(value, `"`); quoted {
			if found, quoted = strings.CutSuffix(inner, `"`); !quoted {
				return ""
			}
		}
	}
	return found
}

// parse reads an address with or without a port. Brackets may enclose an IPv6 address.
func parse(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	address, err := netip.ParseAddr(text)
	if err != nil {
		var both netip.AddrPort
		if both, err = netip.ParseAddrPort(text); err == nil {
			address = both.Addr()
		} else if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
			address, err = netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		}
	}
	return address.Unmap().WithZone(""), err == nil
}

// Network returns the network of one caller: an IPv4 address, or an IPv6 network of 64 bits,
// since each IPv6 caller has such a network.
func Network(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || !a.Is6() {
		return address
	}
	network, _ := a.Prefix(64) // an IPv6 address has a /64
	return network.String()
}

type contextKey struct{}

// With adds the client address of a request to its context.
func With(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, contextKey{}, address)
}

// Of returns the client address of the context's request, or "".
func Of(ctx context.Context) string {
	address, _ := ctx.Value(contextKey{}).(string)
	return address
}
