// Package peer knows from which address a request comes, with proxies in between.
//
// A caller can write anything into X-Forwarded-For and Forwarded. A trusted proxy
// adds the address that it saw itself, on the right. So both are read from the
// right, only as long as trusted proxies speak.
package peer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the networks whose word about the client's address is taken.
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

// Client is the address that a request comes from. Unheard tells that the request
// names another one, by the word of somebody who is no trusted proxy.
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
			break // what no address stands for is the proxy's that passed it on
		}
		at = next
	}
	return at.String(), false
}

// Secure tells whether a trusted proxy took the request by https.
func (p Proxies) Secure(r *http.Request) bool {
	at, ok := parse(r.RemoteAddr)
	return ok && p.trust(at) && strings.EqualFold(strings.TrimSpace(r.Header.Get("X-Forwarded-Proto")), "https")
}

// hopsOf are the addresses that the headers name, the nearest last.
func hopsOf(r *http.Request) (hops []string, any bool) {
	if line := strings.Join(r.Header.Values("X-Forwarded-For"), ","); strings.Trim(line, ", \t") != "" {
		return strings.Split(line, ","), true
	}
	line := strings.Join(r.Header.Values("Forwarded"), ",")
	if strings.Trim(line, ", \t") == "" {
		return nil, false
	}
	// No address has a comma. So a quote that a caller leaves open ends with the
	// caller's own part, and the proxy's part stays readable.
	for element := range strings.SplitSeq(line, ",") {
		hops = append(hops, forOf(element))
	}
	return hops, true
}

// forOf is the "for" of an element of Forwarded (RFC 7239), or empty.
func forOf(element string) (node string) {
	for pair := range strings.SplitSeq(element, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || !strings.EqualFold(name, "for") {
			continue
		}
		if node != "" {
			return "" // which of the two?
		}
		node = value
		if inner, quoted := strings.CutPrefix(value, `"`); quoted {
			if node, quoted = strings.CutSuffix(inner, `"`); !quoted {
				return ""
			}
		}
	}
	return node
}

// parse reads an address, perhaps with a port, and an IPv6 one perhaps in brackets.
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

// Network is what counts as one caller: an address, or an IPv6 network of 64 bits,
// since IPv6 callers have a whole one each.
func Network(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || !a.Is6() {
		return address
	}
	network, _ := a.Prefix(64) // an IPv6 address has a /64
	return network.String()
}

type contextKey struct{}

// With is a context of a request that comes from an address.
func With(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, contextKey{}, address)
}

// Of is the address that the request of a context comes from; empty: there is none.
func Of(ctx context.Context) string {
	address, _ := ctx.Value(contextKey{}).(string)
	return address
}
