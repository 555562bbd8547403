// Package company manages the businesses that use Kobo, their business verification (KYB), and
// their API keys, tokens and transaction PINs.
//
// A company has a reference and one or more API keys. It exchanges a key for two tokens. The
// access token authenticates requests for fifteen minutes. The company exchanges the refresh
// token for further access tokens. Before each request, Kobo checks that the company is live,
// with an accepted KYB state (the gate). Payouts also need the company's four-digit transaction
// PIN.
//
// Kobo stores only keyed hashes of keys and PINs. The hashing key comes from the master key and
// is not in the database.
package company

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/maypok86/otter/v2"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/deployment"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/text"
)

// Company is a business that uses Kobo.
type Company struct {
	Reference string    `db:"company_id,key"`
	Name      string    `db:"name"`
	KYB       KYB       `db:"kyb_status,state"`
	Live      bool      `db:"live,changes"`
	PerSecond int64     `db:"requests_per_second,changes"` // 0 means the setting of the deployment
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at,changes"`
}

// Actor is the operator who makes a change. Audit appends a line to the audit log, in the commit
// of the change. Details must contain no secret.
type Actor interface {
	Audit(u *ledger.Unit, action, subject string, details map[string]string, at time.Time)
}

// Founder is an Actor who adds companies. NewReference returns the reference of a new company, in the short form
// or in the long one (id.Cuid, id.LongCuid). A form of a page that is sent twice has the same reference.
type Founder interface {
	Actor
	NewReference(short bool) string
}

// author is the author of a change in the words of an event. An event does not name the operator.
type author string

const (
	byOperator author = "operator"
	byCompany  author = "company"
)

// Service manages companies and authenticates their requests.
type Service struct {
	// Self returns a company as the Actor for its own acts. With nil, the audit log has no lines of
	// these acts.
	Self func(ctx context.Context, reference string) Actor
	// Environment decides how new API keys begin.
	Environment deployment.Environment

	db     *db.DB
	book   *ledger.Book
	keys   *secret.Keyring
	signer secret.Signer
	clock  clock.Clock
	gate   *otter.Cache[string, entry]

	verified *otter.Cache[[sha256.Size]byte, verified]

	turns sync.Map // for each company whose tries of the PIN met: a channel that holds one element during a turn
}

// New returns the service for a database and its ledger.
func New(d *db.DB, book *ledger.Book, keys *secret.Keyring, clk clock.Clock) *Service {
	return &Service{
		db: d, book: book, keys: keys, signer: keys.Signer("token"), clock: clk,
		gate: newGate(clk), verified: newVerified(clk),
	}
}

var errNoCompany = fault.New(fault.Missing, "Company not found")

// self returns the Actor for a company's own acts.
func (s *Service) self(ctx context.Context, reference string) Actor {
	if s.Self == nil {
		return unseen{}
	}
	return s.Self(ctx, reference)
}

// unseen is an Actor without an audit log.
type unseen struct{}

// Audit writes nothing.
func (unseen) Audit(*ledger.Unit, string, string, map[string]string, time.Time) {}

// Create adds a company with its first API key. The company is neither verified nor live. Kobo
// never shows the key again. If the same form of a page has added the company before, Create returns a fault
// of kind Conflict.
func (s *Service) Create(ctx context.Context, by Founder, name string) (Company, secret.Text, error) {
	c, u, err := s.newCompany(ctx, by, name)
	if err != nil {
		return Company{}, secret.Text{}, err
	}
	key, apiKey := s.newKey(c.Reference, c.CreatedAt, time.Time{})
	u.Insert(keys.Record(key)) // without an event: the company's first key comes with the company
	details, err := s.creation(ctx, c)
	if err != nil {
		return Company{}, secret.Text{}, err
	}
	details["apiKeyId"] = key.ID
	by.Audit(&u, "company.create", c.Reference, details, c.CreatedAt)
	if err := s.book.Commit(ctx, u); err != nil {
		return Company{}, secret.Text{}, s.added(ctx, c, err)
	}
	return c, apiKey, nil
}

// CreateWithToken adds a company like Create. Instead of an API key it returns a key token.
func (s *Service) CreateWithToken(ctx context.Context, by Founder, name string) (Company, Token, error) {
	c, u, err := s.newCompany(ctx, by, name)
	if err != nil {
		return Company{}, Token{}, err
	}
	details, err := s.creation(ctx, c)
	if err != nil {
		return Company{}, Token{}, err
	}
	by.Audit(&u, "company.create", c.Reference, details, c.CreatedAt)
	t := s.newToken(&u, by, forKey, c.CreatedAt, time.Time{})
	if err := s.book.Commit(ctx, u); err != nil {
		return Company{}, Token{}, s.added(ctx, c, err)
	}
	return c, t, nil
}

// added returns a fault of kind Conflict if a commit was refused because there is a company with this reference. The same form has added
// it before, or the two have the same reference by chance.
func (s *Service) added(ctx context.Context, c Company, err error) error {
	if !ledger.Is(err, ledger.Exists, companies.Table) {
		return err
	}
	there, err := s.Find(ctx, c.Reference)
	if err != nil {
		return err
	}
	if there.Name != c.Name {
		return fault.New(fault.Conflict, "The new company got the reference of another one by chance, and nothing was added. Add it again").With(fault.AlreadyExists)
	}
	return addedBefore(c.Reference)
}

// addedBefore returns the fault of a form that has added a company before. Its key cannot be shown again.
func addedBefore(reference string) error {
	return fault.Newf(fault.Conflict, "This form has added the company %s before. Its first key or key token was shown once: make another one at the page of the company",
		reference).With(fault.AlreadyExists)
}

// creation returns the details of the audit line about a new company.
func (s *Service) creation(ctx context.Context, c Company) (map[string]string, error) {
	details, err := s.book.Founding(ctx)
	if err != nil {
		return nil, err
	}
	details["name"] = c.Name
	return details, nil
}

// newCompany returns a company and the unit that inserts it.
func (s *Service) newCompany(ctx context.Context, by Founder, name string) (Company, ledger.Unit, error) {
	name = text.Trim(name)
	if n := utf8.RuneCountInString(name); n < 2 || n > 100 {
		return Company{}, ledger.Unit{}, fault.New(fault.Invalid, `"name" must have 2 to 100 characters`)
	}
	// While programs begin to give short references, one that gives the other form may have got the same form of a page.
	short := s.db.HasShortReferences()
	before, err := s.Find(ctx, by.NewReference(!short))
	if err == nil {
		err = addedBefore(before.Reference)
	}
	if !fault.Is(err, fault.Missing) {
		return Company{}, ledger.Unit{}, err
	}
	now := s.clock.Now()
	c := Company{Reference: by.NewReference(short), Name: name, KYB: NotStarted, CreatedAt: now, UpdatedAt: now}
	u := ledger.Found(c.Reference)
	u.Insert(companies.Record(c))
	return c, u, nil
}

// explain returns errNoCompany if the ledger refused a commit because the company is unknown. It
// returns any other error unchanged.
func explain(err error) error {
	if ledger.Is(err, ledger.NoCompany) {
		return errNoCompany
	}
	return err
}
