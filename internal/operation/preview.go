package operation

import (
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/wire"
)

// Preview is the response to a dry run. It shows the effect that the operation would have. Type
// parameter M determines how JSON shows the amounts.
type Preview[M money.Kobo | money.Text] struct {
	DryRun       bool      `json:"dryRun"` // always true
	WouldSucceed bool      `json:"wouldSucceed"`
	Refusal      wire.Text `json:"refusal"` // the reason for a refusal; "" for none
	Amount       M         `json:"amount"`
	Fee          M         `json:"fee"`
	Total        M         `json:"total"`
	Balance      M         `json:"balance"`      // the current balance of the settlement account
	BalanceAfter M         `json:"balanceAfter"` // equal to Balance after a refusal
	why          fault.Reason
}

// Reason returns the word of the refusal, or "".
func (p Preview[M]) Reason() fault.Reason { return p.why }

// NewPreview returns the preview of an operation. Parameter why is the reason for a refusal, or
// nil.
func NewPreview[M money.Kobo | money.Text](o Operation, balance money.Kobo, why error) Preview[M] {
	total := M(o.Amount + o.Fee)
	p := Preview[M]{
		DryRun: true, WouldSucceed: why == nil, Amount: M(o.Amount), Fee: M(o.Fee), Total: total,
		Balance: M(balance), BalanceAfter: M(balance),
	}
	if why != nil {
		f := fault.Of(why)
		p.Refusal, p.why = wire.Text(f.Message), f.Reason()
		return p
	}
	p.BalanceAfter -= total
	return p
}
