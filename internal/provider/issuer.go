package provider

import (
	"context"
	"net/http"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Issuer issues payment cards to a company's customers. Each card has an account
// at the issuer. The fintech funds it in advance from its own account there.
//
// No full card number passes through here, with one exception: the number printed
// on a physical card goes to the issuer.
type Issuer interface {
	// Name is the issuer's name for people, as in "<provider> API Error:".
	Name() string
	// OpenCardholder registers a customer at the issuer and returns the issuer's id.
	// It moves no money: a failure is an *Error. A second call registers the customer
	// again, and the first registration stays unused.
	OpenCardholder(ctx context.Context, h Cardholder) (id string, err error)
	// CreateCard issues a card. After a lost answer the caller looks for the card
	// among the cardholder's before it asks for another.
	CreateCard(ctx context.Context, o CardOrder) CardAnswer
	// Cards lists all the cards of a cardholder: the whole list or an *Error.
	Cards(ctx context.Context, cardholder string) ([]IssuedCard, error)
	// Card finds one card.
	Card(ctx context.Context, cardID string) (IssuedCard, error)
	// CardToken makes a token with a short life. With the token a customer's browser
	// or phone reads the card's secrets from the issuer.
	CardToken(ctx context.Context, cardID string) (CardToken, error)
	// SendDefaultPIN sends the card's first PIN to the cardholder. It returns the
	// issuer's message.
	SendDefaultPIN(ctx context.Context, cardID string) (message string, err error)
	// FundCard moves money into a card's account. It never repeats a request that
	// may have been executed.
	FundCard(ctx context.Context, f CardFunding) Answer
	// RequeryFunding asks for the outcome of a funding. Missing means that the
	// issuer guarantees a complete list, and the funding is not on the list.
	RequeryFunding(ctx context.Context, f CardFunding) Answer
	// ParseCardNotice reads a notification of the issuer. It first checks that the
	// issuer sent the notification, and returns ErrForged if not.
	ParseCardNotice(header http.Header, body []byte) (CardNotice, error)
}

// Cardholder is a person who gets cards.
type Cardholder struct {
	FirstName, MiddleName, LastName string
	Email, Phone                    string
	DateOfBirth                     string // YYYY-MM-DD; "" when not known
	Address                         CardholderAddress
}

// CardholderAddress is the billing address.
type CardholderAddress struct {
	Line1, Line2, City, State, PostalCode, Country string
}

// CardOrder is a card to issue.
type CardOrder struct {
	Reference  string // ours, permanent
	Cardholder string // the issuer's id
	Type       string // virtual or physical
	Brand      string // Verve, Visa, MasterCard, AfriGo
	Currency   string
	// Number is printed on a physical card. Only the issuer gets it.
	Number     secret.Text
	SendPINSMS bool
}

// IssuedCard is a card as its issuer shows it, without the card number.
type IssuedCard struct {
	ID        string // the issuer's
	Reference string // ours, if the issuer returns it
	Account   string // the issuer's id of the card's account
	Type      string
	Brand     string
	Currency  string
	MaskedPAN string
	// ExpiryMonth has two digits, ExpiryYear four.
	ExpiryMonth, ExpiryYear string
	Status                  string // active, inactive or canceled
	CreatedAt               time.Time
}

// CardAnswer is the result of an order.
type CardAnswer struct {
	Answer
	Card IssuedCard // if Confirmed
}

// CardToken reads a card's secrets. It is never stored and never logged.
type CardToken struct {
	Value     secret.Text
	ExpiresIn time.Duration
}

// CardFunding is money for a card.
type CardFunding struct {
	Reference string // ours, permanent
	Account   string // IssuedCard.Account
	Amount    money.Kobo
	Since     time.Time // when the intent was committed; no older transfer can be the funding. Zero: not known
	Issued    string    // the issuer's own id of the transfer; "" before there is one
}

// CardNoticeKind is the subject of a card notification.
type CardNoticeKind string

// The kinds of notices.
const (
	CardAuthorization CardNoticeKind = "authorization" // the issuer asks whether a payment may pass
	CardBalance       CardNoticeKind = "balance"       // the issuer asks for the balance
	CardActivity      CardNoticeKind = "activity"      // something happened, and is recorded
	CardEnded         CardNoticeKind = "ended"         // the card was terminated
	CardNothing       CardNoticeKind = ""              // not used
)

// CardNotice is a notification of an issuer.
type CardNotice struct {
	Kind   CardNoticeKind
	ID     string // the id of the occurrence, the same in every notification about it
	Word   string // the issuer's own word for the kind: transaction.created
	Card   string // the issuer's id
	Amount money.Kobo
	At     time.Time
	// Reply is the body of the HTTP answer to the issuer.
	Reply []byte
}
