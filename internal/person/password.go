package person

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
	"golang.org/x/crypto/argon2"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/secret"
)

// These are the parameters of argon2id, as OWASP recommends them: 19 MiB of memory and two passes. A stored
// hash names its own parameters.
const (
	passes    = 2
	memory    = 19 * 1024
	threads   = 1
	saltBytes = 16
	hashBytes = 32
)

// These are the shortest and the longest password, in characters and in bytes.
const (
	shortest = 12
	longest  = 256
)

// hash returns the argon2id hash of a password with its parameters.
func (s *Service) hash(password string) string {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails (crypto/rand)
	return fmt.Sprintf("argon2id$%d$%d$%d$%s$%s", passes, memory, threads, base64.RawStdEncoding.EncodeToString(salt),
		base64.RawStdEncoding.EncodeToString(s.argon(password, salt, passes, memory, threads)))
}

// argon runs argon2id. Two run at once, because each needs much memory.
func (s *Service) argon(password string, salt []byte, passes, memory uint32, threads uint8) []byte {
	s.hashing <- struct{}{}
	defer func() { <-s.hashing }()
	return argon2.IDKey([]byte(password), salt, passes, memory, threads, hashBytes)
}

// matches reports whether a password has the hash. It takes equally long if it has not.
func (s *Service) matches(password, hash string) bool {
	var p, m uint32
	var t uint8
	var salt, sum string
	if _, err := fmt.Sscanf(strings.ReplaceAll(hash, "$", " "), "argon2id %d %d %d %s %s", &p, &m, &t, &salt, &sum); err != nil {
		s.argon(password, make([]byte, saltBytes), passes, memory, threads)
		return false
	}
	rawSalt, err := base64.RawStdEncoding.DecodeString(salt)
	want, bad := base64.RawStdEncoding.DecodeString(sum)
	got := s.argon(password, rawSalt, p, m, t)
	return err == nil && bad == nil && subtle.ConstantTimeCompare(got, want) == 1
}

// NewCode is a new secret for an app that makes one-time codes, before the person has confirmed it.
type NewCode struct {
	Secret string // as the person types it into the app
	URL    string // the address for the app, as in a QR code
	State  string // sealed, for SetPassword
}

const (
	period    = 30 * time.Second // of a code
	stateLife = 10 * time.Minute // of what a page holds between two steps
)

// codeOptions are those that every app knows.
var codeOptions = hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}

// NewCode makes a secret for one-time codes. SetPassword stores it. If the state is one of an earlier NewCode
// that is still good, the secret stays the same, since the person's app knows it already.
func (s *Service) NewCode(p Person, state string) (NewCode, error) {
	options := totp.GenerateOpts{Issuer: "Kobo", AccountName: p.Name}
	if text, err := s.openState("code", p.ID, state); err == nil {
		if options.Secret, err = base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(text); err != nil {
			return NewCode{}, err
		}
	}
	key, err := totp.Generate(options)
	if err != nil {
		return NewCode{}, err
	}
	sealed, err := s.sealState("code", p.ID, key.Secret())
	return NewCode{Secret: key.Secret(), URL: key.URL(), State: sealed}, err
}

// stepOf returns the number of the step to which a code belongs, or 0. A clock may be one step away.
func (s *Service) stepOf(key, code string) int64 {
	now := s.Machine.Now().Unix() / int64(period/time.Second)
	found := int64(0)
	for step := now - 1; step <= now+1; step++ {
		if ok, err := hotp.ValidateCustom(strings.TrimSpace(code), uint64(step), key, codeOptions); ok && err == nil {
			found = step
		}
	}
	return found
}

func checkPassword(p Person, password string) error {
	switch {
	case utf8.RuneCountInString(password) < shortest:
		return fault.Newf(fault.Invalid, "The password needs at least %d characters", shortest)
	case len(password) > longest:
		return fault.Newf(fault.Invalid, "The password may have at most %d bytes", longest)
	case strings.Contains(strings.ToLower(password), p.Name):
		return fault.New(fault.Invalid, "The password must not contain your name")
	}
	return nil
}

// SetPassword stores a person's password, together with the secret of NewCode. The code must be one that the
// secret makes now. Both replace the earlier ones. All sessions of the person but one end with the earlier password, because
// somebody who changes a password may have a reason.
func (s *Service) SetPassword(ctx context.Context, p Person, keep Session, password, state, code string) error {
	if err := checkPassword(p, password); err != nil {
		return err
	}
	key, err := s.openState("code", p.ID, state)
	if err != nil {
		return err
	}
	step := s.stepOf(key, code)
	if step == 0 {
		return fault.New(fault.Invalid, "The code is wrong: type the one that your app shows now")
	}
	word, err := s.newCredential(p, Password, "", s.hash(password))
	if err != nil {
		return err
	}
	codes, err := s.newCredential(p, Code, "", key)
	if err != nil {
		return err
	}
	codes.step = step
	return s.DB.Tx(ctx, func(q db.Querier) error {
		if err := s.add(ctx, q, p, word, codes); err != nil {
			return err
		}
		return s.endOthers(ctx, q, p, keep)
	})
}

var errSignIn = fault.New(fault.Unauthenticated, "The name, the password or the code is wrong")

// errUsedCode is for somebody who knows the password, and has a code that was right.
var errUsedCode = fault.Newf(fault.Unauthenticated, "This code was used already. Each code works once: wait up to %.0f seconds for the next one in your app", period.Seconds())

// SignIn returns the person of a name whose password and present code these are. A code works once.
func (s *Service) SignIn(ctx context.Context, company, name, password, code string) (Person, error) {
	p, err := s.FindNamed(ctx, company, name)
	if err != nil && !fault.Is(err, fault.Missing) {
		return Person{}, err
	}
	if len(password) > longest {
		return Person{}, errSignIn
	}
	word, hash, err := s.credential(ctx, p, Password)
	if err != nil {
		return Person{}, err
	}
	codes, key, err := s.credential(ctx, p, Code)
	if err != nil {
		return Person{}, err
	}
	step := s.stepOf(key, code)
	switch {
	case !s.matches(password, hash) || word.ID == "" || codes.ID == "" || step == 0:
		return Person{}, errSignIn
	case step <= codes.step:
		return Person{}, errUsedCode
	}
	if n, err := useStep(ctx, s.DB, codes, step, s.Clock.Now()); err != nil || n == 0 {
		if err == nil {
			err = errUsedCode
		}
		return Person{}, err
	}
	return p, touch(ctx, s.DB, word, s.Clock.Now())
}

// sealState seals what a page holds between two steps. It opens only for the same purpose and person, and only
// for stateLife.
func (s *Service) sealState(purpose, personID, text string) (string, error) {
	until := s.Machine.Now().Add(stateLife).Unix()
	return s.Keys.Seal(statePlace(purpose, personID), fmt.Sprintf("%d %s", until, text))
}

func statePlace(purpose, personID string) secret.Place {
	return secret.Place{Column: "person.state." + purpose, Row: personID}
}

var errState = fault.New(fault.Invalid, "The page is too old: load it again")

func (s *Service) openState(purpose, personID, state string) (string, error) {
	sealed, err := s.Keys.Open(statePlace(purpose, personID), state)
	if err != nil {
		return "", errState.Because(err)
	}
	var until int64
	head, text, _ := strings.Cut(sealed.Reveal(), " ")
	if _, err := fmt.Sscan(head, &until); err != nil || s.Machine.Now().Unix() >= until {
		return "", errState
	}
	return text, nil
}

// hostOf returns the host of an origin without its port, or "" if it is not an origin.
func hostOf(origin string) string {
	u, err := url.Parse(origin)
	isSecure := err == nil && (u.Scheme == "https" || u.Scheme == "http" && u.Hostname() == "localhost")
	if !isSecure || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return ""
	}
	return u.Hostname()
}
