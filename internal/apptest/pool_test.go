package apptest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// A program with only one connection to the database still works. A request that holds a connection
// never waits for a second connection.
func TestOneConnectionIsEnough(t *testing.T) {
	home := apptest.NewHome(t, db.Postgres)
	separator := "?"
	if strings.Contains(home.Database, "?") {
		separator = "&"
	}
	home.Database += separator + "pool_max_conns=1"
	p := home.Start(t)
	bundle := p.Bundle()
	for i, a := range atOnce(t, 24, func(i int) (apptest.Answer, error) {
		return p.Try(context.Background(), http.MethodPost, apptest.PurchaseData, p.Order(bundle, fmt.Sprintf("one-%d", i), "10"))
	}) {
		if a.Status != http.StatusOK {
			t.Errorf("%d: %s", i, a)
		}
	}
	if n := len(p.Audit(t, apptest.DevFloat)); n != 24 {
		t.Errorf("%d transactions for 24 orders", n)
	}
}
