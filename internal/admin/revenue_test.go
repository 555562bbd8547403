package admin_test

import (
	"fmt"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
)

// Operators see what days earned, of all companies, of one, and of the house. The default period is the last
// thirty days in Lagos.
func TestOperatorsSeeTheRevenue(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		company := path[len("/admin/v1/companies/"):]
		for _, of := range []struct {
			table, company string
		}{{"report_revenue", company}, {"report_revenue_total", "house"}} {
			d.write(`INSERT INTO `+of.table+` VALUES ($1, 21916, 'payout', 'main', 250000, 100, 107500, 99)`, of.company) // 2030-01-02
			d.write(`INSERT INTO `+of.table+` VALUES ($1, 21887, 'vtu', 'vtpass', 0, 0, -300, 1)`, of.company)            // 2029-12-04
			d.write(`INSERT INTO `+of.table+` VALUES ($1, 21886, 'payout', 'main', 5000, 1, 0, 0)`, of.company)           // the day before
		}
		d.write(`INSERT INTO report_revenue VALUES ('house', 21916, '', 'main', 0, 0, 5000, 1)`)
		d.write(`INSERT INTO report_revenue_total VALUES ('house', 21916, '', 'main', 0, 0, 5000, 1)`)
		d.write(`INSERT INTO report_revenue_round VALUES ('house', $1)`, d.clock.Now().UnixMicro())
		viewer := d.as("vera", operator.Viewer)

		vtu := `{"day":"2029-12-04","kind":"vtu","provider":"vtpass","fees":0,"feeCount":0,"cost":-3,"costCount":1,"margin":3}`
		payout := `{"day":"2030-01-02","kind":"payout","provider":"main","fees":2500,"feeCount":100,"cost":1075,"costCount":99,"margin":1425}`
		bank := `{"day":"2030-01-02","kind":null,"provider":"main","fees":0,"feeCount":0,"cost":50,"costCount":1,"margin":-50}`
		d.told(d.ok(viewer, "GET", "/admin/v1/revenue", ""), `{"from":"2029-12-04","to":"2030-01-02","company":null,"readAt":"2030-01-02T03:04:05.000Z",
			"total":{"fees":2500,"feeCount":100,"cost":1122,"costCount":101,"margin":1378},"lines":[`+vtu+`,`+bank+`,`+payout+`]}`)
		d.told(d.ok(viewer, "GET", "/admin/v1/revenue?company="+company+"&from=2030-01-01&to=2030-01-02", ""), `{"from":"2030-01-01","to":"2030-01-02","company":"`+company+`",
			"readAt":"2030-01-02T03:04:05.000Z","total":{"fees":2500,"feeCount":100,"cost":1075,"costCount":99,"margin":1425},"lines":[`+payout+`]}`)
		d.told(d.ok(viewer, "GET", "/admin/v1/revenue?company=house", "")["lines"], `[`+bank+`]`)
		d.told(d.ok(viewer, "GET", "/admin/v1/revenue/companies", ""), `{"next":null,"companies":[
			{"company":"`+company+`","companyName":"Acme","fees":2500,"feeCount":100,"cost":1072,"costCount":100,"margin":1428},
			{"company":"house","companyName":null,"fees":0,"feeCount":0,"cost":50,"costCount":1,"margin":-50}]}`)
		d.told(d.ok(viewer, "GET", "/admin/v1/revenue/companies?after="+company+"&to=2030-01-01", ""), `{"next":null,"companies":[]}`)

		rows := d.file("revenue-2030-01-02-2030-01-02.csv", "/admin/v1/revenue/export?from=2030-01-02")
		if got, want := fmt.Sprint(rows[1:]), "[[2030-01-02 "+company+" Acme payout main 2500.00 100 1075.00 99 1425.00] [2030-01-02 house  none main 0.00 0 50.00 1 -50.00]]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if one := d.file("revenue-2030-01-02-2030-01-02.csv", "/admin/v1/revenue/export?from=2030-01-02&company=house"); len(one) != 2 || len(one[0]) != len(one[1]) {
			t.Error(one)
		}

		for path, why := range map[string]string{
			"revenue?from=2030-01-02T00:00:00Z": `"from" must be a day such as 2026-11-21`, "revenue/companies?to=soon": `"to" must be a day such as 2026-11-21`,
			"revenue?from=2030-01-03":                         `"to" must not be before "from"`,
			"revenue/export?from=2029-01-01":                  "The period must have at most 366 days",
			"revenue/companies?from=2030-01-02&to=2030-01-01": `"to" must not be before "from"`,
			"revenue/companies?company=" + company:            `"company" is not allowed`,
		} {
			d.no(viewer, "GET", "/admin/v1/"+path, "", 400, why)
		}
		d.no(viewer, "GET", "/admin/v1/revenue?company=nobody", "", 404, "Company not found")
		d.no(viewer, "GET", "/admin/v1/revenue/export?company=nobody", "", 404, "Company not found")
	})
}
