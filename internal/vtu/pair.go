package vtu

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Listed is a product on a biller's list, as operators see it. The routes do not matter.
type Listed struct {
	ID       string
	Name     string
	Kind     provider.ServiceKind
	Vendor   string
	Provider string     // the biller's name in the configuration
	Price    money.Kobo // 0 if the buyer chooses the amount
	Active   bool       // whether the biller's last list has the product and its category

	categoryCode, code string
}

// Pair is the declaration of operators that two products of different billers are the same.
type Pair struct {
	ID            string
	First, Second Listed // as on the billers' lists now
	CreatedBy     string
	CreatedAt     time.Time

	firstWas, secondWas Agreed
}

// Agreed is what an operator has seen of a product when pairing it.
type Agreed struct {
	Name  string
	Price money.Kobo
}

// Stale returns what a biller has changed since the products were paired, or "". No purchase moves along
// a stale pair.
func (p Pair) Stale() string {
	return cmp.Or(p.First.differs(p.firstWas), p.Second.differs(p.secondWas))
}

// differs returns how the product differs from what an operator has agreed to, or "". Spaces around a name
// do not count.
func (l Listed) differs(was Agreed) string {
	switch {
	case !l.Active:
		return fmt.Sprintf("%s does not list %q now", l.Provider, l.Name)
	case was == Agreed{}:
		return fmt.Sprintf("the pair does not say what %q of %s was", l.Name, l.Provider)
	case strings.TrimSpace(l.Name) != strings.TrimSpace(was.Name):
		return fmt.Sprintf("%s calls %q now %q", l.Provider, was.Name, l.Name)
	case l.Price != was.Price:
		return fmt.Sprintf("%q of %s cost ₦%s, and costs ₦%s now", l.Name, l.Provider, was.Price, l.Price)
	}
	return ""
}

// Pair declares that two products are the same. A purchase of one may then move to the biller of the
// other. The prices may differ. The pair contains the names and prices of now. Pairing a stale pair
// again renews it.
func (s *Shop) Pair(ctx context.Context, by operator.Operator, firstID, secondID string) (Pair, error) {
	if firstID > secondID {
		firstID, secondID = secondID, firstID
	}
	p := Pair{ID: id.New(), CreatedBy: by.Name, CreatedAt: s.Clock.Now()}
	err := s.DB.Tx(ctx, func(q db.Querier) (err error) {
		if p.First, p.Second, err = findTwo(ctx, q, firstID, secondID); err != nil {
			return err
		}
		if err := p.check(); err != nil {
			return err
		}
		p.firstWas, p.secondWas = Agreed{p.First.Name, p.First.Price}, Agreed{p.Second.Name, p.Second.Price}
		p.ID, err = addPair(ctx, q, p)
		switch {
		case missing(err):
			return fault.New(fault.Conflict, "The products are a pair already")
		case err != nil:
			return err
		}
		return s.note(ctx, q, by, "product_pair.create", p)
	})
	return p, err
}

// check returns an error if the products cannot be the same.
func (p Pair) check() error {
	switch {
	case p.First.Provider == p.Second.Provider:
		return fault.New(fault.Refused, "The products must be of different billers")
	case p.First.Kind != p.Second.Kind:
		return fault.New(fault.Refused, "The products must be of the same kind of service")
	case p.First.Vendor != p.Second.Vendor:
		return fault.New(fault.Refused, "The products must be of the same vendor")
	case p.First.Price <= 0 || p.Second.Price <= 0:
		return fault.New(fault.Refused, "Both products must have a price")
	}
	return nil
}

// Unpair ends a pair. Purchases that begin later do not move.
func (s *Shop) Unpair(ctx context.Context, by operator.Operator, pairID string) error {
	return s.DB.Tx(ctx, func(q db.Querier) error {
		r, err := findPair(ctx, q, pairID)
		if err != nil {
			return db.Missing(err, "Product pair not found")
		}
		p, err := r.pair(ctx, q)
		if err != nil {
			return err
		}
		if err := removePair(ctx, q, pairID); err != nil {
			return err
		}
		return s.note(ctx, q, by, "product_pair.delete", p)
	})
}

// pair returns the pair in a row, with its products.
func (r pairRow) pair(ctx context.Context, q db.Querier) (p Pair, err error) {
	p = Pair{
		ID: r.id, CreatedBy: r.by, CreatedAt: clock.Time(r.at),
		firstWas: Agreed{r.firstName, r.firstPrice}, secondWas: Agreed{r.secondName, r.secondPrice},
	}
	p.First, p.Second, err = findTwo(ctx, q, r.firstID, r.secondID)
	return p, err
}

// note adds the line of the audit log about a change of a pair.
func (s *Shop) note(ctx context.Context, q db.Querier, by operator.Operator, action string, p Pair) error {
	if s.Note == nil {
		return nil
	}
	return s.Note(ctx, q, by, action, p.ID, map[string]string{
		"first": p.First.ID, "second": p.Second.ID, "billers": p.First.Provider + " " + p.Second.Provider, "kind": string(p.First.Kind), "vendor": p.First.Vendor,
		"firstName": p.First.Name, "secondName": p.Second.Name, "firstPrice": p.First.Price.Decimal(), "secondPrice": p.Second.Price.Decimal(),
	})
}

// findTwo returns two products on the billers' lists.
func findTwo(ctx context.Context, q db.Querier, firstID, secondID string) (first, second Listed, err error) {
	if firstID == secondID {
		return first, second, fault.New(fault.Refused, "A pair needs two products")
	}
	if first, err = findListed(ctx, q, firstID); err == nil {
		second, err = findListed(ctx, q, secondID)
	}
	return first, second, db.Missing(err, "Product not found")
}
