package crypto

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
)

// Where a company's key comes from.
const (
	fromOperator = "operator"
	fromHouse    = "house"
)

// Key is an extended public key of a company, below which its addresses are.
type Key struct {
	Company   string
	ID        string
	Kind      chain.Kind
	Version   int64
	Source    string
	CreatedAt time.Time
	// Public is the key whose children are the addresses: of an account's key, its
	// external chain.
	Public chain.Key
}

func keyID(kind chain.Kind, version int64) string { return fmt.Sprintf("%s/%d", kind, version) }

// SetKey has a company's addresses on one kind of network made from this key from
// here on. Addresses that were made from an earlier key stay what they are. The
// first address is returned, to be compared with what the wallet shows.
func (s *Service) SetKey(ctx context.Context, by operator.Operator, company string, kind chain.Kind, text string) (k Key, first string, err error) {
	public, err := chain.ParseKey(text)
	if err != nil {
		return Key{}, "", fault.New(fault.Invalid, `"xpub": `+err.Error())
	}
	n, known := s.example(kind)
	if !known {
		return Key{}, "", fault.New(fault.Invalid, `"chain" must be one of [evm, tron, bitcoin]`)
	}
	if !s.TestKeys && isPublicTest(public) {
		return Key{}, "", fault.New(fault.Refused, "This is a published test key: anybody could spend what is sent to it")
	}
	if first, err = public.Address(n, 0); err != nil {
		return Key{}, "", err
	}
	switch exists, err := s.Book.Exists(ctx, company); {
	case err != nil:
		return Key{}, "", err
	case !exists:
		return Key{}, "", fault.New(fault.Missing, "Company not found")
	}
	current, err := s.findKey(ctx, company, kind)
	if err != nil && !errors.Is(err, db.ErrNone) {
		return Key{}, "", err
	}
	if current.Version > 0 && current.Public.String() == public.String() {
		return current, first, nil
	}
	k = Key{Company: company, Kind: kind, Version: current.Version + 1, Source: fromOperator, Public: public, CreatedAt: s.Clock.Now()}
	k.ID = keyID(kind, k.Version)
	err = s.addKey(ctx, k, by.Note(company, "crypto.key", k.ID, map[string]string{"firstAddress": first}, k.CreatedAt))
	return k, first, err
}

// example is some network of a kind.
func (s *Service) example(kind chain.Kind) (chain.Network, bool) {
	for _, n := range s.Networks {
		if n.Kind == kind {
			return n, true
		}
	}
	return chain.Network{}, false
}

func isPublicTest(k chain.Key) bool {
	for _, text := range chain.PublicTestKeys {
		if published, err := chain.ParseKey(text); err == nil && published.String() == k.String() {
			return true
		}
	}
	return false
}

// addKey writes a key. First the directory, then the key: an entry without a key
// harms nobody, and two companies with one key would share their addresses.
func (s *Service) addKey(ctx context.Context, k Key, notes ...db.Record) error {
	owner, err := s.enterKey(ctx, k)
	if err != nil {
		return err
	}
	if owner != k.Company {
		return fault.New(fault.Refused, "This key belongs to another company")
	}
	err = s.Book.Commit(ctx, ledger.Unit{Company: k.Company, Claims: []db.Record{k.record()}, Notes: notes})
	if ledger.Is(err, ledger.Exists) {
		return fault.New(fault.Conflict, "The key was set by somebody else at the same moment").Because(err)
	}
	return err
}

// Keys are all keys of a company, by kind, the present one of each first.
func (s *Service) Keys(ctx context.Context, company string) ([]Key, error) {
	return s.keys(ctx, company)
}

// key is the company's present key; one that has none gets a chain below the
// house's.
func (s *Service) key(ctx context.Context, company string, kind chain.Kind) (Key, error) {
	k, err := s.findKey(ctx, company, kind)
	if !errors.Is(err, db.ErrNone) {
		return k, err
	}
	house, given := s.HouseKeys[kind]
	if !given {
		return Key{}, fault.New(fault.Refused, "No key is set for this network: ask your operator")
	}
	// Which chain is drawn in a commit of its own: one that is lost on the way is
	// no loss, one that two companies get would be.
	number, err := s.draw(ctx, "chain below "+house.String())
	if err != nil {
		return Key{}, err
	}
	public, err := house.Child(uint32(number - 1))
	if err != nil {
		return Key{}, err
	}
	err = s.addKey(ctx, Key{
		Company: company, ID: keyID(kind, 1), Kind: kind, Version: 1, Source: fromHouse, Public: public, CreatedAt: s.Clock.Now(),
	})
	if err != nil && !fault.Is(err, fault.Conflict) {
		return Key{}, err
	}
	return s.findKey(ctx, company, kind) // ours, or that of whoever was faster
}
