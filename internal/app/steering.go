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

// sandboxControls serves /sandbox/, which creates the sandbox's money and moves its clock. With
// sandbox_token it requires the token. Without a token it serves only this machine, and
// only while the program listens on loopback.
func (a *App) sandboxControls(proxies peer.Proxies) http.Handler {
	control, token := a.sandbox.Control(), a.cfg.SandboxToken.Reveal()
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

// isLocal reports whether a request is of a program of this machine, and for this machine.
// A proxy here forwards other machines' requests. The host tells a browser that a foreign
// name has led here.
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
	_, _ = io.WriteString(w, `{"status":"error","message":"`+why+`"}`+"\n") // an error means that the client has gone
}

// loopback reports whether only this machine can reach an address.
func loopback(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback() || !ok && address.Network() == "unix"
}
