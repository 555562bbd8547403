package crypto

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
)

// The sources of a company's key. A key comes from an operator, or is derived from the fintech's
// key.
const (
	fromOperator = "operator"
	fromHouse    = "house"
)

// Key is an extended public key of a company. The company's addresses are derived from the key.
type Key struct {
	Company   string     `db:"company_id,key"`
	ID        string     `db:"id,key"`
	Kind      chain.Kind `db:"kind"`
	Version   int64      `db:"version"`
	xpub      string     `db:"xpub"` // Public as text
	Source    string     `db:"source"`
	CreatedAt time.Time  `db:"created_at"`
	// Public is the key whose children give the addresses. If the operator set an account's key,
	// Public is the key of that account's external chain (BIP-44).
	Public chain.Key
}

func keyID(kind chain.Kind, version int64) string { return fmt.Sprintf("%s/%d", kind, version) }

// keyChanged is the data of the event that reports a new key. It contains the key's first address and not
// the key, because the key reveals all addresses of the company.
type keyChanged struct {
	Chain        chain.Kind    `json:"chain"`
	Version      int64         `json:"version"`
	Source       string        `json:"source"`
	FirstAddress string        `json:"firstAddress"`
	CreatedAt    clock.Instant `json:"createdAt"`
}

// SetKey sets the key for a company's future addresses on a kind of network. Earlier addresses stay
// valid. SetKey also returns the key's first address, so that an operator can compare it with the
// first address in the wallet.
func (s *Service) SetKey(ctx context.Context, by operator.Operator, company string, kind chain.Kind, text string) (k Key, first string, err error) {
	public, first, err := s.parseKey(kind, text)
	if err != nil {
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
	u := ledger.For(company)
	event.Emit(&u, event.CryptoKeyChanged, keyChanged{kind, k.Version, k.Source, first, clock.Instant{Time: k.CreatedAt}})
	by.Audit(&u, "crypto.key", k.ID, map[string]string{"firstAddress": first}, k.CreatedAt)
	err = s.addKey(ctx, k, u)
	return k, first, err
}

// parseKey returns the key of a text, and its first address on a kind of network.
func (s *Service) parseKey(kind chain.Kind, text string) (public chain.Key, first string, err error) {
	if public, err = chain.ParseKey(text); err != nil {
		return public, "", fault.New(fault.Invalid, `"xpub": `+err.Error())
	}
	example := slices.IndexFunc(s.Networks, func(n chain.Network) bool { return n.Kind == kind })
	if example < 0 {
		return public, "", fault.New(fault.Invalid, `"chain" must be one of [evm, tron, bitcoin]`)
	}
	if !s.TestKeys && isPublicTest(public) {
		return public, "", fault.New(fault.Refused, "This is a published test key: anybody could spend what is sent to it")
	}
	first, err = public.Address(s.Networks[example], 0)
	return public, first, err
}

// CheckKey returns an error if SetKey would not set a new key for the company.
func (s *Service) CheckKey(ctx context.Context, company string, kind chain.Kind, text string) error {
	public, _, err := s.parseKey(kind, text)
	if err != nil {
		return err
	}
	owner, err := db.OrZero(s.findOwner(ctx, public))
	if err == nil && owner != "" && owner != company {
		err = errForeignKey
	}
	if err != nil {
		return err
	}
	current, err := db.OrZero(s.findKey(ctx, company, kind))
	if err == nil && current.Version > 0 && current.Public.String() == public.String() {
		err = fault.New(fault.Refused, "This is the key of the company already")
	}
	return err
}

var errForeignKey = fault.New(fault.Refused, "This key belongs to another company")

func isPublicTest(k chain.Key) bool {
	for _, text := range chain.PublicTestKeys {
		if published, err := chain.ParseKey(text); err == nil && published.String() == k.String() {
			return true
		}
	}
	return false
}

// addKey adds a key to the directory of all companies, and then stores it for the company. Without
// the directory, two companies could have the same key and so the same addresses. If the program
// stops between these two steps, the directory's entry does no harm.
// Parameter u is the rest of the commit that stores the key.
func (s *Service) addKey(ctx context.Context, k Key, u ledger.Unit) error {
	owner, err := s.enterKey(ctx, k)
	if err != nil {
		return err
	}
	if owner != k.Company {
		return errForeignKey
	}
	k.xpub = k.Public.String()
	u.Insert(keyTable.Record(k))
	err = s.Book.Commit(ctx, u)
	if ledger.Is(err, ledger.Exists) {
		return fault.New(fault.Conflict, "The key was set by somebody else at the same moment").Because(err)
	}
	return err
}

// key returns the company's key in force. If the company has no key, key creates a child of the
// fintech's key for the company.
func (s *Service) key(ctx context.Context, company string, kind chain.Kind) (Key, error) {
	k, err := s.findKey(ctx, company, kind)
	if !errors.Is(err, db.ErrNone) {
		return k, err
	}
	house, given := s.HouseKeys[kind]
	if !given {
		return Key{}, fault.New(fault.Refused, "No key is set for this network: ask your operator").With(fault.NetworkInactive)
	}
	// The child's number is drawn in a separate database transaction. A number may therefore stay
	// unused, but two companies never get the same number.
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
	}, ledger.For(company))
	if err != nil && !fault.Is(err, fault.Conflict) {
		return Key{}, err
	}
	return s.findKey(ctx, company, kind) // returns the new key, or the key that a concurrent request stored first
}
