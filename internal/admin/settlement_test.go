package admin_test

import (
	"testing"
	"time"
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
		d.ok(d.ada, "POST", company+"/settlement-accounts", `{"name":"Second"}`) // the other company has no account with the number 2
		d.no(d.ada, "POST", other+"/settlement-accounts/2/alert", `{"lowBalance":5}`, 404, "Settlement account not found")
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

func TestABankAccountIsAttached(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		company, account := d.company()
		other, foreign := d.company()
		path := company + "/settlement-accounts/" + account + "/bank-accounts"
		if _, list, _ := d.send(d.ada, "GET", path, ""); len(list["data"].([]any)) != 0 {
			t.Errorf("at first: %v", list)
		}
		const first = `{"accountNumber":"8000000011","accountName":"ACME LIMITED","bankName":"Safe Haven MFB","bankCode":"090286","since":"2030-01-02T03:04:05.000Z"}`
		d.told(d.ok(d.ada, "POST", path, `{"bank":"safehaven","accountNumber":"8000000011","accountName":" ACME LIMITED "}`), first)
		if l := d.lastLine(); l["action"] != "settlement.feed" || l["operator"] != "ada" || l["details"].(map[string]any)["accountNumber"] != "8000000011" {
			t.Errorf("the log: %v", l)
		}
		d.clock.Advance(time.Hour)
		d.ok(d.bob, "POST", path, `{"bank":"safehaven","accountNumber":"8000000003","accountName":"ACME SALES"}`)
		_, list, _ := d.send(d.bob, "GET", path, "")
		d.told(list["data"], `[`+first+`,{"accountNumber":"8000000003","accountName":"ACME SALES","bankName":"Safe Haven MFB","bankCode":"090286","since":"2030-01-02T04:04:05.000Z"}]`)
		shown := d.ok(d.ada, "GET", company, "")["settlementAccounts"].([]any)[0].(map[string]any)
		if shown["accountNumber"] != "8000000011" || shown["bankName"] != "Safe Haven MFB" {
			t.Errorf("the first is shown: %v", shown)
		}
		const fine = `{"bank":"safehaven","accountNumber":"8000000004","accountName":"ACME"}`
		for _, c := range []struct {
			path, body string
			status     int
			message    string
		}{
			{path, `{}`, 400, `"bank" is required; "accountNumber" is required; "accountName" is required`},
			{path, `{"bank":"gtb","accountNumber":"8000000004","accountName":"ACME"}`, 400, `"bank" must be one of [safehaven]`},
			{path, `{"bank":"safehaven","accountNumber":"800000000","accountName":"ACME"}`, 400, `"accountNumber" must be exactly 10 digits`},
			{path, `{"bank":"safehaven","accountNumber":"80000000O4","accountName":"ACME"}`, 400, `"accountNumber" must be exactly 10 digits`},
			{path, `{"bank":"safehaven","accountNumber":8000000004,"accountName":"ACME","x":1}`, 400, `"accountNumber" must be a string; "x" is not allowed`},
			{path, `{"bank":"safehaven","accountNumber":"8000000004","accountName":" A "}`, 400, `"accountName" must have 2 to 100 characters`},
			{path, `{"bank":"safehaven","accountNumber":"8000000011","accountName":"ACME"}`, 400, "The bank account feeds settlement account " + account + " already"},
			{path, `{"bank":"safehaven","accountNumber":"0100000001","accountName":"ACME"}`, 400, "We pay from this bank account"},
			{other + "/settlement-accounts/" + foreign + "/bank-accounts", `{"bank":"safehaven","accountNumber":"8000000011","accountName":"OTHER"}`, 400, "The bank account belongs to another company, c"},
			{other + "/settlement-accounts/2/bank-accounts", fine, 404, "Settlement account not found"},
			{company + "/settlement-accounts/main/bank-accounts", fine, 404, "Settlement account not found"},
			{"/admin/v1/companies/cnobody0000000000000000000/settlement-accounts/1/bank-accounts", fine, 404, "Company not found"},
		} {
			d.no(d.ada, "POST", c.path, c.body, c.status, c.message)
		}
		d.no(d.ada, "GET", other+"/settlement-accounts/2/bank-accounts", "", 404, "Settlement account not found")
		if l := d.lastLine(); l["action"] != "settlement.feed" || l["operator"] != "bob" {
			t.Errorf("a refusal is in the log: %v", l)
		}
	})
}
