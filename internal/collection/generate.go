package collection

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/opening"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/quota"
)

// ResolveJob is the kind of job that finds the outcome of an opening to which the bank did not
// reply.
const ResolveJob = "collection.resolve"

// Kind is the kind of the marks by which a collection is found.
const Kind = "collection"

// usualLife is how long a virtual account is valid if the request contains no duration.
const usualLife = 15 * time.Minute

// Request is a company's request for a virtual account.
type Request struct {
	Company           string
	ExternalReference string // unique within the company
	Metadata          operation.Metadata
	Amount            money.Kobo
	SettlementID      int64                  // 0 for the default settlement account
	ValidFor          time.Duration          // 0 for fifteen minutes
	AccountName       string                 // a name that the bank may use for the account; "" for no preference
	Control           provider.AmountControl // "" for Fixed
	Key               *idempotency.Key       // nil without an Idempotency-Key
}

// text returns the request in the form that the collection's row stores. Kobo compares this text
// with a later request to recognise a repetition.
func (r Request) text() string {
	fields := []any{int64(r.Amount), r.SettlementID, int64(r.ValidFor / time.Second), r.AccountName, r.Control}
	if r.Metadata != "" { // rows of earlier releases have no metadata in their text
		fields = append(fields, r.Metadata)
	}
	b, err := json.Marshal(fields)
	if err != nil {
		panic("collection: a request that is not JSON: " + err.Error()) // cannot happen with these types
	}
	return string(b)
}

var errSilent = fault.New(fault.Unavailable, "The bank did not answer. Send the same request again.")

// Generate opens a virtual account for a single payment. If the company repeats a request with the
// same external reference, Generate returns the existing collection in its current state.
func (s *Service) Generate(ctx context.Context, r Request) (Collection, error) {
	if r.ValidFor == 0 {
		r.ValidFor = usualLife
	}
	if r.Control == "" {
		r.Control = provider.Fixed
	}
	for {
		now := s.Clock.Now()
		c, err := s.byExternal(ctx, r.Company, r.ExternalReference)
		var from opening.From
		var count func(u *ledger.Unit) error
		switch {
		case errors.Is(err, db.ErrNone):
			c, count, err = s.intent(ctx, r)
		case err != nil:
		case c.request != r.text():
			err = fault.New(fault.Refused, `"externalReference" was already used with a different request`).With(fault.ReferenceUsed)
		case c.State != Opening && r.Key.Subject() == "":
			peer.SetSubject(ctx, c.ID)
			return c, nil // the caller of Generate stores the response
		case c.State != Opening:
			return c, r.Key.Resume(ctx, s.Book, c)
		case now.Before(c.CalledUntil):
			err = idempotency.ErrInFlight
		default:
			from = opening.From{Row: collections.Record(c), Asked: c.isOpen(now)}
		}
		if err != nil {
			return Collection{}, err
		}
		if !from.Asked {
			c.reference, c.ExpiresAt.Time = id.New(), now.Add(r.ValidFor)
			c.provider, _ = s.Banks.For(provider.VirtualAccounts, r.Company)
		}
		a := &attempt{Service: s, Collection: c, request: r}
		err = s.openings.Open(ctx, a, from, r.Key, count)
		if errors.Is(err, opening.ErrTaken) {
			continue // a concurrent request has changed the collection, so read the collection again
		}
		peer.SetSubject(ctx, a.ID)
		return a.Collection, quota.Reached(err, now)
	}
}

// isOpen reports whether the bank may have opened an account that the company has not received yet.
// An expired account does not count.
func (c Collection) isOpen(now time.Time) bool {
	return c.State == Opening && !c.CalledUntil.IsZero() && now.Before(c.ExpiresAt.Time)
}

// intent returns a new collection, and a function that completes the unit of the collection. The
// function indexes the metadata, and counts the collection towards the company's quota. A repeated request for an existing collection does not count.
func (s *Service) intent(ctx context.Context, r Request) (Collection, func(u *ledger.Unit) error, error) {
	settlementID, err := s.Settlements.Chosen(ctx, r.Company, r.SettlementID)
	if err != nil {
		return Collection{}, nil, err
	}
	now := s.Clock.Now()
	c := Collection{
		Company: r.Company, ID: id.New(), ExternalReference: r.ExternalReference, request: r.text(), State: Opening, Metadata: r.Metadata,
		SettlementID: settlementID, Amount: r.Amount, Control: r.Control, CreatedAt: clock.Instant{Time: now},
	}
	return c, func(u *ledger.Unit) error {
		c.Metadata.Index(u, Kind, c.ID)
		return quota.Count(ctx, s.DB, u, quota.VirtualAccount, now)
	}, err
}

// attempt is an attempt to open a virtual account. Its request is empty if a job runs the attempt.
type attempt struct {
	*Service
	Collection
	request Request
}

// Resolve runs a ResolveJob: it searches the bank for an account whose opening has no known
// outcome. It never asks the bank to open an account, because only a company's request may do so.
func (s *Service) Resolve(ctx context.Context, j job.Job) (next time.Time, err error) {
	return s.openings.Resolve(ctx, j)
}

// followed returns the attempt whose outcome the job must find, or nil if the attempt has ended. An
// expired account is ignored, because the company never received its number. Jobs of earlier releases
// name no reference, and follow the present attempt.
func (s *Service) followed(ctx context.Context, j job.Job) (opening.Attempt, error) {
	collectionID, reference, named := strings.Cut(j.Subject, "/")
	c, err := s.find(ctx, j.Company, collectionID)
	if err != nil || !c.isOpen(s.Clock.Now()) || named && c.reference != reference {
		return nil, err
	}
	return &attempt{Service: s, Collection: c}, nil
}

// Name has the reference in the subject of the job, so that each attempt has a job of its own. The job of an earlier
// attempt may be about to end.
func (a *attempt) Name() opening.Name {
	return opening.Name{Company: a.Company, ID: a.ID, Subject: a.ID + "/" + a.reference, Reference: a.reference, Provider: a.provider}
}

func (a *attempt) Record() db.Record { return collections.Record(a.Collection) }

func (a *attempt) Touch(now time.Time) { a.UpdatedAt = now }

func (a *attempt) Ask(ctx context.Context) (provider.Answer, error) {
	said := a.Banks.Named(a.provider).OpenVirtualAccount(ctx, provider.VirtualAccountRequest{
		Reference: a.reference, Amount: a.Amount, Control: a.Control, ValidFor: a.request.ValidFor,
		AccountName: a.request.AccountName,
	})
	if said.Outcome == provider.Rejected && said.Code == provider.CodeNotSent {
		return said.Answer, errSilent
	}
	if a.ExpiresAt.Time = said.ExpiresAt.UTC(); said.ExpiresAt.IsZero() {
		a.ExpiresAt.Time = a.Clock.Now().Add(a.request.ValidFor)
	}
	var shown provider.Account
	answer := opening.KeepAccount(&shown, provider.AccountAnswer{Answer: said.Answer, Account: said.Account})
	a.show(shown)
	return answer, nil
}

func (a *attempt) Look(ctx context.Context) (provider.Answer, error) {
	var shown provider.Account
	answer := opening.FindAccount(ctx, a.Banks.Named(a.provider), a.reference, &shown)
	a.show(shown)
	return answer, nil
}

func (a *attempt) show(b provider.Account) {
	a.AccountNumber, a.AccountName, a.BankName, a.BankCode = b.Number, b.Name, b.BankName, b.BankCode
}

// Enter records in the directory of all companies which company owns the account. This happens
// before the company receives the account number, so every payment can be matched with the company.
func (a *attempt) Enter(ctx context.Context) error {
	err := a.Settlements.Enter(ctx, a.Company, a.AccountNumber, a.BankCode)
	if err != nil {
		a.Log.Error("a virtual account cannot be used", "company", a.Company, "collection", a.ID, "error", err)
	}
	return err
}

// Adopt sets the state to PENDING, in which the collection waits for its payment. It also schedules
// the ExpireJob.
func (a *attempt) Adopt(_ context.Context, u *ledger.Unit) (any, error) {
	a.State, a.Intent = Pending, opening.Intent{}
	u.Append(job.Job{Kind: ExpireJob, Subject: a.ID, RunAt: a.ExpiresAt.Time}.For(u.Company))
	return a.Collection, nil
}

// Refuse resets the attempt after the bank's rejection. The next request for this collection asks
// the bank again with a new reference.
func (a *attempt) Refuse(_ *ledger.Unit, no provider.Answer) error {
	a.Intent = opening.Intent{}
	a.show(provider.Account{})
	return failed(no)
}

func failed(no provider.Answer) *fault.Fault {
	return fault.New(fault.Refused, "Failed to generate virtual account. "+cmp.Or(no.Message, "The bank refused to open it.")).With(fault.Declined)
}

func (a *attempt) Unanswered(said provider.Answer) error {
	if said.Outcome == provider.Rejected {
		return failed(said).With(fault.BeingConfirmed)
	}
	return errSilent
}
