package vtu

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

var purchaseTable = &db.Table{
	Name: "vtu_purchase", Key: 2,
	Columns: append(
		db.Texts("company_id", "id", "kind", "category_id", "product_id", "product_name", "phone_number", "card_number"),
		db.Ints("created_at")...),
}

func purchaseRecord(o operation.Operation, p Purchase) db.Record {
	return db.Record{Table: purchaseTable, Values: []any{
		o.Company, o.ID, string(p.Type), p.CategoryID, p.ProductID, p.ProductName, p.PhoneNumber, p.CardNumber,
		clock.Micros(o.CreatedAt),
	}}
}

func missing(err error) bool { return errors.Is(err, db.ErrNone) }

func (s *Shop) findPurchase(ctx context.Context, company, purchaseID string) (Purchase, error) {
	return db.One(ctx, s.db, func(sc db.Scanner) (Purchase, error) {
		var p Purchase
		err := sc.Scan(&p.Type, &p.CategoryID, &p.ProductID, &p.ProductName, &p.PhoneNumber, &p.CardNumber)
		return p, err
	}, `SELECT kind, category_id, product_id, product_name, phone_number, card_number
		FROM vtu_purchase WHERE company_id = $1 AND id = $2`, company, purchaseID)
}

func (s *Shop) services(ctx context.Context) ([]Service, error) {
	return db.All(ctx, s.db, func(sc db.Scanner) (Service, error) {
		var v Service
		err := sc.Scan(&v.ID, &v.Name, &v.Kind)
		return v, err
	}, `SELECT id, name, kind FROM vtu_service WHERE active = 1 ORDER BY name, id`)
}

// serviceActive tells whether there is such a service and it is on sale.
func (s *Shop) serviceActive(ctx context.Context, serviceID string) (bool, error) {
	n, err := db.One(ctx, s.db, db.Value[int64], `SELECT count(*) FROM vtu_service WHERE id = $1 AND active = 1`, serviceID)
	return n == 1, err
}

const categoryColumns = `SELECT c.id, c.service_id, c.name, c.code, v.kind, v.provider
	FROM vtu_category AS c JOIN vtu_service AS v ON v.id = c.service_id `

func scanCategory(sc db.Scanner) (Category, error) {
	var c Category
	err := sc.Scan(&c.ID, &c.ServiceID, &c.Name, &c.code, &c.Kind, &c.provider)
	return c, err
}

func (s *Shop) categories(ctx context.Context, serviceID string) ([]Category, error) {
	return db.All(ctx, s.db, scanCategory,
		categoryColumns+`WHERE c.service_id = $1 AND c.active = 1 ORDER BY c.name, c.id`, serviceID)
}

// findCategory is an active category of an active service.
func (s *Shop) findCategory(ctx context.Context, categoryID string) (Category, error) {
	return db.One(ctx, s.db, scanCategory,
		categoryColumns+`WHERE c.id = $1 AND c.active = 1 AND v.active = 1`, categoryID)
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

func saveService(ctx context.Context, q db.Querier, from string, v provider.Service, at time.Time) (string, error) {
	return db.One(ctx, q, db.Value[string], `
		INSERT INTO vtu_service (id, provider, code, name, kind, active, updated_at) VALUES ($1, $2, $3, $4, $5, 1, $6)
		ON CONFLICT (provider, code) DO UPDATE SET name = excluded.name, kind = excluded.kind, active = 1, updated_at = excluded.updated_at
		RETURNING id`, id.New(), from, v.Code, v.Name, string(v.Kind), clock.Micros(at))
}

func saveCategory(ctx context.Context, q db.Querier, serviceID string, c provider.Category, at time.Time) (string, error) {
	return db.One(ctx, q, db.Value[string], `
		INSERT INTO vtu_category (id, service_id, code, name, active, updated_at) VALUES ($1, $2, $3, $4, 1, $5)
		ON CONFLICT (service_id, code) DO UPDATE SET name = excluded.name, active = 1, updated_at = excluded.updated_at
		RETURNING id`, id.New(), serviceID, c.Code, c.Name, clock.Micros(at))
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

func retireServices(ctx context.Context, q db.Querier, from string, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE vtu_service SET active = 0 WHERE provider = $1 AND updated_at < $2`, from, clock.Micros(at))
	return err
}

func retireCategories(ctx context.Context, q db.Querier, serviceID string, at time.Time) error {
	_, err := q.Exec(ctx, `UPDATE vtu_category SET active = 0 WHERE service_id = $1 AND updated_at < $2`, serviceID, clock.Micros(at))
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
