package admin_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// An operator with the role finance pairs two products of different billers, and ends the pair.
func TestOperatorsPairProducts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, base *db.DB) {
		d := open(t, base)
		d.write(`INSERT INTO vtu_service (id, kind, name) VALUES ('s', 'DATA', 'Data')`)
		for _, biller := range []string{"main", "vtpass"} {
			d.write(`INSERT INTO vtu_category (id, service_id, provider, code, vendor, name, active, updated_at)
				VALUES ($1, 's', $1, 'mtn', 'MTN', 'MTN', 1, 0)`, biller)
			d.write(`INSERT INTO vtu_product (id, category_id, code, name, validity, amount_kobo, fixed_amount, active, updated_at)
				VALUES ($1, $2, '1gb', '1 GB', '', 50000, 1, 1, 0)`, "of-"+biller, biller)
		}
		d.no(d.ada, "POST", "/admin/v1/product-pairs", `{"first":"of-main","second":"of-main"}`, 400, "A pair needs two products")
		id, _ := d.ok(d.ada, "POST", "/admin/v1/product-pairs", `{"first":"of-main","second":"of-vtpass"}`)["id"].(string)
		d.ok(d.ada, "DELETE", "/admin/v1/product-pairs/"+id, "")
		d.no(d.ada, "DELETE", "/admin/v1/product-pairs/"+id, "", 404, "Product pair not found")
	})
}
