package report_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
)

// A comparison keeps each whole day of the statement beside the ledger. A later comparison of the same day
// replaces the row, and a decided case explains its part of the difference.
func TestADayOfABankIsShownBesideTheLedger(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk := clock.At(time.Date(2030, 1, 10, 3, 0, 0, 0, time.UTC))
		s := report.New(d, clk)
		line := func(day, hour int, credit bool, reference string, naira money.Kobo, says string) provider.StatementLine {
			return provider.StatementLine{
				ID: fmt.Sprint(reference, day, hour), Reference: reference, Credit: credit, Amount: naira * money.Naira,
				At: time.Date(2030, 1, day, hour, 0, 0, 0, clock.Lagos), Narration: says,
			}
		}
		lines := dated{
			line(7, 0, false, "theft", 100, ""), line(7, 23, true, "gift", 30, ""),
			line(8, 12, false, "sms", 4, "SMS alert charge"), line(9, 1, false, "sms", 6, "SMS alert charge"), line(9, 5, true, "paired", 9, ""),
			line(9, 6, false, "paired", 9, ""), line(10, 1, false, "today", 77, ""),
		}
		compared := func(state operation.CaseState) {
			t.Helper()
			r, err := s.Reconcile(t.Context(), "bank", lines, clk.Now().Add(-72*time.Hour), clk.Now())
			must(t, err)
			for i := range r.Breaks {
				r.Breaks[i].Case = operation.Case{ID: "case " + r.Breaks[i].Subject, State: state}
			}
			must(t, s.Reconciled(t.Context(), r))
		}
		shows := func(want ...string) {
			t.Helper()
			list, err := s.BankDays(t.Context(), "", lagosDay(6), lagosDay(13))
			must(t, err)
			var got []string
			for _, d := range list {
				got = append(got, fmt.Sprintf("%s %s: %d lines, %s in, %s out; %s, %s in the ledger, %s of %s explained, charges %t",
					d.Bank, d.Began.In(clock.Lagos).Format("02 15:04"), d.Lines, d.In, d.Out, d.Moved(), d.Booked(), d.Explained(), d.Difference, d.Charges))
				for _, f := range d.Findings {
					got = append(got, fmt.Sprintf("%s %s %s %s %s", f.Reason, f.Subject, f.Effect, f.State, f.Outcome))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q\nwant %q", got, want)
			}
		}
		compared(operation.Open)
		ninth := "bank 09 00:00: 3 lines, ₦9.00 in, ₦15.00 out; ₦-6.00, ₦-6.00 in the ledger, ₦0.00 of ₦0.00 explained, charges false"
		eighth := []string{
			"bank 08 00:00: 1 lines, ₦0.00 in, ₦4.00 out; ₦-4.00, ₦0.00 in the ledger, ₦0.00 of ₦-4.00 explained, charges true",
			"UNBOOKED_CHARGE bank/2030-01-08 ₦-4.00  ",
		}
		gift := "MISSING_CREDIT bank/gift ₦30.00  "
		shows(ninth, eighth[0], eighth[1],
			"bank 07 00:00: 2 lines, ₦30.00 in, ₦100.00 out; ₦-70.00, ₦0.00 in the ledger, ₦0.00 of ₦-70.00 explained, charges true",
			gift, "UNKNOWN_DEBIT bank/theft ₦-100.00  ")

		_, err := d.Exec(t.Context(), `INSERT INTO operation_case VALUES ('house', 'case bank/theft', 'bank/theft', 'UNKNOWN_DEBIT', 0, '', 10000, 'RESOLVED', 'dismissed', '', '', 0, 'a', 'b', 0, 0, 1, 0, '')`)
		must(t, err)
		// The charges of the 8th were booked as the case had them. The day has more by now.
		_, err = d.Exec(t.Context(), `INSERT INTO operation_case VALUES ('house', 'case bank/2030-01-08', 'bank/2030-01-08', 'UNBOOKED_CHARGE', 0, '', 300, 'RESOLVED', 'booked', '', '', 0, 'a', 'b', 0, 0, 1, 0, '')`)
		must(t, err)
		clk.Advance(24 * time.Hour)
		lines = lines[2:] // the 7th is out of reach now
		compared(operation.Open)
		shows(
			"bank 10 00:00: 1 lines, ₦0.00 in, ₦77.00 out; ₦-77.00, ₦0.00 in the ledger, ₦0.00 of ₦-77.00 explained, charges false",
			"UNKNOWN_DEBIT bank/today ₦-77.00  ",
			"bank 09 00:00: 3 lines, ₦9.00 in, ₦15.00 out; ₦-6.00, ₦0.00 in the ledger, ₦0.00 of ₦-6.00 explained, charges true",
			"UNBOOKED_CHARGE bank/2030-01-09 ₦-6.00  ",
			"bank 08 00:00: 1 lines, ₦0.00 in, ₦4.00 out; ₦-4.00, ₦0.00 in the ledger, ₦-3.00 of ₦-4.00 explained, charges true",
			"UNBOOKED_CHARGE bank/2030-01-08 ₦-4.00 RESOLVED booked",
			"bank 07 00:00: 2 lines, ₦30.00 in, ₦100.00 out; ₦-70.00, ₦0.00 in the ledger, ₦-100.00 of ₦-70.00 explained, charges true",
			gift, "UNKNOWN_DEBIT bank/theft ₦-100.00 RESOLVED dismissed",
		)
		if list, err := s.BankDays(t.Context(), "other", lagosDay(6), lagosDay(13)); err != nil || len(list) > 0 {
			t.Error(list, err)
		}
		for _, to := range []time.Time{lagosDay(6), lagosDay(6).AddDate(0, 0, 32)} {
			if _, err := s.BankDays(t.Context(), "", lagosDay(6), to); err == nil {
				t.Error("a period up to", to)
			}
		}
	})
}

// A day's difference grew while its case was open. A dismissal explains no more than the case said, in the same direction, as the comparison
// judges it. So the comparison finds the day again, and opens another case.
func TestADecisionExplainsNoMoreThanItsCaseSaid(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk := clock.At(time.Date(2030, 1, 20, 3, 0, 0, 0, time.UTC))
		s := report.New(d, clk)
		write := func(statement string, args ...any) {
			t.Helper()
			_, err := d.Exec(t.Context(), statement, args...)
			must(t, err)
		}
		write(`INSERT INTO report_bank_day VALUES ('house', 'bank', 21915, 'r1', 1, 0, 400, -400, 1, 1,
			'[{"Reason":"DUPLICATE_DEBIT","Company":"a","Subject":"p","Bank":4,"Book":0,"Detail":"","At":"2030-01-01T10:00:00Z","Case":"c","Effect":-4}]', $1)`, clk.Now().UnixMicro())
		write(`INSERT INTO report_bank_day VALUES ('house', 'bank', 21916, 'r1', 1, 0, 0, 400, 1, 1,
			'[{"Reason":"MISSING_CREDIT","Company":"a","Subject":"q","Bank":4,"Book":0,"Detail":"","At":"2030-01-02T10:00:00Z","Case":"d","Effect":4}]', $1)`, clk.Now().UnixMicro())
		for _, id := range []string{"c", "d"} {
			write(`INSERT INTO operation_case VALUES ('a', $1, $1, 'DUPLICATE_DEBIT', 0, '', 0, 'RESOLVED', 'dismissed', '', '', 0, 'a', 'b', 0, 0, 1, 0, '')`, id)
		}
		for _, c := range []struct {
			state, outcome string
			amount, want   money.Kobo // of the case, and what it explains
		}{
			{"RESOLVED", operation.Dismissed, 300, 300},
			{"RESOLVED", operation.Dismissed, 400, 400},
			{"RESOLVED", operation.Dismissed, 500, 400},
			{"RESOLVED", operation.Dismissed, -300, 0},
			{"RESOLVED", operation.Dismissed, 0, 400}, // of an earlier release
			{"RESOLVED", operation.Assigned, 300, 300},
			{"OPEN", "", 300, 0},
		} {
			write(`UPDATE operation_case SET state = $1, outcome = $2, amount_kobo = $3 WHERE company_id = 'a'`, c.state, c.outcome, int64(c.amount))
			list, err := s.BankDays(t.Context(), "bank", lagosDay(1), lagosDay(3))
			must(t, err)
			if len(list) != 2 || list[0].Explained() != c.want || list[1].Explained() != -c.want {
				t.Errorf("%+v: %+v", c, list)
			}
			day, err := s.PartlyExplained(t.Context(), "bank", lagosDay(1))
			must(t, err)
			if isPart := c.state == "RESOLVED" && c.want != 400; isPart != day.Equal(lagosDay(1)) || isPart == day.IsZero() {
				t.Errorf("%+v: the day %s is explained in part", c, day)
			}
			if day, err = s.PartlyExplained(t.Context(), "bank", lagosDay(3)); err != nil || !day.IsZero() {
				t.Error(day, err)
			}
		}
	})
}
