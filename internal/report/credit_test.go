package report_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Integrity finds each wrong amount or state that the test writes into the rows of credits.
func TestIntegrityOfCredits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, me := t.Context(), operator.Local("test")
		clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
		book := ledger.New(d, clk)
		t.Cleanup(book.Drain)
		keys, err := secret.Parse(secret.Generate())
		if err != nil {
			t.Fatal(err)
		}
		settlements := settlement.New(settlement.Config{DB: d, Book: book, Clock: clk, Operations: operation.NewService(d, book, clk, slog.New(slog.DiscardHandler), time.Second)})
		c, _, err := company.New(d, book, keys, clk).Create(ctx, me, "Acme")
		if err != nil {
			t.Fatal(err)
		}
		a, err := settlements.Create(ctx, me, c.Reference, "Main")
		if err == nil {
			err = settlements.Feed(ctx, me, c.Reference, a.ID, settlement.BankAccount{Number: "8000000011", BankCode: "090286"})
		}
		for session, account := range map[string]string{"s-1": "8000000011", "s-2": "8000000011", "s-3": "8000000099"} {
			if err == nil {
				err = settlements.Receive(ctx, "bank", provider.Inbound{
					Outcome: provider.Confirmed, SessionID: session, CreditAccount: account, Amount: 500, At: clk.Now(),
				})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		reports := report.New(d, clk)
		wrongs := func(company string) string {
			t.Helper()
			i, err := reports.Integrity(ctx, company)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(i.Wrongs, "\n")
		}
		if w := wrongs(c.Reference) + wrongs(settlement.House); w != "" {
			t.Error(w)
		}
		for _, fault := range []struct{ company, statement, want string }{
			{c.Reference, `UPDATE settlement_credit SET amount_kobo = 501 WHERE session_id = 's-1'`, "not in the ledger as it was received"},
			{settlement.House, `UPDATE settlement_credit SET amount_kobo = 400 WHERE session_id = 's-3'`, "suspense holds 500 kobo for credits of 400"},
			{c.Reference, `INSERT INTO collection (company_id, id, external_reference, request, state, provider, reference, settlement_id, amount_kobo,
				amount_control, account_number, account_name, bank_name, bank_code, credit_id, called_until, expires_at, created_at, updated_at)
				SELECT company_id, 'c-1', 'e-1', '', 'SUCCESS', '', '', settlement_id, 500, 'Fixed', '', '', '', '', 'nothing', 0, 0, 0, 0
				FROM settlement_credit WHERE session_id = 's-2'`, "SUCCESS without a payment"},
		} {
			if _, err := d.Exec(ctx, fault.statement); err != nil {
				t.Fatal(err)
			}
			if w := wrongs(fault.company); !strings.Contains(w, fault.want) {
				t.Errorf("want %q, got %q", fault.want, w)
			}
		}
	})
}
