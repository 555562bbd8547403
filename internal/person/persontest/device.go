// Package persontest has a passkey for tests of people who sign in. The program never contains it.
package persontest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
)

// Device is a device with one passkey.
type Device struct {
	// Uses counts the uses of the passkey, as the device tells it the site.
	Uses   uint32
	key    *ecdsa.PrivateKey
	handle string
}

const credentialID = "a credential with an id"

// asked is what a page asks a browser for.
type asked struct {
	PublicKey struct {
		Challenge string
		RPID      string `json:"rpId"`
		RP        struct{ ID string }
		User      struct{ ID string }
	}
}

// Create makes the passkey that the options of a page ask for. The browser is at the origin.
func (d *Device) Create(t testing.TB, options []byte, origin string) (response string) {
	t.Helper()
	a := read(t, options)
	var err error
	if d.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	d.handle = a.PublicKey.User.ID
	public, err := d.key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	cose, err := webauthncbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: public[1:33], -3: public[33:]})
	if err != nil {
		t.Fatal(err)
	}
	data := append(d.data(a.PublicKey.RP.ID, 0x40), make([]byte, 16)...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(credentialID)))
	data = append(append(data, credentialID...), cose...)
	object, err := webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": data})
	if err != nil {
		t.Fatal(err)
	}
	return answer(t, map[string]string{"clientDataJSON": encoded(said(t, "webauthn.create", a, origin)), "attestationObject": encoded(object)})
}

// Sign uses the passkey for the options of a page.
func (d *Device) Sign(t testing.TB, options []byte, origin string) (response string) {
	t.Helper()
	a := read(t, options)
	client, data := said(t, "webauthn.get", a, origin), d.data(a.PublicKey.RPID, 0)
	sum := sha256.Sum256(client)
	signed := sha256.Sum256(append(data[:len(data):len(data)], sum[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, d.key, signed[:])
	if err != nil {
		t.Fatal(err)
	}
	return answer(t, map[string]string{"clientDataJSON": encoded(client), "authenticatorData": encoded(data), "signature": encoded(signature), "userHandle": d.handle})
}

// data returns the data of the device for a site, with a verified user.
func (d *Device) data(site string, flags byte) []byte {
	sum := sha256.Sum256([]byte(site))
	d.Uses++
	return binary.BigEndian.AppendUint32(append(sum[:], flags|0x05), d.Uses)
}

func read(t testing.TB, options []byte) (a asked) {
	t.Helper()
	if err := json.Unmarshal(options, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// said returns what a browser at an origin says about a challenge.
func said(t testing.TB, kind string, a asked, origin string) []byte {
	t.Helper()
	return marshal(t, map[string]string{"type": kind, "challenge": a.PublicKey.Challenge, "origin": origin})
}

func answer(t testing.TB, response map[string]string) string {
	t.Helper()
	id := encoded([]byte(credentialID))
	return string(marshal(t, map[string]any{"id": id, "rawId": id, "type": "public-key", "response": response}))
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
