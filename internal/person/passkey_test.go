package person_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"
	"time"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/person"
)

// authenticator is a device with one passkey.
type authenticator struct {
	key    *ecdsa.PrivateKey
	handle string
	uses   uint32
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// answer returns what a browser at a site says about a challenge: the client data and the hash that is signed.
func clientData(t *testing.T, kind, challenge, site string) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]string{"type": kind, "challenge": challenge, "origin": site})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// data returns the authenticator's data, with a verified user.
func (a *authenticator) data(flags byte) []byte {
	site := sha256.Sum256([]byte("console.example.com"))
	a.uses++
	return binary.BigEndian.AppendUint32(append(site[:], flags|0x05), a.uses)
}

const credentialID = "a credential with an id"

// create makes the passkey that a ceremony asks for.
func (a *authenticator) create(h *house, c person.Ceremony, site string) string {
	h.t.Helper()
	var asked struct {
		PublicKey struct {
			Challenge string
			User      struct{ ID string }
		}
	}
	h.must(json.Unmarshal(c.Options, &asked))
	var err error
	a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	h.must(err)
	a.handle = asked.PublicKey.User.ID
	public, err := a.key.PublicKey.Bytes()
	h.must(err)
	cose, err := webauthncbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: public[1:33], -3: public[33:]})
	h.must(err)
	data := append(a.data(0x40), make([]byte, 16)...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(credentialID)))
	data = append(append(data, credentialID...), cose...)
	object, err := webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": data})
	h.must(err)
	text, err := json.Marshal(map[string]any{
		"id": encoded([]byte(credentialID)), "rawId": encoded([]byte(credentialID)), "type": "public-key",
		"response": map[string]string{"clientDataJSON": encoded(clientData(h.t, "webauthn.create", asked.PublicKey.Challenge, site)), "attestationObject": encoded(object)},
	})
	h.must(err)
	return string(text)
}

// sign uses the passkey for a ceremony.
func (a *authenticator) sign(h *house, c person.Ceremony, site string) string {
	h.t.Helper()
	var asked struct{ PublicKey struct{ Challenge string } }
	h.must(json.Unmarshal(c.Options, &asked))
	client, data := clientData(h.t, "webauthn.get", asked.PublicKey.Challenge, site), a.data(0)
	sum := sha256.Sum256(client)
	signed := sha256.Sum256(append(data[:len(data):len(data)], sum[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, signed[:])
	h.must(err)
	text, err := json.Marshal(map[string]any{
		"id": encoded([]byte(credentialID)), "rawId": encoded([]byte(credentialID)), "type": "public-key",
		"response": map[string]string{"clientDataJSON": encoded(client), "authenticatorData": encoded(data), "signature": encoded(signature), "userHandle": a.handle},
	})
	h.must(err)
	return string(text)
}

func TestAPasskeySignsIn(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.t.Context()
		p, other := h.join("ada", operator.Finance), h.join("bola", operator.Admin)
		var device authenticator
		c, err := h.BeginPasskey(ctx, p)
		h.must(err)
		h.refuses("a passkey of another site", h.FinishPasskey(ctx, p, "phone", c.State, device.create(h, c, "https://console.example.org")), fault.Unauthenticated)
		h.refuses("a passkey of another person", h.FinishPasskey(ctx, other, "phone", c.State, device.create(h, c, origin)), fault.Invalid)
		h.refuses("a passkey without a name", h.FinishPasskey(ctx, p, "", c.State, device.create(h, c, origin)), fault.Invalid)
		h.must(h.FinishPasskey(ctx, p, "phone", c.State, device.create(h, c, origin)))

		begin := func() person.Ceremony {
			h.machine.Advance(time.Second)
			c, err := h.BeginSignIn()
			h.must(err)
			return c
		}
		c = begin()
		said := device.sign(h, c, origin)
		_, err = h.FinishSignIn(ctx, "acme", c.State, said)
		h.refuses("the passkey at a company", err, fault.Unauthenticated)
		got, err := h.FinishSignIn(ctx, "", c.State, said)
		if err != nil || got.ID != p.ID {
			h.t.Fatalf("the passkey: %+v, %v", got, err)
		}
		_, err = h.FinishSignIn(ctx, "", c.State, said)
		h.refuses("the same answer again", err, fault.Unauthenticated)
		c = begin()
		_, err = h.FinishSignIn(ctx, "", c.State, device.sign(h, c, "https://evil.example.org"))
		h.refuses("an answer to another site", err, fault.Unauthenticated)
		c = begin()
		_, err = h.FinishSignIn(ctx, "", begin().State, device.sign(h, c, origin))
		h.refuses("an answer to another challenge", err, fault.Unauthenticated)
		c = begin()
		h.machine.Advance(10 * time.Minute)
		_, err = h.FinishSignIn(ctx, "", c.State, device.sign(h, c, origin))
		h.refuses("a late answer", err, fault.Invalid)
		device.uses = 1
		c = begin()
		_, err = h.FinishSignIn(ctx, "", c.State, device.sign(h, c, origin))
		h.refuses("a copy of the passkey", err, fault.Unauthenticated)
		device.uses = 100
		c = begin()
		_, err = h.FinishSignIn(ctx, "", c.State, device.sign(h, c, origin))
		h.must(err)
		all, err := h.Credentials(ctx, p)
		if err != nil || len(all) != 1 || all[0].Label != "phone" || all[0].UsedAt.IsZero() {
			h.t.Fatalf("credentials: %+v, %v", all, err)
		}
		h.must(h.Remove(ctx, p, all[0].ID))
		c = begin()
		_, err = h.FinishSignIn(ctx, "", c.State, device.sign(h, c, origin))
		h.refuses("a removed passkey", err, fault.Unauthenticated)
	})
}

func TestAnOriginHasAName(t *testing.T) {
	for origin, isOne := range map[string]bool{
		"https://console.example.com": true, "https://console.example.com:8443": true, "http://localhost:8080": true,
		"http://console.example.com": false, "https://127.0.0.1": false, "https://console.example.com/console": false, "console.example.com": false, "": false,
	} {
		if err := person.CheckOrigin(origin); (err == nil) != isOne {
			t.Errorf("%q: %v", origin, err)
		}
	}
}
