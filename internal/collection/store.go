package collection

import (
	"context"
	"math"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

const columns = `company_id, id, amount_kobo, expires_at, bank_name, account_number, external_reference, state, created_at,
	request, provider, reference, settlement_id, amount_control, account_name, bank_code, credit_id, called_until, missing,
	updated_at, metadata`

var collections = db.Declare[Collection]("collection", db.Reads(columns), db.Unique("company_id", "external_reference"))

const selects = `SELECT ` + columns + ` FROM collection `

func (s *Service) find(ctx context.Context, company, collectionID string) (Collection, error) {
	return db.One(ctx, s.DB, collections.Scan, selects+`WHERE company_id = $1 AND id = $2`, company, collectionID)
}

func (s *Service) byExternal(ctx context.Context, company, reference string) (Collection, error) {
	return db.One(ctx, s.DB, collections.Scan, selects+`WHERE company_id = $1 AND external_reference = $2`, company, reference)
}

func (s *Service) byReference(ctx context.Context, company, reference string) (Collection, error) {
	return db.One(ctx, s.DB, collections.Scan, selects+`WHERE company_id = $1 AND reference = $2`, company, reference)
}

// byAccount returns the newest collection of an account number. The newest collection has the
// highest ID, because IDs are ordered by time.
func (s *Service) byAccount(ctx context.Context, company, accountNumber string) (Collection, error) {
	return db.One(ctx, s.DB, collections.Scan, selects+`
		WHERE company_id = $1 AND account_number = $2 AND account_number <> '' ORDER BY id DESC LIMIT 1`, company, accountNumber)
}

// Filter narrows a list of collections. A field that is zero does not filter. To is excluded.
type Filter struct {
	State             State
	SettlementID      int64
	ExternalReference string
	From, To          time.Time
}

// listed is the condition for the collections of a list. The company cannot see a collection in the
// state OPENING.
const listed = `WHERE company_id = $1 AND created_at >= $2 AND created_at < $3 AND state <> 'OPENING'
	AND ($4 = '' OR state = $4) AND ($5 = CAST(0 AS BIGINT) OR settlement_id = $5) AND ($6 = '' OR external_reference = $6)`

// List returns a page of the company's collections that match a filter, newest first, and the total
// count.
func (s *Service) List(ctx context.Context, company string, f Filter, offset, limit int) ([]Collection, int, error) {
	from, to := clock.Micros(f.From), int64(math.MaxInt64)
	if !f.To.IsZero() {
		to = clock.Micros(f.To)
	}
	list, total, err := db.Page(ctx, s.DB, company, collections.Scan, `SELECT count(*) FROM collection `+listed,
		selects+listed+` ORDER BY created_at DESC, id DESC LIMIT $7 OFFSET $8`, limit, offset,
		company, from, to, string(f.State), f.SettlementID, f.ExternalReference)
	return list, int(total), err
}

// Cursor returns the place of a collection in the list of the company's collections.
func (c Collection) Cursor() string {
	return db.Place{At: clock.Micros(c.CreatedAt.Time), ID: c.ID}.Cursor()
}

// After returns at most limit collections of the company that match a filter, the newest first. They follow the collection with
// the cursor after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid.
func (s *Service) After(ctx context.Context, company string, f Filter, after string, limit int) ([]Collection, error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	to := int64(math.MaxInt64)
	if !f.To.IsZero() {
		to = clock.Micros(f.To)
	}
	return db.All(ctx, s.DB, collections.Scan, selects+listed+` AND (created_at, id) < ($7, $8) ORDER BY created_at DESC, id DESC LIMIT $9`,
		company, clock.Micros(f.From), to, string(f.State), f.SettlementID, f.ExternalReference, at.At, at.ID, limit)
}
