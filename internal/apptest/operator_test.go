package apptest_test

import (
	"net/http"
	"testing"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operator"
)

// An operator requests an adjustment and is then removed. A second operator alone cannot approve
// this adjustment.
func TestOneOperatorCannotApproveForARemovedOne(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		ask := func(key, path string, body any) apptest.Answer {
			a, err := p.Raw(t.Context(), http.MethodPost, "/admin/v1/"+path, body, "Authorization", "Bearer "+key)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		_, key, err := p.App.Operators.IssueKey(t.Context(), operator.Local("test"), "ada")
		if err != nil {
			t.Fatal(err)
		}
		var made struct{ Data struct{ ID string } }
		ask(key.Reveal(), "companies/"+p.Reference+"/adjustments", map[string]any{
			"settlementId": p.SettlementID, "amount": 100, "direction": "credit", "reason": "a friend of mine",
		}).Want(t, http.StatusOK).Into(t, &made)
		if err := p.App.Operators.RevokeKey(t.Context(), operator.Local("test"), "ada"); err != nil {
			t.Fatal(err)
		}
		a := ask(p.AdminKey, "adjustments/"+made.Data.ID+"/approve", map[string]any{}).Want(t, http.StatusBadRequest)
		if a.Message() != "An adjustment must be approved by two operators, and ada is none any more" {
			t.Error(a)
		}
		p.Audit(t, apptest.DevFloat)
	})
}
