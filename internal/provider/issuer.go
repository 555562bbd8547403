package provider

import (
	"context"
	"net/http"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Issuer issues payment cards to a company's customers. Each card has an account
// at the issuer that is filled beforehand, out of the fintech's own account there.
//
// The full card number never comes this way, in either direction but one: a
// physical card is made known to the issuer by the number printed on it.
type Issuer interface {
	// Name is the issuer's name for people, as in "<provider> API Error:".
	Name() string
	// OpenCardholder makes a customer known to the issuer and gives the issuer's id
	// of them. It moves no money: a failure is an *Error. Asked twice it makes two,
	// of which the first is never used.
	OpenCardholder(ctx context.Context, h Cardholder) (id string, err error)
	// CreateCard issues a card, once: whoever does not hear an answer looks for
	// the card among the cardholder's before another is asked for.
	CreateCard(ctx context.Context, o CardOrder) CardAnswer
	// Cards are all the cards of a cardholder: the whole list or an *Error.
	Cards(ctx context.Context, cardholder string) ([]IssuedCard, error)
	// Card is one card.
	Card(ctx context.Context, cardID string) (IssuedCard, error)
	// CardToken is a short-lived pass with which a customer's own browser or phone
	// reads the card's secrets from the issuer.
	CardToken(ctx context.Context, cardID string) (CardToken, error)
	// SendDefaultPIN has the card's first PIN delivered to the cardholder. It gives
	// the issuer's words.
	SendDefaultPIN(ctx context.Context, cardID string) (message string, err error)
	// FundCard moves money into a card's account. It never repeats a request that
	// may have been executed.
	FundCard(ctx context.Context, f CardFunding) Answer
	// RequeryFunding asks what became of a funding. Missing says that the issuer
	// vouches for a complete list and the funding is not on it.
	RequeryFunding(ctx context.Context, f CardFunding) Answer
	// ParseCardNotice reads what the issuer sent, after it has made sure that the
	// issuer sent it: ErrForged otherwise, before anything is looked into.
	ParseCardNotice(header http.Header, body []byte) (CardNotice, error)
}

// Cardholder is a person who gets cards.
type Cardholder struct {
	FirstName, MiddleName, LastName string
	Email, Phone                    string
	DateOfBirth                     string // YYYY-MM-DD; "" when not known
	Address                         CardholderAddress
}

// CardholderAddress is where bills would go.
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
	// Number is printed on a physical card. It goes to the issuer and nowhere else.
	Number     secret.Text
	SendPINSMS bool
}

// IssuedCard is a card as its issuer shows it. It never holds a card number.
type IssuedCard struct {
	ID        string // the issuer's
	Reference string // ours, if the issuer gives it back
	Account   string // the issuer's id of the account that the card spends from
	Type      string
	Brand     string
	Currency  string
	MaskedPAN string
	// Expiry, as two and four digits.
	ExpiryMonth, ExpiryYear string
	Status                  string // active, inactive or canceled
	CreatedAt               time.Time
}

// CardAnswer is what became of an order.
type CardAnswer struct {
	Answer
	Card IssuedCard // when Confirmed
}

// CardToken is a pass. It is never stored and never logged.
type CardToken struct {
	Value     secret.Text
	ExpiresIn time.Duration
}

// CardFunding is money for a card.
type CardFunding struct {
	Reference string // ours, permanent
	Account   string // IssuedCard.Account
	Amount    money.Kobo
	Since     time.Time // when it was written down: nothing older can be it; zero: not known
	Issued    string    // the issuer's own id of it; "" before there is one
}

// CardNoticeKind is what an issuer tells about.
type CardNoticeKind string

// The kinds of notices.
const (
	CardAuthorization CardNoticeKind = "authorization" // somebody pays with the card: an answer is waited for
	CardBalance       CardNoticeKind = "balance"       // likewise, for what there is to spend
	CardActivity      CardNoticeKind = "activity"      // something happened, and is to be recorded
	CardEnded         CardNoticeKind = "ended"         // the card is no more
	CardNothing       CardNoticeKind = ""              // of no use to us
)

// CardNotice is what an issuer sent of its own accord.
type CardNotice struct {
	Kind   CardNoticeKind
	ID     string // of what happened: the same however often and in whatever envelope it is told
	Word   string // the issuer's own word for the kind: transaction.created
	Card   string // the issuer's id
	Amount money.Kobo
	At     time.Time
	// Reply is what the issuer is answered, at once.
	Reply []byte
}
