package card

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

var (
	holderTable = &db.Table{
		Name: "card_holder", Key: 2, State: "state",
		Columns: append(db.Texts("company_id", "customer_id", "state", "provider", "provider_id", "card_id"), db.Ints("created_at")...),
	}
	cardTable = &db.Table{
		Name: "card", Key: 2, State: "state",
		Columns: append(
			db.Texts("company_id", "id", "customer_id", "state", "provider", "provider_card_id", "account", "kind", "brand", "currency",
				"masked_pan", "expiry_month", "expiry_year", "status", "message"),
			db.Ints("load_kobo", "called_until", "missing", "created_at", "updated_at")...),
	}
	fundingTable = &db.Table{
		Name: "card_funding", Key: 2, State: "state",
		Columns: []db.Column{
			{Name: "company_id"},
			{Name: "id"},
			{Name: "card_id"},
			{Name: "amount_kobo", Type: db.Int},
			{Name: "state"},
			{Name: "created_at", Type: db.Int},
		},
	}
	activityTable = &db.Table{
		Name: "card_activity", Key: 2,
		Columns: append(db.Texts("company_id", "id", "card_id", "word"), db.Ints("amount_kobo", "happened_at", "created_at")...),
	}
	addressTable = &db.Table{
		Name: "card_address", Key: 2,
		Columns: append(db.Texts("company_id", "version", "line1", "line2", "city", "state", "country", "postal_code"), db.Ints("created_at")...),
	}
)

// The states of a holder, and of a funding.
const (
	free  = "FREE"
	busy  = "BUSY"
	opens = "OPEN"
	shut  = "CLOSED"
)

// holder is a customer as the issuer knows them.
type holder struct {
	company, customerID, provider string
	providerID                    string // "" until the issuer knows them
	cardID                        string // the card that is being created; "" for none
}

func (h holder) record(now time.Time) db.Record {
	return db.Record{Table: holderTable, Values: []any{h.company, h.customerID, free, h.provider, "", "", clock.Micros(now)}}
}

// taken is the move that begins a card for a holder, known the one that writes
// down who they are to the issuer, released the one that lets the next card
// begin.

func (h holder) taken(cardID string) ledger.Move {
	return ledger.Move{
		Table: holderTable, Key: []any{h.company, h.customerID}, From: []string{free}, To: busy,
		Set: []ledger.Change{{Column: "card_id", Value: cardID}},
	}
}

func (h holder) known(cardID string) ledger.Move {
	return ledger.Move{
		Table: holderTable, Key: []any{h.company, h.customerID}, From: []string{busy}, To: busy,
		Set: []ledger.Change{{Column: "card_id", Value: cardID}, {Column: "provider_id", Value: h.providerID}},
	}
}

func released(c Card) ledger.Move {
	return ledger.Move{
		Table: holderTable, Key: []any{c.Company, c.CustomerID}, From: []string{busy}, To: free,
		Set: []ledger.Change{{Column: "card_id", Value: ""}},
	}
}

func (c Card) record() db.Record {
	return db.Record{Table: cardTable, Values: []any{
		c.Company, c.ID, c.CustomerID, string(c.state), c.provider, c.ProviderCardID, c.account, c.Type, c.Brand, c.Currency,
		c.MaskedPAN, c.ExpiryMonth, c.ExpiryYear, c.Status, c.message,
		int64(c.load), clock.Micros(c.calledUntil), c.missing, clock.Micros(c.CreatedAt), clock.Micros(c.UpdatedAt),
	}}
}

func (c Card) move(from, to state) ledger.Move {
	return ledger.Move{
		Table: cardTable, Key: []any{c.Company, c.ID}, From: []string{string(from)}, To: string(to),
		Set: []ledger.Change{
			{Column: "provider_card_id", Value: c.ProviderCardID},
			{Column: "account", Value: c.account},
			{Column: "kind", Value: c.Type},
			{Column: "brand", Value: c.Brand},
			{Column: "currency", Value: c.Currency},
			{Column: "masked_pan", Value: c.MaskedPAN},
			{Column: "expiry_month", Value: c.ExpiryMonth},
			{Column: "expiry_year", Value: c.ExpiryYear},
			{Column: "status", Value: c.Status},
			{Column: "message", Value: c.message},
			{Column: "missing", Value: c.missing},
			{Column: "updated_at", Value: clock.Micros(c.UpdatedAt)},
		},
	}
}

// noted writes down that a card was not found this time.
func (s *Service) noted(ctx context.Context, c Card) (Card, error) {
	err := s.book.Commit(ctx, ledger.Unit{Company: c.Company, Moves: []ledger.Move{c.move(creating, creating)}})
	if ledger.Is(err, ledger.Moved) {
		return s.findCard(ctx, c.Company, c.ID)
	}
	return c, err
}

func fundingRecord(o operation.Operation, cardID string) db.Record {
	return db.Record{Table: fundingTable, Values: []any{o.Company, o.ID, cardID, int64(o.Amount), opens, clock.Micros(o.CreatedAt)}}
}

func closed(o operation.Operation) ledger.Move {
	return ledger.Move{Table: fundingTable, Key: []any{o.Company, o.ID}, From: []string{opens}, To: shut}
}

func addressRecord(company string, a customer.Address, now time.Time) db.Record {
	return db.Record{Table: addressTable, Values: []any{
		company, id.New(), a.Line1, a.Line2, a.City, a.State, a.Country, a.PostalCode, clock.Micros(now),
	}}
}

// owned is whose card it is.
type owned struct{ company, card string }

func activityRecord(o owned, n provider.CardNotice, now time.Time) db.Record {
	return db.Record{Table: activityTable, Values: []any{
		o.company, n.ID, o.card, n.Word, int64(n.Amount), clock.Micros(n.At), clock.Micros(now),
	}}
}

func (s *Service) findHolder(ctx context.Context, company, customerID string) (holder, error) {
	return db.One(ctx, s.db, func(sc db.Scanner) (holder, error) {
		h := holder{company: company, customerID: customerID}
		err := sc.Scan(&h.provider, &h.providerID, &h.cardID)
		return h, err
	}, `SELECT provider, provider_id, card_id FROM card_holder WHERE company_id = $1 AND customer_id = $2`, company, customerID)
}

const cardColumns = `SELECT company_id, id, customer_id, state, provider, provider_card_id, account, kind, brand, currency,
	masked_pan, expiry_month, expiry_year, status, message, load_kobo, called_until, missing, created_at, updated_at FROM card `

func scanCard(sc db.Scanner) (Card, error) {
	var c Card
	var called, created, updated int64
	err := sc.Scan(&c.Company, &c.ID, &c.CustomerID, &c.state, &c.provider, &c.ProviderCardID, &c.account, &c.Type, &c.Brand, &c.Currency,
		&c.MaskedPAN, &c.ExpiryMonth, &c.ExpiryYear, &c.Status, &c.message, &c.load, &called, &c.missing, &created, &updated)
	c.calledUntil, c.CreatedAt, c.UpdatedAt = clock.Time(called), clock.Time(created), clock.Time(updated)
	return c, err
}

func (s *Service) findCard(ctx context.Context, company, cardID string) (Card, error) {
	return readCard(ctx, s.db, company, cardID)
}

func readCard(ctx context.Context, q db.Querier, company, cardID string) (Card, error) {
	return db.One(ctx, q, scanCard, cardColumns+`WHERE company_id = $1 AND id = $2`, company, cardID)
}

func (s *Service) countCards(ctx context.Context, company, customerID string) (int64, error) {
	return db.One(ctx, s.db, db.Value[int64],
		`SELECT count(*) FROM card WHERE company_id = $1 AND state = 'ISSUED' AND (customer_id = $2 OR $2 = '')`, company, customerID)
}

func (s *Service) cards(ctx context.Context, company, customerID string, limit, offset int) ([]Card, error) {
	return db.All(ctx, s.db, scanCard, cardColumns+`
		WHERE company_id = $1 AND state = 'ISSUED' AND (customer_id = $2 OR $2 = '') ORDER BY id DESC LIMIT $3 OFFSET $4`,
		company, customerID, limit, offset)
}

// enter writes a card into the directory.
func (s *Service) enter(ctx context.Context, c Card) error {
	_, err := s.db.Exec(ctx, `INSERT INTO card_directory (provider, provider_card_id, company_id, card_id) VALUES ($1, $2, $3, $4)
		ON CONFLICT DO NOTHING`, c.provider, c.ProviderCardID, c.Company, c.ID)
	return err
}

// owner is whose an issuer's card is; ours tells whether it is one that we know.
func (s *Service) owner(ctx context.Context, issuer, providerCardID string) (o owned, ours bool, err error) {
	o, err = db.One(ctx, s.db, func(sc db.Scanner) (owned, error) {
		var o owned
		err := sc.Scan(&o.company, &o.card)
		return o, err
	}, `SELECT company_id, card_id FROM card_directory WHERE provider = $1 AND provider_card_id = $2`, issuer, providerCardID)
	if errors.Is(err, db.ErrNone) {
		return o, false, nil
	}
	return o, err == nil, err
}

// openFunding is the first funding of a card and an amount whose outcome is not
// known.
func (s *Service) openFunding(ctx context.Context, company, cardID string, amount money.Kobo) (string, error) {
	return db.One(ctx, s.db, db.Value[string], `SELECT id FROM card_funding
		WHERE company_id = $1 AND card_id = $2 AND amount_kobo = $3 AND state = 'OPEN' ORDER BY created_at, id LIMIT 1`,
		company, cardID, int64(amount))
}

func cardOf(ctx context.Context, q db.Querier, company, reference string) (string, error) {
	return db.One(ctx, q, db.Value[string], `SELECT card_id FROM card_funding WHERE company_id = $1 AND id = $2`, company, reference)
}

func (s *Service) fundedCard(ctx context.Context, company, reference string) (string, error) {
	return cardOf(ctx, s.db, company, reference)
}

func (s *Service) findAddress(ctx context.Context, company string) (LastResort, error) {
	return db.One(ctx, s.db, func(sc db.Scanner) (LastResort, error) {
		var a LastResort
		var created int64
		err := sc.Scan(&a.Line1, &a.Line2, &a.City, &a.State, &a.Country, &a.PostalCode, &created)
		a.Since = clock.Time(created)
		return a, err
	}, `SELECT line1, line2, city, state, country, postal_code, created_at FROM card_address
		WHERE company_id = $1 ORDER BY version DESC LIMIT 1`, company)
}
