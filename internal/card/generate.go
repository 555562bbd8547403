package card

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/opening"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Request is a company's request for a new card.
type Request struct {
	Company    string
	Customer   string // the customer's ID or e-mail address
	Type       string
	Brand      string
	Currency   string
	Number     secret.Text // the printed number of a physical card, which Kobo does not store
	Load       money.Kobo  // the amount of the initial funding; 0 for no initial funding
	SendPINSMS bool
	Key        *idempotency.Key // nil without an Idempotency-Key
}

// Generated is a new card and its initial funding.
type Generated struct {
	CardID string `json:"cardId"` // equal to the card's id
	Card
	Load *Funding `json:"funding,omitempty"` // nil if no initial funding was requested or possible
}

var (
	errNotVerified = fault.New(fault.Refused, "Customer has not completed OTP verification").With(fault.NotVerified)
	errNoAddress   = fault.New(fault.Refused, "Customer has no address and the company has none").With(fault.AddressMissing)
	errNumber      = fault.New(fault.Refused, "A physical card needs its number, and no other has one").With(fault.InvalidRequest)
	errCreating    = fault.New(fault.Refused, "Card creation is being confirmed. Do not retry; check the list of cards.").With(fault.BeingConfirmed)
	errNotCreated  = fault.New(fault.Refused, "Card creation failed").With(fault.Declined)
)

// Generate orders a card for a customer, and sends the initial funding to the card. A customer
// has only one card in creation at a time. Generate returns faults of the kinds Missing and
// Refused. If the outcome is unknown, the fault is errCreating, which is Refused too. In that case
// a job finds the outcome, and the list of cards then shows the card.
func (s *Service) Generate(ctx context.Context, r Request) (Generated, error) {
	if begun := r.Key.Subject(); begun != "" {
		return s.resume(ctx, r, begun)
	}
	who, err := s.cardholder(ctx, r)
	if err != nil {
		return Generated{}, err
	}
	h, earlier, err := s.free(ctx, r.Company, who.ID)
	if err != nil {
		return Generated{}, err
	}
	if earlier.answers(r) {
		return s.repeated(ctx, r, earlier)
	}
	a := &attempt{Service: s, holder: h, request: r, who: who, stored: stored{
		Company: r.Company, state: creating, provider: h.provider, load: r.Load, Card: Card{
			ID: id.New(), CustomerID: h.customerID, Type: r.Type, Brand: r.Brand, Currency: r.Currency,
			CreatedAt: clock.Instant{Time: s.Clock.Now()},
		},
	}}
	err = s.openings.Open(ctx, a, opening.From{}, r.Key, func(u *ledger.Unit) error {
		h.state, h.cardID = busy, a.ID
		u.Transition(holders.Record(h), free).Only("card_id")
		s.Customers.Unchanged(u, who)
		return nil
	})
	ctx = context.WithoutCancel(ctx)
	if errors.Is(err, errCreating) {
		err = s.openings.Look(ctx, a) // the issuer did not reply, so search for the card
	}
	if err != nil && !errors.Is(err, opening.ErrTaken) {
		return Generated{}, err
	}
	c, err := findCard(ctx, s.DB, r.Company, a.ID)
	if errors.Is(err, db.ErrNone) {
		return Generated{}, errCreating // a concurrent request for the same customer began first
	}
	if err != nil {
		return Generated{}, err
	}
	return s.answer(ctx, r, c)
}

// repeated returns the response to a repetition of the request that created an earlier card. The repetition may have an
// Idempotency-Key of its own. Before anything happens for it, repeated records that this key belongs to the earlier card.
// Otherwise the next request with this key would order a second card.
func (s *Service) repeated(ctx context.Context, r Request, earlier stored) (Generated, error) {
	if r.Key != nil {
		u := ledger.For(r.Company)
		r.Key.Begin(&u, earlier.ID, s.Clock.Now().Add(s.Window))
		if err := s.Book.Commit(ctx, u); err != nil {
			return Generated{}, idempotency.Taken(err)
		}
	}
	return s.answer(context.WithoutCancel(ctx), r, earlier)
}

// answer sends the initial funding to a new card. It returns the response to the request, and
// stores the response under the request's Idempotency-Key.
func (s *Service) answer(ctx context.Context, r Request, c stored) (Generated, error) {
	switch c.state {
	case creating:
		return Generated{}, errCreating
	case failed:
		return Generated{}, s.finish(ctx, r.Key, nil, s.why(c))
	}
	out := Generated{CardID: c.ID, Card: c.Card}
	if c.load > 0 {
		load, err := s.load(ctx, c)
		if err == nil {
			out.Load = &load
		} else if !fault.Is(err, fault.Refused) {
			return Generated{}, err
		}
	}
	return out, s.finish(ctx, r.Key, out, nil)
}

// resume returns the outcome for a retry with the same Idempotency-Key, after the first request
// ended without a stored response.
func (s *Service) resume(ctx context.Context, r Request, cardID string) (Generated, error) {
	c, err := findCard(ctx, s.DB, r.Company, cardID)
	if err == nil && c.state == creating {
		c, err = s.lookFor(ctx, c)
	}
	if err != nil {
		return Generated{}, err
	}
	return s.answer(ctx, r, c)
}

// finish stores the response to a request under its Idempotency-Key. The parameter why is the
// request's error, or nil. finish returns why, or the error of the write.
func (s *Service) finish(ctx context.Context, key *idempotency.Key, result any, why error) error {
	return cmp.Or(s.Keys.Finish(ctx, key, result, why), why)
}

// cardholder returns the customer of a request, who must have completed the OTP verification. If
// the customer has no address, cardholder fills in the company's address. It also checks that
// the balance covers the initial funding.
func (s *Service) cardholder(ctx context.Context, r Request) (customer.Customer, error) {
	if s.Issuers[s.Issues] == nil {
		return customer.Customer{}, errNoIssuer
	}
	if (r.Type == Physical) == (r.Number.Reveal() == "") {
		return customer.Customer{}, errNumber
	}
	who, err := s.Customers.Find(ctx, r.Company, r.Customer)
	switch {
	case err != nil:
		return who, err
	case who.Status != customer.Active:
		return who, errNotVerified
	case who.Address == nil:
		a, err := s.Address(ctx, r.Company)
		if err != nil {
			return who, err
		}
		if a.Line1 == "" {
			return who, errNoAddress
		}
		who.Address = &a.Address
	}
	if r.Load > 0 {
		from, err := s.purse(ctx, r.Company)
		if err != nil {
			return who, err
		}
		if from.Balance < r.Load {
			return who, errShort
		}
	}
	return who, nil
}

// free returns the customer's registration with the issuer, if no card of the customer is in
// creation. If an earlier creation has no known outcome, free first searches the issuer for the
// earlier card, and also returns that card.
func (s *Service) free(ctx context.Context, company, customerID string) (h holder, earlier stored, err error) {
	h, err = s.findHolder(ctx, company, customerID)
	if errors.Is(err, db.ErrNone) {
		h = holder{company: company, customerID: customerID, state: free, provider: s.Issues, createdAt: s.Clock.Now()}
		u := ledger.For(company)
		u.Insert(holders.Record(h))
		if err = s.Book.Commit(ctx, u); ledger.Is(err, ledger.Exists) {
			h, err = s.findHolder(ctx, company, customerID)
		}
	}
	if err != nil || h.cardID == "" {
		return h, earlier, err
	}
	if earlier, err = findCard(ctx, s.DB, company, h.cardID); err != nil {
		return h, earlier, err
	}
	if s.Clock.Now().Before(earlier.CalledUntil) {
		return h, earlier, errCreating
	}
	if earlier, err = s.lookFor(ctx, earlier); err == nil && earlier.state == creating {
		err = errCreating
	}
	if err == nil {
		h, err = s.findHolder(ctx, company, customerID)
	}
	return h, earlier, err
}

// answers reports whether an earlier card matches a request. If so, the request is a repetition
// of the request that created the earlier card. The number of a physical card implies its brand, so the
// requested brand counts only for a virtual one.
func (c stored) answers(r Request) bool {
	number := r.Number.Reveal()
	return c.state == issued && c.Type == r.Type && c.load == r.Load && strings.EqualFold(c.Currency, r.Currency) &&
		(r.Type == Physical || strings.EqualFold(c.Brand, r.Brand)) &&
		strings.HasSuffix(c.MaskedPAN, number[max(0, len(number)-4):])
}
