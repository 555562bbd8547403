package corporate

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
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/opening"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// ResolveJob is the kind of job that finds the outcome of an attempt to which the bank did not
// reply.
const ResolveJob = "corporate.resolve"

// Request is a company's request to open its corporate account.
type Request struct {
	Company      string
	KYCID        string
	PhoneNumber  string
	EmailAddress string
	RNNumber     string
	SettlementID int64            // 0 for the settlement account that the bank account already feeds, or else for the default
	Key          *idempotency.Key // from the Idempotency-Key header; nil without this header
}

// errAtWork means that a concurrent request is asking the bank for the same account.
var errAtWork = failed("The account is being opened. Try again in a minute.").With(fault.BeingConfirmed)

// GenerateAccount asks the bank to open the company's account. It returns faults of the kinds
// Missing and Refused.
func (s *Service) GenerateAccount(ctx context.Context, r Request) (Account, error) {
	if begun := r.Key.Subject(); begun != "" {
		if a, over, err := s.earlier(ctx, r, begun); over || err != nil {
			return a, err
		}
	}
	k, err := s.proven(ctx, r.Company, r.KYCID)
	if err != nil {
		return Account{}, err
	}
	if _, err = s.Settlements.Chosen(ctx, r.Company, r.SettlementID); err != nil {
		return Account{}, err
	}
	x, err := s.Identities.Find(ctx, r.Company, identity.Corporate, k.SessionID)
	if err != nil {
		return Account{}, err
	}
	if s.Banks.Named(x.Provider) == nil {
		return Account{}, failed("The identity was proven at a bank that is no longer used. Prove it again.")
	}
	a, from, err := s.attempt(ctx, r, x.Provider)
	if err != nil {
		return Account{}, err
	}
	a.session = k.reference
	if err = s.openings.Open(ctx, a, from, r.Key, nil); errors.Is(err, opening.ErrTaken) {
		err = errAtWork // a concurrent request opens the account, and the next request returns the outcome
	}
	return a.result, err
}

// proven returns the KYC record of a signatory with a proven identity. If kycID is the ID of an OTP
// session and not of a KYC record, proven returns the fault "KYC not verified".
func (s *Service) proven(ctx context.Context, company, kycID string) (KYC, error) {
	k, err := s.findKYC(ctx, company, kycID)
	if !errors.Is(err, db.ErrNone) {
		return k, err
	}
	if _, err := s.Identities.Find(ctx, company, identity.Corporate, kycID); !fault.Is(err, fault.Missing) {
		return KYC{}, cmp.Or(err, error(fault.New(fault.Refused, "KYC not verified").With(fault.NotVerified)))
	}
	return KYC{}, fault.New(fault.Missing, "KYC record not found")
}

// attempt returns a new attempt to open an account, or continues the attempt that was interrupted.
// While an attempt at a different bank is open, attempt returns errAtWork, so that no second
// account is opened.
func (s *Service) attempt(ctx context.Context, r Request, bank string) (*attempt, opening.From, error) {
	var from opening.From
	now := s.Clock.Now()
	a, err := s.findPending(ctx, r.Company, r.RNNumber)
	switch {
	case errors.Is(err, db.ErrNone):
		a = Account{Company: r.Company, ID: id.New(), pending: r.RNNumber, State: Pending, bank: bank, RNNumber: r.RNNumber, CreatedAt: now}
	case err != nil:
		return nil, from, err
	case now.Before(a.CalledUntil), a.bank != bank:
		return nil, from, errAtWork
	default:
		from = opening.From{Row: accounts.Record(a), Asked: true}
	}
	a.KYCID, a.PhoneNumber, a.EmailAddress = r.KYCID, r.PhoneNumber, r.EmailAddress
	a.SettlementID = cmp.Or(r.SettlementID, a.SettlementID)
	return &attempt{Service: s, Account: a, chosen: a.SettlementID}, from, nil
}

// attempt is an attempt to open an account. Its session is empty if a job runs the attempt.
type attempt struct {
	*Service
	Account
	session string // proves the signatory's identity to the bank
	chosen  int64  // the settlement account that the company requested; 0 if it requested none
	result  Account
}

// Resolve runs a ResolveJob: it searches the bank for an account whose opening has no known
// outcome. It never asks the bank to open an account, because only a company's request may do so.
func (s *Service) Resolve(ctx context.Context, j job.Job) (next time.Time, err error) {
	return s.openings.Resolve(ctx, j)
}

// followed returns the attempt whose outcome the job must find, or nil if the attempt has ended.
func (s *Service) followed(ctx context.Context, j job.Job) (opening.Attempt, error) {
	a, err := s.find(ctx, j.Company, j.Subject)
	if err != nil || a.State != Pending {
		return nil, err
	}
	return &attempt{Service: s, Account: a, chosen: a.SettlementID}, nil
}

func (a *attempt) Name() opening.Name {
	return opening.Name{Company: a.Company, ID: a.ID, Subject: a.ID, Reference: a.ID, Provider: a.bank}
}

func (a *attempt) Record() db.Record { return accounts.Record(a.Account) }

func (a *attempt) Touch(now time.Time) { a.turn, a.UpdatedAt = id.New(), now }

func (a *attempt) Ask(ctx context.Context) (provider.Answer, error) {
	return opening.KeepAccount(&a.Bank, a.Banks.Named(a.bank).OpenAccount(ctx, provider.AccountRequest{
		Reference: a.ID, Phone: a.PhoneNumber, Email: a.EmailAddress, Corporate: true,
		IdentitySession: a.session, CompanyRegistration: a.RNNumber,
	})), nil
}

func (a *attempt) Look(ctx context.Context) (provider.Answer, error) {
	return opening.FindAccount(ctx, a.Banks.Named(a.bank), a.ID, &a.Bank), nil
}

func (a *attempt) Enter(ctx context.Context) error {
	err := a.Settlements.Enter(ctx, a.Company, a.Bank.Number, a.Bank.BankCode)
	if err != nil {
		a.Log.Error("a corporate account cannot be used", "company", a.Company, "account", a.ID, "error", err)
	}
	return err
}

// Adopt assigns the bank's account to the company. If the company already holds this account, Adopt
// updates the existing record.
func (a *attempt) Adopt(ctx context.Context, u *ledger.Unit) (any, error) {
	held, err := a.findActive(ctx, a.Company, a.Bank.Number)
	switch {
	case errors.Is(err, db.ErrNone):
		err = a.adoptNew(ctx, u)
	case err == nil:
		err = a.adoptHeld(ctx, u, held)
	}
	if err != nil {
		return nil, err
	}
	return a.result, nil
}

// adoptNew records a new account, whose payments are credited to a settlement account from now on.
func (a *attempt) adoptNew(ctx context.Context, u *ledger.Unit) error {
	if a.chosen == 0 {
		fallback, err := a.Settlements.Chosen(ctx, a.Company, 0)
		if err != nil {
			return err
		}
		a.SettlementID = fallback
	}
	err := a.Settlements.Feed(ctx, operator.Self(a.Company).From(ctx), a.Company, a.SettlementID, a.feeder())
	if fault.Is(err, fault.Refused) && a.chosen != 0 {
		// The account number belongs to the company. The refusal therefore means that an operator
		// has already attached the bank account to a settlement account.
		err = a.redirect(ctx, u)
	}
	if err != nil && !fault.Is(err, fault.Refused) {
		return err
	}
	a.State, a.pending = Active, ""
	event.Emit(u, event.CorporateAccountCreated, a.Account)
	a.result = a.Account
	return nil
}

// adoptHeld updates the account that the company already holds, and marks the attempt as a
// duplicate (wallet-api.md, Corporate sub-account). If the request contains no settlement account,
// the account still feeds the same settlement account as before.
func (a *attempt) adoptHeld(ctx context.Context, u *ledger.Unit, held Account) error {
	before := held
	held.KYCID, held.PhoneNumber, held.EmailAddress, held.RNNumber = a.KYCID, a.PhoneNumber, a.EmailAddress, a.RNNumber
	held.Bank, held.turn, held.UpdatedAt = a.Bank, id.New(), a.UpdatedAt
	if a.chosen != 0 {
		if err := a.redirect(ctx, u); err != nil {
			return err
		}
		held.SettlementID = a.chosen
	}
	a.State, a.pending = Duplicate, ""
	u.Transition(accounts.Record(held), string(Active)).Expect("turn", before.turn)
	before.KYCID, before.turn, before.UpdatedAt = held.KYCID, held.turn, held.UpdatedAt
	if before != held { // a field changed that the company can see
		event.Emit(u, event.CorporateAccountUpdated, updated{held})
	}
	a.result = held
	return nil
}

// redirect makes the account feed the settlement account that the company requested.
func (a *attempt) redirect(ctx context.Context, u *ledger.Unit) error {
	return a.Settlements.RedirectFeed(ctx, u, operator.Self(a.Company).From(ctx), a.chosen, a.feeder())
}

// feeder returns the bank account in the form that the settlement package needs to credit its
// payments.
func (a *attempt) feeder() settlement.BankAccount {
	return settlement.BankAccount{
		Number: a.Bank.Number, Name: a.Bank.Name, BankName: a.Bank.BankName, BankCode: a.Bank.BankCode,
	}
}

func (a *attempt) Refuse(_ *ledger.Unit, no provider.Answer) error {
	a.State, a.pending, a.Message = Failed, "", cmp.Or(identity.Said(no), "The bank refused to open the account")
	return failed(a.Message)
}

func (a *attempt) Unanswered(said provider.Answer) error {
	return failed(cmp.Or(identity.Said(said), "The bank has not said whether the account was opened. Try again.")).With(fault.BeingConfirmed)
}

// earlier returns the outcome for a retry with the same Idempotency-Key. The first request wrote
// its attempt, but ended before its response was stored. The result over is false while the attempt
// is open.
func (s *Service) earlier(ctx context.Context, r Request, accountID string) (a Account, over bool, err error) {
	a, err = s.find(ctx, r.Company, accountID)
	if err != nil {
		return a, false, err
	}
	var why error
	switch a.State {
	case Pending:
		return a, false, nil
	case Failed:
		why = failed(a.Message)
	case Duplicate:
		if a, err = s.findActive(ctx, r.Company, a.Bank.Number); err != nil {
			return a, false, err
		}
	}
	if err := s.Keys.Finish(ctx, r.Key, a, why); err != nil {
		return a, false, err
	}
	return a, true, why
}
