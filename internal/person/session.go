package person

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/peer"
)

// life is how long a session lasts: idle without a request, and whole at the latest.
type life struct{ idle, whole time.Duration }

var (
	operatorLife = life{30 * time.Minute, 12 * time.Hour}
	companyLife  = life{time.Hour, 24 * time.Hour}
)

func lifeOf(company string) life {
	if company == "" {
		return operatorLife
	}
	return companyLife
}

// ProofLife is how long a proof lasts for acts on money, keys and secrets.
const ProofLife = 10 * time.Minute

// usedEvery is how exactly the last use of a session is known, so that not every request writes.
const usedEvery = time.Minute

// Session is an open session of a person.
type Session struct {
	Company  string    `db:"company,key"`
	ID       string    `db:"id,key"`
	PersonID string    `db:"person_id"`
	role     string    `db:"role"`
	hash     string    `db:"hash"`
	BeganAt  time.Time `db:"began_at"`
	ProvedAt time.Time `db:"proved_at"` // when the person last proved who they are
	UsedAt   time.Time `db:"used_at"`   // up to a minute early
	Address  string    `db:"address"`   // the client address at the sign-in
	Agent    string    `db:"agent"`     // what the browser says that it is
}

func (x Session) parts(token string) []string {
	return []string{x.Company, x.ID, x.PersonID, x.role, clock.Text(x.BeganAt), clock.Text(x.ProvedAt), token}
}

func (x Session) isOver(now time.Time) bool {
	l := lifeOf(x.Company)
	return now.Sub(x.UsedAt) >= l.idle || now.Sub(x.BeganAt) >= l.whole
}

// maxAgent is the number of bytes that are kept of a browser's name.
const maxAgent = 120

// Begin opens a session of a person, and returns its token. isProof tells whether the person has just proved who they are. Begin
// removes sessions of the person that are over.
func (s *Service) Begin(ctx context.Context, p Person, agent string, isProof bool) (token string, err error) {
	x, token := s.newSession(ctx, p, agent, isProof)
	return token, s.DB.Tx(ctx, func(q db.Querier) error {
		if err := s.open(ctx, q, p, x); err != nil {
			return err
		}
		return s.Operators.NoteIn(ctx, q, p.Author().From(ctx), signedIn, p.subject(), p.details("sessionId", x.ID))
	})
}

// signedIn is the action of the audit line of a sign-in, and byLink how the line names a sign-in by a link.
const (
	signedIn = "operator.signed_in"
	byLink   = "link"
)

// newSession returns a session of a person, which is not stored yet, and its token.
func (s *Service) newSession(ctx context.Context, p Person, agent string, isProof bool) (x Session, token string) {
	now := s.Machine.Now().Truncate(time.Millisecond) // as clock.Text has it
	x = Session{Company: p.Company, ID: id.New(), PersonID: p.ID, role: p.Role, BeganAt: now, UsedAt: now, Address: peer.Of(ctx), Agent: strings.ToValidUTF8(agent[:min(len(agent), maxAgent)], "")}
	if isProof {
		x.ProvedAt = now
	}
	word := rand.Text() + rand.Text()
	x.hash = s.Keys.MAC("person-session", x.parts(word)...)
	return x, x.ID + "." + word
}

// open stores a session of a person, and removes sessions of the person that are over.
func (s *Service) open(ctx context.Context, q db.Querier, p Person, x Session) error {
	l := lifeOf(p.Company)
	if err := removeOver(ctx, q, p, x.BeganAt.Add(-l.idle), x.BeganAt.Add(-l.whole)); err != nil {
		return err
	}
	return insertSession(ctx, q, x)
}

// Open returns the session of a token and its person. It returns an empty session if the token opens none: the
// session has ended, or the person has another role now or none.
func (s *Service) Open(ctx context.Context, company, token string) (Session, Person, error) {
	x, p, err := s.sessionOf(ctx, company, token)
	if err != nil || x.isOver(s.Machine.Now()) {
		return Session{}, Person{}, err
	}
	return x, p, nil
}

// Ended returns the person of a session whose time is over. It returns an empty person for any other token. The row of such a
// session stays until the next sign-in of the person.
func (s *Service) Ended(ctx context.Context, company, token string) (Person, error) {
	x, p, err := s.sessionOf(ctx, company, token)
	if err != nil || !x.isOver(s.Machine.Now()) {
		return Person{}, err
	}
	return p, nil
}

// sessionOf returns the session of a token, also if its time is over, and its person. Both are empty if there is none, or if the
// person has another role now or none.
func (s *Service) sessionOf(ctx context.Context, company, token string) (Session, Person, error) {
	sessionID, word, _ := strings.Cut(token, ".")
	x, err := db.OrZero(findSession(ctx, s.DB, company, sessionID))
	if err != nil || x.ID == "" || !s.Keys.Verify(x.hash, "person-session", x.parts(word)...) {
		return Session{}, Person{}, err
	}
	p, err := s.Find(ctx, company, x.PersonID)
	if fault.Is(err, fault.Missing) || err == nil && p.Role != x.role {
		return Session{}, Person{}, removeSession(ctx, s.DB, company, x.PersonID, x.ID)
	}
	return x, p, err
}

// Use records that the person does something with an open session. A request that a page sends by itself is no use, so an idle
// session ends beside an open page.
func (s *Service) Use(ctx context.Context, x Session) error {
	now := s.Machine.Now()
	if now.Sub(x.UsedAt) < usedEvery {
		return nil
	}
	err := useSession(ctx, s.DB, x, now)
	if fault.Is(err, fault.Unavailable) {
		err = nil // people read while the database cannot write
	}
	return err
}

// IsProved reports whether the person has proved who they are within ProofLife.
func (s *Service) IsProved(x Session) bool {
	return !x.ProvedAt.IsZero() && s.since(x.ProvedAt) < ProofLife
}

// MayMakeFirst reports whether the person of a session may make a passkey or a password without a fresh proof. A person
// who was invited has nothing to prove with. So a session that began by a link may do so once, as long as it lasts: the
// link was the proof, and works no second time. The signed lines of the audit log say how the session began, and
// whether the person has made something since. So somebody who can only write the database gains nothing.
func (s *Service) MayMakeFirst(ctx context.Context, x Session, p Person) (bool, error) {
	lines, err := s.Operators.SignedLines(ctx, "", p.subject(), x.BeganAt)
	began := false
	for _, l := range lines {
		if l.Details["personId"] != p.ID {
			continue
		}
		switch l.Action {
		case signedIn:
			began = began || l.Details["sessionId"] == x.ID && l.Details["by"] == byLink
		case "person.credential.add":
			return false, err
		}
	}
	return began, err
}

// Prove records that the person of a session has just proved who they are. The person must be the session's.
func (s *Service) Prove(ctx context.Context, x Session, p Person, token string) error {
	if x.PersonID != p.ID || x.Company != p.Company {
		return fault.New(fault.Unauthenticated, "This proof is of somebody else")
	}
	_, word, _ := strings.Cut(token, ".")
	now := x
	now.ProvedAt = s.Machine.Now().Truncate(time.Millisecond)
	now.hash = s.Keys.MAC("person-session", now.parts(word)...)
	n, err := proveSession(ctx, s.DB, x, now)
	if err == nil && n == 0 {
		err = errChanged
	}
	return err
}

// Sessions returns the open sessions of a person, the latest first.
func (s *Service) Sessions(ctx context.Context, p Person) ([]Session, error) {
	all, err := sessionsOf(ctx, s.DB, p)
	out, now := all[:0], s.Machine.Now()
	for _, x := range all {
		if !x.isOver(now) && x.role == p.Role {
			out = append(out, x)
		}
	}
	return out, err
}

// EndSession ends a session of a person.
func (s *Service) EndSession(ctx context.Context, p Person, sessionID string) error {
	return removeSession(ctx, s.DB, p.Company, p.ID, sessionID)
}

// EndOthers ends all sessions of a person but one.
func (s *Service) EndOthers(ctx context.Context, p Person, keep Session) error {
	return s.DB.Tx(ctx, func(q db.Querier) error { return s.endOthers(ctx, q, p, keep) })
}

func (s *Service) endOthers(ctx context.Context, q db.Querier, p Person, keep Session) error {
	if err := endSessions(ctx, q, p.Company, p.ID, keep.ID); err != nil {
		return err
	}
	return s.Operators.NoteIn(ctx, q, p.Author().From(ctx), "person.sessions.end", p.subject(), p.details())
}
