package admin_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
)

// The list of compared names is for the role support. Each read is in the audit log.
func TestTheListOfComparedNames(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		key := d.as("sue", operator.Support)
		status, said, _ := d.send(key, "GET", "/admin/v1/customers?nameMatch=MISMATCH&company=c1", "")
		if status != 200 || !strings.Contains(fmt.Sprint(said), "data:[]") {
			t.Errorf("%d %v", status, said)
		}
		if status, said, _ = d.send(key, "GET", "/admin/v1/customers?nameMatch=NO", ""); status != 400 {
			t.Errorf("%d %v", status, said)
		}
		lines, _, err := d.operators.SearchAudit(t.Context(), operator.AuditFilter{Action: "read.listCustomers"}, 10, 0)
		if err != nil || len(lines) != 1 || lines[0].Operator != "sue" || lines[0].Subject != "c1" {
			t.Errorf("%+v %v", lines, err)
		}
	})
}
