package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/kobo-waas/kobo/internal/secret"
)

// TLSConfig is about TLS by Kobo itself (docs/operating/install.md). Each file is PEM. An address
// without a certificate serves plain HTTP. Kobo reads changed files again without a restart.
type TLSConfig struct {
	CertFile        string `koanf:"cert_file"`         // Certificate of `listen`, followed by its intermediate certificates.
	KeyFile         string `koanf:"key_file"`          // Private key of `tls.cert_file`.
	AdminCertFile   string `koanf:"admin_cert_file"`   // Certificate of `admin_listen`.
	AdminKeyFile    string `koanf:"admin_key_file"`    // Private key of `tls.admin_cert_file`.
	MetricsCertFile string `koanf:"metrics_cert_file"` // Certificate of `metrics_listen`.
	MetricsKeyFile  string `koanf:"metrics_key_file"`  // Private key of `tls.metrics_cert_file`.
}

// check returns the errors of the settings and of the files that they name.
func (c TLSConfig) check(admin, metrics string) error {
	var all []error
	for _, one := range []struct{ prefix, cert, key, address string }{
		{"", c.CertFile, c.KeyFile, "listen"},
		{"admin_", c.AdminCertFile, c.AdminKeyFile, admin},
		{"metrics_", c.MetricsCertFile, c.MetricsKeyFile, metrics},
	} {
		all = append(all,
			errorIf((one.cert == "") != (one.key == ""), "set both tls.%[1]scert_file and tls.%[1]skey_file, or neither", one.prefix),
			errorIf(one.cert != "" && one.address == "", "tls.%[1]scert_file needs %[1]slisten", one.prefix))
		if one.cert != "" && one.key != "" {
			all = append(all, prefixed("tls."+one.prefix+"cert_file: ", failure(newKeyPair(one.cert, one.key).read())))
		}
	}
	return errors.Join(all...)
}

// keyFiles returns the paths of the private keys.
func (c TLSConfig) keyFiles() []string {
	return slices.DeleteFunc([]string{c.KeyFile, c.AdminKeyFile, c.MetricsKeyFile}, func(path string) bool { return path == "" })
}

// keyPair is a certificate with its private key, in two files that may change while the program runs.
type keyPair struct {
	certFile, keyFile string
	seen              [sha256.Size]byte // hash of what the last call of read found
	current           atomic.Pointer[tls.Certificate]
	stale             atomic.Bool // the files have changed since, and cannot be used
}

// newKeyPair returns a pair that has not been read yet, or nil without a file.
func newKeyPair(certFile, keyFile string) *keyPair {
	if certFile == "" {
		return nil
	}
	return &keyPair{certFile: certFile, keyFile: keyFile}
}

// read reads the files, and reports whether it has replaced the certificate. If the files are not
// valid, the certificate stays. For files that have not changed since the last call, read returns
// false and no error.
func (k *keyPair) read() (replaced bool, err error) {
	_, err = secret.CheckMode(k.keyFile)
	var cert, key []byte
	if err == nil {
		cert, err = os.ReadFile(k.certFile)
	}
	if err == nil {
		key, err = os.ReadFile(k.keyFile)
	}
	found := bytes.Join([][]byte{cert, key}, []byte{0})
	if err != nil {
		found = []byte(err.Error())
	}
	hash := sha256.Sum256(found)
	if hash == k.seen {
		return false, nil
	}
	k.seen = hash
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.X509KeyPair(cert, key)
	}
	if err == nil {
		k.current.Store(&pair)
	}
	k.stale.Store(err != nil)
	return err == nil, err
}

// secure gives a server TLS with a certificate that is read from its files again when they change.
func (a *App) secure(server *http.Server, k *keyPair) error {
	if _, err := k.read(); err != nil {
		return prefixed("tls: ", err)
	}
	server.TLSConfig = &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return k.current.Load(), nil },
	}
	a.pairsMu.Lock()
	a.pairs = append(a.pairs, k)
	a.pairsMu.Unlock()
	a.warnExpired(k)
	return nil
}

// warnExpired logs a warning if a certificate is not valid at this moment.
func (a *App) warnExpired(k *keyPair) {
	now, leaf := a.cfg.machine().Now(), k.current.Load().Leaf
	if now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		a.log.Warn("a certificate is not valid now", "file", k.certFile, "not_before", leaf.NotBefore, "not_after", leaf.NotAfter)
	}
}

// reloadCertificates reads the certificates again whose files have changed. It returns the pause
// until its next call.
func (a *App) reloadCertificates(context.Context) time.Duration {
	a.pairsMu.RLock()
	defer a.pairsMu.RUnlock()
	for _, k := range a.pairs {
		switch replaced, err := k.read(); {
		case err != nil:
			a.log.Error("a changed certificate cannot be used; the old one stays", "file", k.certFile, "error", err)
		case replaced:
			a.log.Info("the certificate was replaced", "file", k.certFile, "not_after", k.current.Load().Leaf.NotAfter)
			a.warnExpired(k)
		}
	}
	return 2 * time.Second
}
