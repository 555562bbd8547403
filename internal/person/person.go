// Package person lets people sign in. It stores their passkeys, their passwords with one-time codes, the
// links that invite them, and their sessions. It also stores the people of companies, with their roles.
//
// An operator's name, role, expiry and removal stand in the row of package operator, with or without a
// key. What a person proves hangs on the id of that row. So the removal of the operator ends all of it,
// and a new operator of the same name inherits nothing. The people of companies have rows of this package.
//
// Each row that gives power has a MAC, which is checked at each use. Somebody who can only write the
// database can add nobody, no passkey, no link and no session.
package person

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Person is somebody who can sign in.
type Person struct {
	Company   string    `db:"company,key"` // "" for an operator
	ID        string    `db:"id,key"`      // of the operator's row, or of the row of a company's person
	Name      string    `db:"name"`
	Role      string    `db:"role"` // an operator's role, or one of Roles
	State     string    `db:"state"`
	CreatedAt time.Time `db:"created_at"`
	mac       string
}

const (
	active  = "ACTIVE"
	ended   = "ENDED"
	removed = "REMOVED"
)

// These are the roles of a company's people. An owner may do everything that the company's people may do.
const (
	Viewer    = "viewer"
	Finance   = "finance"
	Developer = "developer"
	Owner     = "owner"
)

// Roles returns the roles of a company's people.
func Roles() []string { return []string{Owner, Developer, Finance, Viewer} }

// Author returns the author of the person's acts in the audit log. A company's person has no operator's role.
func (p Person) Author() operator.Operator {
	if p.Company == "" {
		return operator.Operator{Name: p.Name, Role: operator.Role(p.Role)}
	}
	return operator.Operator{Name: "person:" + p.Company + "/" + p.Name}
}

// subject returns the subject of audit lines about the person.
func (p Person) subject() string {
	if p.Company != "" {
		return p.Company
	}
	return p.Name
}

// details returns the details that every audit line about the person has, with further pairs of name and value.
func (p Person) details(more ...string) map[string]string {
	out := map[string]string{"person": p.Name, "personId": p.ID}
	for i := 0; i+1 < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// Config is what the service needs.
type Config struct {
	DB        *db.DB
	Keys      *secret.Keyring
	Operators *operator.Service
	// Clock is the time of links and of credentials. Sandbox mode moves it.
	Clock clock.Clock
	// Machine is the time of sessions and one-time codes. Moving the clock of sandbox mode signs nobody out.
	Machine clock.Clock
	// Origin is the address of the console as browsers see it, such as https://console.example.com. Without
	// it, nobody can use a passkey.
	Origin string
	// Rules returns the rules of a company that require two people. nil means that no company has any.
	Rules func(ctx context.Context, company string) ([]Rule, error)
}

// Rule requires two people for something. It reports whether people with a role approve that.
type Rule func(role string) bool

// Service lets people sign in.
type Service struct {
	Config
	passkeys *webauthn.WebAuthn // nil without an origin
	hashing  chan struct{}      // bounds the memory of argon2id

	mu        sync.Mutex
	watched   map[*watched]struct{} // the sessions with open streams
	following bool                  // a reader runs
}

// New returns the service. It returns an error if the origin is not one.
func New(c Config) (*Service, error) {
	s := &Service{Config: c, hashing: make(chan struct{}, 2), watched: map[*watched]struct{}{}}
	var err error
	if c.Origin != "" {
		s.passkeys, err = newPasskeys(c.Origin)
	}
	return s, err
}

var errNobody = fault.New(fault.Missing, "There is no such person")

// Find returns a person by the id. It returns a fault of kind Missing if nobody has the id, or if the access
// of this person has ended. The company is "" for an operator.
func (s *Service) Find(ctx context.Context, company, personID string) (Person, error) {
	return s.first(ctx, company, func(p Person) bool { return p.ID == personID })
}

// FindNamed returns a person by the name, as Find does.
func (s *Service) FindNamed(ctx context.Context, company, name string) (Person, error) {
	return s.first(ctx, company, func(p Person) bool { return p.Name == name })
}

func (s *Service) first(ctx context.Context, company string, is func(p Person) bool) (Person, error) {
	all, err := s.People(ctx, company)
	if err != nil {
		return Person{}, err
	}
	at := slices.IndexFunc(all, is)
	if at < 0 {
		return Person{}, errNobody
	}
	return all[at], nil
}

// People returns the people of a company whose access has not ended, the oldest first. With the company "" it
// returns the operators.
func (s *Service) People(ctx context.Context, company string) ([]Person, error) {
	if company != "" {
		all, err := s.peopleOf(ctx, s.DB, company)
		return slices.DeleteFunc(all, func(p Person) bool { return p.State != active || !s.isSigned(people.Table, p.row(), p.mac) }), err
	}
	keys, err := s.Operators.Working(ctx)
	out := make([]Person, len(keys))
	for i, k := range keys {
		out[i] = Person{ID: k.ID, Name: k.Name, Role: string(k.Role), State: k.State, CreatedAt: k.CreatedAt}
	}
	return out, err
}

// CheckRole returns an error if a company's people have no such role.
func CheckRole(role string) error {
	if !slices.Contains(Roles(), role) {
		return fault.New(fault.Invalid, `"role" must be owner, developer, finance or viewer`)
	}
	return nil
}

// SetRole gives a company's person another role, and ends the person's sessions. The last owner stays the owner.
func (s *Service) SetRole(ctx context.Context, by operator.Operator, company, personID, role string) (Person, error) {
	return s.setRole(ctx, by, company, personID, role, nil)
}

func (s *Service) setRole(ctx context.Context, by operator.Operator, company, personID, role string, keep []Rule) (Person, error) {
	if err := CheckRole(role); err != nil {
		return Person{}, err
	}
	return s.replace(ctx, by, company, personID, "person.role", keep, func(p *Person) { p.Role = role })
}

// End ends the access of a company's person, with all sessions. The last owner stays.
func (s *Service) End(ctx context.Context, by operator.Operator, company, personID string) (Person, error) {
	return s.end(ctx, by, company, personID, nil)
}

func (s *Service) end(ctx context.Context, by operator.Operator, company, personID string, keep []Rule) (Person, error) {
	return s.replace(ctx, by, company, personID, "person.end", keep, func(p *Person) { p.State = ended })
}

// SetRoleAs is SetRole for an owner of the company. While two people are required, nobody gets a role that
// approves, and two people who approve stay.
func (s *Service) SetRoleAs(ctx context.Context, by Person, personID, role string) (Person, error) {
	if err := by.mayManage(); err != nil {
		return Person{}, err
	}
	if err := s.alone(ctx, by.Company, role); err != nil {
		return Person{}, err
	}
	keep, err := s.rules(ctx, by.Company)
	if err != nil {
		return Person{}, err
	}
	return s.setRole(ctx, by.Author().From(ctx), by.Company, personID, role, keep)
}

// EndAs is End for an owner of the company. While two people are required, two people who approve stay.
func (s *Service) EndAs(ctx context.Context, by Person, personID string) (Person, error) {
	if err := by.mayManage(); err != nil {
		return Person{}, err
	}
	keep, err := s.rules(ctx, by.Company)
	if err != nil {
		return Person{}, err
	}
	return s.end(ctx, by.Author().From(ctx), by.Company, personID, keep)
}

var errLastOwner = fault.New(fault.Refused, "The company needs an owner: make somebody else the owner first")

// replace changes the row of a company's person.
func (s *Service) replace(ctx context.Context, by operator.Operator, company, personID, action string, keep []Rule, change func(p *Person)) (after Person, err error) {
	before, err := s.Find(ctx, company, personID)
	if err != nil {
		return Person{}, err
	}
	if company == "" {
		return Person{}, errNobody // package operator changes operators
	}
	after = before
	change(&after)
	details := after.details("role", after.Role)
	return after, s.Operators.Change(ctx, by, action, company, details, errChanged, func(q db.Querier) (int64, error) {
		if err := s.keepOwner(ctx, q, before, after); err != nil {
			return 0, err
		}
		if err := s.keepApprovers(ctx, q, keep, before, after); err != nil {
			return 0, err
		}
		n, err := s.updatePerson(ctx, q, before, after)
		if err == nil && n > 0 {
			err = endSessions(ctx, q, company, personID, "")
		}
		if err == nil && n > 0 && after.State == ended {
			err = removeSettings(ctx, q, company, personID)
		}
		return n, err
	})
}

var errChanged = fault.New(fault.Conflict, "Somebody has just changed this person: look again")

// keepOwner returns a refusal if a change takes the last owner away from a company. Two changes of owners at the
// same time wait for each other, because keepOwner locks the owners' rows.
func (s *Service) keepOwner(ctx context.Context, q db.Querier, before, after Person) error {
	if before.Role != Owner || after.Role == Owner && after.State == active {
		return nil
	}
	if err := lockPeople(ctx, q, before.Company); err != nil {
		return err
	}
	all, err := s.peopleOf(ctx, q, before.Company)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(p Person) bool {
		return p.ID != before.ID && p.Role == Owner && p.State == active && s.isSigned(people.Table, p.row(), p.mac)
	}) {
		return errLastOwner
	}
	return nil
}

// newPerson returns the row of a new person of a company.
func (s *Service) newPerson(company, name, role string) Person {
	return Person{Company: company, ID: id.New(), Name: name, Role: role, State: active, CreatedAt: s.Clock.Now()}
}
