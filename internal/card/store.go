package card

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/opening"
	"github.com/kobo-waas/kobo/internal/provider"
)

const (
	holderColumns = `company_id, customer_id, state, provider, provider_id, card_id, created_at`
	cardColumns   = `company_id, id, kind, brand, currency, masked_pan, expiry_month, expiry_year, status, customer_id,
	created_at, updated_at, provider_card_id, state, provider, account, message, load_kobo, called_until, missing`
)

var (
	holders    = db.Declare[holder]("card_holder", db.Reads(holderColumns))
	cards      = db.Declare[stored]("card", db.Reads(cardColumns))
	fundings   = db.Declare[fundingRow]("card_funding")
	activities = db.Declare[activity]("card_activity")
	addresses  = db.Declare[address]("card_address")
)

// The states of a holder, and of a funding.
const (
	free  = "FREE"
	busy  = "BUSY"
	opens = "OPEN"
	shut  = "CLOSED"
)

// holder is a customer as the issuer knows them. While a card is created for them
// the holder is busy.
type holder struct {
	company    string    `db:"company_id,key"`
	customerID string    `db:"customer_id,key"`
	state      string    `db:"state,state"`
	provider   string    `db:"provider"`
	providerID string    `db:"provider_id,changes"` // "" until the issuer knows them
	cardID     string    `db:"card_id,changes"`     // the card that is being created; "" for none
	createdAt  time.Time `db:"created_at"`
}

// begin adds the transition that begins a card for a holder.
func (h holder) begin(u *ledger.Unit, cardID string) {
	h.state, h.cardID = busy, cardID
	u.Transition(holders.Record(h), free).Only("card_id")
}

// release adds the transition that lets the customer's next card begin.
func (c stored) release(u *ledger.Unit) {
	u.Transition(holders.Record(holder{company: c.Company, customerID: c.CustomerID, state: free}), busy).Only("card_id")
}

// stored is the row of a card.
type stored struct {
	Company string `db:"company_id,key"`
	Card
	state    state      `db:"state,state"`
	provider string     `db:"provider"`        // the issuer, as the ledger names it
	account  string     `db:"account,changes"` // the issuer's id of the money that the card spends
	message  string     `db:"message,changes"` // why there is no card
	load     money.Kobo `db:"load_kobo"`
	opening.Intent
}

// shown is the card with the fields that its issuer shows.
func (c stored) shown(i provider.IssuedCard) stored {
	c.ProviderCardID, c.Status = i.ID, i.Status
	for field, value := range map[*string]string{
		&c.account: i.Account, &c.Type: i.Type, &c.Brand: i.Brand, &c.Currency: i.Currency,
		&c.MaskedPAN: i.MaskedPAN, &c.ExpiryMonth: i.ExpiryMonth, &c.ExpiryYear: i.ExpiryYear,
	} {
		if value != "" {
			*field = value
		}
	}
	return c
}

// fundingRow is a funding beside its operation.
type fundingRow struct {
	company   string     `db:"company_id,key"`
	id        string     `db:"id,key"`
	cardID    string     `db:"card_id"`
	amount    money.Kobo `db:"amount_kobo"`
	state     string     `db:"state,state"`
	createdAt time.Time  `db:"created_at"`
}

// activity is what an issuer told of a card.
type activity struct {
	company    string     `db:"company_id,key"`
	id         string     `db:"id,key"`
	cardID     string     `db:"card_id"`
	word       string     `db:"word"`
	amount     money.Kobo `db:"amount_kobo"`
	happenedAt time.Time  `db:"happened_at"`
	createdAt  time.Time  `db:"created_at"`
}

// address is a version of a company's own address.
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

const selectCard = `SELECT ` + cardColumns + ` FROM card `

func findCard(ctx context.Context, q db.Querier, company, cardID string) (stored, error) {
	return db.One(ctx, q, cards.Scan, selectCard+`WHERE company_id = $1 AND id = $2`, company, cardID)
}

func (s *Service) countCards(ctx context.Context, company, customerID string) (int64, error) {
	return db.One(ctx, s.DB, db.Value[int64],
		`SELECT count(*) FROM card WHERE company_id = $1 AND state = 'ISSUED' AND (customer_id = $2 OR $2 = '')`, company, customerID)
}

// page is a page of the cards of a company, or of one of its customers.
func (s *Service) page(ctx context.Context, company, customerID string, limit, offset int) ([]stored, error) {
	return db.All(ctx, s.DB, cards.Scan, selectCard+`
		WHERE company_id = $1 AND state = 'ISSUED' AND (customer_id = $2 OR $2 = '') ORDER BY id DESC LIMIT $3 OFFSET $4`,
		company, customerID, limit, offset)
}

// enter writes the owner of a card into the directory.
func (s *Service) enter(ctx context.Context, c stored) error {
	_, err := s.DB.Exec(ctx, `INSERT INTO card_directory (provider, provider_card_id, company_id, card_id) VALUES ($1, $2, $3, $4)
		ON CONFLICT DO NOTHING`, c.provider, c.ProviderCardID, c.Company, c.ID)
	return err
}

// owned is a card and its company.
type owned struct{ company, card string }

// owner is the owner of an issuer's card. IsOurs tells whether we know the card.
func (s *Service) owner(ctx context.Context, issuer, providerCardID string) (o owned, isOurs bool, err error) {
	o, err = db.One(ctx, s.DB, db.Fields[owned],
		`SELECT company_id, card_id FROM card_directory WHERE provider = $1 AND provider_card_id = $2`, issuer, providerCardID)
	if errors.Is(err, db.ErrNone) {
		return o, false, nil
	}
	return o, err == nil, err
}

// openFunding is the first funding of a card and an amount without an outcome.
func (s *Service) openFunding(ctx context.Context, company, cardID string, amount money.Kobo) (string, error) {
	return db.One(ctx, s.DB, db.Value[string], `SELECT id FROM card_funding
		WHERE company_id = $1 AND card_id = $2 AND amount_kobo = $3 AND state = 'OPEN' ORDER BY created_at, id LIMIT 1`,
		company, cardID, int64(amount))
}

func cardOf(ctx context.Context, q db.Querier, company, reference string) (string, error) {
	return db.One(ctx, q, db.Value[string], `SELECT card_id FROM card_funding WHERE company_id = $1 AND id = $2`, company, reference)
}

func (s *Service) findAddress(ctx context.Context, company string) (LastResort, error) {
	return db.One(ctx, s.DB, db.Fields[LastResort], `SELECT line1, line2, city, state, country, postal_code, created_at FROM card_address
		WHERE company_id = $1 ORDER BY version DESC LIMIT 1`, company)
}
