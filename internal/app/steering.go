package app

import (
	"crypto/subtle"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/kobo-waas/kobo/internal/peer"
)

// steering is /sandbox/: whoever reaches it makes money of the sandbox and moves
// its clock. With a token configured it wants the token. Without one it answers
// only where nobody but this machine can connect, and only what this machine asks.
func (a *App) steering(proxies peer.Proxies) http.Handler {
	control, token := a.sandbox.Control(), a.cfg.SandboxToken.Reveal()
	if token == "" && !a.exposed {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !fromHere(r, proxies) {
				refuseSteering(w, http.StatusForbidden, "The sandbox is steered from this machine by its own name, or with a token: set sandbox_token")
				return
			}
			control.ServeHTTP(w, r)
		})
	}
	if token == "" {
		a.log.Warn("/sandbox/ answers nobody: this program listens beyond loopback and sandbox_token is not set")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		switch {
		case token == "":
			refuseSteering(w, http.StatusForbidden, "The sandbox is steered on loopback, or with a token: set sandbox_token")
		case !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(strings.TrimSpace(given)), []byte(token)) != 1:
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuseSteering(w, http.StatusUnauthorized, "The sandbox token is missing or wrong")
		default:
			control.ServeHTTP(w, r)
		}
	})
}

// fromHere tells whether a program of this machine asks, and means this machine. A
// proxy here asks for others. A browser that a stranger's name sends here names the
// stranger as the host.
func fromHere(r *http.Request, proxies peer.Proxies) bool {
	client, unheard := proxies.Client(r)
	address, err := netip.ParseAddr(client)
	if err != nil || !address.IsLoopback() || unheard {
		return false
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	own, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && own.IsLoopback() || strings.EqualFold(host, "localhost")
}

func refuseSteering(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"status":"error","message":"`+why+`"}`+"\n") // nobody is left to tell when the caller has gone
}

// loopback tells whether an address is one that only this machine reaches.
func loopback(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback() || !ok && address.Network() == "unix"
}
