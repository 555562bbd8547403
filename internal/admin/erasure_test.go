package admin_test

import (
	"net/http"
	"testing"
)

// customer inserts a customer of the company with this path.
func (d *door) customer(company, customerID string) {
	d.t.Helper()
	n, err := d.base.Exec(d.t.Context(), `INSERT INTO customer (company_id, id, number, first_name, middle_name, last_name, email, phone_number,
			date_of_birth, address, search, status, created_at, updated_at)
		VALUES ($1, $2, 1, 'Ada', '', 'Tester', 'ada@example.com', '08012345678', '', '', 'ada tester', 'ACTIVE', 1, 1)`,
		company[len("/admin/v1/companies/"):], customerID)
	if err != nil || n != 1 {
		d.t.Fatal(n, err)
	}
}

func TestAnOperatorErasesACustomer(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		company, _ := d.company()
		reference := company[len("/admin/v1/companies/"):]
		d.customer(company, "c1")
		const erase = "/admin/v1/customers/c1/erase"
		d.told(d.ok(d.ada, "POST", erase, ""), `{"customerId":"c1","company":"`+reference+`","erasedAt":"2030-01-02T03:04:05.000Z",
			"identityUntil":"2035-01-02T03:04:05.000Z"}`)
		if l := d.lastLine(); l["action"] != "customer.erase" || l["subject"] != "c1" || l["operator"] != "ada" {
			t.Errorf("the log: %v", l)
		}
		d.no(d.ada, "POST", erase, "", http.StatusNotFound, "Customer not found")
	})
}
