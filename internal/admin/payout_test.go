package admin_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// told checks that the data of a response equals this JSON.
func (d *door) told(got any, want string) {
	d.t.Helper()
	b, err := json.Marshal(got)
	if err != nil {
		d.t.Fatal(err)
	}
	var w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		d.t.Fatal(err)
	}
	if c, _ := json.Marshal(w); string(b) != string(c) {
		d.t.Errorf("told %s, want %s", b, c)
	}
}

// lastLine returns the newest line of the audit log.
func (d *door) lastLine() map[string]any {
	d.t.Helper()
	return d.ok(d.ada, "GET", "/admin/v1/audit", "")["data"].([]any)[0].(map[string]any)
}

func TestFeesOfPayouts(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		company, _ := d.company()
		path := company + "/payout-fees"
		d.told(d.ok(d.ada, "GET", path, ""), `{"bands":[],"since":null}`)
		const bands = `[{"from":0,"flat":10,"percent":0,"cap":0},{"from":5000,"flat":25.5,"percent":0.1,"cap":2000}]`
		const since = `,"since":"2030-01-02T03:04:05.000Z"}`
		d.told(d.ok(d.ada, "POST", path, `{"bands":[{"from":0,"flat":10},{"from":5000,"flat":25.50,"percent":0.1,"cap":2000}]}`), `{"bands":`+bands+since)
		if l := d.lastLine(); l["action"] != "payout.fees" || l["operator"] != "ada" ||
			l["details"].(map[string]any)["bands"] != "0.00:10.00:0.00:0.00 5000.00:25.50:0.10:2000.00" {
			t.Errorf("the log: %v", l)
		}
		d.told(d.ok(d.bob, "GET", path, ""), `{"bands":`+bands+since)
		second, _ := d.company()
		reference := func(path string) string { return path[len("/admin/v1/companies/"):] }
		row := `{"company":"` + reference(company) + `","companyName":"Acme","bands":` + bands + since
		none := `{"company":"` + reference(second) + `","companyName":"Acme","bands":[],"since":null}`
		all := d.ok(d.bob, "GET", "/admin/v1/payout-fees", "")["data"].([]any)
		for _, r := range all {
			if r.(map[string]any)["company"] == reference(company) {
				d.told(r, row)
			} else {
				d.told(r, none)
			}
		}
		if len(all) != 2 || len(d.ok(d.bob, "GET", "/admin/v1/payout-fees?pageSize=1&page=2", "")["data"].([]any)) != 1 {
			t.Error(all)
		}
		d.told(d.ok(d.bob, "POST", path, `{"bands":`+bands+`}`), `{"bands":`+bands+since) // the response of a GET can be sent back as the body of a POST
		for _, c := range []struct{ body, message string }{
			{``, `"bands" is required`},
			{`{"bands":null}`, `"bands" must be an array`},
			{`{"bands":{}}`, `"bands" must be an array`},
			{`{"bands":[1]}`, `"bands[0]" must be of type object`},
			{`{"bands":[{}]}`, `"bands[0].from" is required`},
			{`{"bands":[{"from":0,"flat":"10"},{"from":5000.001,"fee":1}],"x":1}`, `"bands[0].flat" must be a number; "bands[1].from" must have no more than 2 decimal places; "bands[1].fee" is not allowed; "x" is not allowed`},
			{`{"bands":[{"from":0,"from":1}]}`, `"bands[0]" must not repeat a field`},
			{`{"bands":[{"from":1}]}`, "The first band must begin at 0"},
			{`{"bands":[{"from":0},{"from":0}]}`, "Each band must begin above the one before it"},
			{`{"bands":[{"from":0,"percent":100.01}]}`, "A percentage must be 0 to 100"},
			{`{"bands":[{"from":0,"flat":-1}]}`, `"bands[0].flat" must not be negative`},
			{`{"bands":[{"from":0,"cap":1e3}]}`, `"bands[0].cap" must be a number`},
			{`{"bands":[` + strings.Repeat(`{"from":0},`, 100) + `{"from":0}]}`, "A schedule has at most 100 bands"},
		} {
			d.no(d.ada, "POST", path, c.body, 400, c.message)
		}
		d.told(d.ok(d.ada, "GET", path, ""), `{"bands":`+bands+since) // the refused requests did not change anything
		d.clock.Advance(time.Hour)
		d.told(d.ok(d.ada, "POST", path, `{"bands":[]}`), `{"bands":[],"since":"2030-01-02T04:04:05.000Z"}`)
		if l := d.lastLine(); l["details"].(map[string]any)["bands"] != "none" {
			t.Errorf("the log: %v", l)
		}
		nobody := "/admin/v1/companies/cnobody0000000000000000000"
		for _, what := range []string{"/payout-fees", "/payout-limits", "/card-address"} {
			d.no(d.ada, "GET", nobody+what, "", 404, "Company not found")
		}
		d.no(d.ada, "POST", nobody+"/payout-fees", `{"bands":[]}`, 404, "Company not found")
	})
}

// The history of fees and limits shows every value that operators have set for a company, with the
// operator. It shows no values of other companies.
func TestHistoryOfFeesAndLimits(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		company, account := d.company()
		other, _ := d.company()
		fees, limits := company+"/payout-fees", company+"/payout-limits"
		for _, path := range []string{fees, limits} {
			if page := d.ok(d.ada, "GET", path+"/history", ""); len(page["data"].([]any)) != 0 {
				t.Errorf("of nothing: %v", page)
			}
		}
		d.ok(d.ada, "POST", fees, `{"bands":[{"from":0,"flat":10},{"from":5000,"flat":25.5,"percent":0.1,"cap":2000}]}`)
		d.ok(d.ada, "POST", limits, `{"amount":5000000.5,"payouts":200}`)
		d.clock.Advance(time.Hour)
		d.ok(d.bob, "POST", fees, `{"bands":[]}`)
		d.ok(d.bob, "POST", limits, `{"settlementId":`+account+`,"amount":0,"payouts":3}`)
		d.ok(d.bob, "POST", other+"/payout-fees", `{"bands":[{"from":0,"flat":1}]}`)
		d.clock.Advance(time.Hour)
		d.ok(d.ada, "POST", fees, `{"bands":[{"from":0,"flat":7}]}`)
		d.ok(d.ada, "POST", limits, `{"amount":0,"payouts":0}`)
		const band, first, second, third = `{"from":0,"flat":7,"percent":0,"cap":0}`, `"since":"2030-01-02T03:04:05.000Z","by":"ada"`,
			`"since":"2030-01-02T04:04:05.000Z","by":"bob"`, `"since":"2030-01-02T05:04:05.000Z","by":"ada"`
		d.told(d.ok(d.ada, "GET", fees+"/history", "")["data"], `[{"bands":[`+band+`],`+third+`},{"bands":[],`+second+`},
			{"bands":[{"from":0,"flat":10,"percent":0,"cap":0},{"from":5000,"flat":25.5,"percent":0.1,"cap":2000}],`+first+`}]`)
		d.told(d.ok(d.ada, "GET", limits+"/history", "")["data"], `[{"settlementId":null,"amount":0,"payouts":0,`+third+`},
			{"settlementId":`+account+`,"amount":0,"payouts":3,`+second+`},{"settlementId":null,"amount":5000000.5,"payouts":200,`+first+`}]`)
		page := d.ok(d.ada, "GET", fees+"/history?page=3&pageSize=1", "")
		if rows := page["data"].([]any); len(rows) != 1 || len(rows[0].(map[string]any)["bands"].([]any)) != 2 || page["meta"].(map[string]any)["totalItems"] != 3.0 {
			t.Errorf("the third page: %v", page)
		}
		for _, what := range []string{"/payout-fees/history", "/payout-limits/history"} {
			d.no(d.ada, "GET", "/admin/v1/companies/cnobody0000000000000000000"+what, "", 404, "Company not found")
		}
	})
}

func TestLimitsOfPayouts(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		company, account := d.company()
		path := company + "/payout-limits"
		const free = `"amount":0,"payouts":0,"since":null,"used":{"amount":0,"payouts":0},"remaining":{"amount":null,"payouts":null}}`
		d.told(d.ok(d.ada, "GET", path, ""), `{"day":"2030-01-02","limits":[{"settlementId":null,`+free+`,{"settlementId":`+account+`,`+free+`]}`)
		const set = `"amount":5000000.5,"payouts":200,"since":"2030-01-02T03:04:05.000Z","used":{"amount":0,"payouts":0},"remaining":{"amount":5000000.5,"payouts":200}}`
		d.told(d.ok(d.ada, "POST", path, `{"settlementId":null,"amount":5000000.5,"payouts":200}`),
			`{"day":"2030-01-02","limits":[{"settlementId":null,`+set+`,{"settlementId":`+account+`,`+free+`]}`)
		if l := d.lastLine(); l["action"] != "payout.limit" || l["details"].(map[string]any)["amount"] != "5000000.50" || l["details"].(map[string]any)["payouts"] != "200" {
			t.Errorf("the log: %v", l)
		}
		d.clock.Advance(20 * time.Hour) // the new day has begun in Lagos, but not in London
		d.ok(d.bob, "POST", path, `{"settlementId":`+account+`,"amount":0,"payouts":3}`)
		d.told(d.ok(d.ada, "GET", path, ""), `{"day":"2030-01-03","limits":[{"settlementId":null,`+set+`,
			{"settlementId":`+account+`,"amount":0,"payouts":3,"since":"2030-01-02T23:04:05.000Z","used":{"amount":0,"payouts":0},"remaining":{"amount":null,"payouts":3}}]}`)
		for _, c := range []struct {
			body    string
			status  int
			message string
		}{
			{``, 400, `"amount" is required; "payouts" is required`},
			{`{"amount":"5","payouts":1.5,"settlementId":0}`, 400, `"settlementId" must be a positive integer; "amount" must be a number; "payouts" must be a positive integer`},
			{`{"amount":5,"payouts":-1}`, 400, `"payouts" must be a positive integer`},
			{`{"amount":5,"payouts":1,"day":"x"}`, 400, `"day" is not allowed`},
			{`{"amount":100000000000.01,"payouts":1}`, 400, `is larger than the largest amount`},
			{`{"amount":5,"payouts":1,"settlementId":99}`, 404, "Settlement account not found"},
		} {
			d.no(d.ada, "POST", path, c.body, c.status, c.message)
		}
		d.no(d.ada, "POST", "/admin/v1/companies/cnobody0000000000000000000/payout-limits", `{"settlementId":1,"amount":5,"payouts":1}`, 404, "Company not found")
	})
}

func TestTheFallbackCardAddress(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		company, _ := d.company()
		path := company + "/card-address"
		d.told(d.ok(d.ada, "GET", path, ""), `{"address":null,"source":null,"since":null}`)
		const want = `{"address":{"line1":"2 Broad Street","city":"Lagos","state":"Lagos","postalCode":"100001"},"source":"company","since":"2030-01-02T03:04:05.000Z"}`
		d.told(d.ok(d.ada, "POST", path, `{"line1":" 2 Broad Street ","city":"Lagos","state":"Lagos","postalCode":"100001"}`), want)
		d.no(d.ada, "POST", path, `{"line1":"","city":1,"zip":"1"}`, 400, `"city" must be a string; "state" is required; "zip" is not allowed`)
		d.no(d.ada, "POST", path, `{"line1":" ","city":"Lagos","state":"Lagos"}`, 400, `"line1" is not allowed to be empty`)
		d.no(d.ada, "POST", path, `{"line1":"`+strings.Repeat("a", 201)+`","city":"Lagos","state":"Lagos"}`, 400, `"line1" length must be less than or equal to 200 characters long`)
		d.told(d.ok(d.bob, "GET", path, ""), want)
		d.no(d.ada, "POST", "/admin/v1/companies/cnobody0000000000000000000/card-address", `{"line1":"a","city":"b","state":"c"}`, 404, "Company not found")
		if l := d.lastLine(); l["action"] != "card.address" || l["details"].(map[string]any)["line1"] != "2 Broad Street" {
			t.Errorf("the log: %v", l)
		}
	})
}

func TestOperatorsAreListed(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		_, answer, _ := d.send(d.ada, "GET", "/admin/v1/operators", "")
		rows := answer["data"].([]any)
		if len(rows) != 2 || rows[0].(map[string]any)["status"] != "ACTIVE" || strings.Contains(d.seen[len(d.seen)-1], "kobo_admin_") {
			t.Errorf("%v", rows)
		}
	})
}

func TestAPIAccessIsClosedAndOpened(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		const path = "/admin/v1/door"
		const open = `{"byKobo":false,"closed":false,"fourEyes":false,"reason":null,"since":null}`
		const shut = `{"byKobo":false,"closed":true,"fourEyes":false,"reason":"restored","since":"2030-01-02T03:04:05.000Z"}`
		d.told(d.ok(d.ada, "GET", path, ""), open)
		d.no(d.ada, "POST", path, `{"closed":false}`, 400, "API access is open")
		d.no(d.ada, "POST", path, `{}`, 400, `"closed" is required`)
		d.no(d.ada, "POST", path, `{"closed":true}`, 400, `"reason" is required`)
		d.no(d.ada, "POST", path, `{"closed":true,"reason":""}`, 400, "closing API access needs a reason")
		d.no(d.ada, "POST", path, `{"closed":false,"reason":"x"}`, 400, `"reason" is not allowed`)
		d.told(d.ok(d.ada, "POST", path, `{"closed":true,"reason":"restored"}`), shut)
		d.told(d.ok(d.bob, "GET", path, ""), shut)
		if l := d.lastLine(); l["action"] != "door.close" || l["operator"] != "ada" {
			t.Errorf("the log: %v", l)
		}
		d.told(d.ok(d.bob, "POST", path, `{"closed":false}`), open)
	})
}
