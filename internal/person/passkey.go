package person

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
)

// CheckOrigin returns an error unless browsers can use passkeys at an origin: https:// and a name, or
// http://localhost, each with a port if it is not the usual one.
func CheckOrigin(origin string) error {
	if host := hostOf(origin); host == "" || net.ParseIP(host) != nil {
		return fmt.Errorf("%q is not an origin with a name, such as https://console.example.com", origin)
	}
	return nil
}

func newPasskeys(origin string) (*webauthn.WebAuthn, error) {
	if err := CheckOrigin(origin); err != nil {
		return nil, err
	}
	return webauthn.New(&webauthn.Config{
		RPID: hostOf(origin), RPDisplayName: "Kobo", RPOrigins: []string{origin}, AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired},
	})
}

var errNoOrigin = fault.New(fault.Refused, "Passkeys need the setting console.origin")

// Ceremony is the beginning of the making, or of the use, of a passkey.
type Ceremony struct {
	Options json.RawMessage // for navigator.credentials
	State   string          // sealed, for the second step
}

// user is a person for the library.
type user struct {
	Person
	passkeys []webauthn.Credential
}

// WebAuthnID has the company, because a passkey alone must find its person.
func (u user) WebAuthnID() []byte { return []byte(u.Company + "/" + u.ID) }

func (u user) WebAuthnName() string { return u.Name }

func (u user) WebAuthnDisplayName() string { return u.Name }

func (u user) WebAuthnCredentials() []webauthn.Credential { return u.passkeys }

// passkeysOf returns a person with the passkeys, and the rows of the passkeys in the same order.
func (s *Service) passkeysOf(ctx context.Context, p Person) (user, []Credential, error) {
	all, err := s.Credentials(ctx, p)
	u, rows := user{Person: p}, []Credential(nil)
	for _, c := range all {
		if c.Kind != Passkey {
			continue
		}
		text, err := s.Keys.Open(c.place(), c.secret)
		if err != nil {
			return u, nil, err
		}
		var key webauthn.Credential
		if err := json.Unmarshal([]byte(text.Reveal()), &key); err != nil {
			return u, nil, err
		}
		u.passkeys, rows = append(u.passkeys, key), append(rows, c)
	}
	return u, rows, err
}

// held is what a page holds between the two steps of a ceremony.
type held struct {
	Begun   int64 // microseconds
	Session webauthn.SessionData
}

func (s *Service) ceremony(purpose, personID string, options any, session *webauthn.SessionData) (Ceremony, error) {
	text, err := json.Marshal(options)
	if err != nil {
		return Ceremony{}, err
	}
	held, err := json.Marshal(held{clock.Micros(s.Machine.Now()), *session})
	if err != nil {
		return Ceremony{}, err
	}
	state, err := s.sealState(purpose, personID, string(held))
	return Ceremony{Options: text, State: state}, err
}

func (s *Service) sessionData(purpose, personID, state string) (data held, err error) {
	text, err := s.openState(purpose, personID, state)
	if err == nil {
		err = json.Unmarshal([]byte(text), &data)
	}
	return data, err
}

// BeginPasskey begins to make a passkey of a person.
func (s *Service) BeginPasskey(ctx context.Context, p Person) (Ceremony, error) {
	if s.passkeys == nil {
		return Ceremony{}, errNoOrigin
	}
	u, _, err := s.passkeysOf(ctx, p)
	if err != nil {
		return Ceremony{}, err
	}
	options, session, err := s.passkeys.BeginRegistration(u, webauthn.WithExclusions(webauthn.Credentials(u.passkeys).CredentialDescriptors()))
	if err != nil {
		return Ceremony{}, err
	}
	return s.ceremony("passkey", p.ID, options, session)
}

// FinishPasskey stores the passkey that a browser has made.
func (s *Service) FinishPasskey(ctx context.Context, p Person, label, state, response string) error {
	if s.passkeys == nil {
		return errNoOrigin
	}
	if n := utf8.RuneCountInString(label); n < 1 || n > 40 {
		return fault.New(fault.Invalid, "The passkey needs a name of 1 to 40 characters")
	}
	data, err := s.sessionData("passkey", p.ID, state)
	if err != nil {
		return err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(response))
	if err != nil {
		return errPasskey.Because(err)
	}
	key, err := s.passkeys.CreateCredential(user{Person: p}, data.Session, parsed)
	if err != nil {
		return errPasskey.Because(err)
	}
	text, err := json.Marshal(key)
	if err != nil {
		return err
	}
	c, err := s.newCredential(p, Passkey, label, string(text))
	if err != nil {
		return err
	}
	return s.DB.Tx(ctx, func(q db.Querier) error { return s.add(ctx, q, p, c) })
}

var errPasskey = fault.New(fault.Unauthenticated, "The passkey was not accepted")

// BeginSignIn begins a sign-in by passkey. The browser lets the person choose the passkey.
func (s *Service) BeginSignIn() (Ceremony, error) {
	if s.passkeys == nil {
		return Ceremony{}, errNoOrigin
	}
	options, session, err := s.passkeys.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return Ceremony{}, err
	}
	return s.ceremony("sign-in", "", options, session)
}

// AnyCompany stands for the company of the passkey, whichever it is. It never stands for operators.
const AnyCompany = "*"

// FinishSignIn returns the person whose passkey has signed. The company must be the person's, or AnyCompany, and is
// "" for an operator.
func (s *Service) FinishSignIn(ctx context.Context, company, state, response string) (Person, error) {
	if s.passkeys == nil {
		return Person{}, errNoOrigin
	}
	data, err := s.sessionData("sign-in", "", state)
	if err != nil {
		return Person{}, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(response))
	if err != nil {
		return Person{}, errPasskey.Because(err)
	}
	var found user
	var rows []Credential
	var lost error // an error of the database, which is no wrong passkey
	key, err := s.passkeys.ValidateDiscoverableLogin(func(_, handle []byte) (webauthn.User, error) {
		of, personID, _ := strings.Cut(string(handle), "/")
		if of != company && (company != AnyCompany || of == "") {
			return nil, errNobody
		}
		p, err := s.Find(ctx, of, personID)
		if err == nil {
			found, rows, err = s.passkeysOf(ctx, p)
		}
		if err != nil && !errors.Is(err, errNobody) {
			lost = err
		}
		return found, err
	}, data.Session, parsed)
	if lost != nil {
		return Person{}, lost
	}
	if err != nil {
		return Person{}, errPasskey.Because(err)
	}
	if key.Authenticator.CloneWarning {
		return Person{}, errPasskey.Because(errors.New("its counter went back: somebody may have a copy"))
	}
	return found.Person, s.usePasskey(ctx, found, rows, key, data.Begun)
}

// usePasskey stores the new counter of a passkey, so that a copy of the passkey is noticed. It also stores when
// the ceremony began. So the answer of a browser works once: each later use needs a later ceremony.
func (s *Service) usePasskey(ctx context.Context, u user, rows []Credential, key *webauthn.Credential, begun int64) error {
	for i, old := range u.passkeys {
		if string(old.ID) != string(key.ID) {
			continue
		}
		text, err := json.Marshal(key)
		if err != nil {
			return err
		}
		sealed, err := s.Keys.Seal(rows[i].place(), string(text))
		if err != nil {
			return err
		}
		n, err := usePasskey(ctx, s.DB, rows[i], sealed, begun, s.Clock.Now())
		if err == nil && n == 0 {
			err = errPasskey
		}
		return err
	}
	return errPasskey
}

// since returns how long ago an instant was, by the machine's clock.
func (s *Service) since(at time.Time) time.Duration { return s.Machine.Now().Sub(at) }
