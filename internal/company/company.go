// Package company knows the businesses that use Kobo: who they are, whether
// they have passed business verification (KYB), and how they prove that a
// request is theirs.
//
// A company has a reference and one or more API keys. It exchanges a key for
// two tokens: an access token for fifteen minutes of requests, and a refresh
// token for further access tokens. Every request passes the gate, which asks
// whether the company is live and its KYB in order. Money leaves only with the
// company's four-digit transaction PIN as well.
//
// Of keys and PINs only keyed hashes are stored; the hashing key comes from the
// master key and is not in the database.
package company

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/maypok86/otter/v2"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/text"
)

// Company is a business that uses Kobo.
type Company struct {
	Reference string
	Name      string
	KYB       KYB
	Live      bool
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Actor is the operator on whose word something is changed. Note is the line of
// the audit log, written in the same commit as the change; details hold nothing
// secret.
type Actor interface {
	Note(company, action, subject string, details map[string]string, at time.Time) db.Record
}

// Service is all that can be done with companies.
type Service struct {
	db     *db.DB
	book   *ledger.Book
	keys   *secret.Keyring
	signer secret.Signer
	clock  clock.Clock
	gate   *otter.Cache[string, Company]
}

// New is the service on a database and its book.
func New(d *db.DB, book *ledger.Book, keys *secret.Keyring, clk clock.Clock) *Service {
	return &Service{
		db: d, book: book, keys: keys, signer: keys.Signer("token"), clock: clk, gate: newGate(clk),
	}
}

var errNoCompany = fault.New(fault.Missing, "Company not found")

// Create takes a company on: not verified, not live, with its first API key,
// which is shown this once.
func (s *Service) Create(ctx context.Context, by Actor, name string) (Company, secret.Text, error) {
	name = text.Trim(name)
	if n := utf8.RuneCountInString(name); n < 2 || n > 100 {
		return Company{}, secret.Text{}, fault.New(fault.Invalid, `"name" must have 2 to 100 characters`)
	}
	now := s.clock.Now()
	c := Company{Reference: id.Cuid(), Name: name, KYB: NotStarted, CreatedAt: now, UpdatedAt: now}
	key, apiKey := s.newKey(c.Reference, now, time.Time{})
	err := s.book.Commit(ctx, ledger.Unit{
		Company: c.Reference,
		Found:   true,
		Claims:  []db.Record{c.record(), key.record()},
		Notes: []db.Record{
			by.Note(c.Reference, "company.create", c.Reference, map[string]string{"name": name, "apiKeyId": key.ID}, now),
		},
	})
	if err != nil {
		return Company{}, secret.Text{}, err
	}
	return c, apiKey, nil
}

// Find is the company with this reference.
func (s *Service) Find(ctx context.Context, reference string) (Company, error) {
	if !id.IsCuid(reference) {
		return Company{}, errNoCompany
	}
	c, err := s.find(ctx, reference)
	if errors.Is(err, db.ErrNone) {
		return Company{}, errNoCompany
	}
	return c, err
}

// List is limit companies after the first offset, the newest first, and how many
// there are in all.
func (s *Service) List(ctx context.Context, limit, offset int) ([]Company, int64, error) {
	total, err := s.count(ctx)
	if err != nil {
		return nil, 0, err
	}
	companies, err := s.page(ctx, limit, offset)
	return companies, total, err
}

// explain turns the book's refusal to touch a company that does not exist into
// words.
func explain(err error) error {
	if ledger.Is(err, ledger.NoCompany) {
		return errNoCompany
	}
	return err
}
