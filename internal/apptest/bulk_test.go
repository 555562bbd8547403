package apptest_test

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/bulk"
	"github.com/kobo-waas/kobo/internal/money"
)

// A filled ledger is sound, and the program goes on with it. KOBO_TEST_FILL sets the number of
// copies, for measurements:
//
//	KOBO_TEST_FILL=250000 go test -v -run TestAFilledLedgerIsSound ./internal/apptest
func TestAFilledLedgerIsSound(t *testing.T) {
	t.Parallel()
	n := 500
	if text := os.Getenv("KOBO_TEST_FILL"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	p := apptest.Start(t, db.Postgres)
	bundle := p.Bundle()
	p.Fund(p.Client, bundle.Price*money.Kobo(n+1000))
	measure := func(name string) {
		began := time.Now()
		for i := range 200 {
			p.Bought(p.Buy(p.Order(bundle, fmt.Sprintf("%s %d", name, i), "10")))
		}
		bought := time.Since(began)
		began = time.Now()
		for range 200 {
			p.Do(http.MethodGet, "/api/v1/events?limit=10", nil).Want(t, http.StatusOK)
			p.Transaction(name + " 0")
		}
		read := time.Since(began)
		began = time.Now()
		p.Sound(t)
		t.Logf("%s: 200 purchases %v, 400 reads %v, verify %v", name, bought, read, time.Since(began))
	}
	measure("small")
	p.Advance(time.Minute) // the purchase that is copied must be the last event
	last := p.Bought(p.Buy(p.Order(bundle, "fill-template", "10")))
	began := time.Now()
	err := bulk.Purchases(t.Context(), p.App.DB, bulk.Template{Company: p.Reference, Operation: last.TransactionID, Key: "fill-template"}, n, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d copies in %v", n, time.Since(began))
	began = time.Now()
	if err := p.App.Book.Adopt(t.Context(), p.Reference, func(int) {}); err != nil { // the copies have no MACs
		t.Fatal(err)
	}
	t.Logf("their rows were signed in %v", time.Since(began))
	measure("big")
	measure("big again")
}
