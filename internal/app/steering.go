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

// sandboxControls returns the handler of /sandbox/, which creates the sandbox's money and moves
// its clock. If sandbox_token is set, the handler requires that token. Otherwise it serves only
// this machine, and only while the program listens on loopback.
func (a *App) sandboxControls(proxies peer.Proxies) http.Handler {
	control, token := a.withSettings(a.withRenewal(a.sandbox.Control())), a.cfg.SandboxToken.Reveal()
	if token == "" && !a.exposed {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !isLocal(r, proxies) {
				refuseControl(w, http.StatusForbidden, "The sandbox is steered from this machine by its own name, or with a token: set sandbox_token")
				return
			}
			control.ServeHTTP(w, r)
		})
	}
	if token == "" {
		a.log.Warn("/sandbox/ refuses all requests: this program listens beyond loopback, and sandbox_token is not set")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		switch {
		case token == "":
			refuseControl(w, http.StatusForbidden, "The sandbox is steered on loopback, or with a token: set sandbox_token")
		case !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(strings.TrimSpace(given)), []byte(token)) != 1:
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuseControl(w, http.StatusUnauthorized, "The sandbox token is missing or wrong")
		default:
			control.ServeHTTP(w, r)
		}
	})
}

// isLocal reports whether a request was sent by a program on this machine and addressed to this
// machine. It checks the client behind a proxy, because a local proxy may forward requests of other
// machines. It also checks the Host header, because a foreign web page may use a name that resolves
// to this machine.
func isLocal(r *http.Request, proxies peer.Proxies) bool {
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

func refuseControl(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"status":"error","message":"`+why+`"}`+"\n") // an error means that the client has disconnected
}

// loopback reports whether an address is reachable only from this machine.
func loopback(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback() || !ok && address.Network() == "unix"
}
