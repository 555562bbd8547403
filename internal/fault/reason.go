package fault

import "cmp"

// Reason is the word of the header Kobo-Reason. Programs of companies decide by this word, and not by
// the message. The list is closed: the contract (openapi.yaml) and docs/contract.md have the same words.
type Reason string

// These words are about the request itself.
const (
	// InvalidRequest means that the request breaks a rule of its schema.
	InvalidRequest Reason = "invalid_request"
	// PathNotFound means that the contract has no operation at this path.
	PathNotFound Reason = "path_not_found"
	// MethodNotAllowed means that the path has no operation with this method.
	MethodNotAllowed Reason = "method_not_allowed"
	// RequestTooLarge means that the body or the headers are too large.
	RequestTooLarge Reason = "request_too_large"
	// NotFound means that the company has no such object.
	NotFound Reason = "not_found"
	// EventsArchived means that the next events of the feed are in an archive.
	EventsArchived Reason = "events_archived"
	// AlreadyExists means that the object exists already.
	AlreadyExists Reason = "already_exists"
	// ReferenceUsed means that an earlier request used the externalReference differently.
	ReferenceUsed Reason = "reference_used"
	// RequestInProgress means that an equal request is running now.
	RequestInProgress Reason = "request_in_progress"
	// IdempotencyKeyMismatch means that a different request used the Idempotency-Key.
	IdempotencyKeyMismatch Reason = "idempotency_key_mismatch"
	// IdempotencyKeyUsed means that an earlier request used the key, so nothing is executed.
	IdempotencyKeyUsed Reason = "idempotency_key_used"
	// RateLimited means that too many requests arrived in a short time.
	RateLimited Reason = "rate_limited"
	// QuotaReached means that a count of the company, such as its OTPs of the day, is used up.
	QuotaReached Reason = "quota_reached"
)

// These words are about credentials and the permission to use the API.
const (
	// CredentialsMissing means that the request has no access token, API key or refresh token. An
	// unknown company reference gets this word too.
	CredentialsMissing Reason = "credentials_missing"
	// TokenInvalid means that the access token is wrong or has expired.
	TokenInvalid Reason = "token_invalid"
	// RefreshTokenInvalid means that the refresh token is wrong, was replaced or has expired.
	RefreshTokenInvalid Reason = "refresh_token_invalid"
	// APIKeyInvalid means that the API key is wrong or was revoked.
	APIKeyInvalid Reason = "api_key_invalid"
	// LastAPIKey means that the company would have no working API key any more.
	LastAPIKey Reason = "last_api_key"
	// RoleMissing means that the role of the person does not permit the act.
	RoleMissing Reason = "role_missing"
	// PersonNeeded means that only a person who has signed in can do this, and not a program with an API key.
	PersonNeeded Reason = "person_needed"
	// SecondPersonNeeded means that another person of the company must decide.
	SecondPersonNeeded Reason = "second_person_needed"
	// ApprovalState means that the approval does not wait any more.
	ApprovalState Reason = "approval_state"
	// APIKeyExpired means that the API key has expired.
	APIKeyExpired Reason = "api_key_expired"
	// OneTimeTokenInvalid means that the key token or PIN token is wrong, used, replaced or too old.
	OneTimeTokenInvalid Reason = "one_time_token_invalid"
	// KYBRequired means that the company's verification does not permit the use of the API.
	KYBRequired Reason = "kyb_required"
	// CompanyDeactivated means that an operator has switched the company off.
	CompanyDeactivated Reason = "company_deactivated"
	// PINInvalid means that the transaction PIN is wrong.
	PINInvalid Reason = "pin_invalid"
	// PINNotSet means that the company has no transaction PIN.
	PINNotSet Reason = "pin_not_set"
	// PINLocked means that too many wrong PINs have locked the PIN.
	PINLocked Reason = "pin_locked"
)

// These words are about money and its outcome.
const (
	// InsufficientBalance means that the settlement account does not cover the amount and the fee.
	InsufficientBalance Reason = "insufficient_balance"
	// AccountClosed means that the settlement account is closed to debits.
	AccountClosed Reason = "account_closed"
	// PayoutLimitReached means that the payout would exceed a daily payout limit.
	PayoutLimitReached Reason = "payout_limit_reached"
	// AmountOutOfRange means that the amount is too small or too large for this meter.
	AmountOutOfRange Reason = "amount_out_of_range"
	// ProductUnavailable means that the product or its category cannot be bought in this way.
	ProductUnavailable Reason = "product_unavailable"
	// RecipientNotFound means that the bank account, the smartcard or the meter does not exist.
	RecipientNotFound Reason = "recipient_not_found"
	// RecipientChanged means that the bank account has a different owner's name since its verification.
	RecipientChanged Reason = "recipient_changed"
	// VerificationNotFound means that the company has no such verification of this type.
	VerificationNotFound Reason = "verification_not_found"
	// VerificationUsed means that an earlier payment used the verification.
	VerificationUsed Reason = "verification_used"
	// VerificationExpired means that a verification is no longer valid.
	VerificationExpired Reason = "verification_expired"
	// BulkState means that the bulk payout is not in a state for this request, or has no line to send.
	BulkState Reason = "bulk_state"
	// BeingConfirmed means that the outcome is not known yet. The company follows it.
	BeingConfirmed Reason = "being_confirmed"
	// Declined means that the provider refused for good. A debit was refunded.
	Declined Reason = "declined"
)

// These words are about identities and single products.
const (
	// NotVerified means that the customer or signatory has not completed the OTP.
	NotVerified Reason = "not_verified"
	// OTPCooldown means that the last OTP or the last guess is too recent.
	OTPCooldown Reason = "otp_cooldown"
	// OTPAttemptsUsed means that no attempts to send an OTP are left.
	OTPAttemptsUsed Reason = "otp_attempts_used"
	// OTPNotSent means that the provider did not confirm that it sent an OTP.
	OTPNotSent Reason = "otp_not_sent"
	// OTPInvalid means that the provider did not accept the OTP.
	OTPInvalid Reason = "otp_invalid"
	// NameMismatch means that the customer's name is not the name in the record of the BVN.
	NameMismatch Reason = "name_mismatch"
	// SessionClosed means that the OTP session does not wait for an OTP.
	SessionClosed Reason = "session_closed"
	// AddressMissing means that neither the customer nor the company has an address.
	AddressMissing Reason = "address_missing"
	// CardTerminated means that the card has ended, or is being ended.
	CardTerminated Reason = "card_terminated"
	// NetworkInactive means that the company cannot use the blockchain network now.
	NetworkInactive Reason = "network_inactive"
	// URLNotAllowed means that a webhook may not have this address.
	URLNotAllowed Reason = "url_not_allowed"
	// WebhookPaused means that the webhook is paused.
	WebhookPaused Reason = "webhook_paused"
	// ReceiptNotReady means that no checkpoint covers the row yet.
	ReceiptNotReady Reason = "receipt_not_ready"
)

// These words are about Kobo.
const (
	// ServiceUnavailable means that Kobo, its database or a provider is unavailable. Nothing was done.
	ServiceUnavailable Reason = "service_unavailable"
	// OutcomeUnknown means that Kobo may or may not have carried out the request.
	OutcomeUnknown Reason = "outcome_unknown"
	// InternalError means that Kobo has an error.
	InternalError Reason = "internal_error"
	// Unstated means that the stored response of an earlier release has no word.
	Unstated Reason = "unstated"
)

// usual maps the kinds of faults to their words. A fault of the kind Refused always has a more exact
// word, if a company sees it (With).
var usual = map[Kind]Reason{
	Invalid: InvalidRequest, Unauthenticated: CredentialsMissing, Forbidden: TokenInvalid, Missing: NotFound,
	Gone: EventsArchived, Refused: Unstated, Conflict: RequestInProgress, Mismatch: IdempotencyKeyMismatch,
	Limited: RateLimited, Unavailable: ServiceUnavailable, Unknown: OutcomeUnknown, Internal: InternalError,
}

// With returns a copy of the fault with a more exact word than the usual word of its kind.
func (f *Fault) With(r Reason) *Fault {
	c := *f
	c.reason = r
	return &c
}

// About returns a copy of the fault whose response also names the payment that it is about, as the member
// name of its data.
func (f *Fault) About(name, reference string) *Fault {
	c := *f
	c.Extra = map[string]any{"data": map[string]string{name: reference}}
	return &c
}

// Reason returns the word of the fault.
func (f *Fault) Reason() Reason { return cmp.Or(f.reason, usual[f.Kind], Unstated) }
