package collection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/quota"
)

// usualLife is how long a virtual account waits when the company does not say.
const usualLife = 15 * time.Minute

// Request asks for a virtual account.
type Request struct {
	Company           string
	ExternalReference string // unique in the company
	Amount            money.Kobo
	SettlementID      int64                  // 0: the default one
	ValidFor          time.Duration          // 0: fifteen minutes
	AccountName       string                 // a wish; "" for none
	Control           provider.AmountControl // "": Fixed
	Key               *idempotency.Key       // nil for none
}

// text is the request as it is kept, to tell a repetition from another request.
func (r Request) text() string {
	b, err := json.Marshal([]any{int64(r.Amount), r.SettlementID, int64(r.ValidFor / time.Second), r.AccountName, r.Control})
	if err != nil {
		panic("collection: a request that is not JSON: " + err.Error()) // there is none
	}
	return string(b)
}

var errSilent = fault.New(fault.Unavailable, "The bank did not answer. Send the same request again.")

// Generate opens a virtual account for one payment. The same external reference
// with the same request gives the collection that is there, as it stands now.
//
// The intent is written before the bank is asked. When the bank does not answer
// nobody can ask it what happened; the request is simply sent again, another
// account is opened, and the first one, of which nobody was told, ends unused.
func (s *Service) Generate(ctx context.Context, r Request) (Collection, error) {
	if r.ValidFor == 0 {
		r.ValidFor = usualLife
	}
	if r.Control == "" {
		r.Control = provider.Fixed
	}
	c, err := s.byExternal(ctx, r.Company, r.ExternalReference)
	if errors.Is(err, db.ErrNone) {
		c, err = s.intend(ctx, r)
	} else if err == nil {
		c, err = s.again(ctx, r, c)
	}
	if err != nil || c.State != Opening {
		return c, err
	}
	return s.open(context.WithoutCancel(ctx), r, c)
}

// intend writes a new collection down. Another try for one that is there does not
// count in the quota.
func (s *Service) intend(ctx context.Context, r Request) (Collection, error) {
	settlementID, err := s.destination(ctx, r)
	if err != nil {
		return Collection{}, err
	}
	now := s.clock.Now()
	one, err := quota.Next(ctx, s.db, r.Company, quota.VirtualAccount, now)
	if err != nil {
		return Collection{}, err
	}
	c := Collection{
		Company: r.Company, ID: id.New(), ExternalReference: r.ExternalReference, State: Opening, SettlementID: settlementID,
		Amount: r.Amount, Control: r.Control, CreatedAt: now, UpdatedAt: now,
		request: r.text(), provider: s.bank.Name, reference: id.New(), calledUntil: now.Add(s.window),
	}
	err = s.book.Commit(ctx, ledger.Unit{
		Company: r.Company,
		Claims:  append([]db.Record{c.record()}, r.Key.Running(c.ID, c.calledUntil)...),
		Tallies: []ledger.Tally{one},
	})
	if ledger.Is(err, ledger.Exists, table) {
		earlier, err := s.byExternal(ctx, r.Company, r.ExternalReference)
		if err != nil {
			return Collection{}, err
		}
		return s.again(ctx, r, earlier)
	}
	return c, quota.Reached(idempotency.Taken(err), now)
}

// destination is the settlement account that the money will go to.
func (s *Service) destination(ctx context.Context, r Request) (int64, error) {
	if r.SettlementID == 0 {
		a, err := s.settlements.Default(ctx, r.Company)
		return a.ID, err
	}
	active, err := s.settlements.Active(ctx, r.Company, r.SettlementID)
	if err == nil && !active {
		err = fault.New(fault.Refused, "Settlement account not found")
	}
	return r.SettlementID, err
}

// again answers for an external reference that is in use: with the collection
// that is there, or with one that is ready for another try.
func (s *Service) again(ctx context.Context, r Request, c Collection) (Collection, error) {
	now := s.clock.Now()
	switch {
	case c.request != r.text():
		return Collection{}, fault.New(fault.Refused, `"externalReference" was already used with a different request`)
	case c.State != Opening:
		return c, s.finish(ctx, r, c)
	case now.Before(c.calledUntil):
		return Collection{}, idempotency.ErrInFlight
	}
	c.reference, c.calledUntil, c.UpdatedAt = id.New(), now.Add(s.window), now
	u := ledger.Unit{Company: c.Company, Moves: []ledger.Move{c.move(Opening)}}
	if r.Key.Subject() == "" {
		u.Claims = r.Key.Running(c.ID, c.calledUntil)
	}
	err := s.book.Commit(ctx, u)
	if ledger.Is(err, ledger.Moved) {
		return s.find(ctx, c.Company, c.ID) // somebody else's try has succeeded
	}
	return c, idempotency.Taken(err)
}

// finish stores the answer of a request whose first try was cut off.
func (s *Service) finish(ctx context.Context, r Request, c Collection) error {
	if r.Key.Subject() == "" {
		return nil // the edge stores it
	}
	return r.Key.Resume(ctx, s.book, c)
}

// open asks the bank and writes what it said.
func (s *Service) open(ctx context.Context, r Request, c Collection) (Collection, error) {
	answer := s.call(ctx, r, c)
	switch {
	case answer.Outcome == provider.Confirmed && answer.Number != "":
		return s.opened(ctx, r, c, answer)
	case answer.Outcome == provider.Rejected && answer.Code != provider.CodeNotSent:
		why := fault.New(fault.Refused, "Failed to generate virtual account. "+answer.Message)
		if err := s.ready(ctx, c, r.Key.Done(nil, why)); err != nil {
			return Collection{}, err // a refusal that is not stored is not final
		}
		return Collection{}, why
	}
	return Collection{}, errors.Join(s.ready(ctx, c, r.Key.Unanswered()), errSilent)
}

// call gives the bank its time, and survives a plug that panics.
func (s *Service) call(ctx context.Context, r Request, c Collection) (a provider.VirtualAccountAnswer) {
	ctx, cancel := context.WithTimeout(ctx, s.window)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a plug panicked", "provider", s.bank.Name, "collection", c.ID, "panic", fmt.Sprint(p))
			a = provider.VirtualAccountAnswer{}
		}
	}()
	return s.bank.Opener.OpenVirtualAccount(ctx, provider.VirtualAccountRequest{
		Reference: c.reference, Amount: c.Amount, Control: c.Control, ValidFor: r.ValidFor,
		CallbackURL: s.bank.Callback, AccountName: r.AccountName,
	})
}

// ready lets the next request try again at once.
func (s *Service) ready(ctx context.Context, c Collection, also []ledger.Move) error {
	c.calledUntil, c.UpdatedAt = time.Time{}, s.clock.Now()
	err := s.book.Commit(ctx, ledger.Unit{Company: c.Company, Moves: append(also, c.move(Opening))})
	if ledger.Is(err, ledger.Moved) {
		return nil // another try has gone further
	}
	return err
}

// opened makes the collection wait for its payment. The directory comes first:
// a payment finds its company from the moment anybody can know of the account.
func (s *Service) opened(ctx context.Context, r Request, c Collection, a provider.VirtualAccountAnswer) (Collection, error) {
	if err := s.settlements.Enter(ctx, c.Company, a.Number, a.BankCode); err != nil {
		s.log.Error("a virtual account cannot be used", "company", c.Company, "collection", c.ID, "error", err)
		return Collection{}, errors.Join(s.ready(ctx, c, r.Key.Unanswered()), errSilent)
	}
	now := s.clock.Now()
	c.State, c.calledUntil, c.UpdatedAt = Pending, time.Time{}, now
	c.AccountNumber, c.AccountName, c.BankName, c.BankCode = a.Number, a.Name, a.BankName, a.BankCode
	if c.ExpiresAt = a.ExpiresAt.UTC(); a.ExpiresAt.IsZero() {
		c.ExpiresAt = now.Add(r.ValidFor)
	}
	u := ledger.Unit{
		Company: c.Company,
		Moves:   append([]ledger.Move{c.move(Opening)}, r.Key.Done(c, nil)...),
		Notes:   []db.Record{job.New(c.Company, ExpireJob, c.ID, c.ExpiresAt)},
	}
	err := s.book.Commit(ctx, u)
	switch {
	case !ledger.Is(err, ledger.Moved):
		return c, err
	case ledger.Is(err, ledger.Moved, table):
		return s.find(ctx, c.Company, c.ID) // somebody else's try was faster
	}
	u.Moves = u.Moves[:1] // a retry has stored the answer
	return c, s.book.Commit(ctx, u)
}
