package vtu

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

var purchaseTable = &db.Table{
	Name: "vtu_purchase", Key: 2,
	Columns: slices.Concat(
		db.Texts("company_id", "id", "kind", "category_id", "product_id", "product_name", "phone_number", "card_number",
			"meter_number", "verification_id"),
		db.Ints("created_at"),
	),
}

func purchaseRecord(o operation.Operation, p Purchase) db.Record {
	return db.Record{Table: purchaseTable, Values: []any{
		o.Company, o.ID, string(p.Type), p.CategoryID, p.ProductID, p.ProductName, p.PhoneNumber, p.CardNumber,
		p.MeterNumber, p.VerificationID, clock.Micros(o.CreatedAt),
	}}
}

// The states of a verification.
const (
	unused = "UNUSED"
	used   = "USED"
)

var verificationTable = &db.Table{
	Name: "vtu_verification", Key: 2, State: "state",
	Columns: append(append(append(
		db.Texts("company_id", "id", "category_id", "kind", "entity_number", "customer_name", "address", "current_package", "due_date", "vend_type"),
		db.Ints("renewal_kobo", "least_kobo", "most_kobo")...),
		db.Texts("state", "purchase_id")...),
		db.Ints("created_at")...),
}

func (v Verification) record(company string) db.Record {
	return db.Record{Table: verificationTable, Values: []any{
		company, v.ID, v.CategoryID, string(v.Kind), v.Number, v.CustomerName, v.Address, v.CurrentPackage, v.DueDate, v.VendType,
		int64(v.Renewal), int64(v.Least), int64(v.Most), unused, "", clock.Micros(v.CreatedAt),
	}}
}

// spent is the guarded move that uses a verification up for a purchase, freed
// the one that gives it back.

func spent(company, verificationID, purchaseID string) ledger.Move {
	return ledger.Move{
		Table: verificationTable, Key: []any{company, verificationID}, From: []string{unused}, To: used,
		Set: []ledger.Change{{Column: "purchase_id", Value: purchaseID}},
	}
}

func freed(company, verificationID string) ledger.Move {
	return ledger.Move{
		Table: verificationTable, Key: []any{company, verificationID}, From: []string{used}, To: unused,
		Set: []ledger.Change{{Column: "purchase_id", Value: ""}},
	}
}

func (s *Shop) findVerification(ctx context.Context, company, verificationID string) (Verification, error) {
	return db.One(ctx, s.db, func(sc db.Scanner) (Verification, error) {
		var v Verification
		var created int64
		err := sc.Scan(&v.ID, &v.CategoryID, &v.Kind, &v.Number, &v.CustomerName, &v.Address, &v.CurrentPackage, &v.DueDate,
			&v.VendType, &v.Renewal, &v.Least, &v.Most, &created)
		v.CreatedAt = clock.Time(created)
		return v, err
	}, `SELECT id, category_id, kind, entity_number, customer_name, address, current_package, due_date,
			vend_type, renewal_kobo, least_kobo, most_kobo, created_at
		FROM vtu_verification WHERE company_id = $1 AND id = $2`, company, verificationID)
}

func (s *Shop) verificationState(ctx context.Context, company, verificationID string) (string, error) {
	return db.One(ctx, s.db, db.Value[string],
		`SELECT state FROM vtu_verification WHERE company_id = $1 AND id = $2`, company, verificationID)
}

func missing(err error) bool { return errors.Is(err, db.ErrNone) }

// PurchaseColumns are a purchase's, in the order of Targets, for a statement that
// calls the table p.
const PurchaseColumns = `p.kind, p.category_id, p.product_id, p.product_name, p.phone_number, p.card_number, p.meter_number,
	p.verification_id`

// Targets are where a scan puts PurchaseColumns.
func (p *Purchase) Targets() []any {
	return []any{
		&p.Type, &p.CategoryID, &p.ProductID, &p.ProductName, &p.PhoneNumber, &p.CardNumber, &p.MeterNumber, &p.VerificationID,
	}
}

func (s *Shop) findPurchase(ctx context.Context, company, purchaseID string) (Purchase, error) {
	return db.One(ctx, s.db, func(sc db.Scanner) (Purchase, error) {
		var p Purchase
		err := sc.Scan(p.Targets()...)
		return p, err
	}, `SELECT `+PurchaseColumns+` FROM vtu_purchase AS p WHERE company_id = $1 AND id = $2`, company, purchaseID)
}

func (s *Shop) services(ctx context.Context) ([]Service, error) {
	return db.All(ctx, s.db, func(sc db.Scanner) (Service, error) {
		var v Service
		err := sc.Scan(&v.ID, &v.Name, &v.Kind)
		return v, err
	}, `SELECT v.id, v.name, v.kind FROM vtu_service AS v
		WHERE EXISTS (SELECT 1 FROM vtu_category AS c WHERE c.service_id = v.id AND c.active = 1) ORDER BY v.name, v.id`)
}

// serviceActive tells whether there is such a service and it is on sale.
func (s *Shop) serviceActive(ctx context.Context, serviceID string) (bool, error) {
	n, err := db.One(ctx, s.db, db.Value[int64], `SELECT count(*) FROM vtu_category WHERE service_id = $1 AND active = 1`, serviceID)
	return n > 0, err
}

const categoryColumns = `SELECT c.id, c.service_id, c.name, c.code, c.vendor, v.kind, c.provider
	FROM vtu_category AS c JOIN vtu_service AS v ON v.id = c.service_id `

func scanCategory(sc db.Scanner) (Category, error) {
	var c Category
	err := sc.Scan(&c.ID, &c.ServiceID, &c.Name, &c.code, &c.vendor, &c.Kind, &c.provider)
	return c, err
}

func (s *Shop) categories(ctx context.Context, serviceID string) ([]Category, error) {
	return db.All(ctx, s.db, scanCategory,
		categoryColumns+`WHERE c.service_id = $1 AND c.active = 1 ORDER BY c.name, c.id`, serviceID)
}

// siblings are the active categories of the service and the vendor of this one,
// itself among them: what the billers offer of the same.
func (s *Shop) siblings(ctx context.Context, categoryID string) ([]Category, error) {
	return db.All(ctx, s.db, scanCategory, categoryColumns+`
		JOIN vtu_category AS this ON this.service_id = c.service_id AND this.vendor = c.vendor
		WHERE this.id = $1 AND c.active = 1`, categoryID)
}

const productColumns = `SELECT id, name, validity, amount_kobo, fixed_amount, code FROM vtu_product `

// scanProduct gives a product without a name its validity for one, as the
// contract wants.
func scanProduct(sc db.Scanner) (Product, error) {
	var p Product
	var fixed int64
	err := sc.Scan(&p.ID, &p.Name, &p.Validity, &p.Amount, &fixed, &p.code)
	p.Fixed = fixed == 1
	if p.Name == "" {
		p.Name = p.Validity
	}
	return p, err
}

func (s *Shop) products(ctx context.Context, categoryID string) ([]Product, error) {
	return db.All(ctx, s.db, scanProduct,
		productColumns+`WHERE category_id = $1 AND active = 1 ORDER BY amount_kobo, name, id`, categoryID)
}

func (s *Shop) findProduct(ctx context.Context, categoryID, productID string) (Product, error) {
	return db.One(ctx, s.db, scanProduct,
		productColumns+`WHERE category_id = $1 AND id = $2 AND active = 1`, categoryID, productID)
}

// Taking a biller's list over: each save returns our id for the row, which it
// keeps from the first time on.

func saveService(ctx context.Context, q db.Querier, kind provider.ServiceKind) (string, error) {
	return db.One(ctx, q, db.Value[string], `
		INSERT INTO vtu_service (id, kind, name) VALUES ($1, $2, $3)
		ON CONFLICT (kind) DO UPDATE SET name = excluded.name RETURNING id`, id.New(), string(kind), names[kind])
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

// What the list no longer has goes off sale; nothing is deleted, since
// purchases refer to it.

func retireCategories(ctx context.Context, q db.Querier, from string, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE vtu_category SET active = 0 WHERE provider = $1 AND updated_at < $2`, from, clock.Micros(at))
	return err
}

func retireProducts(ctx context.Context, q db.Querier, categoryID string, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE vtu_product SET active = 0 WHERE category_id = $1 AND updated_at < $2`, categoryID, clock.Micros(at))
	return err
}

// takeSync moves a biller's next sync ahead, for one of the programs that find
// it due; it tells whether this is the one.
func takeSync(ctx context.Context, q db.Querier, from string, now, next time.Time) (bool, error) {
	n, err := q.Exec(ctx, `
		INSERT INTO vtu_sync (provider, due_at) VALUES ($1, $3)
		ON CONFLICT (provider) DO UPDATE SET due_at = excluded.due_at WHERE vtu_sync.due_at <= $2`,
		from, clock.Micros(now), clock.Micros(next))
	return n == 1, err
}

// dueSync moves a biller's next sync to a time of its own, after one that
// failed.
func dueSync(ctx context.Context, q db.Querier, from string, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE vtu_sync SET due_at = $2 WHERE provider = $1`, from, clock.Micros(at))
	return err
}
