package customer

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// What a company hears of an account that cannot be generated.
var (
	errGenerated = fault.New(fault.Refused, "An account generated already")
	errNoKYC     = fault.New(fault.Refused, "KYC entry not found")
	errAtWork    = failed("The account is being opened. Try again in a minute.")
)

func failed(why string) *fault.Fault {
	return fault.New(fault.Refused, "Failed to create account. "+why)
}

// state is where the opening of an account stands.
type state string

const (
	pending state = "PENDING" // the bank has been asked and has not said yes or no
	opened  state = "OPEN"
	refused state = "FAILED" // the bank said no: the next try is a new one
)

// opening is a customer's account from the intent on.
type opening struct {
	company, customerID  string
	state                state
	turn                 string // the call that is at work on it, or was the last to be
	read                 string // the turn that was read: what a move expects to find
	calledUntil          time.Time
	reference            string // ours at the bank
	settlementID         int64
	missing              int64 // looks at the bank's list without it since then
	bank                 provider.Account
	message              string // why it failed
	createdAt, updatedAt time.Time
}

// Request asks for a customer's account.
type Request struct {
	Company      string
	Customer     string // id or e-mail address
	OTP          secret.Text
	SettlementID int64            // where credits go; 0: the company's default settlement account
	Key          *idempotency.Key // from the header; nil for none
}

// GenerateAccount has the bank open the customer's one account, which proves
// their identity with the OTP. It is written down before the bank is asked: of
// many requests one asks, and when the answer is lost the next one looks for the
// account that may have been opened, and so does a job without being asked. Faults
// are Missing, Refused and Limited (too many guesses of the OTP).
func (s *Service) GenerateAccount(ctx context.Context, r Request) (Customer, error) {
	c, err := s.Find(ctx, r.Company, r.Customer)
	if err != nil {
		return c, err
	}
	if c.Account != nil {
		if r.Key.Subject() == "" {
			return c, errGenerated
		}
		// The first try under this key was cut off after it had opened it.
		return c, s.keys.Finish(ctx, r.Key, c, nil)
	}
	x, err := s.identities.Open(ctx, r.Company, identity.Customer, c.ID)
	if fault.Is(err, fault.Missing) || err == nil && x.Reference == "" {
		err = errNoKYC
	}
	if err == nil {
		// Whichever the default one is when the credits come: 0 stays 0.
		_, err = s.settlements.Chosen(ctx, r.Company, r.SettlementID)
	}
	if err != nil {
		return c, err
	}
	o, asked, err := s.begin(ctx, r, c)
	if err != nil {
		return c, err
	}
	answer, err := s.open(ctx, o, c, x, r.OTP, asked)
	if fault.Is(err, fault.Limited) {
		return c, s.release(ctx, o, asked, r.Key, err)
	}
	if err != nil {
		return c, err
	}
	if c, err = s.finish(ctx, o, c, x, answer, r.Key); taken(err) {
		err = errAtWork // the job was faster: the next request hears how it ended
	}
	return c, err
}

// begin writes the intent down, or takes up one that was cut off: asked tells
// whether the bank may have heard of it.
func (s *Service) begin(ctx context.Context, r Request, c Customer) (o opening, asked bool, err error) {
	now := s.clock.Now()
	fresh := opening{
		company: r.Company, customerID: c.ID, state: pending, turn: id.New(), calledUntil: s.identities.Until(),
		reference: id.New(), settlementID: r.SettlementID, createdAt: now, updatedAt: now,
	}
	u := ledger.Unit{Company: r.Company}
	o, err = s.findOpening(ctx, r.Company, c.ID)
	switch {
	case errors.Is(err, db.ErrNone):
		o, u.Claims = fresh, []db.Record{fresh.record()}
	case err != nil:
		return o, false, err
	case o.state == opened && r.Key.Subject() != "":
		return o, false, errAtWork // since the customer was read: the next request gets it
	case o.state == opened:
		return o, false, errGenerated // since the customer was read
	case o.state == pending && now.Before(o.calledUntil):
		return o, false, errAtWork
	default:
		asked = o.state == pending
		fresh.read, fresh.createdAt = o.turn, o.createdAt
		if asked {
			fresh.reference = o.reference
		}
		o, u.Moves = fresh, []ledger.Move{fresh.move()}
	}
	u.Notes = []db.Record{o.followed()}
	if r.Key.Subject() == "" {
		u.Claims = append(u.Claims, r.Key.Running(c.ID, o.calledUntil)...)
	}
	err = s.book.Commit(ctx, u)
	if taken(err) || ledger.Is(err, ledger.Exists, accountTable) {
		return o, false, errAtWork
	}
	o.read = o.turn
	return o, asked, idempotency.Taken(err)
}

// open asks the bank. An opening of which it may have heard is looked for first;
// only when the bank's list is without it is it asked for again, under the same
// reference.
func (s *Service) open(ctx context.Context, o opening, c Customer, x identity.Session, otp secret.Text, asked bool) (provider.AccountAnswer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.calledUntil.Sub(s.clock.Now()))
	defer cancel()
	if asked {
		if found := s.bank.FindAccount(ctx, o.reference); !found.Missing {
			return found, nil
		}
	}
	if err := s.identities.Guess(ctx, x); err != nil {
		return provider.AccountAnswer{}, err
	}
	bvn, err := s.identities.BVN(x)
	if err != nil {
		return provider.AccountAnswer{}, err
	}
	return s.bank.OpenAccount(ctx, provider.AccountRequest{
		Reference: o.reference, Phone: c.PhoneNumber, Email: c.Email,
		IdentitySession: x.Reference, IdentityNumber: bvn, OTP: otp, CallbackURL: s.callback,
	}), nil
}

// release gives up an opening for which the bank was not asked, because of why.
// One of which the bank may have heard before stays PENDING.
func (s *Service) release(ctx context.Context, o opening, asked bool, key *idempotency.Key, why error) error {
	o.updatedAt, o.calledUntil = s.clock.Now(), s.clock.Now()
	if !asked {
		o.state, o.message = refused, fault.Of(why).Message
	}
	err := s.book.Commit(context.WithoutCancel(ctx), ledger.Unit{Company: o.company, Moves: append(key.Unanswered(), o.move())})
	return cmp.Or(err, why)
}

// finish writes what the bank said. While nobody knows, the opening stays
// PENDING and an Idempotency-Key stays unanswered, so that the next request
// takes both up.
func (s *Service) finish(ctx context.Context, o opening, c Customer, x identity.Session, answer provider.AccountAnswer, key *idempotency.Key) (Customer, error) {
	ctx = context.WithoutCancel(ctx)
	o.updatedAt, o.calledUntil = s.clock.Now(), s.clock.Now()
	switch {
	case answer.Outcome == provider.Confirmed && answer.Number != "":
		o.bank = answer.Account
		return s.adopt(ctx, o, c, x, key)
	case answer.Outcome == provider.Rejected:
		return c, s.refuse(ctx, o, cmp.Or(identity.Said(answer.Answer), "The bank refused to open it."), key)
	}
	s.log.Warn("it is unknown whether an account was opened", "company", o.company, "reference", o.reference, "code", answer.Code)
	if err := s.book.Commit(ctx, ledger.Unit{Company: o.company, Moves: append(key.Unanswered(), o.move())}); err != nil {
		return c, err
	}
	return c, failed(cmp.Or(identity.Said(answer.Answer), "The bank has not said whether it was opened. Try again."))
}

func (s *Service) refuse(ctx context.Context, o opening, reason string, key *idempotency.Key) error {
	o.state, o.message = refused, reason
	why := failed(reason)
	if err := s.book.Commit(ctx, ledger.Unit{Company: o.company, Moves: append(key.Done(nil, why), o.move())}); err != nil {
		return err
	}
	return why
}

// adopt gives the customer the account. Whose number it is is written before
// anybody is told of it.
func (s *Service) adopt(ctx context.Context, o opening, c Customer, x identity.Session, key *idempotency.Key) (Customer, error) {
	err := s.settlements.Enter(ctx, o.company, o.bank.Number, o.bank.BankCode)
	if fault.Is(err, fault.Refused) {
		return c, s.refuse(ctx, o, fault.Of(err).Message, key)
	}
	if err != nil {
		return c, err
	}
	o.state = opened
	c.Account, c.Status, c.UpdatedAt = o.account(), Active, o.updatedAt
	moves := append(key.Done(c, nil), o.move(), c.activate())
	// An OTP that was sent again meanwhile ends with the session all the same.
	for {
		u := ledger.Unit{Company: o.company, Moves: moves, Notes: []db.Record{event.New(o.company, event.AccountGenerated, c)}}
		if x.ID != "" {
			u.Moves = append(moves[:len(moves):len(moves)], s.identities.Close(x))
		}
		if err = s.book.Commit(ctx, u); !identity.Overtaken(err) {
			return c, err
		}
		if x, err = s.session(ctx, c); err != nil {
			return c, err
		}
	}
}
