package report_test

import (
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// The list of settlement accounts from one SQL query equals the list of the settlement service.
func TestAccountsInOneQuery(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, me := t.Context(), operator.Local("test")
		clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
		book := ledger.WithAlerts(d, clk, settlement.LowBalance)
		t.Cleanup(book.Drain)
		keys, err := secret.Parse(secret.Generate())
		if err != nil {
			t.Fatal(err)
		}
		settlements := settlement.New(settlement.Config{DB: d, Book: book, Clock: clk, Operations: operation.NewService(d, book, clk, slog.New(slog.DiscardHandler), time.Second)})
		var references []string
		for _, name := range []string{"Acme", "Other"} {
			c, _, err := company.New(d, book, keys, clk).Create(ctx, me, name)
			if err != nil {
				t.Fatal(err)
			}
			references = append(references, c.Reference)
			same(t, settlements, report.New(d, clk), c.Reference)
			for _, number := range []string{"8000000013", "8000000012", "8000000011"} {
				clk.Advance(time.Second)
				a, err := settlements.Create(ctx, me, c.Reference, "Account "+number)
				for _, code := range []string{"1", "2"} {
					if err == nil {
						clk.Advance(-time.Second)
						err = settlements.Feed(ctx, me, c.Reference, 1, settlement.BankAccount{Number: number, Name: name + code, BankName: "Bank", BankCode: code + name})
					}
				}
				if err == nil {
					err = settlements.Fund(ctx, me, c.Reference, a.ID, money.Kobo(a.ID), "bank", "seed")
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if _, err := settlements.SetStatus(ctx, me, c.Reference, 1, settlement.Inactive, "closed"); err != nil {
				t.Fatal(err)
			}
			if _, err := settlements.Alert(ctx, me, c.Reference, 2, 500); err != nil {
				t.Fatal(err)
			}
		}
		for _, reference := range references {
			same(t, settlements, report.New(d, clk), reference)
		}
	})
}

func same(t *testing.T, settlements *settlement.Service, reports *report.Service, company string) {
	t.Helper()
	want, err := settlements.Accounts(t.Context(), company)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := reports.Accounts(t.Context(), company); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v instead of %+v, %v", got, want, err)
	}
}
