// Package provider holds the sockets: what Kobo asks of the banks, billers and
// issuers behind it, said once, whoever they are.
//
// A plug (a package below this folder) speaks one provider's wire format and
// fits one or more sockets. Plugs know no business. The rule that everything
// else leans on: a call that may have moved money answers with an Answer, whose
// zero value is "unknown", and never with a bare error.
package provider

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
)

// Outcome is what became of a call that may have moved money.
type Outcome int8

// The three outcomes. Only a provider's definite word is one of the last two.
const (
	Unknown   Outcome = iota // it may or may not have been done: keep the debit, ask again
	Confirmed                // done
	Rejected                 // definitely not done, and never will be under this reference
)

// String is the outcome's name in lower case.
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

// Answer is what a provider made known about one reference.
type Answer struct {
	Outcome Outcome
	// Missing is true when a requery says "no such reference". The outcome is
	// still Unknown: the caller decides after the grace period whether that
	// amounts to a no (completion.md §3).
	Missing bool
	// Reversed is true when the money went out and came back. The outcome is
	// Rejected; whoever was told of a success must be told of this.
	Reversed bool
	// Reference is the provider's own id of the transaction, when it gave one.
	Reference string
	// Code is one word for machines and operators: a provider's response code,
	// or one of the Code constants.
	Code string
	// Message is the provider's words, without personal data, at most 200
	// characters: a company may read it.
	Message string
	// Token is what a prepaid meter wants to be told, for utility purchases.
	Token string
	// Charge is what was taken from us on top of the amount, as far as it says.
	Charge money.Kobo
}

// Codes that are the same for all providers.
const (
	CodeNotSent     = "not_sent"     // nothing was written to the provider: Rejected
	CodeTimeout     = "timeout"      // no answer before the deadline
	CodeConnection  = "connection"   // the connection broke after we began to write
	CodeUnreadable  = "unreadable"   // an answer came that is not the provider's format
	CodeServerError = "server_error" // HTTP 5xx, 408 or 429
	CodeDuplicate   = "duplicate"    // the reference was used before: what was asked for then may be done
)

// Error is why a call that moves no money gave nothing. It is safe to repeat.
type Error struct {
	Provider string // the provider's name, as in "<provider> API Error:"
	Code     string
	Message  string // the provider's words, without personal data
	Cause    error  // for operators
}

// Error is the line for logs.
func (e *Error) Error() string {
	s := e.Provider + ": " + e.Code + ": " + e.Message
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Cause }

// AsError is the Error that err is, or holds. Any other trouble is an answer of
// the provider's that could not be read.
func AsError(provider string, err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Provider: provider, Code: CodeUnreadable, Cause: err}
}

// ServiceKind is what sort of thing a biller's service sells.
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
	// Services, Categories and Products list what is on sale. A failure is an
	// *Error.
	Services(ctx context.Context) ([]Service, error)
	Categories(ctx context.Context, serviceCode string) ([]Category, error)
	Products(ctx context.Context, categoryCode string) ([]Product, error)
	// Pay buys. The purchase's Reference is ours and permanent: it is what
	// Requery asks for after the answer was lost. Pay never repeats a request
	// that may have been executed.
	Pay(ctx context.Context, p Purchase) Answer
	// Requery asks what became of a purchase, by our reference and by when it was
	// begun.
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
	// DSTV, IKEJA. It is how two billers are seen to sell the same; never empty.
	Vendor string
}

// Product is one thing on sale in a category.
type Product struct {
	Code     string // the biller's opaque key; never taken apart
	Name     string // may be empty
	Validity string // may be empty
	Amount   money.Kobo
	Fixed    bool // false: the buyer chooses the amount
}

// Purchase is one thing to buy. Which of the numbers is set depends on Kind.
type Purchase struct {
	Reference string
	Begun     time.Time // when it was written down
	Kind      ServiceKind
	Category  string // Category.Code
	Product   string // Product.Code; empty for airtime and utility
	Amount    money.Kobo
	Phone     string // airtime, data: 11 digits
	Card      string // cable TV: smartcard or IUC number
	Meter     string // utility
	VendType  string // utility: PREPAID or POSTPAID
}
