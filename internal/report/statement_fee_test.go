package report_test

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
)

// returned adds a payout that succeeded and was reversed later.
func (w *world) returned(account int64, amount, fee money.Kobo) {
	w.t.Helper()
	reference := w.pay(account, amount, fee, provider.Confirmed, "paid and returned")
	o, err := w.operations.Notified(w.t.Context(), w.company, reference, provider.Answer{Outcome: provider.Rejected, Reversed: true})
	must(w.t, err)
	if o.State != operation.Reversed {
		w.t.Fatalf("the payout is %s", o.State)
	}
}

// A returned fee lowers the sum of fees. So in every format, the fee column adds up to the balance
// of the ledger's fee account.
func TestTheFeeColumnAddsUpToTheLedger(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fortnight()
		w.returned(w.main, 300_00, 1_07)
		w.clock.Advance(time.Hour)
		want, err := w.book.Balance(t.Context(), w.company, "fee")
		must(t, err)
		if want != 14*26_88 {
			t.Fatalf("the ledger has taken %s", want)
		}
		s := w.statement(time.Time{}, time.Time{})
		var sum money.Kobo
		must(t, s.Each(t.Context(), func(e report.Entry) error {
			if sum += e.Fee; e.Credit && e.Moved() != e.Amount || !e.Credit && -e.Moved() != e.Amount+e.Fee {
				t.Errorf("%+v", e)
			}
			return nil
		}))
		if sum != want {
			t.Errorf("the entries have fees of %s, the ledger of %s", sum, want)
		}
		var out bytes.Buffer
		must(t, s.CSV(t.Context(), &out))
		rows, err := csv.NewReader(&out).ReadAll()
		must(t, err)
		book, err := workbook(t, s, 1<<20).GetRows("Statement")
		must(t, err)
		for name, rows := range map[string][][]string{"csv": rows[2 : len(rows)-1], "xlsx": book[11 : len(book)-1]} {
			sum = 0
			for _, r := range rows {
				fee := money.Kobo(0)
				if len(r) > 7 {
					fee = signed(t, r[7])
				}
				if sum += fee; r[3] == "Refund" && fee != -10_75 || r[3] == "Reversal of the fee" && fee != -1_07 {
					t.Errorf("%s: %q", name, r)
				}
			}
			if sum != want {
				t.Errorf("%s: the column comes to %s, the ledger's fee is %s", name, sum, want)
			}
		}
		if total := book[len(book)-1]; signed(t, total[7]) != want {
			t.Errorf("the workbook ends %q", total)
		}
		if printed := printed(t, s); strings.Count(printed, "fee returned 10.75\n") != 14 || strings.Count(printed, "with a fee of 26.88\n") != 14 {
			t.Errorf("the paper says\n%s", printed)
		}
	})
}

func signed(t *testing.T, text string) money.Kobo {
	t.Helper()
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		return -kobo(t, rest)
	}
	return kobo(t, text)
}

// printed returns all texts of the statement's PDF, each text on a separate line.
func printed(t testing.TB, s *report.Statement) string {
	t.Helper()
	var all strings.Builder
	for _, page := range readPaper(t, pdf(t, s)).pages {
		for _, word := range page {
			all.WriteString(word.text + "\n")
		}
	}
	return all.String()
}

func TestAFuturePeriodIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_00, "in")
		w.clock.Advance(time.Hour)
		now := w.clock.Now()
		next := now.AddDate(0, 1, 0)
		for name, to := range map[string]time.Time{"without an end": {}, "with one": next.AddDate(0, 1, 0)} {
			_, err := w.Statement(t.Context(), w.company, w.main, next, to)
			if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "The period has not begun") {
				t.Errorf("next month %s: %v", name, err)
			}
		}
		// A statement whose period ends in the future ends now.
		if s := w.statement(now.Add(-2*time.Hour), next); !s.To.Equal(now) || s.Count != 1 || s.Closing != 1_00 {
			t.Errorf("the month that runs: %+v", s)
		}
		if s := w.statement(now, next); s.Count != 0 || s.Opening != 1_00 || s.Closing != 1_00 {
			t.Errorf("from this very moment: %+v", s)
		}
	})
}

// An entry at half past midnight in Lagos belongs to the day that has begun in Lagos, although it
// is still the previous day in UTC.
func TestAStatementHasLagosDays(t *testing.T) {
	w := newWorld(t, dbtest.New(t, db.SQLite))
	w.clock.Advance(14*time.Hour + 30*time.Minute) // 1 March 23:30 UTC
	w.fund(w.main, 1_00, "after midnight")
	w.clock.Advance(24 * time.Hour)
	day := time.Date(2030, 3, 1, 23, 0, 0, 0, time.UTC) // when 2 March begins in Lagos
	s := w.statement(day, day.Add(24*time.Hour))
	if s.Count != 1 || s.Name() != "statement-1-2030-03-02-2030-03-02" {
		t.Errorf("%s: %d entries", s.Name(), s.Count)
	}
	var out bytes.Buffer
	must(t, s.CSV(t.Context(), &out))
	rows, err := csv.NewReader(&out).ReadAll()
	must(t, err)
	for i, want := range []string{"Day (Lagos)", "2030-03-02", "2030-03-02", "2030-03-02"} {
		if r := rows[i]; len(r) != 15 || r[8] != want || i == 2 && r[0] != "2030-03-01T23:30:00.000Z" {
			t.Errorf("%q", rows[i])
		}
	}
	book, err := workbook(t, s, 1<<20).GetRows("Statement")
	must(t, err)
	if book[4][1] != "2030-03-02 00:00:00 to 2030-03-02 23:59:59" || book[10][0] != "Date (Lagos)" || book[11][0] != "2030-03-02 00:30:00.000" {
		t.Errorf("%q", book)
	}
	for _, want := range []string{"2 March 2030 to 2 March 2030\n", "Issued 3 March 2030, 00:30 in Lagos\n", "02 Mar 2030\n00:30:00\n", "times in Lagos (UTC+1)"} {
		if !strings.Contains(printed(t, s), want) {
			t.Errorf("%q is not printed in\n%s", want, printed(t, s))
		}
	}
}
