package card

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/opening"
	"github.com/kobo-waas/kobo/internal/provider"
)

const (
	holderColumns = `company_id, customer_id, state, provider, provider_id, card_id, created_at`
	shownColumns  = `id, kind, brand, currency, masked_pan, expiry_month, expiry_year, status, customer_id,
	created_at, updated_at, provider_card_id`
	cardColumns     = `company_id, ` + shownColumns + `, state, provider, account, message, load_kobo, called_until, missing`
	changeColumns   = `company_id, card_id, state, status, reason, left_kobo, called_until, created_at, updated_at`
	activityColumns = `company_id, id, card_id, word, amount_kobo, currency, merchant, happened_at, created_at`
)

var (
	holders    = db.Declare[holder]("card_holder", db.Reads(holderColumns))
	cards      = db.Declare[stored]("card", db.Reads(cardColumns))
	fundings   = db.Declare[fundingRow]("card_funding")
	activities = db.Declare[activity]("card_activity", db.Reads(activityColumns))
	changes    = db.Declare[changeRow]("card_change", db.Reads(changeColumns))
	addresses  = db.Declare[address]("card_address")
)

// The states of a holder (FREE and BUSY), of a funding (OPEN and CLOSED) and of a change (OPEN
// and DONE).
const (
	free  = "FREE"
	busy  = "BUSY"
	opens = "OPEN"
	shut  = "CLOSED"
	done  = "DONE"
)

// holder is a customer's registration with the issuer. It is busy while a card is in
// creation.
type holder struct {
	company    string    `db:"company_id,key"`
	customerID string    `db:"customer_id,key"`
	state      string    `db:"state,state"`
	provider   string    `db:"provider"`
	providerID string    `db:"provider_id,changes"` // the issuer's ID of the cardholder; "" before the registration
	cardID     string    `db:"card_id,changes"`     // the card in creation; "" if no card is in creation
	createdAt  time.Time `db:"created_at"`
}

// release adds a change to the unit u. The change frees the customer's holder row for the next
// card.
func (c stored) release(u *ledger.Unit) {
	u.Transition(holders.Record(holder{company: c.Company, customerID: c.CustomerID, state: free}), busy).Only("card_id")
}

// stored is the row of a card.
type stored struct {
	Company string `db:"company_id,key"`
	Card
	state    state      `db:"state,state"`
	provider string     `db:"provider"`        // the issuer's name in the configuration and in the ledger
	account  string     `db:"account,changes"` // the issuer's ID of the account from which the card spends
	message  string     `db:"message,changes"` // why the issuer refused the card
	load     money.Kobo `db:"load_kobo"`
	opening.Intent
}

// shown returns a copy of the card, updated with the fields that the issuer reports. A terminated card stays terminated.
func (c stored) shown(i provider.IssuedCard) stored {
	c.ProviderCardID = i.ID
	if !c.isOver() {
		c.Status = cmp.Or(string(i.Status), c.Status)
	}
	c.account, c.Currency, c.MaskedPAN = cmp.Or(i.Account, c.account), cmp.Or(i.Currency, c.Currency), cmp.Or(i.MaskedPAN, c.MaskedPAN)
	c.Type, c.Brand = cmp.Or(i.Type, c.Type), cmp.Or(i.Brand, c.Brand)
	c.ExpiryMonth, c.ExpiryYear = cmp.Or(i.ExpiryMonth, c.ExpiryMonth), cmp.Or(i.ExpiryYear, c.ExpiryYear)
	return c
}

// isOver reports whether the card is terminated, which is final.
func (c stored) isOver() bool { return c.Status == string(provider.CardCanceled) }

// fundingRow is the database row of a funding. The funding's outcome is in the row of its
// operation.
type fundingRow struct {
	company   string     `db:"company_id,key"`
	id        string     `db:"id,key"`
	cardID    string     `db:"card_id"`
	amount    money.Kobo `db:"amount_kobo"`
	state     string     `db:"state,state"`
	createdAt time.Time  `db:"created_at"`
}

// changeRow is the database row of the last change of a card's status.
type changeRow struct {
	company     string              `db:"company_id,key"`
	cardID      string              `db:"card_id,key"`
	state       string              `db:"state,state"`
	status      provider.CardStatus `db:"status,changes"` // the status that the card is to have
	reason      string              `db:"reason,changes"`
	left        money.Kobo          `db:"left_kobo,changes"` // what was on the card before the last try to terminate it, or unknownBalance
	calledUntil time.Time           `db:"called_until,changes"`
	createdAt   time.Time           `db:"created_at,changes"`
	updatedAt   time.Time           `db:"updated_at,changes"` // when the reading of left began; before a reading, when the change began
}

// activity is the database row of an event of a card that the issuer reported in a notice.
type activity struct {
	company string `db:"company_id,key"`
	Activity
	createdAt time.Time `db:"created_at"`
}

// address is one version of a company's billing address. The highest version is in force.
type address struct {
	company string `db:"company_id,key"`
	version string `db:"version,key"`
	customer.Address
	createdAt time.Time `db:"created_at"`
}

func (s *Service) findHolder(ctx context.Context, company, customerID string) (holder, error) {
	return db.One(ctx, s.DB, holders.Scan,
		`SELECT `+holderColumns+` FROM card_holder WHERE company_id = $1 AND customer_id = $2`, company, customerID)
}

func findCard(ctx context.Context, q db.Querier, company, cardID string) (stored, error) {
	return db.One(ctx, q, cards.Scan, `SELECT `+cardColumns+` FROM card WHERE company_id = $1 AND id = $2`, company, cardID)
}

// List returns a page of a company's issued cards, newest first, and the total count. With a
// customerID, List includes only this customer's cards.
func (s *Service) List(ctx context.Context, company, customerID string, offset, limit int) ([]Card, int, error) {
	list, total, err := db.Page(ctx, s.DB, company, db.Fields[Card],
		`SELECT count(*) FROM card WHERE company_id = $1 AND state = 'ISSUED' AND (customer_id = $2 OR $2 = '')`, `SELECT `+shownColumns+` FROM card
		WHERE company_id = $1 AND state = 'ISSUED' AND (customer_id = $2 OR $2 = '') ORDER BY id DESC LIMIT $3 OFFSET $4`,
		limit, offset, company, customerID)
	return list, int(total), err
}

// Cursor returns the place of a card in the list of the company's cards.
func (c Card) Cursor() string { return db.Place{At: clock.Micros(c.CreatedAt.Time), ID: c.ID}.Cursor() }

// After returns at most limit issued cards of the company, the newest first, as List does. They follow the card with the cursor
// after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid. The id begins with the time, so it alone
// says what follows.
func (s *Service) After(ctx context.Context, company, customerID, after string, limit int) ([]Card, error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	if after == "" {
		at.ID = id.Above
	}
	return db.All(ctx, s.DB, db.Fields[Card], `SELECT `+shownColumns+` FROM card WHERE company_id = $1 AND state = 'ISSUED'
		AND (customer_id = $2 OR $2 = '') AND id < $3 ORDER BY id DESC LIMIT $4`, company, customerID, at.ID, limit)
}

// enter records in the directory of all companies which company owns a card.
func (s *Service) enter(ctx context.Context, c stored) error {
	_, err := s.DB.Exec(ctx, `INSERT INTO card_directory (provider, provider_card_id, company_id, card_id) VALUES ($1, $2, $3, $4)
		ON CONFLICT DO NOTHING`, c.provider, c.ProviderCardID, c.Company, c.ID)
	return err
}

// owned is a card and its company.
type owned struct{ company, card string }

// owner returns the company and Kobo's card ID for an issuer's card. The result isOurs is false if
// Kobo does not know the card.
func (s *Service) owner(ctx context.Context, issuer, providerCardID string) (o owned, isOurs bool, err error) {
	o, err = db.One(ctx, s.DB, db.Fields[owned],
		`SELECT company_id, card_id FROM card_directory WHERE provider = $1 AND provider_card_id = $2`, issuer, providerCardID)
	if errors.Is(err, db.ErrNone) {
		return o, false, nil
	}
	return o, err == nil, err
}

// openFunding returns the reference of the oldest open funding of a card and an amount.
func (s *Service) openFunding(ctx context.Context, company, cardID string, amount money.Kobo) (string, error) {
	return db.One(ctx, s.DB, db.Value[string], `SELECT id FROM card_funding
		WHERE company_id = $1 AND card_id = $2 AND amount_kobo = $3 AND state = 'OPEN' ORDER BY created_at, id LIMIT 1`,
		company, cardID, int64(amount))
}

func cardOf(ctx context.Context, q db.Querier, company, reference string) (string, error) {
	return db.One(ctx, q, db.Value[string], `SELECT card_id FROM card_funding WHERE company_id = $1 AND id = $2`, company, reference)
}

// addressSet is the counter of the changes of a company's billing address.
const addressSet = "set/address"

// lastAddress returns the highest version of a company's billing addresses, and how often the address has been changed.
func (s *Service) lastAddress(ctx context.Context, company string) (version string, changes int64, err error) {
	if changes, err = s.Book.Last(ctx, company, ledger.Next(addressSet)); err == nil {
		version, err = db.One(ctx, s.DB, db.Value[string], `SELECT coalesce(max(version), '') FROM card_address WHERE company_id = $1`, company)
	}
	return version, changes, err
}

// Address returns the company's billing address. If the company has no address, Address returns
// the deployment's address.
func (s *Service) Address(ctx context.Context, company string) (LastResort, error) {
	a, err := db.One(ctx, s.DB, db.Fields[LastResort], `SELECT line1, line2, city, state, country, postal_code, created_at FROM card_address
		WHERE company_id = $1 ORDER BY version DESC LIMIT 1`, company)
	if errors.Is(err, db.ErrNone) {
		return LastResort{Address: s.House}, nil
	}
	return a, err
}

// cardsOf returns all cards of a customer, whatever their states are.
func (s *Service) cardsOf(ctx context.Context, company, customerID string) ([]stored, error) {
	return db.All(ctx, s.DB, cards.Scan,
		`SELECT `+cardColumns+` FROM card WHERE company_id = $1 AND customer_id = $2 ORDER BY id`, company, customerID)
}

// openFundings returns the references of the open fundings of a card.
func (s *Service) openFundings(ctx context.Context, company, cardID string) ([]string, error) {
	return db.All(ctx, s.DB, db.Value[string], `SELECT id FROM card_funding
		WHERE company_id = $1 AND card_id = $2 AND state = 'OPEN' ORDER BY created_at, id`, company, cardID)
}

// fundingsSince returns the references of the fundings of a card that are open, or began after an instant.
func (s *Service) fundingsSince(ctx context.Context, company, cardID string, since time.Time) ([]string, error) {
	return db.All(ctx, s.DB, db.Value[string], `SELECT id FROM card_funding
		WHERE company_id = $1 AND card_id = $2 AND (state = 'OPEN' OR created_at > $3) ORDER BY created_at, id`, company, cardID, clock.Micros(since))
}

func (s *Service) findChange(ctx context.Context, company, cardID string) (changeRow, error) {
	return db.One(ctx, s.DB, changes.Scan,
		`SELECT `+changeColumns+` FROM card_change WHERE company_id = $1 AND card_id = $2`, company, cardID)
}

// toldLeft returns what was left on a terminated card, as the issuer's notice says it, or db.ErrNone.
func (s *Service) toldLeft(ctx context.Context, c stored) (money.Kobo, error) {
	return db.One(ctx, s.DB, db.Value[money.Kobo], `SELECT amount_kobo FROM card_activity
		WHERE company_id = $1 AND card_id = $2 AND word = $3`, c.Company, c.ID, endedWord)
}

// activitiesOf returns a page of a card's activities, newest first, and the total count.
func (s *Service) activitiesOf(ctx context.Context, company, cardID string, offset, limit int) ([]Activity, int, error) {
	list, total, err := db.Page(ctx, s.DB, company, db.Fields[Activity],
		`SELECT count(*) FROM card_activity WHERE company_id = $1 AND card_id = $2`,
		`SELECT id, card_id, word, amount_kobo, currency, merchant, happened_at FROM card_activity
		WHERE company_id = $1 AND card_id = $2 ORDER BY happened_at DESC, id DESC LIMIT $3 OFFSET $4`, limit, offset, company, cardID)
	return list, int(total), err
}

// Cursor returns the place of an activity in the list of its card.
func (a Activity) Cursor() string {
	return db.Place{At: clock.Micros(a.HappenedAt.Time), ID: a.ID}.Cursor()
}

// TransactionsAfter returns at most limit activities of a card of the company, the newest first, as Transactions does. They follow
// the activity with the cursor after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid.
func (s *Service) TransactionsAfter(ctx context.Context, company, cardID, after string, limit int) ([]Activity, error) {
	at, err := db.PlaceOf(after)
	if err == nil {
		_, err = s.find(ctx, company, cardID)
	}
	if err != nil {
		return nil, err
	}
	return db.All(ctx, s.DB, db.Fields[Activity], `SELECT id, card_id, word, amount_kobo, currency, merchant, happened_at FROM card_activity
		WHERE company_id = $1 AND card_id = $2 AND (happened_at, id) < ($3, $4) ORDER BY happened_at DESC, id DESC LIMIT $5`,
		company, cardID, at.At, at.ID, limit)
}
