package api

import (
	"context"
	"strconv"

	"github.com/kobo-waas/kobo/internal/company"
)

// changed collects the values of an approval that differ from those of now.
type changed []ApprovalChange

func (c *changed) add(field, then, now string) {
	if then != now {
		*c = append(*c, ApprovalChange{Field: field, Then: then, Now: now})
	}
}

func (c *changed) number(field string, then, now int64) {
	c.add(field, strconv.FormatInt(then, 10), strconv.FormatInt(now, 10))
}

// changesOf returns the values on which the approval of a payout or bulk payout rests and that have changed. An approval of an
// earlier version recorded fewer of them. The lines of a bulk payout may differ although all values are equal.
func (h *handlers) changesOf(ctx context.Context, reference string, act company.Act) ([]ApprovalChange, error) {
	var c changed
	switch {
	case act.Payout != nil:
		p := act.Payout
		v, fee, err := h.Payouts.Terms(ctx, approvedOrder(reference, *p))
		if err != nil {
			return nil, err
		}
		c.add("accountNumber", p.AccountNumber, v.AccountNumber)
		c.add("accountName", p.AccountName, v.AccountName)
		if p.BankCode != "" {
			c.add("bankCode", p.BankCode, v.BankCode)
		}
		if p.SettlementID != 0 {
			c.number("fromSettlementId", p.SettlementID, v.SettlementID)
			c.add("fee", p.Fee.Decimal(), fee.Decimal())
		}
	case act.Bulk != nil:
		b := act.Bulk
		now, err := h.Payouts.BulkTerms(ctx, reference, b.BulkID)
		if err != nil {
			return nil, err
		}
		if b.SettlementID != 0 {
			c.number("fromSettlementId", b.SettlementID, now.SettlementID)
		}
		c.number("lines", b.Lines, int64(now.Good))
		c.add("amount", b.Amount.Decimal(), now.Amount.Decimal())
		if b.SettlementID != 0 {
			c.add("fee", b.Fee.Decimal(), now.Fee.Decimal())
		}
	}
	return c, nil
}
