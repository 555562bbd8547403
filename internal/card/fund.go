package card

import (
	"context"
	"errors"
	"strings"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Kind is the operation kind of card fundings.
const Kind = "card"

// The states of a funding whose amount is not refunded.
const (
	Open   = operation.Pending
	Funded = operation.Success
)

// Funding is a payment from a settlement account to a card. It has the form that
// GET /card/transaction and the events show.
type Funding struct {
	Reference    string          `json:"reference"`
	CardID       string          `json:"cardId"`
	Amount       money.Kobo      `json:"amount"`
	Status       operation.State `json:"status"`
	Refunded     bool            `json:"refunded"`
	SettlementID int64           `json:"settlementId"`
	CreatedAt    clock.Instant   `json:"createdAt"`
	UpdatedAt    clock.Instant   `json:"updatedAt"`
	operation.Labels

	message, provider string // the issuer's latest message, and the issuer's name
}

// Of builds the funding of a card from the funding's operation.
func Of(o operation.Operation, cardID string) Funding {
	return Funding{
		Reference: o.ID, CardID: cardID, Amount: o.Amount, Status: o.State, Refunded: o.Refunded(), SettlementID: o.SettlementID,
		CreatedAt: clock.Instant{Time: o.CreatedAt}, UpdatedAt: clock.Instant{Time: o.UpdatedAt}, message: o.Message, provider: o.Provider, Labels: o.Labels,
	}
}

// Order is a request to fund a card.
type Order struct {
	Company string
	CardID  string
	Amount  money.Kobo
	Labels  operation.Labels
	Key     *idempotency.Key // nil without an Idempotency-Key
	Keyed   bool             // in a preview, whether the real request would have an Idempotency-Key
}

var (
	errShort  = fault.New(fault.Refused, "Insufficient balance").With(fault.InsufficientBalance)
	errEnding = fault.New(fault.Refused, "Card is being terminated").With(fault.CardTerminated)
)

// Confirming returns the fault for a funding whose outcome is unknown. The fault contains the
// funding's reference, with which the company can look up the outcome later.
func Confirming(reference string) *fault.Fault {
	return fault.New(fault.Refused, "Card funding is being confirmed. Do not retry; check the card transaction status.").
		With(fault.BeingConfirmed).About("reference", reference)
}

// Declined returns the fault that reports a failed and refunded funding to the company. The fault
// contains the funding's reference.
func (s *Service) Declined(f Funding) error {
	const end = ". Your balance has been refunded."
	words := "Card funding failed"
	if by := s.Issuers[f.provider]; by != nil && f.message != "" {
		words = said(by, strings.TrimRight(f.message, ".")).Message
	}
	return fault.New(fault.Refused, words+end).With(fault.Declined).About("reference", f.Reference)
}

// purse returns the settlement account that pays for fundings, which is the company's first
// active account. If the company has no active account, purse opens an empty account
// (wallet-api.md, fund card).
func (s *Service) purse(ctx context.Context, company string) (settlement.Account, error) {
	return s.Settlements.Needed(ctx, company, "Main account")
}

// plan checks a funding request, and returns the card and the operation that fund would start.
func (s *Service) plan(ctx context.Context, o Order) (stored, operation.Operation, error) {
	c, err := s.find(ctx, o.Company, o.CardID)
	if err != nil {
		return c, operation.Operation{}, err
	}
	if o.Amount <= 0 {
		return c, operation.Operation{}, fault.New(fault.Refused, `Invalid amount: "amount" must be greater than 0`).With(fault.InvalidRequest)
	}
	if _, err := s.issuer(c.provider); err != nil {
		return c, operation.Operation{}, err
	}
	if c.account == "" {
		if c, err = s.renewed(ctx, o.Company, o.CardID); err != nil {
			return c, operation.Operation{}, err
		}
	}
	from, err := s.purse(ctx, o.Company)
	return c, operation.Operation{Company: o.Company, Kind: Kind, Provider: c.provider, SettlementID: from.ID, Amount: o.Amount, Labels: o.Labels}, err
}

// Fund sends money to a card. A PENDING funding is debited, and Kobo asks the issuer for its
// outcome later. The money of a FAILED funding is already refunded. Fund returns faults of the
// kinds Missing, Refused, Conflict and Unavailable. If the fault is Refused, nothing was debited.
//
// A request without an Idempotency-Key may be a repetition of an earlier request. While an
// earlier funding of the same card and amount is open, Fund refuses such a request. The refusal
// contains the earlier funding's reference (completion.md §4.2).
func (s *Service) Fund(ctx context.Context, o Order) (Funding, error) {
	c, op, err := s.plan(ctx, o)
	if err != nil {
		return Funding{}, err
	}
	if key := o.Key.Value(); key != "" {
		op.ID = operation.Reference(o.Company, Kind, key)
	}
	return s.fund(ctx, c, op, o.Key)
}

// load sends the initial funding to a new card. The card's ID is the funding's reference and its
// idempotency key, so the card gets only one initial funding. The ledger refuses the funding of a
// concurrent request with the same card, and that request then gets the one that exists.
func (s *Service) load(ctx context.Context, c stored) (Funding, error) {
	f, err := s.Funding(ctx, c.Company, c.ID)
	if !fault.Is(err, fault.Missing) {
		return f, err
	}
	c, op, err := s.plan(ctx, Order{Company: c.Company, CardID: c.ID, Amount: c.load})
	if err != nil {
		return Funding{}, err
	}
	op.ID, op.IdempotencyKey = c.ID, c.ID
	return s.fund(ctx, c, op, nil)
}

// tries is how often fund tries to start a funding before it gives up. A try fails if an open
// funding of the same card and amount stops it, but ends before fund has read its reference. A try
// also fails if an operator deactivates the settlement account after plan has chosen it, or if a change of
// the card's status begins or ends.
const tries = 10

var errBusy = fault.New(fault.Unavailable, "other fundings of this card and amount came and went all the time")

// fund writes the operation, calls the issuer and writes the outcome. It begins nothing for a terminated card, and nothing while the
// outcome of a termination is unknown: the money would reach a card that has ended, or would not be in the balance that Kobo has read
// before. A termination does not wait for fundings, because a stolen card must end at once. It ends as soon as the issuer shows the card,
// so it refuses no funding for good.
func (s *Service) fund(ctx context.Context, c stored, op operation.Operation, key *idempotency.Key) (Funding, error) {
	if c.isOver() {
		f, err := s.Funding(ctx, op.Company, op.ID) // of an earlier request with the same key
		if fault.Is(err, fault.Missing) {
			err = errEnded
		}
		return f, err
	}
	change := changeRow{company: c.Company, cardID: c.ID}
	for range tries {
		op = s.Operations.Start(op)
		err := s.begin(ctx, c, change, op, key)
		if err == nil {
			peer.SetSubject(ctx, op.ID)
			return s.run(ctx, c, op, key)
		}
		if earlier, ok := operation.Earlier(err); ok {
			return Of(earlier, c.ID), nil
		}
		switch {
		case operation.IsReferenceUsed(err):
			return Funding{}, operation.ErrReferenceUsed
		case ledger.Is(err, ledger.Moved, cards.Table, changes.Table):
			if c, change, err = s.standing(ctx, c); err != nil {
				return Funding{}, err
			}
			continue
		case ledger.Is(err, ledger.Closed):
			return Funding{}, settlement.MayNotPay(err)
		case settlement.MayNotPay(err) != nil:
			from, err := s.purse(ctx, op.Company)
			if err != nil {
				return Funding{}, err
			}
			op.SettlementID = from.ID
			continue
		case ledger.Is(err, ledger.Short):
			return Funding{}, errShort
		case !ledger.Is(err, ledger.Over):
			return Funding{}, err
		}
		reference, err := s.openFunding(ctx, op.Company, c.ID, op.Amount)
		if errors.Is(err, db.ErrNone) {
			reference, err = s.correct(ctx, op.Company, c.ID, op.Amount)
		}
		if err != nil {
			return Funding{}, err
		}
		if reference != "" {
			return Funding{}, Confirming(reference)
		}
		// The concurrent funding has just ended, or the counter of open fundings was wrong. Try
		// again.
	}
	return Funding{}, errBusy
}

// begin writes the operation of a funding. If the Idempotency-Key is already in use, begin reports
// this before any other refusal. The company then learns that the first request is still running. A
// funding without an Idempotency-Key is refused while a funding of the same card and amount is
// open. The ledger also refuses the unit if the card or its last change is not as it was read.
func (s *Service) begin(ctx context.Context, c stored, change changeRow, op operation.Operation, key *idempotency.Key) error {
	u := s.Operations.Unit(op, 0, "Card funding")
	settlement.ExpectActive(&u, op.SettlementID)
	u.Expect(cards.Record(c), string(issued)).Expect("status", c.Status)
	change.expect(&u)
	key.Begin(&u, op.ID, op.CalledUntil)
	limit := int64(0)
	if key == nil {
		limit = 1
	}
	u.Count(guard(c.ID, op.Amount), 1, limit)
	u.Append(fundings.Record(fundingRow{op.Company, op.ID, c.ID, op.Amount, opens, op.CreatedAt}))
	event.Emit(&u, event.CardFundingPending, Of(op, c.ID))
	return idempotency.Taken(s.Book.Commit(ctx, u))
}

func (s *Service) run(ctx context.Context, c stored, op operation.Operation, key *idempotency.Key) (Funding, error) {
	op.Known = target(c.ID)
	op, err := s.Operations.Run(ctx, op,
		func(ctx context.Context) provider.Answer {
			return s.Issuers[op.Provider].FundCard(ctx, funding(op, c))
		},
		func(after operation.Operation, u *ledger.Unit) { key.Finish(u, Of(after, c.ID), nil) })
	if err != nil {
		// The issuer's reply is not in the ledger, so the funding stays PENDING. The resolver will
		// ask the issuer again.
		s.Log.Error("the outcome of a card funding was not written", "company", op.Company, "operation", op.ID, "error", err)
	}
	return Of(op, c.ID), nil
}

func funding(o operation.Operation, c stored) provider.CardFunding {
	return provider.CardFunding{Reference: o.ID, Account: c.account, Amount: o.Amount, Since: o.CreatedAt, Issued: o.ProviderReference}
}

// requery asks the issuer that received the funding for the funding's outcome.
func (s *Service) requery(ctx context.Context, o operation.Operation) provider.Answer {
	by, err := s.issuer(o.Provider)
	if err != nil {
		return provider.NotConfigured
	}
	cardID, err := cardOf(ctx, s.DB, o.Company, o.ID)
	if err != nil {
		return provider.Answer{Code: "not_read", Message: "The funding could not be read"}
	}
	c, err := findCard(ctx, s.DB, o.Company, cardID)
	if err != nil {
		return provider.Answer{Code: "not_read", Message: "The card could not be read"}
	}
	known, err := s.Operations.Repeated(ctx, o)
	ahead, failed := s.Operations.BegunAhead(ctx, o)
	if err != nil || failed != nil {
		return provider.Answer{Code: "not_read", Message: "The funding's answers could not be read"}
	}
	f := funding(o, c)
	f.Earlier = known || ahead || s.Operations.MayRepeat(o)
	return by.RequeryFunding(ctx, f)
}

// effects adds the funding's event to the unit that records the outcome. The same unit closes the
// funding, and allows the next funding of the same card and amount.
func (s *Service) effects(ctx context.Context, o operation.Operation, u *ledger.Unit) error {
	cardID, err := cardOf(ctx, s.DB, o.Company, o.ID)
	if err == nil {
		target(cardID).Effects(o, u)
	}
	return err
}

// target is the ID of the card that a funding funds.
type target string

// Effects adds to the unit of the outcome what the funding changes with it.
func (t target) Effects(o operation.Operation, u *ledger.Unit) {
	kind := event.CardFunded
	if o.Refunded() {
		kind = event.CardFundingFailed
	}
	u.Transition(fundings.Record(fundingRow{company: o.Company, id: o.ID, state: shut}), opens)
	u.Count(guard(string(t), o.Amount), -1, 0)
	event.Emit(u, kind, Of(o, string(t)))
}

// Funding returns a funding of the company by its reference.
func (s *Service) Funding(ctx context.Context, company, reference string) (Funding, error) {
	o, err := s.Operations.Find(ctx, company, reference)
	if fault.Is(err, fault.Missing) || err == nil && o.Kind != Kind {
		return Funding{}, fault.New(fault.Missing, "Card transaction not found")
	}
	if err != nil {
		return Funding{}, err
	}
	cardID, err := cardOf(ctx, s.DB, company, reference)
	return Of(o, cardID), err
}

// Resume returns the funding for a retry with the same Idempotency-Key, after Kobo crashed during
// the first request. Resume also stores this funding as the stored response of the
// Idempotency-Key.
func (s *Service) Resume(ctx context.Context, company, reference string, key *idempotency.Key) (Funding, error) {
	f, err := s.Funding(ctx, company, reference)
	if err != nil {
		return Funding{}, err
	}
	return f, key.Resume(ctx, s.Book, f)
}

// Preview is the effect that a funding would have on the balance, or the reason for a refusal.
type Preview = operation.Preview[money.Kobo]

// Preview returns what Fund would do. It writes nothing and calls no issuer, so it cannot foresee
// the issuer's reply.
func (s *Service) Preview(ctx context.Context, o Order) (Preview, error) {
	c, _, err := s.atIssuer(ctx, o.Company, o.CardID)
	if err != nil {
		return Preview{}, err
	}
	a, err := s.Settlements.Default(ctx, o.Company)
	if err == nil {
		err = s.Settlements.IsOpen(ctx, o.Company, a.ID)
	}
	if err != nil && !fault.Is(err, fault.Missing) {
		return Preview{}, err
	}
	reference, err := s.openFunding(ctx, o.Company, c.ID, o.Amount)
	if err != nil && !errors.Is(err, db.ErrNone) {
		return Preview{}, err
	}
	taken, failed := s.Operations.Referenced(ctx, o.Company, Kind, o.Labels.ExternalReference)
	if failed != nil {
		return Preview{}, failed
	}
	change, failed := db.OrZero(s.findChange(ctx, o.Company, c.ID))
	if failed != nil {
		return Preview{}, failed
	}
	var why error
	switch {
	case c.isOver():
		why = errEnded
	case change.ends():
		why = errEnding
	case err == nil && !o.Keyed:
		why = Confirming(reference)
	case taken:
		why = operation.ErrReferenceUsed
	case a.Balance < o.Amount:
		why = errShort
	}
	return operation.NewPreview[money.Kobo](operation.Operation{Amount: o.Amount}, a.Balance, why), nil
}
