// Package provider defines the interfaces of the providers behind Kobo: banks, billers, card
// issuers and custodians of crypto addresses.
//
// A plug is a package below this folder. It speaks one provider's wire format and implements one or
// more of the interfaces. Plugs contain no business rules. A call that may have moved money returns
// an Answer, whose zero value means "unknown". Such a call never returns a bare error.
package provider

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
)

// Outcome is the result of a call that may have moved money.
type Outcome int8

// The three outcomes. Confirmed and Rejected require a definite reply from the provider.
const (
	Unknown   Outcome = iota // executed or not: the caller does not refund the company, and asks the provider again
	Confirmed                // executed
	Rejected                 // not executed, and never executed later under this reference
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

// Answer is what a provider reports about one reference.
type Answer struct {
	Outcome Outcome
	// Missing is true when a requery finds no such reference. The outcome stays Unknown. After the
	// grace period the caller may treat the operation as refused (completion.md §3).
	Missing bool
	// Unproven is true with Missing if the provider may be unable to look up our reference. The
	// reply "no such reference" then proves nothing, and operators decide.
	Unproven bool
	// Found is true when a requery has found the operation by our reference. It proves that the
	// provider looks up our references.
	Found bool
	// Unstarted is true only with Rejected. The provider refused the request before it began to carry
	// it out, or no byte was sent. Only such a purchase may go to a different biller. A plug sets it
	// for a closed list of replies, and for no reply that is in doubt.
	Unstarted bool
	// Reversed is true if the provider paid the money out and got it back later. The outcome is
	// then Rejected, although the company may already have received a success event.
	Reversed bool
	// Reference is the provider's identifier of the transaction, if known.
	Reference string
	// Code is a short code for programs and operators. It is the provider's response code, or one
	// of the Code constants.
	Code string
	// Message is the provider's message without personal data, at most 200 characters. A company
	// may read it.
	Message string
	// Token is the code that a buyer of power types into a prepaid meter. It is empty for all other
	// purchases.
	Token string
	// Meter has the further codes for a prepaid meter, if the provider reports any.
	Meter MeterCodes
	// Charge is the provider's charge on top of the amount, if the provider reports it.
	Charge money.Kobo
	// Sold is the amount of a purchase as the provider reports it. It is 0 if the reply does not
	// contain an amount.
	Sold money.Kobo
}

// These codes are the same for all providers.
const (
	CodeNotSent     = "not_sent"     // no byte was sent to the provider, so the outcome is Rejected
	CodeTimeout     = "timeout"      // no response before the deadline
	CodeConnection  = "connection"   // the connection broke after we began to send
	CodeUnreadable  = "unreadable"   // the response is not in the provider's format
	CodeServerError = "server_error" // HTTP 5xx, 408 or 429
	CodeDuplicate   = "duplicate"    // the reference was used before, perhaps with success
	CodeWrongChain  = "wrong_chain"  // a node belongs to a different blockchain
	CodeLogsMissing = "logs_missing" // a node has returned fewer logs than its block has
	CodeAmount      = "amount"       // carried out, but the reported amount differs from the order
	// CodeOther means that the reply to a payment names a different one, or ours in another spelling.
	CodeOther = "other_reference"
)

// InProgressCodes are the codes by which Safe Haven and VTpass say that they have accepted a request and have not finished it:
// the response codes 09 and 099, and the status words of a record. The outcome is Unknown then. The codes of a card funding
// are not among them: Sudo's plug says pending for each record that is not finished, whatever the reason.
var InProgressCodes = []string{"09", "099", "initiated", "pending", "processing"}

// Error is the failure of a call that moves no money. The call may be repeated.
type Error struct {
	Provider string // the provider's display name, such as "Safe Haven"
	Code     string
	Message  string // the provider's message, without personal data
	Cause    error  // for operators
}

// Error returns the error as one line for logs.
func (e *Error) Error() string {
	s := e.Provider + ": " + e.Code + ": " + e.Message
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// AsError returns the Error that err is or wraps. Any other error becomes an Error with
// CodeUnreadable.
func AsError(provider string, err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Provider: provider, Code: CodeUnreadable, Cause: err}
}

// ServiceKind is the type of product that a biller's service sells.
type ServiceKind string

// The four kinds, spelled as in the field `type` of transactions in the API contract.
const (
	Airtime ServiceKind = "AIRTIME"
	Data    ServiceKind = "DATA"
	CableTV ServiceKind = "CABLE_TV"
	Utility ServiceKind = "UTILITY"
)

// Biller sells airtime, data, TV and power. It may also be an EntityVerifier.
type Biller interface {
	// Name returns the provider's display name, such as "Safe Haven".
	Name() string
	// Services, Categories and Products list the catalogue. A failure is an *Error.
	Services(ctx context.Context) ([]Service, error)
	Categories(ctx context.Context, serviceCode string) ([]Category, error)
	Products(ctx context.Context, kind ServiceKind, categoryCode string) ([]Product, error)
	// Pay buys a product. The purchase's Reference is our own permanent reference. If the reply is
	// lost, Requery asks for the outcome by this reference. Pay never repeats a request that may
	// have been executed.
	Pay(ctx context.Context, p Purchase) Answer
	// Requery asks for the outcome of a purchase by our reference. If the biller does not find our
	// reference, Requery asks by the biller's own identifier, where the biller supports both.
	Requery(ctx context.Context, s Sale) Answer
}

// Sale is a purchase that was sent to a biller.
type Sale struct {
	Reference string    // Purchase.Reference
	Begun     time.Time // Purchase.Begun
	Kind      ServiceKind
	Theirs    string // Answer.Reference of an earlier reply; empty if no reply contained it
}

// Wallet is implemented by a provider that takes money from an account of ours: a biller the prices
// of purchases, an issuer the fundings of cards, a bank the payouts.
type Wallet interface {
	// Balance returns what is left in the account.
	Balance(ctx context.Context) (money.Kobo, error)
}

// SaleReceiver is implemented by a Biller that sends callbacks about purchases. A callback proves
// nothing. It is only a reason to call Requery.
type SaleReceiver interface {
	// ParseSaleNotice returns our reference of the purchase that a callback is about. The reference
	// is empty if the callback is about something else.
	ParseSaleNotice(body []byte) (reference string, err error)
}

// Service is a type of product that a biller sells, such as data bundles.
type Service struct {
	Code string // the biller's id of the service
	Name string
	Kind ServiceKind
}

// Category is one vendor within a service, such as a mobile network.
type Category struct {
	Code string // the biller's id of the category
	Name string
	// Vendor is one word in capitals that names the vendor, such as MTN, DSTV or IKEJA. It is never
	// empty. The word is the same at every biller: equal words mean the same vendor.
	Vendor string
}

// Product is one item that a buyer can choose in a category.
type Product struct {
	Code     string // the biller's identifier, which only the biller interprets
	Name     string // may be empty
	Validity string // may be empty
	Amount   money.Kobo
	Fixed    bool // false if the buyer chooses the amount
}

// Purchase is an order for one product. Kind decides which of the fields Phone, Card and Meter is
// set.
type Purchase struct {
	Reference string
	Begun     time.Time // when the purchase was recorded in our database, before it was sent
	Kind      ServiceKind
	Category  string // Category.Code
	Product   string // Product.Code; empty for airtime and utility
	Amount    money.Kobo
	Phone     string // airtime, data: 11 digits
	Card      string // cable TV: smartcard or IUC number
	Meter     string // utility: the meter number
	VendType  string // utility: PREPAID or POSTPAID
}
