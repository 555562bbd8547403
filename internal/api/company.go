package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/wire"
)

// FindCompany shows the caller's company, with its fees, its limits and what of them is used today.
func (h *handlers) FindCompany(ctx context.Context, _ FindCompanyRequestObject) (FindCompanyResponseObject, error) {
	c, err := h.Companies.Find(ctx, callOf(ctx).company)
	if err != nil {
		return nil, err
	}
	two, err := h.Companies.TwoPeople(ctx, c.Reference)
	if err != nil {
		return nil, err
	}
	rule, err := h.Companies.PayoutRule(ctx, c.Reference)
	if err != nil {
		return nil, err
	}
	var waitsFrom *money.Kobo
	if rule.On {
		waitsFrom = &rule.Least
	}
	fees, err := h.Payouts.Fees(ctx, c.Reference)
	if err != nil {
		return nil, err
	}
	day, limits, err := h.Payouts.Uses(ctx, c.Reference)
	if err != nil {
		return nil, err
	}
	_, quotas, err := h.Quotas.Uses(ctx, c.Reference)
	if err != nil {
		return nil, err
	}
	return FindCompany200JSONResponse{Status: "success", Data: Company{
		Reference: c.Reference, Name: c.Name, KybStatus: string(c.KYB), Live: c.Live, Environment: string(h.Events.Environment), TwoPeople: two, PayoutApproval: waitsFrom,
		Fees:   each(fees, feeBand),
		Limits: CompanyLimits{Day: day, Payouts: each(limits, payoutLimit), Quotas: each(quotas, objectQuota)},
	}}, nil
}

// feeBand returns a band with its basis points as a percentage. A basis point is a hundredth of a
// percent, as a kobo is a hundredth of a naira. So the type for amounts also formats the percentage.
func feeBand(b payout.Band) FeeBand {
	return FeeBand{From: b.From, Flat: b.Flat, Percent: money.Kobo(b.BasisPoints), Cap: b.Cap}
}

// payoutLimit returns a limit with null for each part that has no limit.
func payoutLimit(u payout.Use) PayoutLimit {
	return PayoutLimit{
		SettlementID: wire.Optional(u.SettlementID), Amount: wire.Optional(u.Amount), Payouts: wire.Optional(u.Payouts),
		UsedAmount: u.Used, UsedPayouts: u.UsedPayouts,
	}
}

func objectQuota(u quota.Use) ObjectQuota {
	return ObjectQuota{Kind: string(u.Kind), Most: wire.Optional(u.Most), Used: u.Used}
}
