package admin_test

import (
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/chain"
)

func TestSetXpubDerivesAddresses(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		made := d.ok(d.ada, "POST", "/admin/v1/companies", `{"name":"Acme"}`)
		path := "/admin/v1/companies/" + made["reference"].(string) + "/xpubs"
		key := d.ok(d.ada, "POST", path, `{"chain":"evm","xpub":"`+chain.PublicTestKeys[chain.EVM]+`"}`)
		if key["firstAddress"] != "0x9858EfFD232B4033E47d90003D41EC34EcaEda94" || key["source"] != "operator" || key["version"] != float64(1) {
			t.Errorf("%v", key)
		}
		_, answer, _ := d.send(d.bob, "GET", path, "")
		if list := answer["data"].([]any); len(list) != 1 || !strings.HasPrefix(list[0].(map[string]any)["xpub"].(string), "xpub") {
			t.Errorf("%v", list)
		}
		for _, body := range []string{`{}`, `{"chain":"evm"}`, `{"chain":"doge","xpub":"` + chain.PublicTestKeys[chain.EVM] + `"}`, `{"chain":"evm","xpub":"xprv"}`} {
			if status, answer, _ := d.send(d.ada, "POST", path, body); status != 400 {
				t.Errorf("%s: %d %v", body, status, answer)
			}
		}
		if status, _, _ := d.send(d.ada, "GET", "/admin/v1/companies/cnobody/xpubs", ""); status != 400 && status != 404 {
			t.Errorf("of nobody: %d", status)
		}
		audit := d.ok(d.ada, "GET", "/admin/v1/audit", "")["data"].([]any)
		if line := audit[0].(map[string]any); line["action"] != "crypto.key" {
			t.Errorf("the audit log's last line is %v", line)
		}
	})
}
