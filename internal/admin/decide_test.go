package admin_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
)

// An adjustment needs two operators. It is booked only once, even with concurrent approvals.
func TestAdjustments(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		path, account := d.company()
		ask := func(amount, direction string) string {
			row := d.ok(d.ada, "POST", path+"/adjustments",
				`{"settlementId":`+account+`,"amount":`+amount+`,"direction":"`+direction+`","reason":"bank statement of 1 January"}`)
			if row["status"] != "PENDING" || row["createdBy"] != "ada" || row["approvedBy"] != nil {
				t.Errorf("asked for: %v", row)
			}
			return "/admin/v1/adjustments/" + row["id"].(string) + "/approve"
		}
		credit := ask("1500.50", "credit")
		d.no(d.ada, "POST", credit, "", 400, "must be approved by a second operator")
		if got := d.balance(path); got != 0.0 {
			t.Errorf("before the second operator: %v", got)
		}
		var all sync.WaitGroup
		paid := make(chan int, 8)
		for range 8 {
			all.Go(func() {
				r, _ := http.NewRequestWithContext(context.Background(), "POST", d.url+credit, nil)
				r.Header.Set("Authorization", "Bearer "+d.bob)
				w, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				defer w.Body.Close()
				paid <- w.StatusCode
			})
		}
		all.Wait()
		close(paid)
		count := map[int]int{}
		for status := range paid {
			count[status]++
		}
		if count[200] != 1 || count[400] != 7 {
			t.Errorf("approvals: %v", count)
		}
		if got := d.balance(path); got != 1500.5 {
			t.Errorf("after the approvals: %v", got)
		}
		d.no(d.bob, "POST", credit, "", 400, "approved already")

		debit := ask("1500.51", "debit")
		d.no(d.bob, "POST", debit, "", 400, "Insufficient balance")
		pending := d.ok(d.bob, "GET", "/admin/v1/adjustments?status=PENDING", "")["data"].([]any)
		if len(pending) != 1 || pending[0].(map[string]any)["amount"] != 1500.51 {
			t.Errorf("a debit that cannot be borne: %v", pending)
		}
		reject := strings.TrimSuffix(debit, "approve") + "reject"
		d.no(d.bob, "POST", reject, `{}`, 400, `"note" is required`)
		d.no(d.bob, "POST", reject, `{"note":"no"}`, 400, `"note" must have 4 to 500 characters`)
		row := d.ok(d.bob, "POST", reject, `{"note":"never on the statement"}`)
		if row["status"] != "REJECTED" || row["createdBy"] != "ada" || row["rejectedBy"] != "bob" || row["approvedBy"] != nil ||
			row["note"] != "never on the statement" || row["rejectedAt"] == nil || row["approvedAt"] != nil {
			t.Errorf("rejected: %v", row)
		}
		d.no(d.bob, "POST", debit, "", 400, "The adjustment is rejected already")
		own := ask("1", "credit")
		d.ok(d.ada, "POST", strings.TrimSuffix(own, "approve")+"reject", `{"note":"taken back"}`)
		for status, want := range map[string]int{"PENDING": 0, "APPROVED": 1, "REJECTED": 2} {
			if list := d.ok(d.bob, "GET", "/admin/v1/adjustments?status="+status, "")["data"].([]any); len(list) != want {
				t.Errorf("%s: %v", status, list)
			}
		}
		if row := d.ok(d.bob, "GET", strings.TrimSuffix(own, "/approve"), ""); row["rejectedBy"] != "ada" || row["status"] != "REJECTED" {
			t.Errorf("taken back: %v", row)
		}
		d.ok(d.bob, "POST", ask("1500.5", "debit"), "")
		if got := d.balance(path); got != 0.0 {
			t.Errorf("after the debit: %v", got)
		}
		left := ask("1", "credit")
		if err := d.operators.RevokeKey(t.Context(), operator.Local("test"), "ada"); err != nil {
			t.Fatal(err)
		}
		d.no(d.bob, "POST", left, "", 400, "An adjustment must be approved by two operators, and ada is none any more")
	})
}
