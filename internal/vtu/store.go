package vtu

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// PurchaseColumns lists the columns of a purchase in the order of Targets. The SQL query must use
// the alias p for the purchases' table.
const PurchaseColumns = `p.company_id, p.id, p.kind, p.category_id, p.product_id, p.product_name, p.phone_number,
	p.card_number, p.meter_number, p.verification_id, p.created_at, p.settlement_id`

const verificationColumns = `company_id, id, category_id, kind, entity_number, customer_name, address, current_package,
	due_date, renewal_kobo, vend_type, least_kobo, most_kobo, state, purchase_id, created_at`

var (
	purchases     = db.Declare[Purchase]("vtu_purchase", db.Reads(PurchaseColumns))
	verifications = db.Declare[Verification]("vtu_verification", db.Reads(verificationColumns))
)

func (s *Shop) findVerification(ctx context.Context, company, verificationID string) (Verification, error) {
	return db.One(ctx, s.DB, verifications.Scan,
		`SELECT `+verificationColumns+` FROM vtu_verification WHERE company_id = $1 AND id = $2`, company, verificationID)
}

func missing(err error) bool { return errors.Is(err, db.ErrNone) }

// Targets returns pointers to the fields of p, in the order of PurchaseColumns. An SQL query that
// reads a purchase together with other columns passes these pointers to Scan.
func (p *Purchase) Targets() []any { return purchases.Targets(p) }

func (s *Shop) findPurchase(ctx context.Context, company, purchaseID string) (Purchase, error) {
	return db.One(ctx, s.DB, purchases.Scan,
		`SELECT `+PurchaseColumns+` FROM vtu_purchase AS p WHERE company_id = $1 AND id = $2`, company, purchaseID)
}

// routedOwner finds what owner finds, in a routed database, which refuses the recursive query.
const routedOwner = `SELECT company_id FROM vtu_purchase WHERE id = $1`

// owner returns the company of a purchase. A biller's callback contains only the reference. The query
// looks into each company by the primary key, since an index of IDs would slow down each purchase.
func (s *Shop) owner(ctx context.Context, purchaseID string) (string, error) {
	if s.DB.Routed() {
		return db.One(ctx, s.DB, db.Value[string], routedOwner, purchaseID)
	}
	return db.One(ctx, s.DB, db.Value[string], `WITH RECURSIVE buyer (id) AS (
			SELECT min(company_id) FROM vtu_purchase
			UNION ALL SELECT (SELECT min(n.company_id) FROM vtu_purchase AS n WHERE n.company_id > buyer.id) FROM buyer WHERE buyer.id IS NOT NULL)
		SELECT p.company_id FROM buyer JOIN vtu_purchase AS p ON p.company_id = buyer.id AND p.id = $1`, purchaseID)
}

func (s *Shop) services(ctx context.Context) ([]Service, error) {
	return db.All(ctx, s.DB, db.Fields[Service], `SELECT v.id, v.name, v.kind FROM vtu_service AS v
		WHERE EXISTS (SELECT 1 FROM vtu_category AS c WHERE c.service_id = v.id AND c.active = 1) ORDER BY v.name, v.id`)
}

const categoryColumns = `SELECT c.id, c.name, c.service_id, v.kind, c.provider, c.code, c.vendor
	FROM vtu_category AS c JOIN vtu_service AS v ON v.id = c.service_id `

func (s *Shop) categories(ctx context.Context, serviceID string) ([]Category, error) {
	return db.All(ctx, s.DB, db.Fields[Category],
		categoryColumns+`WHERE c.service_id = $1 AND c.active = 1 ORDER BY c.name, c.id`, serviceID)
}

// siblings returns the active categories that have the same service and vendor as this category,
// whichever biller sells them. The result includes this category if it is active.
func (s *Shop) siblings(ctx context.Context, categoryID string) ([]Category, error) {
	return db.All(ctx, s.DB, db.Fields[Category], categoryColumns+`
		JOIN vtu_category AS this ON this.service_id = c.service_id AND this.vendor = c.vendor
		WHERE this.id = $1 AND c.active = 1`, categoryID)
}

const productColumns = `SELECT id, name, amount_kobo, fixed_amount, validity, code FROM vtu_product `

// scanProduct reads a product from a row. If the name is missing, scanProduct uses the validity
// as the name, as the API contract requires.
func scanProduct(sc db.Scanner) (Product, error) {
	p, err := db.Fields[Product](sc)
	if p.Name == "" {
		p.Name = p.Validity
	}
	return p, err
}

func (s *Shop) products(ctx context.Context, categoryID string) ([]Product, error) {
	return db.All(ctx, s.DB, scanProduct,
		productColumns+`WHERE category_id = $1 AND active = 1 ORDER BY amount_kobo, name, id`, categoryID)
}

func (s *Shop) findProduct(ctx context.Context, categoryID, productID string) (Product, error) {
	return db.One(ctx, s.DB, scanProduct,
		productColumns+`WHERE category_id = $1 AND id = $2 AND active = 1`, categoryID, productID)
}

// saveService inserts or updates a service and returns its ID. The ID of a row in the catalogue
// never changes.
func saveService(ctx context.Context, q db.Querier, kind provider.ServiceKind) (string, error) {
	return db.One(ctx, q, db.Value[string], `
		INSERT INTO vtu_service (id, kind, name) VALUES ($1, $2, $3)
		ON CONFLICT (kind) DO UPDATE SET name = excluded.name RETURNING id`, id.New(), string(kind), Names[kind])
}

func saveCategory(ctx context.Context, q db.Querier, from, serviceID string, c provider.Category, at time.Time) (string, error) {
	return db.One(ctx, q, db.Value[string], `
		INSERT INTO vtu_category (id, service_id, provider, code, vendor, name, active, updated_at) VALUES ($1, $2, $3, $4, $5, $6, 1, $7)
		ON CONFLICT (service_id, provider, code) DO UPDATE SET
			vendor = excluded.vendor, name = excluded.name, active = 1, updated_at = excluded.updated_at
		RETURNING id`, id.New(), serviceID, from, c.Code, c.Vendor, c.Name, clock.Micros(at))
}

func saveProduct(ctx context.Context, q db.Querier, categoryID string, p provider.Product, at time.Time) error {
	_, err := q.Exec(ctx, `
		INSERT INTO vtu_product (id, category_id, code, name, validity, amount_kobo, fixed_amount, active, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8)
		ON CONFLICT (category_id, code) DO UPDATE SET name = excluded.name, validity = excluded.validity,
			amount_kobo = excluded.amount_kobo, fixed_amount = excluded.fixed_amount, active = 1, updated_at = excluded.updated_at`,
		id.New(), categoryID, p.Code, p.Name, p.Validity, int64(p.Amount), db.Flag(p.Fixed), clock.Micros(at))
	return err
}

// retireCategories marks the categories that were missing from the latest list as inactive. It
// does not delete their rows, because purchases refer to these categories. Categories of the kinds
// in unread stay as they are.
func retireCategories(ctx context.Context, q db.Querier, from string, unread []string, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE vtu_category SET active = 0 WHERE provider = $1 AND updated_at < $2
		AND service_id NOT IN (SELECT v.id FROM vtu_service AS v WHERE v.kind = ANY($3))`, from, clock.Micros(at), unread)
	return err
}

func retireProducts(ctx context.Context, q db.Querier, categoryID string, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE vtu_product SET active = 0 WHERE category_id = $1 AND updated_at < $2`, categoryID, clock.Micros(at))
	return err
}

// takeSync reports whether the next copy of a biller's catalogue is due. The copy is due if the
// stored due time is not after the parameter by. In that case takeSync stores the parameter next as
// the new due time.
func (s *Shop) takeSync(ctx context.Context, from string, by, next time.Time) (bool, error) {
	n, err := s.DB.Exec(ctx, `
		INSERT INTO vtu_sync (provider, due_at) VALUES ($1, $3)
		ON CONFLICT (provider) DO UPDATE SET due_at = excluded.due_at WHERE vtu_sync.due_at <= $2`,
		from, clock.Micros(by), clock.Micros(next))
	return n == 1, err
}

// isProven reports whether a biller has found a purchase of this kind by our reference.
func (s *Shop) isProven(ctx context.Context, biller string, kind provider.ServiceKind) (bool, error) {
	n, err := db.One(ctx, s.DB, db.Value[int64], `SELECT count(*) FROM vtu_lookup WHERE provider = $1 AND kind = $2`, biller, string(kind))
	return n > 0, err
}

// addProof records that a biller has found a purchase of this kind by our reference. It returns false
// if this is recorded already.
func addProof(ctx context.Context, q db.Querier, biller string, kind provider.ServiceKind, at time.Time) (added bool, err error) {
	n, err := q.Exec(ctx, `INSERT INTO vtu_lookup (provider, kind, proven_at) VALUES ($1, $2, $3) ON CONFLICT (provider, kind) DO NOTHING`,
		biller, string(kind), clock.Micros(at))
	return n == 1, err
}

// listed selects the columns of a Listed in the order of its fields.
const (
	listed = `p.id, CASE WHEN p.name <> '' THEN p.name ELSE p.validity END, v.kind, c.vendor, c.provider,
		p.amount_kobo * p.fixed_amount, p.active * c.active, c.code, p.code`
	listedOf = ` JOIN vtu_category AS c ON c.id = p.category_id JOIN vtu_service AS v ON v.id = c.service_id `
)

func findListed(ctx context.Context, q db.Querier, productID string) (Listed, error) {
	return db.One(ctx, q, db.Fields[Listed], `SELECT `+listed+` FROM vtu_product AS p`+listedOf+`WHERE p.id = $1`, productID)
}

// pairsOf returns the pairs of a product.
func (s *Shop) pairsOf(ctx context.Context, productID string) ([]Pair, error) {
	rows, err := db.All(ctx, s.DB, db.Fields[pairRow], `SELECT `+pairColumns+` FROM vtu_product_pair WHERE first_id = $1
		UNION ALL SELECT `+pairColumns+` FROM vtu_product_pair WHERE second_id = $1`, productID)
	if err != nil {
		return nil, err
	}
	return s.pairs(ctx, rows)
}

// pairs returns the pairs in rows, with their products.
func (s *Shop) pairs(ctx context.Context, rows []pairRow) (pairs []Pair, err error) {
	for _, r := range rows {
		p, err := r.pair(ctx, s.DB)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// ListFilter selects products on the billers' lists. Each empty field selects every value.
type ListFilter struct {
	Kind             provider.ServiceKind
	Vendor, Provider string
}

const listPassing = listedOf + `WHERE p.active = 1 AND c.active = 1 AND ($1 = '' OR v.kind = $1) AND ($2 = '' OR c.vendor = $2) AND ($3 = '' OR c.provider = $3)`

// Listed returns a page of the products on all billers' lists, and their total count.
func (s *Shop) Listed(ctx context.Context, f ListFilter, limit, offset int) ([]Listed, int64, error) {
	return db.Page(ctx, s.DB, "", db.Fields[Listed], `SELECT count(*) FROM vtu_product AS p`+listPassing,
		`SELECT `+listed+` FROM vtu_product AS p`+listPassing+` ORDER BY v.kind, c.vendor, p.amount_kobo, p.id LIMIT $4 OFFSET $5`,
		limit, offset, string(f.Kind), f.Vendor, f.Provider)
}

const pairColumns = `id, first_id, second_id, created_by, created_at, first_name, first_kobo, second_name, second_kobo`

// pairRow is a row of a list of pairs.
type pairRow struct {
	id, firstID, secondID, by string
	at                        int64
	firstName                 string
	firstPrice                money.Kobo
	secondName                string
	secondPrice               money.Kobo
}

// Pairs returns a page of the pairs, newest first, and their total count.
func (s *Shop) Pairs(ctx context.Context, limit, offset int) (pairs []Pair, total int64, err error) {
	rows, total, err := db.Page(ctx, s.DB, "", db.Fields[pairRow], `SELECT count(*) FROM vtu_product_pair`,
		`SELECT `+pairColumns+` FROM vtu_product_pair ORDER BY created_at DESC, id LIMIT $1 OFFSET $2`,
		limit, offset)
	if err != nil {
		return nil, 0, err
	}
	pairs, err = s.pairs(ctx, rows)
	return pairs, total, err
}

func findPair(ctx context.Context, q db.Querier, pairID string) (pairRow, error) {
	return db.One(ctx, q, db.Fields[pairRow], `SELECT `+pairColumns+` FROM vtu_product_pair WHERE id = $1`, pairID)
}

// addPair adds a pair, and returns its ID. If the pair exists and its products have other names or
// prices now, addPair renews it. If nothing has changed, it returns db.ErrNone.
func addPair(ctx context.Context, q db.Querier, p Pair) (string, error) {
	return db.One(ctx, q, db.Value[string], `INSERT INTO vtu_product_pair AS old (`+pairColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (first_id, second_id) DO UPDATE SET created_by = excluded.created_by, created_at = excluded.created_at,
			first_name = excluded.first_name, first_kobo = excluded.first_kobo, second_name = excluded.second_name, second_kobo = excluded.second_kobo
		WHERE old.first_name <> excluded.first_name OR old.first_kobo <> excluded.first_kobo
			OR old.second_name <> excluded.second_name OR old.second_kobo <> excluded.second_kobo
		RETURNING id`, p.ID, p.First.ID, p.Second.ID, p.CreatedBy, clock.Micros(p.CreatedAt),
		p.First.Name, p.First.Price, p.Second.Name, p.Second.Price)
}

func removePair(ctx context.Context, q db.Querier, pairID string) error {
	_, err := q.Exec(ctx, `DELETE FROM vtu_product_pair WHERE id = $1`, pairID)
	return err
}
