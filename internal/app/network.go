package app

import (
	"context"
	"net"
	"net/http"
)

// Network is a network in which programs listen and dial.
type Network interface {
	Listen(network, address string) (net.Listener, error)
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// listen opens a listener in the configured network, or on this machine.
func (c Config) listen(address string) (net.Listener, error) {
	if c.Network != nil {
		return c.Network.Listen("tcp", address)
	}
	return net.Listen("tcp", address)
}

// dial returns the function that opens connections in the configured network. It returns nil if none
// is configured.
func (c Config) dial() func(ctx context.Context, network, address string) (net.Conn, error) {
	if c.Network == nil {
		return nil
	}
	return c.Network.DialContext
}

// throughNetwork makes the transport of a plug open its connections in the configured network.
func (c Config) throughNetwork(t http.RoundTripper) http.RoundTripper {
	if own, ok := t.(*http.Transport); ok && c.Network != nil {
		own.DialContext = c.Network.DialContext
	}
	return t
}
