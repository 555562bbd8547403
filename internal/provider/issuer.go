package provider

import (
	"context"
	"net/http"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Issuer issues payment cards to a company's customers. Each card has an account at the issuer. The
// fintech funds that account in advance from the fintech's account at the issuer.
//
// No full card number passes through this interface, with one exception: the number printed on a
// physical card is sent to the issuer.
type Issuer interface {
	// Name returns the issuer's display name, such as "Sudo". Error messages begin with this name.
	Name() string
	// OpenCardholder registers a customer at the issuer and returns the issuer's id. It moves no
	// money, so a failure is an *Error. A second call registers the customer again, and the first
	// registration stays unused.
	OpenCardholder(ctx context.Context, h Cardholder) (id string, err error)
	// CreateCard issues a card. If the issuer's reply is lost, the caller must look for the card on
	// the list that Cards returns. The caller may send the order again only if the list does not
	// contain the card.
	CreateCard(ctx context.Context, o CardOrder) CardAnswer
	// Cards returns the complete list of a cardholder's cards, or an *Error.
	Cards(ctx context.Context, cardholder string) ([]IssuedCard, error)
	// Card returns one card.
	Card(ctx context.Context, cardID string) (IssuedCard, error)
	// CardToken creates a short-lived token. With the token a customer's browser or phone reads the
	// card's secrets from the issuer.
	CardToken(ctx context.Context, cardID string) (CardToken, error)
	// SendDefaultPIN sends the card's first PIN to the cardholder. It returns the
	// issuer's message.
	SendDefaultPIN(ctx context.Context, cardID string) (message string, err error)
	// SetCardStatus sets the status of a card. Canceled is final, and the issuer then moves what is left
	// on the card to the fintech's account at the issuer. A repeated call does no harm. If the outcome
	// is Unknown, the caller must ask for the card.
	SetCardStatus(ctx context.Context, cardID string, to CardStatus, reason string) Answer
	// CardBalance returns what is left on a card, or an *Error.
	CardBalance(ctx context.Context, cardID string) (money.Kobo, error)
	// ReturnedBalance looks for the money of a terminated card on the list of the fintech's account. It
	// returns false if no line of the list names the card, which proves nothing. It returns 0 and true while a
	// line that names the card has no outcome.
	ReturnedBalance(ctx context.Context, cardID string, since time.Time) (back money.Kobo, listed bool, err error)
	// FundCard moves money into a card's account. It never repeats a request that
	// may have been executed.
	FundCard(ctx context.Context, f CardFunding) Answer
	// RequeryFunding asks for the outcome of a funding. Missing means that the issuer's list is
	// guaranteed to be complete and does not contain the funding.
	RequeryFunding(ctx context.Context, f CardFunding) Answer
	// ParseCardNotice reads a notification from the issuer. It first checks that the issuer sent
	// the notification, and returns ErrForged if not.
	ParseCardNotice(header http.Header, body []byte) (CardNotice, error)
}

// Cardholder is a person who gets cards.
type Cardholder struct {
	FirstName, MiddleName, LastName string
	Email, Phone                    string
	DateOfBirth                     string // YYYY-MM-DD; "" when not known
	Address                         CardholderAddress
}

// CardholderAddress is a cardholder's billing address.
type CardholderAddress struct {
	Line1, Line2, City, State, PostalCode, Country string
}

// CardOrder is an order for a new card.
type CardOrder struct {
	Reference  string // our own permanent reference
	Cardholder string // the issuer's id of the cardholder
	Type       string // virtual or physical
	Brand      string // Verve, Visa, MasterCard, AfriGo
	Currency   string
	// Number is printed on a physical card. Only the issuer receives it.
	Number     secret.Text
	SendPINSMS bool
}

// IssuedCard is a card as its issuer reports it, without the card number.
type IssuedCard struct {
	ID        string // the issuer's id of the card
	Reference string // our reference, if the issuer returns it
	Account   string // the issuer's id of the card's account
	Type      string
	Brand     string
	Currency  string
	MaskedPAN string
	// ExpiryMonth has two digits, ExpiryYear four.
	ExpiryMonth, ExpiryYear string
	Status                  CardStatus
	CreatedAt               time.Time
}

// CardStatus is the status of an issued card.
type CardStatus string

// The statuses of a card.
const (
	CardActive   CardStatus = "active"
	CardInactive CardStatus = "inactive" // frozen: the issuer declines payments
	CardCanceled CardStatus = "canceled" // terminated for ever
)

// CardAnswer is the result of a CardOrder.
type CardAnswer struct {
	Answer
	Card IssuedCard // set if the outcome is Confirmed
}

// CardToken is a token with which a card's secrets can be read. It is never stored and never
// logged.
type CardToken struct {
	Value     secret.Text
	ExpiresIn time.Duration
}

// CardFunding is a transfer of money to a card's account.
type CardFunding struct {
	Reference string // our own permanent reference
	Account   string // IssuedCard.Account
	Amount    money.Kobo
	Since     time.Time // when the funding was recorded
	Earlier   bool      // the request may be older than Since, because a restore has lost the first one
	Issued    string    // the issuer's id of the transfer; "" before the issuer has reported it
}

// CardNoticeKind is the subject of a card notification.
type CardNoticeKind string

// The kinds of notices.
const (
	CardAuthorization CardNoticeKind = "authorization" // the issuer asks whether a payment may pass
	CardBalance       CardNoticeKind = "balance"       // the issuer asks for the balance
	CardActivity      CardNoticeKind = "activity"      // an event that is only recorded
	CardEnded         CardNoticeKind = "ended"         // the card was terminated
	CardNothing       CardNoticeKind = ""              // a notification that we do not use
)

// CardNotice is a notification of an issuer.
type CardNotice struct {
	Kind CardNoticeKind
	ID   string // the id of the event; repeated notifications of the event have the same id
	Word string // the issuer's name of the event, such as transaction.created
	Card string // the issuer's id of the card
	// Amount is what the event moved on the card, negative for a payment. For CardEnded it is what was
	// left on the card, and is back in the fintech's account at the issuer.
	Amount   money.Kobo
	Currency string // "" if the issuer does not say
	Merchant string // the merchant's name and place; "" if there is none
	At       time.Time
	// Reply is the body of the HTTP response to the issuer.
	Reply []byte
}
