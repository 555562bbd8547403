package person

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// linkLife is how long a link can be used.
const linkLife = 72 * time.Hour

// link is a row with a link that a person can use once.
type link struct {
	Digest    string    `db:"digest,key"`
	Company   string    `db:"company"`
	PersonID  string    `db:"person_id"`
	Code      string    `db:"code"` // a keyed hash, or "" if the link needs no code
	By        string    `db:"created_by"`
	CreatedAt time.Time `db:"created_at"`
	ExpiresAt time.Time `db:"expires_at"`
	UsedAt    time.Time `db:"used_at"`
	mac       string
}

var digests = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Invitation is a link that a person can use once.
type Invitation struct {
	Person    Person
	ExpiresAt time.Time
	// Code is what the link needs besides. It is empty if no second operator has approved the invitation.
	Code secret.Text
}

// NewLink makes the token of a link and its digest. Only the digest goes into the invitation.
//
// Under four eyes, the operator who asks for an invitation has the link, and the operator who approves the
// invitation gets a code. The new person needs both. So no operator alone can act as the new person.
func NewLink() (token secret.Text, digest string) {
	text := secret.Random()
	return secret.NewText(text), digestOf(text)
}

func digestOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func checkDigest(digest string) error {
	if !digests.MatchString(digest) {
		return fault.New(fault.Invalid, `"linkDigest" must be the SHA-256 of the link's token, as 64 characters of 0-9 and a-f`)
	}
	return nil
}

// CheckInvite returns an error if the operator cannot be invited.
func (s *Service) CheckInvite(ctx context.Context, name string, role operator.Role, digest string) error {
	if err := checkDigest(digest); err != nil {
		return err
	}
	if err := s.Operators.CheckInvite(ctx, name, role); err != nil {
		return err
	}
	return s.isNew(ctx, digest)
}

func (s *Service) isNew(ctx context.Context, digest string) error {
	_, err := findLink(ctx, s.DB, digest)
	if err == nil {
		return errLinkTaken
	}
	_, err = db.OrZero(link{}, err)
	return err
}

var errLinkTaken = fault.New(fault.Refused, "An invitation has this link already: make a new link")

// Invite invites an operator to sign in as a person. The operator may be new: then the row has no key.
func (s *Service) Invite(ctx context.Context, by operator.Operator, name string, role operator.Role, digest string) (Invitation, error) {
	if err := s.CheckInvite(ctx, name, role, digest); err != nil {
		return Invitation{}, err
	}
	l, out := s.newLink(by, "", digest, linkLife)
	details := map[string]string{"person": name, "role": string(role), "linkId": digest[:16]}
	err := s.Operators.Change(ctx, by, "person.invite", name, details, errLinkTaken, func(q db.Querier) (int64, error) {
		k, err := s.Operators.Invited(ctx, q, by, name, role)
		if err != nil {
			return 0, err
		}
		out.Person = Person{ID: k.ID, Name: k.Name, Role: string(k.Role), State: k.State, CreatedAt: k.CreatedAt}
		l.PersonID = k.ID
		return s.insertLink(ctx, q, l)
	})
	return out, err
}

// CheckInvitePerson returns an error if nobody of this name can be invited to a company.
func (s *Service) CheckInvitePerson(ctx context.Context, company, name, role, digest string) error {
	if company == "" {
		return errNobody
	}
	if !names.MatchString(name) {
		return fault.New(fault.Invalid, `"name" must be 2 to 64 characters of a-z, 0-9, and . _ @ -`)
	}
	if err := CheckRole(role); err != nil {
		return err
	}
	if err := checkDigest(digest); err != nil {
		return err
	}
	p, err := s.FindNamed(ctx, company, name)
	switch {
	case err == nil && p.Role != role:
		return fault.Newf(fault.Refused, "%s has the role %s: invite with this role, or change the role first", name, p.Role)
	case err != nil && !fault.Is(err, fault.Missing):
		return err
	}
	return s.isNew(ctx, digest)
}

var names = regexp.MustCompile(`^[a-z0-9][a-z0-9._@-]{1,63}$`)

// InvitePerson invites a person of a company, who may be new.
func (s *Service) InvitePerson(ctx context.Context, by operator.Operator, company, name, role, digest string) (Invitation, error) {
	if err := s.CheckInvitePerson(ctx, company, name, role, digest); err != nil {
		return Invitation{}, err
	}
	p, err := s.FindNamed(ctx, company, name)
	isNew := fault.Is(err, fault.Missing)
	if err != nil && !isNew {
		return Invitation{}, err
	}
	if isNew {
		p = s.newPerson(company, name, role)
	}
	l, out := s.newLink(by, company, digest, linkLife)
	l.PersonID, out.Person = p.ID, p
	details := p.details("role", role, "linkId", digest[:16], "new", boolText(isNew))
	return out, s.Operators.Change(ctx, by, "person.invite", company, details, errChanged, func(q db.Querier) (int64, error) {
		if isNew {
			if n, err := s.insertPerson(ctx, q, p); n == 0 || err != nil {
				return n, err
			}
		}
		return s.insertLink(ctx, q, l)
	})
}

// InviteAs invites a person of a company for an owner of the company. While two people are required, only operators
// invite people who approve.
func (s *Service) InviteAs(ctx context.Context, by Person, name, role, digest string) (Invitation, error) {
	if err := by.mayManage(); err != nil {
		return Invitation{}, err
	}
	if err := s.alone(ctx, by.Company, role); err != nil {
		return Invitation{}, err
	}
	switch known, err := s.signsIn(ctx, by.Company, name); {
	case err != nil:
		return Invitation{}, err
	case known:
		return Invitation{}, fault.Newf(fault.Refused, "%s signs in already. An operator of Kobo invites somebody again who has lost a passkey, because an owner would see the link.", name)
	}
	return s.InvitePerson(ctx, by.Author().From(ctx), by.Company, name, role, digest)
}

// signsIn reports whether a person of the name has a passkey or a password.
func (s *Service) signsIn(ctx context.Context, company, name string) (bool, error) {
	p, err := s.FindNamed(ctx, company, name)
	if fault.Is(err, fault.Missing) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	all, err := s.Credentials(ctx, p)
	return len(all) > 0, err
}

// mayManage returns an error unless the person may change the company's people.
func (p Person) mayManage() error {
	if p.Company == "" || p.Role != Owner {
		return fault.Newf(fault.Forbidden, "This needs the role %s, and %s has the role %s", Owner, p.Name, p.Role)
	}
	return nil
}

func boolText(is bool) string {
	if is {
		return "true"
	}
	return "false"
}

// newLink returns the row of a link. If a second operator has approved the link, it needs a code.
func (s *Service) newLink(by operator.Operator, company, digest string, life time.Duration) (link, Invitation) {
	now := s.Clock.Now()
	l := link{Digest: digest, Company: company, By: by.Name, CreatedAt: now, ExpiresAt: now.Add(life)}
	out := Invitation{ExpiresAt: l.ExpiresAt}
	if by.Approved() {
		code := rand.Text()[:codeLength]
		l.Code, out.Code = s.Keys.MAC("person-link", digest, code), secret.NewText(code)
	}
	return l, out
}

// codeLength is the length of a link's code. Its 60 random bits need no count of attempts.
const codeLength = 12

// SignInLink returns the token of a link that signs an operator in once. Only the program itself makes such a
// link, for the sandbox on a developer's machine.
func (s *Service) SignInLink(ctx context.Context, name string) (secret.Text, error) {
	p, err := s.FindNamed(ctx, "", name)
	if err != nil {
		return secret.Text{}, err
	}
	token, digest := NewLink()
	l, _ := s.newLink(operator.Itself(), "", digest, linkLife)
	l.PersonID = p.ID
	return token, s.Operators.Change(ctx, operator.Itself(), "person.link", name, p.details("linkId", digest[:16]), errLinkTaken, func(q db.Querier) (int64, error) {
		return s.insertLink(ctx, q, l)
	})
}

var errLink = fault.New(fault.Unauthenticated, "This link does not work. It has been used or replaced, it is too old, its code is wrong, or a second person has not approved the invitation yet. Ask who invited you.")

// NeedsCode reports whether a link needs a code. Of a link that does not work it says false.
func (s *Service) NeedsCode(ctx context.Context, company, token string) (bool, error) {
	l, err := db.OrZero(findLink(ctx, s.DB, digestOf(token)))
	return l.Company == company && l.Code != "", err
}

// good returns an error if the audit log says that the link is over: it was used, a newer link replaced it, or the
// person has made a passkey or a password since. A link that a person of the company has made also ends with that
// person's role of an owner. So nobody makes a link good again by a change of rows.
func (s *Service) good(ctx context.Context, p Person, l link) error {
	lines, err := s.Operators.SignedLines(ctx, "", p.subject(), l.CreatedAt)
	if err != nil {
		return err
	}
	maker, isOfPerson := strings.CutPrefix(l.By, "person:"+l.Company+"/")
	made := slices.IndexFunc(lines, func(o operator.Line) bool {
		return o.Action != "person.link.use" && o.Details["linkId"] == l.Digest[:16]
	})
	for _, o := range lines[made+1:] {
		about, isOver := o.Details["person"], false
		switch o.Action {
		case "person.link.use":
			isOver = o.Details["linkId"] == l.Digest[:16]
		case "person.invite", "person.link", "person.credential.add":
			isOver = about == p.Name
		case "person.end":
			isOver = isOfPerson && about == maker // a new person of this name did not make the link
		}
		if isOver {
			return errLink
		}
	}
	if !isOfPerson {
		return nil
	}
	by, err := s.FindNamed(ctx, l.Company, maker)
	if fault.Is(err, fault.Missing) || err == nil && by.Role != Owner {
		err = errLink
	}
	return err
}

// UseLink spends a link, and opens a session of its person in the same transaction. It returns the person and the token of
// the session. The link does not work again. The audit line of the sign-in says that a link was used, and MayMakeFirst
// reads it.
func (s *Service) UseLink(ctx context.Context, company, token, code, agent string) (Person, string, error) {
	p, l, err := s.usable(ctx, company, token, code)
	if err != nil {
		return Person{}, "", err
	}
	x, opened := s.newSession(ctx, p, agent, true)
	used := l
	used.UsedAt = s.Clock.Now()
	by, details := p.Author().From(ctx), p.details("linkId", l.Digest[:16], "createdAt", clock.Text(l.CreatedAt))
	err = s.Operators.Change(ctx, by, signedIn, p.subject(), p.details("by", byLink, "sessionId", x.ID), errLink, func(q db.Querier) (int64, error) {
		n, err := s.spendLink(ctx, q, l, used)
		if n == 0 || err != nil {
			return n, err
		}
		if err := s.Operators.NoteIn(ctx, q, by, "person.link.use", p.subject(), details); err != nil {
			return 0, err
		}
		return n, s.open(ctx, q, p, x)
	})
	return p, opened, err
}

// usable returns a link that can be used now, and its person.
func (s *Service) usable(ctx context.Context, company, token, code string) (Person, link, error) {
	l, err := db.OrZero(findLink(ctx, s.DB, digestOf(token)))
	if err != nil {
		return Person{}, link{}, err
	}
	now := s.Clock.Now()
	if l.Digest == "" || l.Company != company || !l.UsedAt.IsZero() || !now.Before(l.ExpiresAt) || !s.isSigned(links.Table, l.row(), l.mac) {
		return Person{}, link{}, errLink
	}
	if l.Code != "" && !s.Keys.Verify(l.Code, "person-link", l.Digest, code) {
		return Person{}, link{}, errLink
	}
	p, err := s.Find(ctx, l.Company, l.PersonID)
	if fault.Is(err, fault.Missing) {
		err = errLink
	}
	if err == nil && strings.HasPrefix(l.By, "person:") {
		err = s.alone(ctx, l.Company, p.Role) // the owner who has seen the link may be one of the two people
	}
	if err != nil {
		return Person{}, link{}, err
	}
	return p, l, s.good(ctx, p, l)
}
