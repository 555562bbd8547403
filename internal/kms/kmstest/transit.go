// Package kmstest simulates the transit engine of HashiCorp Vault and OpenBao for tests.
package kmstest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Transit is a server with one key, which is named kobo. It encrypts with AES-256-GCM.
type Transit struct {
	URI       string // the address of the key
	CAFile    string // the file with the server's certificate
	TokenFile string // the file with the token that the server accepts

	// Fault, if set, is called before each request. It reports whether it has answered the request.
	Fault    func(w http.ResponseWriter, r *http.Request) bool
	Requests atomic.Int64

	mu       sync.Mutex
	token    string
	versions []cipher.AEAD
}

// Start starts a server, which ends with the test.
func Start(t testing.TB) *Transit {
	t.Helper()
	s := &Transit{}
	s.Rotate()
	server := httptest.NewTLSServer(s)
	t.Cleanup(server.Close)
	folder := t.TempDir()
	s.URI = strings.Replace(server.URL, "https://", "hcvault://", 1) + "/transit/keys/kobo"
	s.CAFile, s.TokenFile = filepath.Join(folder, "ca.pem"), filepath.Join(folder, "token")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(s.CAFile, block, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Renew(t)
	return s
}

// Renew replaces the token, as an agent of Vault does. The server refuses the earlier token.
func (s *Transit) Renew(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = "hvs." + rand.Text()
	if err := os.WriteFile(s.TokenFile, []byte(s.token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Token returns the present token.
func (s *Transit) Token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
}

// Rotate adds a version to the key. The server encrypts with the newest version.
func (s *Transit) Rotate() {
	var key [32]byte
	rand.Read(key[:])
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions = append(s.versions, aead)
}

type body struct {
	Plaintext      *string `json:"plaintext"`
	Ciphertext     string  `json:"ciphertext"`
	AssociatedData []byte  `json:"associated_data"`
}

// ServeHTTP answers the operations encrypt and decrypt.
func (s *Transit) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Requests.Add(1)
	if s.Fault != nil && s.Fault(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var b body
	switch err := json.NewDecoder(r.Body).Decode(&b); {
	case r.Header.Get("X-Vault-Token") != s.token:
		Refuse(w, http.StatusForbidden, "permission denied")
	case err != nil || r.Method != http.MethodPost:
		Refuse(w, http.StatusBadRequest, "failed to parse JSON input")
	case r.URL.Path == "/v1/transit/encrypt/kobo":
		s.encrypt(w, b)
	case r.URL.Path == "/v1/transit/decrypt/kobo":
		s.decrypt(w, b)
	default:
		Refuse(w, http.StatusBadRequest, "encryption key not found")
	}
}

func (s *Transit) encrypt(w http.ResponseWriter, b body) {
	if b.Plaintext == nil {
		Refuse(w, http.StatusBadRequest, "missing plaintext to encrypt")
		return
	}
	text, err := base64.StdEncoding.DecodeString(*b.Plaintext)
	if err != nil {
		Refuse(w, http.StatusBadRequest, "failed to base64-decode plaintext")
		return
	}
	sealed := s.versions[len(s.versions)-1].Seal(nil, nil, text, b.AssociatedData)
	answer(w, http.StatusOK, map[string]any{"data": map[string]any{
		"ciphertext": fmt.Sprintf("vault:v%d:%s", len(s.versions), base64.StdEncoding.EncodeToString(sealed)), "key_version": len(s.versions),
	}})
}

func (s *Transit) decrypt(w http.ResponseWriter, b body) {
	var version int
	var sealed string
	if _, err := fmt.Sscanf(b.Ciphertext, "vault:v%d:%s", &version, &sealed); err != nil || version < 1 || version > len(s.versions) {
		Refuse(w, http.StatusBadRequest, "invalid ciphertext: no prefix")
		return
	}
	raw, err := base64.StdEncoding.DecodeString(sealed)
	if err == nil {
		raw, err = s.versions[version-1].Open(nil, nil, raw, b.AssociatedData)
	}
	if err != nil {
		Refuse(w, http.StatusBadRequest, "cipher: message authentication failed")
		return
	}
	answer(w, http.StatusOK, map[string]any{"data": map[string]any{"plaintext": base64.StdEncoding.EncodeToString(raw)}})
}

// Refuse writes an error as Vault does.
func Refuse(w http.ResponseWriter, status int, reason string) {
	answer(w, status, map[string]any{"errors": []string{reason}})
}

func answer(w http.ResponseWriter, status int, content any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(content) // an error means that the client has disconnected
}
