package admin_test

import (
	"testing"
	"time"
)

func TestQuotas(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		company, _ := d.company()
		path := company + "/quotas"
		const otp = `{"kind":"otp","most":1000,"since":null,"used":0,"remaining":1000}`
		const rest = `{"kind":"crypto-address","most":10000,"since":null,"used":0,"remaining":10000},
			{"kind":"virtual-account","most":0,"since":null,"used":0,"remaining":null}]}`
		d.told(d.ok(d.ada, "GET", path, ""), `{"day":"2030-01-02","quotas":[`+otp+`,
			{"kind":"settlement-account","most":50,"since":null,"used":0,"remaining":50},`+rest)
		reference := company[len("/admin/v1/companies/"):]
		for range 2 {
			if _, err := d.settlements.CreateOwn(t.Context(), reference, "Payroll", nil); err != nil {
				t.Fatal(err)
			}
		}
		d.told(d.ok(d.bob, "POST", path, `{"kind":"settlement-account","most":3}`), `{"day":"2030-01-02","quotas":[`+otp+`,
			{"kind":"settlement-account","most":3,"since":"2030-01-02T03:04:05.000Z","used":2,"remaining":1},`+rest)
		if l := d.lastLine(); l["action"] != "company.quota" || l["subject"] != "settlement-account" || l["details"].(map[string]any)["most"] != "3" {
			t.Errorf("the log: %v", l)
		}
		d.clock.Advance(20 * time.Hour) // the new day has begun in Lagos, but not in London
		d.told(d.ok(d.ada, "POST", path, `{"kind":"settlement-account","most":0}`), `{"day":"2030-01-03","quotas":[`+otp+`,
			{"kind":"settlement-account","most":0,"since":"2030-01-02T23:04:05.000Z","used":0,"remaining":null},`+rest)
		d.told(d.ok(d.ada, "GET", path+"/history", "")["data"], `[
			{"kind":"settlement-account","most":0,"since":"2030-01-02T23:04:05.000Z","by":"ada"},
			{"kind":"settlement-account","most":3,"since":"2030-01-02T03:04:05.000Z","by":"bob"}]`)
		other, _ := d.company()
		if page := d.ok(d.ada, "GET", other+"/quotas/history", ""); len(page["data"].([]any)) != 0 {
			t.Errorf("of another company: %v", page)
		}
		for body, message := range map[string]string{
			``:                              `"kind" is required; "most" is required`,
			`{"kind":"otp","most":-1}`:      `"most" must be a positive integer`,
			`{"kind":"otp","most":"5"}`:     `"most" must be a positive integer`,
			`{"kind":"cards","most":5}`:     `"kind" must be one of [otp, settlement-account, crypto-address, virtual-account]`,
			`{"kind":"otp","most":5,"x":1}`: `"x" is not allowed`,
		} {
			d.no(d.ada, "POST", path, body, 400, message)
		}
		nobody := "/admin/v1/companies/cnobody0000000000000000000/quotas"
		d.no(d.ada, "POST", nobody, `{"kind":"otp","most":5}`, 404, "Company not found")
		d.no(d.ada, "GET", nobody, "", 404, "Company not found")
		d.no(d.ada, "GET", nobody+"/history", "", 404, "Company not found")
	})
}
