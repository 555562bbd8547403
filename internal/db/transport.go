package db

import (
	"net"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Transport states how the connections to a database are protected.
type Transport int

// A database is reached in one of these ways.
const (
	Private   Transport = iota // a file, a socket, or a server on this machine
	Encrypted                  // always with TLS
	Plain                      // never with TLS
	Undecided                  // with or without TLS, as the server answers
)

// TransportOf returns how a URL protects its connections. The URL must be valid (CheckURL). The
// variable PGSSLMODE counts if the URL has no sslmode.
func TransportOf(url string) Transport {
	if !isPostgres(url) {
		return Private
	}
	cfg, err := pgconn.ParseConfig(url)
	if err != nil {
		return Undecided
	}
	tls, plain := false, false
	try := func(host string, encrypted bool) {
		if isRemote(host) {
			tls, plain = tls || encrypted, plain || !encrypted
		}
	}
	try(cfg.Host, cfg.TLSConfig != nil)
	for _, f := range cfg.Fallbacks {
		try(f.Host, f.TLSConfig != nil)
	}
	switch {
	case tls && plain:
		return Undecided
	case tls:
		return Encrypted
	case plain:
		return Plain
	}
	return Private
}

// isRemote reports whether connections to a host may leave this machine.
func isRemote(host string) bool {
	if filepath.IsAbs(host) || strings.HasPrefix(host, "@") || host == "localhost" {
		return false // a socket, or this machine
	}
	ip := net.ParseIP(host)
	return ip == nil || !ip.IsLoopback()
}
