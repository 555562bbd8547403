package provider

import (
	"context"

	"github.com/kobo-waas/kobo/internal/secret"
)

// Verifier proves that a person owns a Bank Verification Number (BVN). The proof is
// a one-time password (OTP), sent to the phone on the record of the BVN.
//
// No money of a company moves here. But a start costs a fee and sends an SMS, so
// neither call is ever repeated. Rejected means that the provider refused, or that
// nothing was sent. Unknown means that an OTP may be on its way.
type Verifier interface {
	// Start sends an OTP. If Confirmed, Answer.Reference is the provider's session
	// for Confirm and OpenAccount. A second Start sends another OTP, and its session
	// replaces the first.
	Start(ctx context.Context, s IdentityStart) Answer
	// Confirm hands the OTP in. If Confirmed, Answer.Reference is the verified
	// session.
	Confirm(ctx context.Context, c IdentityConfirm) Answer
}

// IdentityStart names the person whose identity is to be proven.
type IdentityStart struct {
	Reference string // ours, for providers that keep a reference
	BVN       secret.Text
}

// IdentityConfirm is an OTP as the person typed it.
type IdentityConfirm struct {
	Session string // Answer.Reference of the Start
	OTP     secret.Text
}
