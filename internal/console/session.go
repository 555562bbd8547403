package console

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
)

// A session ends when the person has not used it for idleLife, and at the latest after sessionLife. A
// sign-in link works for linkLife.
const (
	idleLife    = 30 * time.Minute
	sessionLife = 12 * time.Hour
	linkLife    = 24 * time.Hour
)

// cookie is the name of the cookie with the token of a session. The prefix makes browsers refuse it
// without TLS, except from localhost.
const cookie = "__Host-kobo_operator"

// Sessions are the open sessions and the unused sign-in links of one program. They end with the
// program. Only hashes of their tokens are kept. Their times are the machine's, because moving the clock
// of sandbox mode must sign nobody out.
type Sessions struct {
	clock clock.Clock
	mu    sync.Mutex
	open  map[string]*session
	links map[string]session
}

type session struct {
	name        string // of the operator
	began, used time.Time
}

// NewSessions returns an empty list of sessions.
func NewSessions() *Sessions {
	return &Sessions{clock: clock.System{}, open: map[string]*session{}, links: map[string]session{}}
}

// Link returns the path of a page that signs an operator in once.
func (s *Sessions) Link(name string) string {
	token := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links[hashOf(token)] = session{name: name, began: s.clock.Now()}
	return "/console/link/" + token
}

// spend returns the operator of an unused link. The link does not work again.
func (s *Sessions) spend(token string) (name string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.links[hashOf(token)]
	delete(s.links, hashOf(token))
	return l.name, ok && s.clock.Now().Sub(l.began) < linkLife
}

// begin opens a session and returns its token.
func (s *Sessions) begin(name string) string {
	token, now := rand.Text(), s.clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for hash, one := range s.open {
		if one.isOver(now) {
			delete(s.open, hash)
		}
	}
	s.open[hashOf(token)] = &session{name: name, began: now, used: now}
	return token
}

// find returns the open session of a request.
func (s *Sessions) find(r *http.Request) (token, name string, isOpen bool) {
	c, err := r.Cookie(cookie)
	if err != nil {
		return "", "", false
	}
	now := s.clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.open[hashOf(c.Value)]
	if one == nil || one.isOver(now) {
		return "", "", false
	}
	one.used = now
	return c.Value, one.name, true
}

// end closes a session.
func (s *Sessions) end(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, hashOf(token))
}

func (s session) isOver(now time.Time) bool {
	return now.Sub(s.used) >= idleLife || now.Sub(s.began) >= sessionLife
}

// hashOf returns the form in which a token is kept. Tokens are random, so the hash needs no key.
func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// give sets the cookie of a session, or removes it if the token is "".
func give(w http.ResponseWriter, token string) {
	c := &http.Cookie{Name: cookie, Value: token, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if token == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}
