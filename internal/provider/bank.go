package provider

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Bank holds the money: it opens accounts, tells of what came in, pays out, and
// keeps a statement against which our books are held.
type Bank interface {
	// Name is the bank's name for people: "Safe Haven".
	Name() string
	// Own is how payers know the bank: where its accounts are.
	Own() BankCode
	AccountOpener
	Receiver
	Payer
	Bookkeeper
}

// AccountOpener opens bank accounts into which others pay.
type AccountOpener interface {
	// OpenAccount opens a permanent account for a person or a company. When it is
	// Rejected, nothing was opened (a wrong OTP, say).
	OpenAccount(ctx context.Context, r AccountRequest) AccountAnswer
	// FindAccount is what became of an OpenAccount or an OpenVirtualAccount, by our
	// reference. Missing is the bank's list without such an account.
	FindAccount(ctx context.Context, reference string) AccountAnswer
	// OpenVirtualAccount opens an account for one payment, which ends by itself.
	OpenVirtualAccount(ctx context.Context, r VirtualAccountRequest) VirtualAccountAnswer
}

// AccountRequest is a permanent account to open.
//
// A person proves who they are in this very call, with the OTP of a session that
// was started and not confirmed. For a company (Corporate) the session of its
// signatory was started and confirmed before, and there is no OTP.
type AccountRequest struct {
	Reference           string // ours and permanent: FindAccount asks by it
	Phone               string // as the caller wrote it: 0803… or +234803…
	Email               string
	Corporate           bool
	IdentitySession     string      // Answer.Reference of the Verifier's Start or Confirm
	IdentityNumber      secret.Text // the person's BVN; not for a company
	OTP                 secret.Text // not for a company
	CompanyRegistration string      // RC or BN number; only for a company
	CallbackURL         string      // where credits are notified; empty: the client's default
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
	ProviderID string `db:"provider_id,changes"` // the bank's own id of it
}

// AmountControl is which payments a virtual account takes.
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
	AccountName string // a wish; a bank that names accounts itself ignores it
}

// VirtualAccountAnswer is a virtual account that was opened.
type VirtualAccountAnswer struct {
	Answer
	Account
	ExpiresAt time.Time
}

// Receiver tells of money that came in. A notification proves nothing (anybody
// can send one): it names a session, and Inbound says whether it is true.
type Receiver interface {
	// ParseNotification reads what the bank sent to a callback URL. An error
	// means that it is not the bank's format; a kind we have no use for is
	// Unrecognised and no error.
	ParseNotification(body []byte) (Notification, error)
	// Inbound asks the bank for one credit by the session of its notification;
	// virtual is for a notification of kind VirtualCredit. Confirmed: the money is
	// on the account, as Credit says. Rejected: it definitely did not stay there.
	Inbound(ctx context.Context, sessionID string, virtual bool) InboundAnswer
	// InboundSince lists the credits of all our accounts at or after from, newest
	// first, pages counted from 0; more tells whether another page may follow. A
	// credit that comes in between two pages shows one twice, and hides none.
	// Finished ones are Confirmed or Rejected by their Outcome as in Inbound. A
	// failure is an *Error.
	InboundSince(ctx context.Context, from time.Time, page int) (credits []Inbound, more bool, err error)
}

// NotificationKind is what a notification is about.
type NotificationKind string

// The kinds of notification.
const (
	Unrecognised  NotificationKind = ""               // kept, and of no use to us
	AccountCredit NotificationKind = "account_credit" // money came into a permanent account
	VirtualCredit NotificationKind = "virtual_credit" // money came into a virtual account
	PayoutNotice  NotificationKind = "payout"         // a Transfer of ours moved on
)

// Notification is what a bank sent of its own accord. It says where to look and
// is never believed for itself.
type Notification struct {
	Kind       NotificationKind
	SessionID  string // what Inbound asks by
	ProviderID string
	// Reference is ours: of the Transfer for a PayoutNotice, of the
	// VirtualAccountRequest for a VirtualCredit. It is empty for an AccountCredit.
	Reference string
	Account   string // the account that was credited or, for a payout, debited
	Amount    money.Kobo
}

// InboundAnswer is what the bank says of one credit.
type InboundAnswer struct {
	Answer
	Credit Inbound // empty unless the bank showed us the credit
}

// Inbound is a credit on one of our accounts, in the bank's words.
type Inbound struct {
	Outcome       Outcome // Unknown while the bank is not done with it
	SessionID     string  // the same for one credit however often it is told
	ProviderID    string
	CreditAccount string
	SenderName    string
	SenderAccount string
	SenderBank    string // the code of the bank it came from, when told
	Narration     string
	Amount        money.Kobo
	At            time.Time
	Virtual       bool   // it came into a virtual account
	Reference     string // ours, of the VirtualAccountRequest
	Status        string // the bank's word, in lower case
}

// Payer sends money to other banks.
type Payer interface {
	// Banks lists the banks that can be paid. A failure is an *Error.
	Banks(ctx context.Context) ([]BankCode, error)
	// NameEnquiry asks whose account it is. Rejected is the bank's definite word
	// that there is no such account; any trouble on the way is Unknown.
	NameEnquiry(ctx context.Context, bankCode, account string) NameAnswer
	// Transfer pays. The order's Reference is ours and permanent: it is what
	// RequeryTransfer asks for. Transfer never repeats a request that may have
	// been executed, and a reference the bank has seen before is Unknown.
	Transfer(ctx context.Context, t TransferOrder) TransferAnswer
	// RequeryTransfer asks what became of a transfer, by our reference.
	RequeryTransfer(ctx context.Context, reference string) TransferAnswer
}

// BankCode is a bank that can be paid and the code by which it is meant.
type BankCode struct {
	Code string
	Name string
}

// NameAnswer is the name on an account.
type NameAnswer struct {
	Answer
	// Session is what Transfer wants. It grows old: ask again before a transfer
	// that comes much later.
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

// TransferAnswer is what the bank made known about a transfer.
type TransferAnswer struct {
	Answer
	SessionID string     // between the banks; empty until there is one
	Amount    money.Kobo // that it speaks of; 0 when it does not say
}

// Bookkeeper is the bank's side of the books.
type Bookkeeper interface {
	// Statement lists the lines of our account with the bank from one instant up
	// to before another, pages counted from 0, in the bank's order; more tells
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
	Balance   money.Kobo // after it
	Narration string
	At        time.Time
}
