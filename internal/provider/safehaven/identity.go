package safehaven

import (
	"context"

	"github.com/kobo-waas/kobo/internal/provider"
)

type identityRequest struct {
	Type               string `json:"type"`
	Number             string `json:"number"`
	DebitAccountNumber string `json:"debitAccountNumber"` // pays the fee
	Async              bool   `json:"async"`
}

type identityCheck struct {
	IdentityID string `json:"identityId"`
	Type       string `json:"type"`
	OTP        string `json:"otp"`
}

// Start has an OTP sent to the phone on the BVN's record. There is no call that
// sends one again: starting anew is how it is done, and is charged again.
func (p *Plug) Start(ctx context.Context, s provider.IdentityStart) provider.Answer {
	return judge(p.once(ctx, "/identity/v2", identityRequest{
		Type: "BVN", Number: s.BVN.Reveal(), DebitAccountNumber: p.account,
	}), func(e envelope) claim { return identified(e, false) })
}

// Confirm gives an OTP back. An empty one is sent too: the provider refuses it.
func (p *Plug) Confirm(ctx context.Context, c provider.IdentityConfirm) provider.Answer {
	return judge(p.once(ctx, "/identity/v2/validate", identityCheck{
		IdentityID: c.Session, Type: "BVN", OTP: c.OTP.Reveal(),
	}), func(e envelope) claim { return identified(e, true) })
}

// identified is what an identity's data claims. Some answers say it with a
// status, others with a response code alone. A check that claims success and a
// wrong OTP at once says nothing.
func identified(e envelope, checked bool) claim {
	var d struct {
		ID       text  `json:"_id"`
		Status   text  `json:"status"`
		Verified *flag `json:"otpVerified"`
	}
	e.into(&d) // without data nothing is claimed
	c := claim{reference: string(d.ID), word: lower(d.Status)}
	c.done = c.word == "success" || delivered[c.word] || c.word == "" && e.codes().has(approved)
	c.done = c.done && d.ID != "" && (!checked || d.Verified == nil || bool(*d.Verified))
	c.undone = failed[c.word]
	return c
}
