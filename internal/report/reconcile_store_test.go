package report_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// dated is a bank that returns the statement lines of the requested period.
type dated []provider.StatementLine

func (d dated) Statement(_ context.Context, from, to time.Time, _ int) (lines []provider.StatementLine, _ bool, _ error) {
	for _, l := range d {
		if !l.At.Before(from) && l.At.Before(to) {
			lines = append(lines, l)
		}
	}
	return lines, false, nil
}

// forgetful is a bank that has no statement of old days.
type forgetful struct {
	dated
	since time.Time
}

func (f forgetful) Statement(ctx context.Context, from, to time.Time, page int) ([]provider.StatementLine, bool, error) {
	if from.Before(f.since) {
		return nil, false, errors.New("the day is too old")
	}
	return f.dated.Statement(ctx, from, to, page)
}

// payer returns a company with 1,000 naira that pays by the bank "bank".
func payer(t *testing.T, d *db.DB) (*clock.Manual, *ledger.Book, string, *operation.Service) {
	t.Helper()
	clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	book, company := ledger.New(d, clk), id.Cuid()
	t.Cleanup(book.Drain)
	s := operation.NewService(d, book, clk, slog.New(slog.DiscardHandler), time.Second)
	s.Handle("payout", operation.Kind{
		Route: func(o operation.Operation) operation.Route {
			return operation.Route{
				Settlement: "settlement/1", Clearing: settlement.ClearingAccount(o.Kind), Provider: settlement.ProviderAccount("bank"),
				Charge: settlement.ChargeAccount("bank"),
			}
		},
		Effects: func(context.Context, operation.Operation, *ledger.Unit) error { return nil },
	})
	u := ledger.Found(company)
	u.OpenAccounts(ledger.Account{ID: "settlement/1"}, ledger.Account{ID: "capital", Floor: money.NoFloor})
	u.Transfer(ledger.Transfer{Reference: "opening", Debit: "capital", Credit: "settlement/1", Amount: 1000 * money.Naira, Kind: "credit"})
	must(t, book.Commit(t.Context(), u))
	return clk, book, company, s
}

// An operation that was open for days is compared with its debit on its first day, whether it
// succeeds or fails.
func TestALongOpenOperationIsComparedWithItsDebit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk, book, company, s := payer(t, d)
		var lines dated
		began := map[string]operation.Operation{}
		for _, end := range []string{"confirmed", "rejected", "open"} {
			o := s.Start(operation.Operation{Company: company, Kind: "payout", IdempotencyKey: end, Provider: "bank", SettlementID: 1, Amount: 100 * money.Naira})
			must(t, book.Commit(t.Context(), s.Unit(o, 0, "")))
			began[end] = o
			lines = append(lines,
				provider.StatementLine{ID: end, Reference: o.ID, Amount: o.Amount, At: clk.Now()},
				provider.StatementLine{ID: end + "+", Reference: o.ID, Amount: 1075, At: clk.Now()})
		}
		clk.Advance(100 * time.Hour)
		for end, outcome := range map[string]provider.Outcome{"confirmed": provider.Confirmed, "rejected": provider.Rejected} {
			_, err := s.Notified(t.Context(), company, began[end].ID, provider.Answer{Outcome: outcome, Charge: 1075})
			must(t, err)
		}
		clk.Advance(time.Hour)
		r, err := report.New(d, clk).Reconcile(t.Context(), "bank", lines, clk.Now().Add(-72*time.Hour), clk.Now())
		must(t, err)
		if r.Lines != 6 || r.Payments != 3 || len(r.Breaks) != 1 {
			t.Fatalf("%+v", r)
		}
		if b := r.Breaks[0]; b.Reason != operation.FailedReversal || b.Subject != began["rejected"].ID || b.Company != company ||
			b.Bank != 100*money.Naira || b.Book != 0 {
			t.Errorf("%+v", b)
		}
		// The charge of the first day was compared while the payments were open. It counts on the day on which they ended.
		clk.Advance(48 * time.Hour)
		for _, days := range []time.Duration{3, 9} {
			r, err = report.New(d, clk).Reconcile(t.Context(), "bank", lines, clk.Now().Add(-days*24*time.Hour), clk.Now())
			must(t, err)
			if len(r.Breaks) != 2 || r.Breaks[0].Reason != operation.FailedReversal {
				t.Fatalf("of %d days: %+v", days, r.Breaks)
			}
			if b := r.Breaks[1]; b.Reason != operation.UnbookedCharge || b.Subject != "bank/2030-01-06" || b.Bank != 1075 || b.Book != 0 {
				t.Errorf("of %d days: %+v", days, b)
			}
		}
	})
}

// After a restore a company repeats a payment that was lost, so the bank's debit is days older than the payment. It is
// found. A payment that the bank never took stays a break.
func TestTheDebitOfARepeatedPaymentIsOlderThanThePayment(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk, book, company, s := payer(t, d)
		before := clk.Now()
		clk.Advance(20 * 24 * time.Hour)
		var lines dated
		ids := map[string]string{}
		for _, end := range []string{"taken", "given back", "given back after its success", "never taken"} {
			o := s.Start(operation.Operation{Company: company, Kind: "payout", IdempotencyKey: end, Provider: "bank", SettlementID: 1, Amount: 100 * money.Naira})
			must(t, book.Commit(t.Context(), s.Unit(o, 0, "")))
			if ids[o.ID] = end; end != "never taken" {
				lines = append(lines, provider.StatementLine{ID: end, Reference: o.ID, Amount: o.Amount, At: before})
			}
			if strings.HasPrefix(end, "given back") {
				lines = append(lines, provider.StatementLine{ID: end + "+", Reference: o.ID, Amount: o.Amount, At: clk.Now(), Credit: true, Reversal: true})
			}
			answer := provider.Answer{Outcome: provider.Confirmed}
			if end == "given back" {
				answer.Outcome = provider.Rejected
			}
			_, err := s.Notified(t.Context(), company, o.ID, answer)
			must(t, err)
		}
		clk.Advance(time.Hour)
		r, err := report.New(d, clk).Reconcile(t.Context(), "bank", lines, clk.Now().Add(-72*time.Hour), clk.Now())
		must(t, err)
		got := map[string]string{}
		for _, b := range r.Breaks {
			got[ids[b.Subject]] = fmt.Sprint(b.Reason, " ", b.Bank, " ", b.Book)
		}
		if want := map[string]string{"given back after its success": "FAILED_REVERSAL ₦0.00 ₦100.00", "never taken": "NOT_ON_STATEMENT ₦0.00 ₦100.00"}; !maps.Equal(got, want) {
			t.Errorf("the breaks are %v", got)
		}
		if r.Lines != 2 {
			t.Errorf("the statement has %d lines", r.Lines)
		}
		r, err = report.New(d, clk).Reconcile(t.Context(), "bank", forgetful{lines, clk.Now().Add(-8 * 24 * time.Hour)}, clk.Now().Add(-72*time.Hour), clk.Now())
		must(t, err)
		if len(r.Breaks) != 4 || !strings.HasSuffix(r.Breaks[0].Detail, ", which may have it, could not be read") {
			t.Errorf("without older days: %+v", r.Breaks)
		}
	})
}

// A program whose clock was days behind has written the newest entry but one. The older entries of the period are compared all the same.
func TestAnEntryOfAClockBehindHidesNoOlderOne(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk, book, company, s := payer(t, d)
		clk.Advance(240 * time.Hour)
		behind := 5 * 24 * time.Hour
		for _, jump := range []time.Duration{0, -behind, behind} {
			clk.Jump(jump)
			o := s.Start(operation.Operation{Company: company, Kind: "payout", IdempotencyKey: fmt.Sprint(jump), Provider: "bank", SettlementID: 1, Amount: 100 * money.Naira})
			must(t, book.Commit(t.Context(), s.Unit(o, 0, "")))
			_, err := s.Notified(t.Context(), company, o.ID, provider.Answer{Outcome: provider.Confirmed})
			must(t, err)
			clk.Advance(time.Hour)
		}
		r, err := report.New(d, clk).Reconcile(t.Context(), "bank", dated{}, clk.Now().Add(-72*time.Hour), clk.Now())
		must(t, err)
		if r.Payments != 2 || len(r.Breaks) != 2 {
			t.Errorf("%d payments, %+v", r.Payments, r.Breaks)
		}
	})
}
