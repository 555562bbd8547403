package provider

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Bank is a bank at which companies hold money. It opens accounts, reports credits and pays out. It
// also returns the statement of our account, which reconciliation compares with our ledger.
type Bank interface {
	// Name returns the bank's display name, such as "Safe Haven".
	Name() string
	// Own returns this bank's name and code, which payers choose when they send money to it.
	Own() BankCode
	AccountOpener
	Receiver
	Payer
	Bookkeeper
}

// AccountOpener opens bank accounts that can receive payments.
type AccountOpener interface {
	// OpenAccount opens a permanent account for a person or a company. Rejected means that no
	// account was opened, for example because the OTP was wrong.
	OpenAccount(ctx context.Context, r AccountRequest) AccountAnswer
	// FindAccount looks up, by our reference, an account that OpenAccount or OpenVirtualAccount may
	// have opened. Missing means that the bank's list has no account with this reference.
	FindAccount(ctx context.Context, reference string) AccountAnswer
	// OpenVirtualAccount opens an account for one payment. The account expires automatically.
	OpenVirtualAccount(ctx context.Context, r VirtualAccountRequest) VirtualAccountAnswer
}

// AccountRequest is a request to open a permanent account.
//
// A person proves their identity in this request, with the OTP of a started but unconfirmed OTP
// session. For a company (Corporate), and for a person whose identity is Proven, the OTP session was
// started and confirmed earlier, and the request has no OTP.
type AccountRequest struct {
	Reference           string // our own permanent reference; FindAccount looks the account up by it
	Phone               string // as the caller wrote it: 0803… or +234803…
	Email               string
	Corporate           bool
	Proven              bool        // the person's OTP session was confirmed earlier; not for a company
	IdentitySession     string      // Answer.Reference of the Verifier's Start or Confirm
	IdentityNumber      secret.Text // the person's BVN; not for a company
	OTP                 secret.Text // not for a company
	CompanyRegistration string      // RC or BN number; only for a company
	CallbackURL         string      // receives notifications of credits; if empty, the client's default receives them
}

// AccountAnswer is an account that was opened or found.
type AccountAnswer struct {
	Answer
	Account
	// Holder is the name in the BVN's record of a person. It is personal data, and empty if the bank did
	// not return it.
	Holder secret.Text
}

// Account is a bank account as payers see it.
type Account struct {
	Number     string `db:"account_number,changes"` // ten digits
	Name       string `db:"account_name,changes"`
	BankName   string `db:"bank_name,changes"`
	BankCode   string `db:"bank_code,changes"`
	ProviderID string `db:"provider_id,changes"` // the bank's identifier of the account
}

// AmountControl states which amounts a virtual account accepts.
type AmountControl string

// The three amount controls, spelled as in the API contract.
const (
	Fixed        AmountControl = "Fixed"        // exactly the amount
	UnderPayment AmountControl = "UnderPayment" // the amount or less
	OverPayment  AmountControl = "OverPayment"  // the amount or more
)

// VirtualAccountRequest is a request to open an account for one payment.
type VirtualAccountRequest struct {
	Reference   string // our reference; the notification of a payment contains it
	Amount      money.Kobo
	Control     AmountControl // empty means Fixed
	ValidFor    time.Duration // in whole seconds; zero means 15 minutes
	CallbackURL string
	AccountName string // a bank that names accounts itself ignores this
}

// VirtualAccountAnswer is a virtual account that was opened.
type VirtualAccountAnswer struct {
	Answer
	Account
	ExpiresAt time.Time
}

// Receiver reports credits. Anybody can send a notification, so a notification proves nothing. Only
// its session ID is used: Inbound asks the bank about the credit with that session ID.
type Receiver interface {
	// ParseNotification reads a request that the bank sent to a callback URL. It returns an error
	// if the body is not in the bank's format. A notification that we do not use gets the kind
	// Unrecognised, without an error.
	ParseNotification(body []byte) (Notification, error)
	// Inbound asks the bank for one credit, by the session ID of its notification. The parameter
	// virtual is true for a notification of kind VirtualCredit. Confirmed means that the money is
	// on the account. Rejected means that the money did not stay on the account.
	Inbound(ctx context.Context, sessionID string, virtual bool) InboundAnswer
	// Receiving lists our accounts at the bank, which may receive credits. The first page has the
	// number 0. The result more reports whether a further page may follow. A failure is an *Error.
	Receiving(ctx context.Context, page int) (accounts []Receiving, more bool, err error)
	// InboundSince lists the credits of one of these accounts since the time from, newest first. The
	// first page has the number 0. The result more reports whether a further page may follow. If a
	// credit arrives between two calls, one row appears on both pages, but no row is missed. The
	// Outcome of a credit that the bank has finished follows the same rules as in Inbound. A
	// failure is an *Error.
	InboundSince(ctx context.Context, accountID string, from time.Time, page int) (credits []Inbound, more bool, err error)
}

// Receiving is one of our accounts at a bank, which may receive credits.
type Receiving struct {
	ID     string // the bank's identifier of the account
	Number string
	Main   bool // the account to which the bank forwards the credits of the other accounts
}

// NotificationKind is the subject of a notification.
type NotificationKind string

// The kinds of notification.
const (
	Unrecognised  NotificationKind = ""               // stored, but not used
	AccountCredit NotificationKind = "account_credit" // money came into a permanent account
	VirtualCredit NotificationKind = "virtual_credit" // money came into a virtual account
	PayoutNotice  NotificationKind = "payout"         // the state of one of our payouts changed
)

// Notification is a bank's message about a credit or a payout. The message proves nothing by
// itself, so the bank must be asked about that credit or payout.
type Notification struct {
	Kind       NotificationKind
	SessionID  string // the session ID for Inbound
	ProviderID string
	// Reference is our reference. In a PayoutNotice it is the reference of the TransferOrder. In a
	// VirtualCredit it is the reference of the VirtualAccountRequest. In an AccountCredit it is
	// empty.
	Reference string
	Account   string // the credited account or, for a payout, the debited account
	Amount    money.Kobo
}

// InboundAnswer is what the bank reports about one credit.
type InboundAnswer struct {
	Answer
	Credit Inbound // empty unless the bank returned the credit
}

// Inbound is a credit on one of our accounts, as the bank reports it.
type Inbound struct {
	Outcome       Outcome // Unknown until the bank has finished the credit
	SessionID     string  // the same in every notification of one credit
	ProviderID    string
	CreditAccount string
	SenderName    string
	SenderAccount string
	SenderBank    string // the code of the sending bank, if known
	Narration     string
	Amount        money.Kobo
	At            time.Time
	Virtual       bool   // the account is a virtual account
	Reference     string // the Reference of the VirtualAccountRequest; only for a virtual account
	Status        string // the bank's status word, in lower case
}

// Payer sends money to accounts at other banks.
type Payer interface {
	// Banks lists the banks to which a transfer can go. A failure is an *Error.
	Banks(ctx context.Context) ([]BankCode, error)
	// NameEnquiry asks for the name of an account's holder. Rejected means that the account
	// definitely does not exist. Any other failure is Unknown.
	NameEnquiry(ctx context.Context, bankCode, account string) NameAnswer
	// Transfer sends an amount to an account, as the order t states. The order's Reference is our
	// own permanent reference, by which RequeryTransfer asks for the outcome. Transfer never
	// repeats a request that may have been executed. If the bank has seen the reference before, the
	// outcome is Unknown.
	Transfer(ctx context.Context, t TransferOrder) TransferAnswer
	// RequeryTransfer asks the bank for the outcome of a transfer, by our reference.
	RequeryTransfer(ctx context.Context, reference string) TransferAnswer
}

// BankCode is the name and the code of a bank that can be paid.
type BankCode struct {
	Code string
	Name string
}

// NameAnswer is the result of a name enquiry.
type NameAnswer struct {
	Answer
	// Session is the session ID of the name enquiry, which Transfer needs. It expires, so a much
	// later transfer needs a new name enquiry.
	Session  string
	Name     string
	BankCode string
	Account  string
}

// TransferOrder is a transfer to send.
type TransferOrder struct {
	Reference          string
	NameEnquirySession string
	BankCode           string
	Account            string
	Amount             money.Kobo
	Narration          string
}

// TransferAnswer is what the bank reports about a transfer.
type TransferAnswer struct {
	Answer
	SessionID string     // the session ID between the banks; empty until the bank reports it
	Amount    money.Kobo // the transfer's amount; 0 if the bank's reply does not contain it
}

// Bookkeeper lists the bank's statement.
type Bookkeeper interface {
	// Statement lists the lines of our account at the bank, in the bank's order. It lists the lines
	// at or after the time from and before the time to. The first page has the number 0. The result
	// more reports whether a further page may follow. A failure is an *Error.
	Statement(ctx context.Context, from, to time.Time, page int) (lines []StatementLine, more bool, err error)
}

// StatementLine is one line of the bank's statement.
type StatementLine struct {
	ID        string
	Reference string // the payment reference; for a Transfer it is our reference
	Credit    bool   // false means a debit
	Reversal  bool
	Amount    money.Kobo
	Balance   money.Kobo // the balance after this line
	Narration string
	At        time.Time
}
