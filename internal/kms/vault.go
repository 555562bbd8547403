package kms

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/tink-crypto/tink-go/v2/core/registry"
	"github.com/tink-crypto/tink-go/v2/tink"
)

const (
	scheme = "hcvault" // as in tink's client of Vault
	form   = scheme + "://HOST[:PORT]/MOUNT/keys/NAME"

	// An operation ends within 15 seconds. A running program states its keys each minute at the
	// latest, also while it waits for the KMS.
	timeout  = 4 * time.Second
	retries  = 2
	pause    = 200 * time.Millisecond
	maxPause = time.Second

	maxResponse = 1 << 20
	maxReason   = 300 // bytes of Vault's own words in an error
)

// Vault is a client of the transit engine of HashiCorp Vault and OpenBao.
type Vault struct {
	// Token returns the token that authenticates the program. It is called for each request, because
	// an agent may renew the token.
	Token func() (string, error)
	// CAFile is a file with the certificates that Vault's certificate must descend from. If it is "",
	// the certificates of the machine count.
	CAFile string
}

var _ registry.KMSClient = Vault{}

// Supported reports whether the URI names a key in Vault.
func (v Vault) Supported(uri string) bool { return strings.HasPrefix(uri, scheme+"://") }

// GetAEAD returns the key with a URI such as hcvault://vault.example:8200/transit/keys/kobo. It sends
// no request.
func (v Vault) GetAEAD(uri string) (tink.AEAD, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != scheme || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("the address of a key in Vault is %s", form) // the address may contain a password
	}
	mount, name, ok := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/keys/")
	if !ok || mount == "" || name == "" || strings.Contains(name, "/") {
		return nil, fmt.Errorf("the address of a key in Vault is %s, not %q", form, uri)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if transport.TLSClientConfig, err = v.trust(); err != nil {
		return nil, err
	}
	return &vaultKey{
		token: v.Token, name: url.PathEscape(name),
		engine: (&url.URL{Scheme: "https", Host: u.Host, Path: "/v1/" + mount}).String(),
		http: &http.Client{
			Transport: transport, Timeout: timeout,
			// Otherwise a redirect could send the token and the keyring to a different server.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// trust returns the TLS settings with the certificates of the CAFile.
func (v Vault) trust() (*tls.Config, error) {
	if v.CAFile == "" {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Clean(v.CAFile))
	pool := x509.NewCertPool()
	if err == nil && !pool.AppendCertsFromPEM(text) {
		err = fmt.Errorf("%s has no certificate", v.CAFile)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, err
}

type vaultKey struct {
	token        func() (string, error)
	engine, name string
	http         *http.Client
}

// message is a request or a response of the transit engine.
type message struct {
	Plaintext      []byte `json:"plaintext,omitempty"` // encoding/json writes it in base64, as Vault requires
	Ciphertext     string `json:"ciphertext,omitempty"`
	AssociatedData []byte `json:"associated_data,omitempty"`
}

// Encrypt returns the ciphertext of a plaintext, in Vault's format.
func (k *vaultKey) Encrypt(plaintext, associatedData []byte) ([]byte, error) {
	got, err := k.do("encrypt", message{Plaintext: plaintext, AssociatedData: associatedData})
	if err == nil && got.Ciphertext == "" {
		err = errors.New("the response of Vault has no ciphertext")
	}
	return []byte(got.Ciphertext), err
}

// Decrypt returns the plaintext of a ciphertext.
func (k *vaultKey) Decrypt(ciphertext, associatedData []byte) ([]byte, error) {
	got, err := k.do("decrypt", message{Ciphertext: string(ciphertext), AssociatedData: associatedData})
	if err == nil && len(got.Plaintext) == 0 {
		err = errors.New("the response of Vault has no plaintext")
	}
	return got.Plaintext, err
}

// errLater means that the same request may succeed later.
type errLater struct{ error }

// do sends an operation to Vault, and repeats it while Vault does not respond or is not ready. Both
// operations of the transit engine may be repeated, because they change nothing.
func (k *vaultKey) do(verb string, body message) (message, error) {
	again := retrypolicy.NewBuilder[message]().
		HandleIf(func(_ message, err error) bool { return errors.As(err, new(errLater)) }).
		WithMaxRetries(retries).WithBackoff(pause, maxPause).ReturnLastFailure().Build()
	got, err := failsafe.With[message](again).Get(func() (message, error) { return k.send(verb, body) })
	if err != nil {
		return message{}, fmt.Errorf("the KMS cannot %s with %s/keys/%s: %w", verb, k.engine, k.name, err)
	}
	return got, nil
}

func (k *vaultKey) send(verb string, body message) (message, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return message{}, err
	}
	token, err := k.token()
	if err != nil {
		return message{}, err
	}
	r, err := http.NewRequest(http.MethodPost, k.engine+"/"+verb+"/"+k.name, bytes.NewReader(text))
	if err != nil {
		return message{}, err
	}
	r.Header.Set("X-Vault-Token", token)
	r.Header.Set("X-Vault-Request", "true")
	r.Header.Set("Content-Type", "application/json")
	res, err := k.http.Do(r)
	if err != nil {
		return message{}, errLater{errors.Unwrap(err)} // without the URL, which do adds
	}
	defer res.Body.Close()
	content, err := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	switch {
	case err != nil:
		return message{}, errLater{err}
	case res.StatusCode == http.StatusOK:
		return parse(content)
	}
	return message{}, refusal(res.StatusCode, content, token)
}

// parse returns the data of a response. Its errors contain nothing of the response.
func parse(content []byte) (message, error) {
	var got struct{ Data message }
	if json.Unmarshal(content, &got) != nil {
		return message{}, errors.New("the response of Vault is not the JSON of the transit engine")
	}
	return got.Data, nil
}

// refusal returns the error of a response with this status. It contains Vault's reason, without the token.
func refusal(status int, content []byte, token string) error {
	var said struct{ Errors []string }
	reason := ""
	if json.Unmarshal(content, &said) == nil {
		reason = strings.TrimSpace(strings.ReplaceAll(strings.Join(said.Errors, "; "), token, "[redacted]"))
		reason = reason[:min(len(reason), maxReason)]
	}
	err := fmt.Errorf("status %d: %s", status, reason)
	if status == http.StatusTooManyRequests || status == http.StatusPreconditionFailed || status >= http.StatusInternalServerError {
		return errLater{err} // also a Vault that is sealed, or a standby that is behind
	}
	return err
}
