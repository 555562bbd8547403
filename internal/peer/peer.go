// Package peer finds the client's address when a request comes through proxies.
//
// A caller can write anything into X-Forwarded-For and Forwarded. A trusted proxy adds its caller's
// address on the right. So the package reads both headers from the right. It stops at the first
// address that is not a trusted proxy.
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

// Proxies is a list of the networks of trusted proxies.
type Proxies []netip.Prefix

// Parse reads networks, such as 10.0.0.0/8, and single addresses.
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

// Client returns the client's address. Unheard is true if the request contains a client address in
// X-Forwarded-For or Forwarded, but does not come from a trusted proxy. In that case the headers
// are ignored.
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
			break // the entry is unreadable, so the proxy that added it counts as the client
		}
		at = next
	}
	return at.String(), false
}

// Asked returns the scheme and the host that the client requested. It reads X-Forwarded-Proto and
// X-Forwarded-Host, or else Forwarded. If the request does not come from a trusted proxy or has no
// such header, both results are empty.
func (p Proxies) Asked(r *http.Request) (scheme, host string) {
	at, ok := parse(r.RemoteAddr)
	if !ok || !p.trust(at) {
		return "", ""
	}
	elements := strings.Split(strings.Join(r.Header.Values("Forwarded"), ","), ",")
	first := len(elements) // the element that the first trusted proxy added, which received the client's request
	for ; first > 0 && ok && p.trust(at); first-- {
		at, ok = parse(pairOf(elements[first-1], "for"))
	}
	scheme, host = last(r, "X-Forwarded-Proto"), last(r, "X-Forwarded-Host")
	if first < len(elements) {
		scheme, host = cmp.Or(scheme, pairOf(elements[first], "proto")), cmp.Or(host, pairOf(elements[first], "host"))
	}
	return strings.ToLower(scheme), host
}

// last returns the last item of a list header. The proxy nearest to Kobo has written this item.
func last(r *http.Request, header string) string {
	line := strings.Join(r.Header.Values(header), ",")
	return strings.TrimSpace(line[strings.LastIndex(line, ",")+1:])
}

// hopsOf returns the addresses in the headers. The address that the nearest proxy added comes last.
func hopsOf(r *http.Request) (hops []string, any bool) {
	if line := strings.Join(r.Header.Values("X-Forwarded-For"), ","); strings.Trim(line, ", \t") != "" {
		return strings.Split(line, ","), true
	}
	line := strings.Join(r.Header.Values("Forwarded"), ",")
	if strings.Trim(line, ", \t") == "" {
		return nil, false
	}
	// An address never contains a comma, so commas always separate elements. A quote that a caller
	// leaves open ends with the caller's element, and the proxy's element stays readable.
	for element := range strings.SplitSeq(line, ",") {
		hops = append(hops, pairOf(element, "for"))
	}
	return hops, true
}

// pairOf returns the value of one name in an element of Forwarded (RFC 7239), or "".
func pairOf(element, wanted string) (found string) {
	for pair := range strings.SplitSeq(element, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || !strings.EqualFold(name, wanted) {
			continue
		}
		if found != "" {
			return "" // two values for one name are ambiguous, so neither is used
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

// Network returns the network of one caller. For IPv4 this is the address. For IPv6 it is the
// network of 64 bits, because each IPv6 caller usually has a whole network of that size.
func Network(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || !a.Is6() {
		return address
	}
	network, _ := a.Prefix(64) // cannot fail, because every IPv6 address has a /64 network
	return network.String()
}

type contextKey struct{}

// caller is what the program knows about the caller of a request.
type caller struct{ address, operator, subject string }

// With adds the client address of a request to its context.
func With(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, contextKey{}, &caller{address: address})
}

func callerOf(ctx context.Context) *caller {
	if c, ok := ctx.Value(contextKey{}).(*caller); ok {
		return c
	}
	return &caller{}
}

// Of returns the client address in the context, or "".
func Of(ctx context.Context) string { return callerOf(ctx).address }

// SetOperator records the operator who makes the request, for the log line of the request. A handler
// calls it before the request ends.
func SetOperator(ctx context.Context, name string) { callerOf(ctx).operator = name }

// OperatorOf returns the operator of SetOperator, or "".
func OperatorOf(ctx context.Context) string { return callerOf(ctx).operator }

// SetSubject records the id of what the request of the context has begun, such as a payout. It does nothing outside
// of a request.
func SetSubject(ctx context.Context, subject string) { callerOf(ctx).subject = subject }

// SubjectOf returns the id of SetSubject, or "".
func SubjectOf(ctx context.Context) string { return callerOf(ctx).subject }
