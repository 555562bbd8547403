package admin_test

import (
	"fmt"
	"testing"
)

// Operators set the requests that a company may make per second, and 0 restores the usual limit.
func TestARequestLimit(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		company, _ := d.company()
		path := company + "/request-limit"
		if c := d.ok(d.ada, "GET", company, ""); fmt.Sprint(c["requestsPerSecond"]) != "0" {
			t.Errorf("at first: %v", c)
		}
		if c := d.ok(d.bob, "POST", path, `{"requestsPerSecond":500}`); fmt.Sprint(c["requestsPerSecond"]) != "500" {
			t.Errorf("set: %v", c)
		}
		if l := d.lastLine(); l["action"] != "company.rate" || l["operator"] != "bob" || l["details"].(map[string]any)["requestsPerSecond"] != "500" {
			t.Errorf("the log: %v", l)
		}
		d.ok(d.ada, "POST", company+"/live", `{"live":true}`)
		if c := d.ok(d.ada, "GET", company, ""); fmt.Sprint(c["requestsPerSecond"]) != "500" || c["live"] != true {
			t.Errorf("a different change: %v", c)
		}
		if c := d.ok(d.ada, "POST", path, `{"requestsPerSecond":0}`); fmt.Sprint(c["requestsPerSecond"]) != "0" {
			t.Errorf("the usual limit: %v", c)
		}
		for body, message := range map[string]string{
			`{}`:                            `"requestsPerSecond" is required`,
			`{"requestsPerSecond":-1}`:      `"requestsPerSecond" must be a positive integer`,
			`{"requestsPerSecond":1.5}`:     `"requestsPerSecond" must be a positive integer`,
			`{"requestsPerSecond":1000001}`: `"requestsPerSecond" must be 0 to 1000000`,
		} {
			d.no(d.ada, "POST", path, body, 400, message)
		}
		d.no(d.ada, "POST", "/admin/v1/companies/cnobody0000000000000000000/request-limit", `{"requestsPerSecond":5}`, 404, "Company not found")
	})
}
