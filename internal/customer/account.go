package customer

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/opening"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// ResolveJob is the kind of job that finds the outcome of an account opening to which the bank
// did not reply. The job's subject is the customer's ID and Kobo's reference at the bank.
const ResolveJob = "customer.resolve"

// The reasons why an account cannot be generated, as the response states them.
var (
	errGenerated = fault.New(fault.Refused, "An account generated already").With(fault.AlreadyExists)
	errNoKYC     = fault.New(fault.Refused, "KYC entry not found").With(fault.NotFound)
	errAtWork    = failed("The account is being opened. Try again in a minute.").With(fault.BeingConfirmed)
	errName      = fault.New(fault.Refused, "The name does not match the BVN").With(fault.NameMismatch)
	errHeld      = fault.New(fault.Refused, "Another customer has this account").With(fault.AlreadyExists)
)

func failed(why string) *fault.Fault {
	return fault.New(fault.Refused, "Failed to create account. "+why).With(fault.Declined)
}

// Request is a company's request to open a customer's account.
type Request struct {
	Company      string
	Customer     string // the customer's ID or e-mail address
	OTP          secret.Text
	SettlementID int64            // the settlement account for credits; 0 for the company's default settlement account
	Key          *idempotency.Key // from the Idempotency-Key header; nil without this header
}

// GenerateAccount asks the bank to open the customer's only account. The OTP in the request proves
// the customer's identity to the bank. Only one of several concurrent
// requests calls the bank.
// GenerateAccount returns faults of the kinds Missing, Refused and Limited. Limited means that the
// OTP was guessed too often.
func (s *Service) GenerateAccount(ctx context.Context, r Request) (Customer, error) {
	c, err := s.Find(ctx, r.Company, r.Customer)
	if err != nil {
		return c, err
	}
	if c.Account != nil {
		if r.Key.Subject() == "" {
			return c, errGenerated
		}
		// The first request with this Idempotency-Key opened the account, but ended before its
		// response was stored.
		return c, s.Keys.Finish(ctx, r.Key, c, nil)
	}
	x, err := s.Identities.Open(ctx, r.Company, identity.Customer, c.ID)
	if fault.Is(err, fault.Missing) || err == nil && x.Reference == "" {
		err = errNoKYC
	}
	if err == nil {
		// A SettlementID of 0 is stored as 0, because the default account may change before a
		// credit arrives.
		_, err = s.Settlements.Chosen(ctx, r.Company, r.SettlementID)
	}
	if err == nil && s.Banks.Named(x.Provider) == nil {
		err = failed("The OTP is of a bank that is no longer used. Have it sent again.")
	}
	if err != nil {
		return c, err
	}
	a, from, err := s.attempt(ctx, r, c, x)
	if err != nil {
		return c, err
	}
	if err = s.openings.Open(ctx, a, from, r.Key, s.living(c)); errors.Is(err, opening.ErrTaken) {
		err = errAtWork // a concurrent request opens the account, and the next request returns the outcome
	}
	return a.customer, err
}

// attempt returns a new attempt to open a customer's account, or continues the attempt that was
// interrupted. While an attempt at a different bank is open, attempt returns errAtWork, so that no
// second account is opened.
func (s *Service) attempt(ctx context.Context, r Request, c Customer, x identity.Session) (a *attempt, from opening.From, err error) {
	now := s.Clock.Now()
	a = &attempt{Service: s, customer: c, session: x, otp: r.OTP, account: account{
		company: r.Company, customerID: c.ID, state: pending, provider: x.Provider, reference: id.New(), settlementID: r.SettlementID, createdAt: now,
	}}
	earlier, err := s.findAccount(ctx, r.Company, c.ID)
	switch {
	case errors.Is(err, db.ErrNone):
		return a, from, nil
	case err != nil:
		return a, from, err
	case earlier.state == opened && r.Key.Subject() != "":
		return a, from, errAtWork // a concurrent request opened the account, so a retry of this request returns the account
	case earlier.state == opened:
		return a, from, errGenerated // a concurrent request opened the account after the customer was read
	case earlier.state == pending && (now.Before(earlier.CalledUntil) || earlier.provider != x.Provider):
		return a, from, errAtWork
	}
	from = opening.From{Row: accounts.Record(earlier), Asked: earlier.state == pending}
	if a.createdAt, a.asked = earlier.createdAt, from.Asked; from.Asked {
		a.reference = earlier.reference
	}
	return a, from, nil
}

// attempt is an attempt to open a customer's account. Its session and OTP are empty if a job runs
// the attempt.
type attempt struct {
	*Service
	account
	customer Customer
	session  identity.Session
	otp      secret.Text
	asked    bool // an earlier call with the same reference may have opened the account
	isHeld   bool // another customer of the company has the account
	isWrong  bool // the name does not match the BVN, and Kobo refuses such names
}

// Resolve runs a ResolveJob: it searches the bank for an account whose opening has no known
// outcome. It never asks the bank to open an account, because a job has no OTP.
func (s *Service) Resolve(ctx context.Context, j job.Job) (next time.Time, err error) {
	return s.openings.Resolve(ctx, j)
}

// followed returns the opening whose outcome the job must find, or nil if the opening has ended.
func (s *Service) followed(ctx context.Context, j job.Job) (opening.Attempt, error) {
	customerID, reference, _ := strings.Cut(j.Subject, "/")
	o, err := s.findAccount(ctx, j.Company, customerID)
	if err != nil || o.state != pending || o.reference != reference {
		return nil, err
	}
	c, err := s.findByID(ctx, j.Company, customerID)
	return &attempt{Service: s, account: o, customer: c}, err
}

func (a *attempt) Name() opening.Name {
	return opening.Name{Company: a.company, ID: a.customerID, Subject: a.customerID + "/" + a.reference, Reference: a.reference, Provider: a.provider}
}

func (a *attempt) Record() db.Record { return accounts.Record(a.account) }

func (a *attempt) Touch(now time.Time) { a.turn, a.updatedAt = id.New(), now }

func (a *attempt) Ask(ctx context.Context) (provider.Answer, error) {
	r := provider.AccountRequest{
		Reference: a.reference, Phone: a.customer.PhoneNumber, Email: a.customer.Email, IdentitySession: a.session.Reference, OTP: a.otp,
	}
	var err error
	if a.RefuseNames {
		var proof identity.Proof
		if proof, err = a.Identities.Confirm(ctx, a.session, a.otp); err == nil {
			r.Proven, r.IdentitySession, r.OTP = true, proof.Reference, secret.Text{}
			err = a.refuseName(proof.Holder)
		}
	} else if err = a.Identities.Guess(ctx, a.session); err == nil {
		r.IdentityNumber, err = a.Identities.BVN(a.session)
	}
	if err != nil {
		return a.unasked(err)
	}
	return opening.KeepAccount(&a.bank, a.judge(a.Banks.Named(a.provider).OpenAccount(ctx, r))), nil
}

// refuseName returns errName if the customer's name does not match the BVN's record. A record
// without a name refuses nobody.
func (a *attempt) refuseName(record secret.Text) error {
	if a.nameMatch = a.customer.compare(record); a.nameMatch == Partial || a.nameMatch == Mismatch {
		a.isWrong = true
		return errName
	}
	return nil
}

// unasked returns the outcome of an attempt that did not ask the bank to open the account. A refusal
// ends the attempt, unless an earlier call may have opened the account.
func (a *attempt) unasked(err error) (provider.Answer, error) {
	switch {
	case !fault.Is(err, fault.Refused):
		return provider.Answer{}, err
	case a.asked:
		return provider.Answer{}, failed(fault.Of(err).Message).With(fault.BeingConfirmed)
	}
	return provider.Answer{Outcome: provider.Rejected, Message: fault.Of(err).Message}, nil
}

func (a *attempt) Look(ctx context.Context) (provider.Answer, error) {
	at := a.Banks.Named(a.provider)
	if at == nil {
		return provider.NotConfigured, nil
	}
	return opening.KeepAccount(&a.bank, a.judge(at.FindAccount(ctx, a.reference))), nil
}

// Enter also refuses an account that another customer of the company has. A bank gives a person the same account again who is
// registered with another e-mail address.
func (a *attempt) Enter(ctx context.Context) error {
	err := a.Settlements.Enter(ctx, a.company, a.bank.Number, a.bank.BankCode)
	if err != nil {
		a.Log.Error("a customer's account cannot be used", "company", a.company, "customer", a.customerID, "error", err)
	} else {
		_, err = a.former(ctx)
	}
	a.isHeld = errors.Is(err, errHeld)
	return err
}

// former returns the row of another customer that has the account's number, or the zero value. If the account is that customer's, and
// the customer is not erased, the error is errHeld.
func (a *attempt) former(ctx context.Context) (account, error) {
	held, err := db.OrZero(a.findAccountByNumber(ctx, a.company, a.bank.Number))
	if err != nil || held.customerID == a.customerID {
		return account{}, err
	}
	if held.state == opened {
		_, err = a.findByID(ctx, a.company, held.customerID)
		switch {
		case err == nil:
			return account{}, errHeld
		case errors.Is(err, db.ErrNone):
			err = nil
		}
	}
	return held, err
}

// Adopt assigns the account to the customer, and closes the OTP session that proved their identity.
// If an OTP was sent during the opening, it becomes invalid, because its session is closed. An erased customer who had the account
// loses its number, because each number names one customer of the company. Earlier credits stay those of the erased customer.
func (a *attempt) Adopt(ctx context.Context, u *ledger.Unit) (any, error) {
	x, err := a.Identities.Open(ctx, a.company, identity.Customer, a.customerID)
	if err == nil {
		a.Identities.Close(u, x)
	} else if !fault.Is(err, fault.Missing) {
		return nil, err
	}
	former, err := a.former(ctx)
	if err != nil {
		return nil, err
	}
	if was := former.turn; former.customerID != "" { // an erased customer: from now on the money is for the new one
		former.turn, former.bank.Number = id.New(), ""
		u.Transition(accounts.Record(former), string(former.state)).Only("turn", "account_number").Expect("turn", was)
	}
	a.state = opened
	a.customer.Account, a.customer.Status, a.customer.UpdatedAt.Time = a.shown(), Active, a.updatedAt
	a.customer.NameMatch = a.nameMatch
	u.Transition(customers.Record(row{Customer: a.customer}), string(PendingOTP)).Expect("erased_at", int64(0))
	event.Emit(u, event.AccountGenerated, a.customer)
	return a.customer, nil
}

// Refuse also takes the account's number out of the row, because the number may be another customer's. The row keeps the result of
// the comparison only if the name was refused, because a new registration may correct such a name. Otherwise the company could tell
// an account that another company has from a refusal by the bank.
func (a *attempt) Refuse(_ *ledger.Unit, no provider.Answer) error {
	a.state, a.bank, a.message = refused, bank{}, cmp.Or(identity.Said(no), "The bank refused to open it.")
	if !a.isWrong {
		a.nameMatch = ""
	}
	why := failed(a.message)
	if a.isHeld {
		why = why.With(errHeld.Reason())
	}
	return why
}

func (a *attempt) Unanswered(said provider.Answer) error {
	return failed(cmp.Or(identity.Said(said), "The bank has not said whether it was opened. Try again.")).With(fault.BeingConfirmed)
}
