package provider

import (
	"context"

	"github.com/kobo-waas/kobo/internal/secret"
)

// Verifier proves that a person owns a Bank Verification Number (BVN). The proof is a one-time
// password (OTP), which is sent to the phone number registered for the BVN.
//
// The calls move no money of a company. But a start costs a fee and sends an SMS, so neither Start
// nor Confirm is ever repeated. Rejected means that the provider refused, or that nothing was sent.
// Unknown means that an OTP may have been sent.
type Verifier interface {
	// Start sends an OTP. If the outcome is Confirmed, Answer.Reference is the provider's OTP
	// session for Confirm and OpenAccount. A second Start sends a new OTP, and the new OTP session
	// replaces the first OTP session.
	Start(ctx context.Context, s IdentityStart) Answer
	// Confirm sends the OTP to the provider. If the outcome is Confirmed, Answer.Reference is the
	// verified OTP session.
	Confirm(ctx context.Context, c IdentityConfirm) IdentityAnswer
}

// IdentityAnswer is the outcome of Confirm.
type IdentityAnswer struct {
	Answer
	// Holder is the name in the BVN's record, in any order and spelling. It is personal data, and empty
	// if the provider did not return it.
	Holder secret.Text
}

// IdentityStart names the person whose identity is to be proven.
type IdentityStart struct {
	Reference string // our reference, for providers that store a reference
	BVN       secret.Text
	Name      secret.Text // the name that a customer claims, for providers that compare names; may be empty
}

// IdentityConfirm is an OTP as the person typed it.
type IdentityConfirm struct {
	Session string // Answer.Reference of the Start
	OTP     secret.Text
}
