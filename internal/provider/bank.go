package provider

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Bank holds the money. It opens accounts, reports credits, pays out, and keeps a
// statement, which reconciliation compares with our ledger.
type Bank interface {
	// Name is the bank's name for people: "Safe Haven".
	Name() string
	// Own is the bank's name and code as payers choose them.
	Own() BankCode
	AccountOpener
	Receiver
	Payer
	Bookkeeper
}

// AccountOpener opens bank accounts into which others pay.
type AccountOpener interface {
	// OpenAccount opens a permanent account for a person or a company. Rejected
	// means that no account was opened (a wrong OTP, for example).
	OpenAccount(ctx context.Context, r AccountRequest) AccountAnswer
	// FindAccount asks for the result of OpenAccount or OpenVirtualAccount, by our
	// reference. Missing means that the bank's list has no such account.
	FindAccount(ctx context.Context, reference string) AccountAnswer
	// OpenVirtualAccount opens an account for one payment. The account expires by
	// itself.
	OpenVirtualAccount(ctx context.Context, r VirtualAccountRequest) VirtualAccountAnswer
}

// AccountRequest is a permanent account to open.
//
// A person proves their identity in this call, with the OTP of a session that was
// started and not confirmed. For a company (Corporate) the session of its signatory
// was started and confirmed before, and there is no OTP.
type AccountRequest struct {
	Reference           string // ours and permanent; for FindAccount
	Phone               string // as the caller wrote it: 0803… or +234803…
	Email               string
	Corporate           bool
	IdentitySession     string      // Answer.Reference of the Verifier's Start or Confirm
	IdentityNumber      secret.Text // the person's BVN; not for a company
	OTP                 secret.Text // not for a company
	CompanyRegistration string      // RC or BN number; only for a company
	CallbackURL         string      // receives notifications of credits; empty: the client's default
}

// AccountAnswer is an account that was opened or found.
type AccountAnswer struct {
	Answer
	Account
}

// Account is a bank account as payers see it.
type Account struct {
	Number     string `db:"account_number,changes"` // ten digits
	Name       string `db:"account_name,changes"`
	BankName   string `db:"bank_name,changes"`
	BankCode   string `db:"bank_code,changes"`
	ProviderID string `db:"provider_id,changes"` // the bank's own id of the account
}

// AmountControl says which payments a virtual account takes.
type AmountControl string

// The three controls, spelled as the contract spells them.
const (
	Fixed        AmountControl = "Fixed"        // exactly the amount
	UnderPayment AmountControl = "UnderPayment" // the amount or less
	OverPayment  AmountControl = "OverPayment"  // the amount or more
)

// VirtualAccountRequest is an account for one payment.
type VirtualAccountRequest struct {
	Reference   string // ours; the notification of a payment carries it
	Amount      money.Kobo
	Control     AmountControl // empty: Fixed
	ValidFor    time.Duration // whole seconds; zero: 15 minutes
	CallbackURL string
	AccountName string // a bank that names accounts itself ignores this
}

// VirtualAccountAnswer is a virtual account that was opened.
type VirtualAccountAnswer struct {
	Answer
	Account
	ExpiresAt time.Time
}

// Receiver reports credits. A notification proves nothing, since anybody can send
// one. It names a session, and Inbound asks the bank about the session.
type Receiver interface {
	// ParseNotification reads a request of the bank to a callback URL. An error
	// means that the body is not in the bank's format. Kinds without a use for us
	// are Unrecognised, and no error.
	ParseNotification(body []byte) (Notification, error)
	// Inbound asks the bank for one credit, by the session of its notification.
	// Virtual is true for a notification of kind VirtualCredit. Confirmed means that
	// the money is on the account. Rejected means that the money did not stay there.
	Inbound(ctx context.Context, sessionID string, virtual bool) InboundAnswer
	// InboundSince lists the credits of all our accounts at or after from, newest
	// first, pages counted from 0. More reports whether another page may follow. A
	// credit that arrives between two pages makes one row appear twice, and hides
	// none. Finished credits have an Outcome as in Inbound. A failure is an *Error.
	InboundSince(ctx context.Context, from time.Time, page int) (credits []Inbound, more bool, err error)
}

// NotificationKind is the subject of a notification.
type NotificationKind string

// The kinds of notification.
const (
	Unrecognised  NotificationKind = ""               // kept, and not used
	AccountCredit NotificationKind = "account_credit" // money came into a permanent account
	VirtualCredit NotificationKind = "virtual_credit" // money came into a virtual account
	PayoutNotice  NotificationKind = "payout"         // a Transfer of ours changed its state
)

// Notification is a bank's message about a credit or a payout. It says where to
// look, and proves nothing by itself.
type Notification struct {
	Kind       NotificationKind
	SessionID  string // for Inbound
	ProviderID string
	// Reference is our reference: of the Transfer for a PayoutNotice, of the
	// VirtualAccountRequest for a VirtualCredit. An AccountCredit has none.
	Reference string
	Account   string // the credited account or, for a payout, the debited one
	Amount    money.Kobo
}

// InboundAnswer is what the bank says about one credit.
type InboundAnswer struct {
	Answer
	Credit Inbound // empty unless the bank showed us the credit
}

// Inbound is a credit on one of our accounts, in the bank's words.
type Inbound struct {
	Outcome       Outcome // Unknown until the bank has finished
	SessionID     string  // the same in every notification of one credit
	ProviderID    string
	CreditAccount string
	SenderName    string
	SenderAccount string
	SenderBank    string // the code of the sending bank, if known
	Narration     string
	Amount        money.Kobo
	At            time.Time
	Virtual       bool   // the account is a virtual one
	Reference     string // ours, of the VirtualAccountRequest
	Status        string // the bank's word, in lower case
}

// Payer sends money to other banks.
type Payer interface {
	// Banks lists the banks that can be paid. A failure is an *Error.
	Banks(ctx context.Context) ([]BankCode, error)
	// NameEnquiry asks for the name on an account. Rejected means that the bank
	// definitely knows no such account. Any other failure is Unknown.
	NameEnquiry(ctx context.Context, bankCode, account string) NameAnswer
	// Transfer pays. The order's Reference is ours and permanent; RequeryTransfer
	// asks by it. Transfer never repeats a request that may have been executed. A
	// reference that the bank has seen before is Unknown.
	Transfer(ctx context.Context, t TransferOrder) TransferAnswer
	// RequeryTransfer asks for the outcome of a transfer, by our reference.
	RequeryTransfer(ctx context.Context, reference string) TransferAnswer
}

// BankCode is a bank that can be paid, and its code.
type BankCode struct {
	Code string
	Name string
}

// NameAnswer is the name on an account.
type NameAnswer struct {
	Answer
	// Session is for Transfer. The session expires: ask again before a much later
	// transfer.
	Session  string
	Name     string
	BankCode string
	Account  string
}

// TransferOrder is money to send.
type TransferOrder struct {
	Reference          string
	NameEnquirySession string
	BankCode           string
	Account            string
	Amount             money.Kobo
	Narration          string
}

// TransferAnswer is what the bank says about a transfer.
type TransferAnswer struct {
	Answer
	SessionID string     // between the banks; empty until there is one
	Amount    money.Kobo // the transfer's amount, if the answer has one; else 0
}

// Bookkeeper shows the bank's statement.
type Bookkeeper interface {
	// Statement lists the lines of our account with the bank, in the bank's order,
	// pages counted from 0. The span begins at from and ends before to. More tells
	// whether another page may follow. A failure is an *Error.
	Statement(ctx context.Context, from, to time.Time, page int) (lines []StatementLine, more bool, err error)
}

// StatementLine is one line of the bank's statement.
type StatementLine struct {
	ID        string
	Reference string // the payment reference: ours for a Transfer
	Credit    bool   // false: a debit
	Reversal  bool
	Amount    money.Kobo
	Balance   money.Kobo // after the line
	Narration string
	At        time.Time
}
