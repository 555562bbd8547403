// Package provider holds the interfaces of the providers behind Kobo: banks,
// billers, card issuers and custodians of crypto addresses.
//
// A plug is a package below this folder. It speaks one provider's wire format and
// implements one or more of the interfaces. Plugs know no business. A call that may
// have moved money returns an Answer, whose zero value means "unknown". It never
// returns a bare error.
package provider

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
)

// Outcome is the result of a call that may have moved money.
type Outcome int8

// The three outcomes. Confirmed and Rejected need a definite answer of the
// provider.
const (
	Unknown   Outcome = iota // done or not: keep the debit, and ask again
	Confirmed                // done
	Rejected                 // not done, and never done later under this reference
)

// String returns the outcome's name in lower case.
func (o Outcome) String() string {
	switch o {
	case Confirmed:
		return "confirmed"
	case Rejected:
		return "rejected"
	default:
		return "unknown"
	}
}

// Answer is what a provider says about one reference.
type Answer struct {
	Outcome Outcome
	// Missing is true when a requery says "no such reference". The outcome stays
	// Unknown. After the grace period the caller may take it as a refusal
	// (completion.md §3).
	Missing bool
	// Reversed is true when the money went out and came back. The outcome is
	// Rejected. The caller may have told the company of a success before.
	Reversed bool
	// Reference is the provider's own id of the transaction, if known.
	Reference string
	// Code is one word for machines and operators: a provider's response code,
	// or one of the Code constants.
	Code string
	// Message is the provider's words, without personal data, at most 200
	// characters: a company may read it.
	Message string
	// Token is the token for a prepaid meter, for utility purchases.
	Token string
	// Charge is the provider's charge on top of the amount, if the answer says so.
	Charge money.Kobo
}

// Codes that are the same for all providers.
const (
	CodeNotSent     = "not_sent"     // no byte was sent to the provider: Rejected
	CodeTimeout     = "timeout"      // no answer before the deadline
	CodeConnection  = "connection"   // the connection broke after we began to write
	CodeUnreadable  = "unreadable"   // the answer is not in the provider's format
	CodeServerError = "server_error" // HTTP 5xx, 408 or 429
	CodeDuplicate   = "duplicate"    // the reference was used before, perhaps with success
)

// Error is the failure of a call that moves no money. The call may be repeated.
type Error struct {
	Provider string // the provider's name, as in "<provider> API Error:"
	Code     string
	Message  string // the provider's words, without personal data
	Cause    error  // for operators
}

// Error returns the line for logs.
func (e *Error) Error() string {
	s := e.Provider + ": " + e.Code + ": " + e.Message
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// AsError returns the Error that err is or wraps. Any other error stands for an
// unreadable answer.
func AsError(provider string, err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Provider: provider, Code: CodeUnreadable, Cause: err}
}

// ServiceKind is the kind of goods that a biller's service sells.
type ServiceKind string

// The four kinds, spelled as transactions show them (`type` in the contract).
const (
	Airtime ServiceKind = "AIRTIME"
	Data    ServiceKind = "DATA"
	CableTV ServiceKind = "CABLE_TV"
	Utility ServiceKind = "UTILITY"
)

// Biller sells airtime, data, TV and power. It may be an EntityVerifier too.
type Biller interface {
	// Name is the provider's name for people: "Safe Haven".
	Name() string
	// Services, Categories and Products list the catalogue. A failure is an *Error.
	Services(ctx context.Context) ([]Service, error)
	Categories(ctx context.Context, serviceCode string) ([]Category, error)
	Products(ctx context.Context, categoryCode string) ([]Product, error)
	// Pay buys. The purchase's Reference is ours and permanent. Requery asks by it
	// after a lost answer. Pay never repeats a request that may have been executed.
	Pay(ctx context.Context, p Purchase) Answer
	// Requery asks for the outcome of a purchase, by our reference and by the time
	// of its intent.
	Requery(ctx context.Context, reference string, begun time.Time) Answer
}

// Service is one line of a biller's trade, such as Data.
type Service struct {
	Code string // the biller's id
	Name string
	Kind ServiceKind
}

// Category is one vendor within a service, such as a mobile network.
type Category struct {
	Code string // the biller's id
	Name string
	// Vendor is the vendor in one word of capitals, the same at every biller: MTN,
	// DSTV, IKEJA. Two billers sell the same if their words are equal. Never empty.
	Vendor string
}

// Product is one thing on sale in a category.
type Product struct {
	Code     string // the biller's key; opaque
	Name     string // may be empty
	Validity string // may be empty
	Amount   money.Kobo
	Fixed    bool // false: the buyer chooses the amount
}

// Purchase is one thing to buy. Kind decides which of the numbers is set.
type Purchase struct {
	Reference string
	Begun     time.Time // when the intent was committed
	Kind      ServiceKind
	Category  string // Category.Code
	Product   string // Product.Code; empty for airtime and utility
	Amount    money.Kobo
	Phone     string // airtime, data: 11 digits
	Card      string // cable TV: smartcard or IUC number
	Meter     string // utility
	VendType  string // utility: PREPAID or POSTPAID
}
