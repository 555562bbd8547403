package kobo

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/clients/go/api"
)

// Refusal is a response that is not a success. Decide by Reason, and show Message to people.
type Refusal struct {
	Status     int           // the HTTP status
	Reason     Reason        // the header Kobo-Reason; "" if something between client and server responded
	Message    string        // in words, which may change
	RequestID  string        // quote it when you ask for help
	RetryAfter time.Duration // the time until the same request may succeed; 0 if the server stated none
	Body       []byte
}

// Error describes the refusal in words.
func (r *Refusal) Error() string {
	return fmt.Sprintf("kobo: %d %s: %s (request %s)", r.Status, r.Reason, r.Message, r.RequestID)
}

// newRefusal reads a response that is not a success.
func newRefusal(res *http.Response, body []byte) *Refusal {
	r := &Refusal{Status: res.StatusCode, Reason: Reason(res.Header.Get("Kobo-Reason")), RequestID: res.Header.Get("X-Request-Id"), Body: body}
	if seconds, err := strconv.ParseUint(res.Header.Get("Retry-After"), 10, 31); err == nil {
		r.RetryAfter = time.Duration(seconds) * time.Second
	}
	// Each group of operations has its own form of an error, and something before the server may
	// respond with no JSON at all.
	var text struct{ Message, Error string }
	if json.Unmarshal(body, &text) != nil || text.Message+text.Error == "" {
		text.Message = http.StatusText(res.StatusCode)
	}
	r.Message = strings.TrimSpace(text.Message + text.Error)
	return r
}

// passing reports whether the same request, with the same key, may have another result later.
func (r *Refusal) passing() bool {
	switch r.Reason {
	case api.RateLimited, api.RequestInProgress, api.OutcomeUnknown, api.ServiceUnavailable, api.InternalError:
		return true
	case "":
		return r.Status >= 500 || r.Status == http.StatusTooManyRequests
	}
	return false
}

// before reports whether the server refused the request before it looked at the order and its
// Idempotency-Key. Such a refusal does not show what an earlier request with the same key did.
func (r *Refusal) before() bool {
	switch r.Reason {
	case api.RateLimited, api.CredentialsMissing, api.TokenInvalid, api.RefreshTokenInvalid, api.APIKeyInvalid, api.APIKeyExpired,
		api.KybRequired, api.CompanyDeactivated, api.RequestTooLarge, api.PathNotFound, api.MethodNotAllowed:
		return true
	}
	return false
}

// known are the words of this release. A later release may have more, and what they mean is not known here.
var known = []Reason{
	api.BulkState, api.LastAPIKey, api.RoleMissing, api.PersonNeeded, api.SecondPersonNeeded, api.ApprovalState,
	api.APIKeyExpired, api.APIKeyInvalid, api.AccountClosed, api.AddressMissing, api.AlreadyExists, api.AmountOutOfRange,
	api.BeingConfirmed, api.CardTerminated, api.CompanyDeactivated, api.CredentialsMissing, api.Declined, api.EventsArchived,
	api.IdempotencyKeyMismatch, api.IdempotencyKeyUsed, api.InsufficientBalance, api.InternalError, api.InvalidRequest,
	api.KybRequired, api.MethodNotAllowed, api.NameMismatch, api.NetworkInactive, api.NotFound, api.NotVerified,
	api.OneTimeTokenInvalid, api.OtpAttemptsUsed, api.OtpCooldown, api.OtpInvalid, api.OtpNotSent, api.OutcomeUnknown,
	api.PathNotFound, api.PayoutLimitReached, api.PinInvalid, api.PinLocked, api.PinNotSet, api.ProductUnavailable,
	api.QuotaReached, api.RateLimited, api.ReceiptNotReady, api.RecipientChanged, api.RecipientNotFound, api.ReferenceUsed,
	api.RefreshTokenInvalid, api.RequestInProgress, api.RequestTooLarge, api.ServiceUnavailable, api.SessionClosed,
	api.TokenInvalid, api.URLNotAllowed, api.Unstated, api.VerificationExpired, api.VerificationNotFound, api.VerificationUsed,
	api.WebhookPaused,
}

// undecided reports whether the refusal leaves open what happened to the money.
func (r *Refusal) undecided() bool {
	switch r.Reason {
	case api.BeingConfirmed, api.RequestInProgress, api.OutcomeUnknown, api.ServiceUnavailable, api.InternalError,
		api.IdempotencyKeyMismatch, api.IdempotencyKeyUsed, api.VerificationUsed, api.ReferenceUsed, api.Unstated:
		return true
	}
	return r.Status >= 500 || r.Status < 400 || !slices.Contains(known, r.Reason)
}

// errForeign is the error of a successful response that is not from Kobo, such as a page of a proxy.
var errForeign = errors.New("kobo: the response is not JSON, so it is not from Kobo")
