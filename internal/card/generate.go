package card

import (
	"context"
	"errors"
	"strings"

	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Request is a card to generate.
type Request struct {
	Company    string
	Customer   string // id or e-mail address
	Type       string
	Brand      string
	Currency   string
	Number     secret.Text // printed on a physical card; it passes through
	Load       money.Kobo  // to put on it at once; 0 for nothing
	SendPINSMS bool
	Key        *idempotency.Key // nil for none
}

// Generated is a new card, and what came of loading it.
type Generated struct {
	Card Card
	Load *Funding // nil when nothing was to be loaded, or nothing could be
}

var (
	errNotVerified = fault.New(fault.Refused, "Customer has not completed OTP verification")
	errNoAddress   = fault.New(fault.Refused, "Customer has no address and the company has none")
	errNumber      = fault.New(fault.Refused, "A physical card needs its number, and no other has one")
	errCreating    = fault.New(fault.Refused, "Card creation is being confirmed. Do not retry; check the list of cards.")
	errNotCreated  = fault.New(fault.Refused, "Card creation failed")
)

// Generate has a card issued to a customer, and loads it if that is wanted. For
// one customer cards are made one after the other. Faults are Missing and
// Refused; one of them says that nobody knows yet: then the card appears, or its
// creation ends, without another request.
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
		return s.answer(ctx, r, earlier)
	}
	c, err := s.intend(ctx, r, h)
	if err != nil {
		return Generated{}, err
	}
	// The issuer is asked, and what it says written down, whoever hangs up.
	ctx = context.WithoutCancel(ctx)
	a := s.order(ctx, r, who, h, c)
	switch a.Outcome {
	case provider.Confirmed:
		c, err = s.issue(ctx, c, a.Card)
	case provider.Rejected:
		return Generated{}, s.abandon(ctx, c, a.Message, r.Key)
	default:
		if c, err = s.lookUp(ctx, c); err == nil && c.state == creating {
			err = s.unanswered(ctx, r)
		}
	}
	if err != nil {
		return Generated{}, err
	}
	return s.answer(ctx, r, c)
}

// answer loads a card that was just issued, if that is wanted, and stores the
// answer under the request's key.
func (s *Service) answer(ctx context.Context, r Request, c Card) (Generated, error) {
	switch c.state {
	case creating:
		return Generated{}, errCreating
	case failed:
		return Generated{}, s.finish(ctx, r.Key, nil, s.why(c))
	}
	out := Generated{Card: c}
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

// resume answers a request whose first try, under the same key, was cut off.
func (s *Service) resume(ctx context.Context, r Request, cardID string) (Generated, error) {
	c, err := s.findCard(ctx, r.Company, cardID)
	if err != nil {
		return Generated{}, err
	}
	if c.state == creating {
		if c, err = s.lookUp(ctx, c); err != nil {
			return Generated{}, err
		}
	}
	return s.answer(ctx, r, c)
}

// finish stores the answer to a request with a key, and returns why.
func (s *Service) finish(ctx context.Context, key *idempotency.Key, result any, why error) error {
	if err := s.keys.Finish(ctx, key, result, why); err != nil {
		return err
	}
	return why
}

// unanswered has the same request, under its key, look for the card again.
func (s *Service) unanswered(ctx context.Context, r Request) error {
	if r.Key == nil {
		return nil
	}
	err := s.book.Commit(ctx, ledger.Unit{Company: r.Company, Moves: r.Key.Unanswered()})
	if ledger.Is(err, ledger.Moved) {
		return nil // answered by somebody who was faster
	}
	return err
}

// cardholder is the customer of a request, who must have completed their OTP and
// have an address: their own, or else the company's.
func (s *Service) cardholder(ctx context.Context, r Request) (customer.Customer, error) {
	if s.issuers[s.issues] == nil {
		return customer.Customer{}, errNoIssuer
	}
	if (r.Type == Physical) == (r.Number.Reveal() == "") {
		return customer.Customer{}, errNumber
	}
	who, err := s.customers.Find(ctx, r.Company, r.Customer)
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

// free is the customer as the issuer knows them, with no card being created. If
// the answer about an earlier one was lost it is looked for first, and given
// back when that finds it.
func (s *Service) free(ctx context.Context, company, customerID string) (h holder, earlier Card, err error) {
	h, err = s.findHolder(ctx, company, customerID)
	if errors.Is(err, db.ErrNone) {
		h = holder{company: company, customerID: customerID, provider: s.issues}
		err = s.book.Commit(ctx, ledger.Unit{Company: company, Claims: []db.Record{h.record(s.clock.Now())}})
		if ledger.Is(err, ledger.Exists) {
			h, err = s.findHolder(ctx, company, customerID)
		}
	}
	if err != nil || h.cardID == "" {
		return h, earlier, err
	}
	if earlier, err = s.findCard(ctx, company, h.cardID); err != nil {
		return h, earlier, err
	}
	if s.clock.Now().Before(earlier.calledUntil) {
		return h, earlier, errCreating
	}
	if earlier, err = s.lookUp(ctx, earlier); err == nil && earlier.state == creating {
		err = errCreating
	}
	if err == nil {
		h, err = s.findHolder(ctx, company, customerID)
	}
	return h, earlier, err
}

// answers tells whether a card that was just found is what a request asks for:
// then the request is the repetition of the one whose answer was lost.
func (c Card) answers(r Request) bool {
	number := r.Number.Reveal()
	return c.state == issued && c.Type == r.Type && c.load == r.Load &&
		strings.HasSuffix(c.MaskedPAN, number[max(0, len(number)-4):])
}

// intend writes the card down before its issuer is asked, and has it followed.
func (s *Service) intend(ctx context.Context, r Request, h holder) (Card, error) {
	now := s.clock.Now()
	c := Card{
		Company: r.Company, ID: id.New(), CustomerID: h.customerID, Type: r.Type, Brand: r.Brand, Currency: r.Currency,
		CreatedAt: now, state: creating, provider: h.provider, load: r.Load, calledUntil: now.Add(s.window),
	}
	err := s.book.Commit(ctx, ledger.Unit{
		Company: r.Company,
		Claims:  r.Key.Running(c.ID, c.calledUntil),
		Moves:   []ledger.Move{h.taken(c.ID)},
		Notes:   []db.Record{c.record(), job.NewFor(c.provider, r.Company, ResolveJob, c.ID, c.calledUntil.Add(pauses[0]))},
	})
	if ledger.Is(err, ledger.Moved) {
		err = errCreating
	}
	return c, idempotency.Taken(err)
}

// order asks the issuer. A customer it does not know yet is made known first; if
// that fails there can be no card, whatever became of it.
func (s *Service) order(ctx context.Context, r Request, who customer.Customer, h holder, c Card) provider.CardAnswer {
	by, err := s.issuer(c.provider)
	if err != nil {
		return provider.CardAnswer{Answer: provider.Answer{Outcome: provider.Rejected, Message: "the issuer is not configured"}}
	}
	ctx, cancel := context.WithTimeout(ctx, c.calledUntil.Sub(s.clock.Now()))
	defer cancel()
	if h.providerID == "" {
		if h.providerID, err = by.OpenCardholder(ctx, person(who)); err == nil {
			err = s.book.Commit(ctx, ledger.Unit{Company: c.Company, Moves: []ledger.Move{h.known(c.ID)}})
		}
		if err != nil {
			s.log.Warn("a cardholder was not made known", "company", c.Company, "card", c.ID, "error", err)
			a := provider.Answer{Outcome: provider.Rejected}
			var why *provider.Error
			if errors.As(err, &why) {
				a.Message = why.Message
			}
			return provider.CardAnswer{Answer: a}
		}
	}
	return by.CreateCard(ctx, provider.CardOrder{
		Reference: c.ID, Cardholder: h.providerID, Type: c.Type, Brand: c.Brand, Currency: c.Currency,
		Number: r.Number, SendPINSMS: r.SendPINSMS,
	})
}

func person(c customer.Customer) provider.Cardholder {
	return provider.Cardholder{
		FirstName: c.FirstName, MiddleName: c.MiddleName, LastName: c.LastName, Email: c.Email, Phone: c.PhoneNumber,
		DateOfBirth: c.DateOfBirth, Address: provider.CardholderAddress{
			Line1: c.Address.Line1, Line2: c.Address.Line2, City: c.Address.City, State: c.Address.State,
			PostalCode: c.Address.PostalCode, Country: c.Address.Country,
		},
	}
}

// issue writes down a card that the issuer has made. The directory comes first:
// a notice that arrives in between finds its card.
func (s *Service) issue(ctx context.Context, c Card, made provider.IssuedCard) (Card, error) {
	c = c.shown(made)
	c.state, c.message = issued, ""
	if err := s.enter(ctx, c); err != nil {
		return c, err
	}
	return s.decide(ctx, c, event.New(c.Company, event.CardGenerated, c))
}

// abandon writes down that there is no card, and says why.
func (s *Service) abandon(ctx context.Context, c Card, message string, key *idempotency.Key) error {
	c.state, c.message = failed, message
	c, err := s.decide(ctx, c)
	if err != nil {
		return err
	}
	if c.state != failed {
		return errCreating // somebody else knew better: the list shows it
	}
	return s.finish(ctx, key, nil, s.why(c))
}

// why there is no card.
func (s *Service) why(c Card) error {
	by := s.issuers[c.provider]
	if c.message == "" || by == nil {
		return errNotCreated
	}
	return said(by, c.message)
}

// decide writes a card's outcome, once, and lets the next one be made for its
// customer. If somebody else was faster theirs is what counts.
func (s *Service) decide(ctx context.Context, c Card, notes ...db.Record) (Card, error) {
	err := s.book.Commit(ctx, ledger.Unit{
		Company: c.Company,
		Moves:   []ledger.Move{c.move(creating, c.state), released(c)},
		Notes:   notes,
	})
	if ledger.Is(err, ledger.Moved) {
		return s.findCard(ctx, c.Company, c.ID)
	}
	return c, err
}
