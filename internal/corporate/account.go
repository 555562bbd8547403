package corporate

import (
	"cmp"
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Request asks for a corporate account.
type Request struct {
	Company      string
	KYCID        string
	PhoneNumber  string
	EmailAddress string
	RNNumber     string
	SettlementID int64            // 0: the company's default one, or the one that a held account feeds already
	Key          *idempotency.Key // from the header; nil for none
}

// GenerateAccount has the bank open the company's account. The attempt is
// written down before the bank is asked, under a reference that stays the same:
// when the answer is lost, asking again first looks for the account that may
// have been opened, and no second one is. A job looks for it too, without being
// asked. Faults are Missing and Refused.
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
	if _, err = s.settlements.Chosen(ctx, r.Company, r.SettlementID); err != nil {
		return Account{}, err
	}
	a, asked, err := s.begin(ctx, r)
	if err != nil {
		return Account{}, err
	}
	if a, err = s.finish(ctx, a, s.open(ctx, a, k, asked), r.Key); taken(err) {
		err = errAtWork // the job was faster: the next request hears how it ended
	}
	return a, err
}

// proven is the record of a proven identity. The id of a session is no such
// record, however far the session has come.
func (s *Service) proven(ctx context.Context, company, kycID string) (KYC, error) {
	k, err := s.findKYC(ctx, company, kycID)
	if !errors.Is(err, db.ErrNone) {
		return k, err
	}
	if _, err := s.identities.Find(ctx, company, identity.Corporate, kycID); !fault.Is(err, fault.Missing) {
		return KYC{}, cmp.Or(err, error(fault.New(fault.Refused, "KYC not verified")))
	}
	return KYC{}, fault.New(fault.Missing, "KYC record not found")
}

// errAtWork: another request is asking the bank for the same account right now.
var errAtWork = failed("The account is being opened. Try again in a minute.")

// begin writes an attempt down, or takes up the one that was cut off: asked
// tells whether the bank may have heard of it.
func (s *Service) begin(ctx context.Context, r Request) (a Account, asked bool, err error) {
	now := s.clock.Now()
	fresh := Account{
		Company: r.Company, ID: id.New(), KYCID: r.KYCID, State: Pending, PhoneNumber: r.PhoneNumber, EmailAddress: r.EmailAddress,
		RNNumber: r.RNNumber, SettlementID: r.SettlementID, CreatedAt: now, UpdatedAt: now,
		pending: r.RNNumber, turn: id.New(), calledUntil: s.identities.Until(),
	}
	u := ledger.Unit{Company: r.Company}
	a, err = s.findPending(ctx, r.Company, fresh.pending)
	switch {
	case errors.Is(err, db.ErrNone):
		a, u.Claims = fresh, []db.Record{fresh.record()}
	case err != nil:
		return a, false, err
	case now.Before(a.calledUntil):
		return a, false, errAtWork
	default:
		asked = true
		a.KYCID, a.PhoneNumber, a.EmailAddress = r.KYCID, r.PhoneNumber, r.EmailAddress
		a.SettlementID = cmp.Or(r.SettlementID, a.SettlementID)
		a.turn, a.calledUntil, a.missing, a.UpdatedAt = fresh.turn, fresh.calledUntil, 0, now
		u.Moves = []ledger.Move{a.move()}
	}
	u.Notes = []db.Record{a.followed()}
	if r.Key.Subject() == "" {
		u.Claims = append(u.Claims, r.Key.Running(a.ID, a.calledUntil)...)
	}
	err = s.book.Commit(ctx, u)
	if taken(err) || ledger.Is(err, ledger.Exists, accountTable) {
		return a, false, errAtWork
	}
	a.read = a.turn
	return a, asked, idempotency.Taken(err)
}

// open asks the bank. An attempt of which it may have heard is looked for
// first; only when the bank's list is without it is it asked for again, under
// the same reference.
func (s *Service) open(ctx context.Context, a Account, k KYC, asked bool) provider.AccountAnswer {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.calledUntil.Sub(s.clock.Now()))
	defer cancel()
	if asked {
		if found := s.bank.FindAccount(ctx, a.ID); !found.Missing {
			return found
		}
	}
	return s.bank.OpenAccount(ctx, provider.AccountRequest{
		Reference: a.ID, Phone: a.PhoneNumber, Email: a.EmailAddress, Corporate: true,
		IdentitySession: k.reference, CompanyRegistration: a.RNNumber, CallbackURL: s.callback,
	})
}

// finish writes what the bank said. While nobody knows, the attempt stays
// PENDING and an Idempotency-Key stays unanswered, so that the next request
// takes both up.
func (s *Service) finish(ctx context.Context, a Account, answer provider.AccountAnswer, key *idempotency.Key) (Account, error) {
	ctx = context.WithoutCancel(ctx)
	a.UpdatedAt, a.calledUntil = s.clock.Now(), s.clock.Now()
	switch {
	case answer.Outcome == provider.Confirmed && answer.Number != "":
		a.Bank = answer.Account
		return s.adopt(ctx, a, key)
	case answer.Outcome == provider.Rejected:
		return s.refuse(ctx, a, cmp.Or(identity.Said(answer.Answer), "The bank refused to open the account"), key)
	}
	why := failed(cmp.Or(identity.Said(answer.Answer), "The bank has not said whether the account was opened. Try again."))
	s.log.Warn("it is unknown whether an account was opened", "company", a.Company, "reference", a.ID, "code", answer.Code)
	if err := s.book.Commit(ctx, ledger.Unit{Company: a.Company, Moves: append(key.Unanswered(), a.move())}); err != nil {
		return a, err
	}
	return a, why
}

func (s *Service) refuse(ctx context.Context, a Account, reason string, key *idempotency.Key) (Account, error) {
	a.State, a.pending, a.Message = Failed, "", reason
	why := failed(reason)
	err := s.book.Commit(ctx, ledger.Unit{Company: a.Company, Moves: append(key.Done(a, why), a.move())})
	if err != nil {
		return a, err
	}
	return a, why
}

// adopt makes the bank's account the company's. The directory says whose the
// number is before anybody is told of the account.
func (s *Service) adopt(ctx context.Context, a Account, key *idempotency.Key) (Account, error) {
	err := s.settlements.Enter(ctx, a.Company, a.Bank.Number, a.Bank.BankCode)
	if fault.Is(err, fault.Refused) {
		return s.refuse(ctx, a, fault.Of(err).Message, key)
	}
	if err != nil {
		return a, err
	}
	shown, err := s.findActive(ctx, a.Company, a.Bank.Number)
	switch {
	case errors.Is(err, db.ErrNone):
		return s.adoptNew(ctx, a, key)
	case err != nil:
		return a, err
	}
	return s.adoptHeld(ctx, a, shown, key)
}

// adoptNew makes an account the company's that it did not hold.
func (s *Service) adoptNew(ctx context.Context, a Account, key *idempotency.Key) (Account, error) {
	chosen := a.SettlementID
	if chosen == 0 {
		fallback, err := s.settlements.Chosen(ctx, a.Company, 0)
		if err != nil {
			return a, err
		}
		a.SettlementID = fallback
	}
	b := a.feeder()
	err := s.settlements.Feed(ctx, operator.Self(a.Company).From(ctx), a.Company, a.SettlementID, b)
	u := ledger.Unit{Company: a.Company}
	if fault.Is(err, fault.Refused) && chosen != 0 {
		// The number is the company's, so the refusal says that an operator has
		// attached the account already.
		u.Moves, u.Notes, err = s.settlements.Redirect(ctx, operator.Self(a.Company).From(ctx), a.Company, chosen, b)
	}
	if err != nil && !fault.Is(err, fault.Refused) {
		return a, err
	}
	a.State, a.pending = Active, ""
	u.Notes = append(u.Notes, event.New(a.Company, event.CorporateAccountCreated, a))
	u.Moves = append(append(u.Moves, a.move()), key.Done(a, nil)...)
	return a, s.book.Commit(ctx, u)
}

// adoptHeld updates the account that the company holds already, and keeps the
// attempt beside it (wallet-api.md, Corporate sub-account). Without a settlement
// account of its own the request leaves the one that is fed as it is.
func (s *Service) adoptHeld(ctx context.Context, a, shown Account, key *idempotency.Key) (Account, error) {
	u, before := ledger.Unit{Company: a.Company}, shown
	shown.KYCID, shown.PhoneNumber, shown.EmailAddress, shown.RNNumber = a.KYCID, a.PhoneNumber, a.EmailAddress, a.RNNumber
	shown.Bank, shown.UpdatedAt = a.Bank, a.UpdatedAt
	if a.SettlementID != 0 {
		var err error
		u.Moves, u.Notes, err = s.settlements.Redirect(ctx, operator.Self(a.Company).From(ctx), a.Company, a.SettlementID, a.feeder())
		if err != nil {
			return a, err
		}
		shown.SettlementID = a.SettlementID
	}
	a.State, a.pending = Duplicate, ""
	before.KYCID, before.UpdatedAt = shown.KYCID, shown.UpdatedAt
	if before != shown { // what a company sees has changed
		event.Emit(&u, event.CorporateAccountUpdated, updated{shown})
	}
	u.Moves = append(append(u.Moves, shown.move(), a.move()), key.Done(shown, nil)...)
	return shown, s.book.Commit(ctx, u)
}

// feeder is the account as a settlement account's source of credits.
func (a Account) feeder() settlement.BankAccount {
	return settlement.BankAccount{
		Number: a.Bank.Number, Name: a.Bank.Name, BankName: a.Bank.BankName, BankCode: a.Bank.BankCode,
	}
}

// earlier answers a request whose first try, under the same Idempotency-Key, was
// cut off after it had written its attempt. Over is false when the attempt
// still has to be brought to its end.
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
	if err := s.keys.Finish(ctx, r.Key, a, why); err != nil {
		return a, false, err
	}
	return a, true, why
}
