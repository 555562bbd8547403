package app

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
)

// certify writes a new certificate for 127.0.0.1 and its key into two files.
func certify(t *testing.T, certFile, keyFile string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(serial), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, leaf, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: text}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// logged is a log that a test reads while the program writes it.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends to the log.
func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// has reports how often the log contains a text.
func (l *logged) has(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// serving runs a development program on three listeners until the test ends.
func serving(t *testing.T, cfg Config, log io.Writer) (*App, Listeners, Credentials) {
	t.Helper()
	cfg.AdminListen, cfg.MetricsListen, cfg.Listen = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	a, c, err := OpenDev(t.Context(), cfg, false, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	on, err := cfg.OpenListeners()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- a.Serve(ctx, on, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	becomesReady(t, a)
	return a, on, c
}

// becomesReady waits until the program is ready. Its listeners answer a little earlier.
func becomesReady(t *testing.T, a *App) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		w := httptest.NewRecorder()
		a.ready(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/readyz", nil))
		if w.Code == http.StatusOK {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal(w.Body.String())
		}
	}
}

// asked sends a GET request and returns the status of its response.
func asked(t *testing.T, client *http.Client, url string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// A part with a separate address is served only there. The other addresses answer 404, however the
// path is written.
func TestEachPartIsServedAtItsAddressOnly(t *testing.T) {
	_, on, _ := serving(t, DevConfig(t.TempDir(), ""), io.Discard)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for path, want := range map[string][3]int{ // at the public address, the admin address, the metrics address
		"/healthz":                {200, 404, 200},
		"/readyz?for=companies":   {200, 404, 200},
		"/metrics":                {404, 404, 200},
		"/metrics/":               {404, 404, 404},
		"/admin/v1/companies":     {404, 401, 404},
		"/admin/openapi.json":     {404, 200, 404},
		"/%61dmin/v1/companies":   {404, 401, 404},
		"/admin%2fv1/companies":   {404, 404, 404},
		"//admin/v1/companies":    {404, 404, 404},
		"/x/../admin/v1":          {404, 404, 404},
		"/admin":                  {404, 404, 404},
		"/openapi.json":           {200, 404, 404},
		"/docs":                   {200, 404, 404},
		"/api/v1/vtu/services":    {401, 404, 404},
		"/callbacks/safehaven/no": {405, 404, 404},
	} {
		for i, l := range []net.Listener{on.Public, on.Admin, on.Metrics} {
			if got := asked(t, client, "http://"+l.Addr().String()+path); got != want[i] {
				t.Errorf("%s at listener %d: %d, want %d", path, i, got, want[i])
			}
		}
	}
}

// Without separate addresses, the public address serves all parts.
func TestOneAddressServesEveryPart(t *testing.T) {
	a, _, err := OpenDev(t.Context(), DevConfig(t.TempDir(), ""), false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- a.Run(ctx, l, func() { close(ready) }) }()
	<-ready
	becomesReady(t, a)
	for path, want := range map[string]int{"/metrics": 200, "/readyz": 200, "/admin/v1/companies": 401, "/api/v1/vtu/services": 401} {
		if got := asked(t, http.DefaultClient, "http://"+l.Addr().String()+path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Kobo replaces a certificate while it serves. If a new file is broken, the old certificate stays,
// and the log says so once.
func TestACertificateIsReplacedWithoutARestart(t *testing.T) {
	cfg, dir := DevConfig(t.TempDir(), ""), t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	cfg.TLS = TLSConfig{CertFile: file("cert"), KeyFile: file("key"), AdminCertFile: file("admin-cert"), AdminKeyFile: file("admin-key")}
	certify(t, file("cert"), file("key"), 1)
	certify(t, file("admin-cert"), file("admin-key"), 7)
	var log logged
	a, on, _ := serving(t, cfg, &log)
	serial := func(l net.Listener, most uint16) int64 {
		t.Helper()
		c, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MaxVersion: most}}).DialContext(t.Context(), "tcp", l.Addr().String()) //nolint:gosec // the test reads the certificate
		if err != nil {
			return -1
		}
		defer func() { _ = c.Close() }()
		return c.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	if serial(on.Public, 0) != 1 || serial(on.Admin, 0) != 7 {
		t.Error("an address has not its certificate")
	}
	if serial(on.Public, tls.VersionTLS12) != 1 || serial(on.Public, tls.VersionTLS11) != -1 {
		t.Error("the oldest version is not TLS 1.2")
	}
	if got := asked(t, http.DefaultClient, "http://"+on.Metrics.Addr().String()+"/readyz"); got != http.StatusOK {
		t.Errorf("an address without a certificate: %d", got)
	}
	certify(t, file("cert"), file("key"), 2)
	eventually(t, func() bool { return serial(on.Public, 0) == 2 })
	if log.has("the certificate was replaced") != 1 {
		t.Error("the log does not mention the new certificate")
	}
	if err := os.WriteFile(file("cert"), []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return log.has("the old one stays") == 1 })
	a.reloadCertificates(t.Context()) // the file has not changed again
	if n := log.has("the old one stays"); n != 1 || serial(on.Public, 0) != 2 {
		t.Errorf("after a broken file: %d log lines, certificate %d", n, serial(on.Public, 0))
	}
	certify(t, file("cert"), file("key"), 3)
	eventually(t, func() bool { return serial(on.Public, 0) == 3 })
}

// In sandbox mode the simulated bank still reaches a program that speaks TLS.
func TestTheSandboxNotifiesAProgramWithTLS(t *testing.T) {
	cfg, dir := DevConfig(t.TempDir(), ""), t.TempDir()
	cfg.TLS = TLSConfig{CertFile: filepath.Join(dir, "cert"), KeyFile: filepath.Join(dir, "key")}
	certify(t, cfg.TLS.CertFile, cfg.TLS.KeyFile, 1)
	a, on, c := serving(t, cfg, io.Discard)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // the test's own certificate
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+on.Public.Addr().String()+"/sandbox/credit",
		strings.NewReader(`{"accountNumber":"`+c.SettlementAccountNumber+`","amount":5000,"senderName":"BOLA SAMPLE"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("the sandbox's credit: %d", res.StatusCode)
	}
	eventually(t, func() bool {
		n, err := db.One(t.Context(), a.DB, db.Value[int64], `SELECT count(*) FROM inbox_notification`)
		return err == nil && n == 1
	})
}

// eventually repeats a check until it succeeds, or fails the test after ten seconds.
func eventually(t *testing.T, check func() bool) {
	t.Helper()
	patience := time.NewTimer(10 * time.Second)
	defer patience.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !check() {
		select {
		case <-patience.C:
			t.Fatal("it did not happen within ten seconds")
		case <-tick.C:
		}
	}
}

// A certificate that cannot be served is a fault of the configuration.
func TestListenersAreChecked(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	certify(t, cert, key, 1)
	certify(t, filepath.Join(dir, "other"), filepath.Join(dir, "other-key"), 2)
	for want, change := range map[string]func(*Config){
		"":                                     func(c *Config) { c.TLS = TLSConfig{CertFile: cert, KeyFile: key} },
		"tls.cert_file and tls.key_file":       func(c *Config) { c.TLS = TLSConfig{CertFile: cert} },
		"tls.admin_cert_file needs admin_list": func(c *Config) { c.TLS = TLSConfig{AdminCertFile: cert, AdminKeyFile: key} },
		"tls.metrics_cert_file: tls: private key does not match": func(c *Config) {
			c.MetricsListen = "127.0.0.1:9"
			c.TLS = TLSConfig{MetricsCertFile: cert, MetricsKeyFile: filepath.Join(dir, "other-key")}
		},
		"tls.cert_file: stat":                       func(c *Config) { c.TLS = TLSConfig{CertFile: cert, KeyFile: filepath.Join(dir, "none")} },
		"admin_listen: address nowhere":             func(c *Config) { c.AdminListen = "nowhere" },
		"metrics_listen must be an address of its ": func(c *Config) { c.AdminListen, c.MetricsListen = "127.0.0.1:9", "127.0.0.1:9" },
		"admin_listen must be an address of its":    func(c *Config) { c.AdminListen = c.Listen },
	} {
		cfg := Defaults()
		change(&cfg)
		err := cfg.checkListeners()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// The settings in force name the addresses on which the program listens, also if nobody has put them into the configuration, as kobo dev
// does. The rule about webhooks to this machine goes by the configuration.
func TestTheSettingsNameTheAddressesThatTheProgramListensOn(t *testing.T) {
	for _, listen := range []string{"127.0.0.1:0", ":0"} {
		t.Run(listen, func(t *testing.T) {
			a, c, err := OpenDev(t.Context(), DevConfig(t.TempDir(), ""), false, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("tcp", listen)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
			ready, ended := make(chan struct{}), make(chan error, 1)
			go func() { ended <- a.Run(ctx, l, func() { close(ready) }) }()
			defer func() {
				stop()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}()
			select {
			case <-ready:
			case err := <-ended:
				ended <- err
				t.Fatal(err)
			}
			_, port, _ := net.SplitHostPort(l.Addr().String())
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+"/admin/v1/settings", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+c.AdminKey)
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			body, err := io.ReadAll(res.Body)
			if want := `{"name":"listen","value":"` + l.Addr().String() + `"}`; err != nil || !strings.Contains(string(body), want) {
				t.Errorf("HTTP %d %v: no %s in %s", res.StatusCode, err, want, body)
			}
			if !a.cfg.webhooksHere() {
				t.Error("kobo dev sends no webhooks to its own machine any more")
			}
		})
	}
}
