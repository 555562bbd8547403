package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/wire"
)

// SetPayoutApproval makes payouts that people ask for wait for a second person, or asks for a weaker rule.
func (h *handlers) SetPayoutApproval(ctx context.Context, r SetPayoutApprovalRequestObject) (SetPayoutApprovalResponseObject, error) {
	by, p, err := byPerson(ctx)
	if err != nil {
		return nil, err
	}
	want := company.PayoutRule{On: r.Body.Amount != nil, Least: sent(r.Body.Amount)}
	if err := h.anotherMay(ctx, p, "sendPayout", "Nobody else could approve. Invite another owner, or a person in the role finance, first."); want.On && err != nil {
		return nil, err
	}
	a, err := h.Companies.SetPayoutRule(ctx, by, want)
	if err != nil {
		return nil, err
	}
	if a != nil {
		return SetPayoutApproval202JSONResponse{Status: "success", Message: waits, Data: h.approval(*a)}, nil
	}
	return SetPayoutApproval200JSONResponse{Status: "success", Message: "The rule holds"}, nil
}

// payoutWaits reports whether the request comes from a person whose payout waits for a second person.
func (h *handlers) payoutWaits(ctx context.Context, amount money.Kobo) (bool, error) {
	p, sits := seatOf(ctx)
	if !sits {
		return false, nil
	}
	return h.Companies.PayoutWaits(ctx, p.Company, amount)
}

var errNeedsSecond = fault.New(fault.Forbidden, "Your company requires two people for this amount. A card funding or a purchase cannot wait for a second person: only a program with an API key can do it").With(fault.SecondPersonNeeded)

// mayAlone returns an error for a person who asks for a card funding or a purchase of an amount that, as a payout, would
// wait for a second person. Otherwise one person could take the money out of the company by a card.
func (h *handlers) mayAlone(ctx context.Context, amount money.Kobo) error {
	waits, err := h.payoutWaits(ctx, amount)
	if err == nil && waits {
		err = tokenless(ctx, errNeedsSecond)
	}
	return err
}

// askPayout lets a person's payout wait for a second person.
func (h *handlers) askPayout(ctx context.Context, o payout.Order) (SendPayoutResponseObject, error) {
	return answer(ctx, func(a company.Approval) (SendPayoutResponseObject, error) {
		return waitingPayout{Status: "success", Message: waits, Data: h.approval(a)}, nil
	}, func(key *idempotency.Key) (company.Approval, error) {
		v, fee, err := h.Payouts.MayWait(ctx, o)
		if err != nil {
			return company.Approval{}, err
		}
		peer.SetSubject(ctx, v.ID)
		return h.Companies.AskPayout(ctx, access(ctx, ""), company.PayoutAct{
			VerifyID: o.VerifyID, SettlementID: v.SettlementID, Amount: o.Amount, Fee: fee, AccountName: v.AccountName, AccountNumber: v.AccountNumber,
			BankCode: v.BankCode, BankName: v.BankName,
			Narration: o.Narration, ExternalReference: o.Labels.ExternalReference, Metadata: string(o.Labels.Metadata),
		}, key)
	})
}

// askBulk lets a person's confirmation of a bulk payout wait for a second person.
func (h *handlers) askBulk(ctx context.Context, c payout.Confirmation) (ConfirmBulkPayoutResponseObject, error) {
	return answer(ctx, func(a company.Approval) (ConfirmBulkPayoutResponseObject, error) {
		return waitingBulk{Status: "success", Message: waits, Data: h.approval(a)}, nil
	}, func(key *idempotency.Key) (company.Approval, error) {
		b, digest, err := h.Payouts.BulkMayWait(ctx, c)
		if err != nil {
			return company.Approval{}, err
		}
		peer.SetSubject(ctx, b.ID)
		return h.Companies.AskBulk(ctx, access(ctx, ""), company.BulkAct{
			BulkID: b.ID, SettlementID: b.SettlementID, Lines: int64(b.Good), Amount: b.Amount, Fee: b.Fee, Digest: digest,
		}, key)
	})
}

var errOtherAccount = fault.New(fault.Internal, "the account of a payout is not the one that was approved")

// approvePayout starts the payouts that an approval waits for. The commit that starts them ends the approval, and the
// other approvals of the same payouts. If one of them has ended meanwhile, nothing has begun, and approvePayout reads them
// again.
func (h *handlers) approvePayout(ctx context.Context, by company.Access, approvalID string) (company.Approval, error) {
	for {
		a, end, err := h.Companies.Accept(ctx, by, approvalID)
		if err != nil {
			return a, err
		}
		act, err := a.Act()
		if err != nil {
			return a, err
		}
		if act.Bulk != nil {
			err = h.approveBulk(ctx, by.Company, *act.Bulk, end)
		} else {
			err = h.approveOne(ctx, by.Company, *act.Payout, end)
		}
		if !company.IsDecided(err) {
			return a, h.decidedMeanwhile(ctx, by, approvalID, err)
		}
	}
}

// decidedMeanwhile returns the refusal of an approved payout. If another person has decided meanwhile, the refusal says
// so: otherwise it would say that the payout has begun already, as if that were wrong.
func (h *handlers) decidedMeanwhile(ctx context.Context, by company.Access, approvalID string, why error) error {
	if !fault.Is(why, fault.Refused) && !fault.Is(why, fault.Conflict) {
		return why
	}
	if _, _, now := h.Companies.Accept(ctx, by, approvalID); fault.Is(now, fault.Conflict) {
		return now
	}
	return why
}

// approveBulk confirms a bulk payout with the lines, the sum and the fees that the second person has seen.
func (h *handlers) approveBulk(ctx context.Context, reference string, b company.BulkAct, end func(*ledger.Unit)) error {
	approved := approvedBulk(b)
	approved.End = end
	_, err := h.Payouts.ConfirmBulk(ctx, payout.Confirmation{Company: reference, BulkID: b.BulkID, Approved: &approved})
	return err
}

func approvedBulk(b company.BulkAct) payout.Approved {
	approved := payout.Approved{Lines: b.Lines, Amount: b.Amount, Digest: b.Digest}
	if b.SettlementID != 0 {
		approved.Fee = &b.Fee
	}
	return approved
}

// approveOne sends the payout that the second person has seen.
func (h *handlers) approveOne(ctx context.Context, reference string, p company.PayoutAct, end func(*ledger.Unit)) error {
	order := approvedOrder(reference, p)
	order.Approval = end
	if err := h.mayPay(ctx, order, p); err != nil {
		return err
	}
	_, err := h.Payouts.Send(ctx, order)
	return err
}

func approvedOrder(reference string, p company.PayoutAct) payout.Order {
	order := payout.Order{
		Company: reference, VerifyID: p.VerifyID, Amount: p.Amount, Narration: p.Narration,
		Labels: operation.Labels{ExternalReference: p.ExternalReference, Metadata: operation.Metadata(p.Metadata)},
	}
	if p.SettlementID != 0 {
		order.Fee = &p.Fee
	}
	return order
}

// mayPay returns an error if a payout cannot be sent now as the second person has seen it.
func (h *handlers) mayPay(ctx context.Context, o payout.Order, p company.PayoutAct) error {
	v, _, err := h.Payouts.MayWait(ctx, o)
	if err != nil {
		return err
	}
	switch {
	case v.AccountNumber != p.AccountNumber, v.AccountName != p.AccountName, p.BankCode != "" && v.BankCode != p.BankCode,
		p.SettlementID != 0 && v.SettlementID != p.SettlementID:
		return errOtherAccount
	}
	return nil
}

// forNow are the reasons for which a payout cannot be sent now, and perhaps later.
var forNow = []fault.Reason{
	fault.InsufficientBalance, fault.PayoutLimitReached, fault.PINLocked, fault.PINNotSet, fault.ServiceUnavailable, fault.RateLimited,
}

// outdated returns why nobody can approve an approval any more although it waits, or "". If values have changed, it returns
// them too.
func (h *handlers) outdated(ctx context.Context, a company.Approval) (why string, changes []ApprovalChange, err error) {
	if a.Status(h.Clock.Now()) != company.ApprovalWaiting {
		return "", nil, nil
	}
	act, err := a.Act()
	if err == nil {
		err = h.askerStays(ctx, a)
	}
	if keyID, byKey := strings.CutPrefix(a.AskedBy, "key:"); byKey && err == nil {
		err = h.keyWorks(ctx, a.Company, keyID)
	}
	switch {
	case err != nil:
	case act.Payout != nil:
		err = h.mayPay(ctx, approvedOrder(a.Company, *act.Payout), *act.Payout)
	case act.Bulk != nil:
		err = h.Payouts.BulkStands(ctx, a.Company, act.Bulk.BulkID, approvedBulk(*act.Bulk))
	}
	isAltered := errors.Is(err, errOtherAccount)
	if isAltered || payout.IsChanged(err) {
		reason := fault.Of(err).Message
		if isAltered { // somebody has altered a row, and nobody approves this payout
			reason = "The payout differs from what was asked for"
		}
		changes, err = h.changesOf(ctx, a.Company, act)
		return reason, changes, err
	}
	isForGood := fault.Is(err, fault.Conflict) || fault.Is(err, fault.Missing) || fault.Is(err, fault.Refused)
	if isForGood && !slices.Contains(forNow, fault.Of(err).Reason()) {
		return fault.Of(err).Message, nil, nil
	}
	if isForGood || fault.Is(err, fault.Unavailable) {
		return "", nil, nil
	}
	return "", nil, err
}

// keyWorks returns an error if an API key of the company does not work any more.
func (h *handlers) keyWorks(ctx context.Context, reference, keyID string) error {
	working, err := h.Companies.Working(ctx, reference)
	if err == nil && !slices.ContainsFunc(working, func(k company.Key) bool { return k.ID == keyID }) {
		err = errAskerGone
	}
	return err
}

// waitingPayout is the response to a payout that waits for a second person.
type waitingPayout SendPayout202JSONResponse

// VisitSendPayoutResponse sends the response.
func (w waitingPayout) VisitSendPayoutResponse(to http.ResponseWriter) error {
	return SendPayout202JSONResponse(w).VisitSendPayoutResponse(to)
}

func (waitingPayout) status() int { return http.StatusAccepted }

// waitingBulk is the response to a confirmation that waits for a second person.
type waitingBulk ConfirmBulkPayout202JSONResponse

// VisitConfirmBulkPayoutResponse sends the response.
func (w waitingBulk) VisitConfirmBulkPayoutResponse(to http.ResponseWriter) error {
	return ConfirmBulkPayout202JSONResponse(w).VisitConfirmBulkPayoutResponse(to)
}

func (waitingBulk) status() int { return http.StatusAccepted }

// waitsWhat adds what waits to the form of an approval in the API.
func waitsWhat(out *Approval, act company.Act) {
	if p := act.Payout; p != nil {
		out.Payout = &WaitingPayout{
			FromSettlementID: wire.Optional(p.SettlementID), RequiredFrom: act.Least, Amount: p.Amount, AccountName: p.AccountName, AccountNumber: p.AccountNumber, BankName: wire.Optional(p.BankName),
			Narration: wire.Optional(p.Narration), ExternalReference: wire.Optional(p.ExternalReference), Reference: p.VerifyID,
		}
		if p.SettlementID != 0 {
			out.Payout.Fee = &p.Fee
		}
	}
	if b := act.Bulk; b != nil {
		out.BulkPayout = &WaitingBulkPayout{BulkID: b.BulkID, FromSettlementID: wire.Optional(b.SettlementID), RequiredFrom: act.Least, Lines: b.Lines, Amount: b.Amount}
		if b.SettlementID != 0 {
			out.BulkPayout.Fee = &b.Fee
		}
	}
	if r := act.PayoutRule; r != nil {
		out.PayoutApproval = &PayoutApprovalRule{}
		if r.On {
			out.PayoutApproval.Amount = &r.Least
		}
	}
}
