package vtu_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// An order that repeats an earlier order gets the earlier transaction, whatever became of the account
// or the product. An inactive account is reported before a product that is not on sale.
func TestTheOrderOfAnswers(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			shop := newTill(t, dialect)
			set := func(to settlement.Status) {
				t.Helper()
				if _, err := shop.Settlements.SetStatus(t.Context(), operator.Local("test"), shop.company, shop.product.SettlementID, to, ""); err != nil {
					t.Fatal(err)
				}
			}
			order := func(key, product string, account int64) (id string, replayed bool, message string) {
				o := shop.product
				o.IdempotencyKey, o.ProductID, o.SettlementID = key, product, account
				r, err := shop.PurchaseData(t.Context(), o)
				if err != nil {
					return "", false, fault.Of(err).Message
				}
				return r.Transaction.ID, r.Replayed, ""
			}
			onSale, account := shop.product.ProductID, shop.product.SettlementID
			first, replayed, message := order("first", onSale, account)
			if first == "" || replayed {
				t.Fatalf("the first order: %s", message)
			}
			set(settlement.Inactive)
			for _, product := range []string{onSale, "gone"} {
				if again, replayed, message := order("first", product, account); again != first || !replayed {
					t.Errorf("%s: the repeated order gave %s %v %s", product, again, replayed, message)
				}
				if _, _, message := order("new", product, account); message != "Settlement account not found" {
					t.Errorf("%s: the new order gave %s", product, message)
				}
			}
			if _, _, message := order("new", onSale, 99); message != "Settlement account not found" {
				t.Errorf("an account that does not exist: %s", message)
			}
			set(settlement.Active)
			if _, _, message := order("new", "gone", account); message != "Invalid product" {
				t.Errorf("a product that is not on sale: %s", message)
			}
			if id, replayed, message := order("new", onSale, account); id == "" || replayed {
				t.Errorf("the refused key: %s", message)
			}
		})
	}
}
