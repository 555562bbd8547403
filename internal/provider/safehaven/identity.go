package safehaven

import (
	"context"
	"strings"

	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

type identityRequest struct {
	Type               string `json:"type"`
	Number             string `json:"number"`
	DebitAccountNumber string `json:"debitAccountNumber"` // this account pays the fee
	Async              bool   `json:"async"`
}

type identityCheck struct {
	IdentityID string `json:"identityId"`
	Type       string `json:"type"`
	OTP        string `json:"otp"`
}

// Start sends an OTP to the phone number registered for the BVN. Safe Haven has no call that sends
// the same OTP again. A new start sends a new OTP and is charged again.
func (p *Plug) Start(ctx context.Context, s provider.IdentityStart) provider.Answer {
	return judge(p.once(ctx, "/identity/v2", identityRequest{
		Type: "BVN", Number: s.BVN.Reveal(), DebitAccountNumber: p.account,
	}), func(e envelope) claim { return identified(e, false) })
}

// Confirm sends an OTP to the provider. The plug does not check for an empty OTP, because the
// provider refuses an empty OTP.
func (p *Plug) Confirm(ctx context.Context, c provider.IdentityConfirm) provider.IdentityAnswer {
	var d struct {
		Holder holder `json:"providerResponse"`
	}
	a := judge(p.once(ctx, "/identity/v2/validate", identityCheck{
		IdentityID: c.Session, Type: "BVN", OTP: c.OTP.Reveal(),
	}), func(e envelope) claim {
		e.into(&d) // without data there is no name
		return identified(e, true)
	})
	return provider.IdentityAnswer{Answer: a, Holder: d.Holder.name()}
}

// holder is the name of a BVN's owner. Safe Haven does not document these fields of an identity
// check, so each of them may be absent.
type holder struct {
	FirstName  text `json:"firstName"`
	MiddleName text `json:"middleName"`
	LastName   text `json:"lastName"`
}

// UnmarshalJSON decodes the names. A value that is not an object has no names.
func (h *holder) UnmarshalJSON(b []byte) error {
	type plain holder
	provider.ReadPart(b, (*plain)(h))
	return nil
}

func (h holder) name() secret.Text {
	return secret.NewText(strings.TrimSpace(string(h.FirstName + " " + h.MiddleName + " " + h.LastName)))
}

// identified returns what the data of an identity check states about the request. Some replies have
// a status, others only a response code. If checked is true, the request does not count as
// successful while the data reports the OTP as not verified.
func identified(e envelope, checked bool) claim {
	var d struct {
		ID       text  `json:"_id"`
		Status   text  `json:"status"`
		Verified *flag `json:"otpVerified"`
	}
	e.into(&d) // if the reply has no data, d stays empty and states nothing
	c := claim{reference: string(d.ID), word: lower(d.Status)}
	c.done = c.word == "success" || delivered[c.word] || c.word == "" && e.codes().has(approved)
	c.done = c.done && d.ID != "" && (!checked || d.Verified == nil || bool(*d.Verified))
	c.undone = failed[c.word]
	return c
}
