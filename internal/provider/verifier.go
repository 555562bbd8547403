package provider

import (
	"context"

	"github.com/kobo-waas/kobo/internal/secret"
)

// Verifier proves that somebody is who a Bank Verification Number says, by a
// one-time password (OTP) to the phone on that number's record.
//
// No money of a company moves here, but a start costs a fee and sends an SMS to
// a stranger, so neither call is ever repeated and both are answered in three
// values: Rejected is the provider's definite no (or nothing was sent), Unknown
// means that an OTP may or may not be on its way.
type Verifier interface {
	// Start has an OTP sent. When it is Confirmed, Answer.Reference is the
	// provider's session, which Confirm and OpenAccount want. Starting again is
	// how an OTP is sent again: the new session replaces the old one.
	Start(ctx context.Context, s IdentityStart) Answer
	// Confirm gives the OTP back. When it is Confirmed, Answer.Reference is the
	// verified session.
	Confirm(ctx context.Context, c IdentityConfirm) Answer
}

// IdentityStart is whose identity is to be proven.
type IdentityStart struct {
	Reference string // ours, for providers that keep one
	BVN       secret.Text
}

// IdentityConfirm is an OTP that somebody typed, as it was typed.
type IdentityConfirm struct {
	Session string // Answer.Reference of the Start
	OTP     secret.Text
}
