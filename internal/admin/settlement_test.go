package admin_test

import (
	"testing"
)

func TestAnAccountIsSwitchedOff(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		company, account := d.company()
		path := company + "/settlement-accounts/" + account + "/status"
		row := d.ok(d.ada, "POST", path, `{"status":"INACTIVE","reason":"asked for"}`)
		if row["status"] != "INACTIVE" || row["isDefault"] != false {
			t.Errorf("off: %v", row)
		}
		if l := d.lastLine(); l["action"] != "settlement.status" || l["details"].(map[string]any)["status"] != "INACTIVE" {
			t.Errorf("the log: %v", l)
		}
		d.no(d.ada, "POST", path, `{"status":"CLOSED"}`, 400, `"status" must be one of [ACTIVE, INACTIVE]`)
		d.no(d.ada, "POST", path, `{}`, 400, `"status" is required`)
		d.no(d.ada, "POST", company+"/settlement-accounts/99/status", `{"status":"ACTIVE"}`, 404, "Settlement account not found")
		d.no(d.ada, "POST", company+"/settlement-accounts/main/status", `{"status":"ACTIVE"}`, 404, "Settlement account not found")
		d.no(d.ada, "POST", "/admin/v1/companies/cnobody0000000000000000000/settlement-accounts/1/status", `{"status":"ACTIVE"}`, 404, "Company not found")
		if row := d.ok(d.bob, "POST", path, `{"status":"ACTIVE"}`); row["status"] != "ACTIVE" || row["isDefault"] != true {
			t.Errorf("on: %v", row)
		}
	})
}

func TestALowBalanceIsSet(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		company, account := d.company()
		path := company + "/settlement-accounts/" + account + "/alert"
		if row := d.ok(d.ada, "POST", path, `{"lowBalance":50000.5}`); row["lowBalance"] != 50000.5 {
			t.Errorf("set: %v", row)
		}
		if l := d.lastLine(); l["action"] != "settlement.alert" || l["operator"] != "ada" || l["details"].(map[string]any)["lowBalance"] != "50000.50" {
			t.Errorf("the log: %v", l)
		}
		for _, c := range []struct {
			path, body string
			status     int
			message    string
		}{
			{path, `{}`, 400, `"lowBalance" is required`},
			{path, `{"lowBalance":0}`, 400, `"lowBalance" must be greater than 0`},
			{path, `{"lowBalance":-1}`, 400, `"lowBalance" must not be negative`},
			{path, `{"lowBalance":"5","x":1}`, 400, `"lowBalance" must be a number; "x" is not allowed`},
			{path, `{"lowBalance":100000000000.01}`, 400, `is larger than the largest amount`},
			{company + "/settlement-accounts/99/alert", `{"lowBalance":5}`, 404, "Settlement account not found"},
			{company + "/settlement-accounts/main/alert", `{"lowBalance":5}`, 404, "Settlement account not found"},
			{"/admin/v1/companies/cnobody0000000000000000000/settlement-accounts/1/alert", `{"lowBalance":5}`, 404, "Company not found"},
		} {
			d.no(d.ada, "POST", c.path, c.body, c.status, c.message)
		}
		other, _ := d.company()
		d.no(d.ada, "POST", other+"/settlement-accounts/"+account+"/alert", `{"lowBalance":5}`, 404, "Settlement account not found")
		shown := func() any {
			return d.ok(d.bob, "GET", company, "")["settlementAccounts"].([]any)[0].(map[string]any)["lowBalance"]
		}
		if low := shown(); low != 50000.5 {
			t.Errorf("after refusals: %v", low)
		}
		d.ok(d.bob, "POST", path, `{"lowBalance":null}`)
		if low := shown(); low != nil {
			t.Errorf("never: %v", low)
		}
	})
}
