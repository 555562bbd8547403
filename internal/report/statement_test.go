package report_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

var me = operator.Local("test")

// world is the environment of a test. It has a company with two settlement accounts.
type world struct {
	*report.Service
	t           testing.TB
	db          *db.DB
	clock       *clock.Manual
	book        *ledger.Book
	operations  *operation.Service
	settlements *settlement.Service
	company     string
	main, other int64
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var firstDay = time.Date(2030, 3, 1, 9, 0, 0, 0, time.UTC)

func newWorld(t testing.TB, d *db.DB) *world {
	t.Helper()
	keys, err := secret.Parse(secret.Generate())
	must(t, err)
	w := &world{t: t, db: d, clock: clock.At(firstDay)}
	w.Service = report.New(d, w.clock)
	w.book = ledger.New(d, w.clock)
	t.Cleanup(w.book.Drain)
	w.operations = operation.NewService(d, w.book, w.clock, slog.New(slog.NewTextHandler(io.Discard, nil)), time.Minute)
	w.operations.Handle("payout", operation.Kind{
		Route: func(o operation.Operation) operation.Route {
			return operation.Route{Settlement: settlement.LedgerAccount(o.SettlementID), Clearing: "clearing/payout", Provider: "provider/bank", Fee: "fee"}
		},
		Effects: func(context.Context, operation.Operation, *ledger.Unit) error { return nil },
	})
	w.settlements = settlement.New(settlement.Config{DB: d, Book: w.book, Clock: w.clock, Operations: w.operations})
	c, _, err := company.New(d, w.book, keys, w.clock).Create(t.Context(), me, "Ọláyínká & Sons Trading Limited")
	must(t, err)
	w.company = c.Reference
	for _, at := range []*int64{&w.main, &w.other} {
		a, err := w.settlements.Create(t.Context(), me, w.company, "Operations account")
		must(t, err)
		*at = a.ID
	}
	must(t, w.settlements.Feed(t.Context(), me, w.company, w.main, settlement.BankAccount{
		Number: "0123456789", Name: "Olayinka & Sons", BankName: "Safe Haven MFB", BankCode: "999240",
	}))
	return w
}

func (w *world) fund(account int64, amount money.Kobo, narration string) {
	w.t.Helper()
	must(w.t, w.settlements.Fund(w.t.Context(), me, w.company, account, amount, "bank", narration))
}

// pay adds an operation that ends with this outcome, and returns the id of the operation.
func (w *world) pay(account int64, amount, fee money.Kobo, outcome provider.Outcome, narration string) string {
	w.t.Helper()
	o := w.operations.Start(operation.Operation{
		Company: w.company, Kind: "payout", Provider: "bank", SettlementID: account, Amount: amount, Fee: fee,
	})
	must(w.t, w.book.Commit(w.t.Context(), w.operations.Unit(o, 0, narration)))
	_, err := w.operations.Run(w.t.Context(), o, func(context.Context) provider.Answer {
		return provider.Answer{Outcome: outcome}
	}, nil)
	must(w.t, err)
	return o.ID
}

// fortnight adds the entries of two weeks. Each day has a credit, a successful payout and a failed
// payout. Both payouts have a fee.
func (w *world) fortnight() {
	for day := range 14 {
		w.fund(w.main, 100_000_00, fmt.Sprintf("Transfer from customer %d", day+1))
		w.clock.Advance(time.Hour)
		w.pay(w.main, 20_000_50, 26_88, provider.Confirmed, "Supplier invoice "+fmt.Sprint(1000+day))
		w.clock.Advance(time.Hour)
		w.pay(w.main, 5_000_00, 10_75, provider.Rejected, "=HYPERLINK(\"http://evil\")")
		w.clock.Advance(22 * time.Hour)
	}
}

func TestTheListHasEveryEntryInOrder(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fortnight()
		w.fund(w.other, 77, "elsewhere")
		// All pages together contain every entry, newest first.
		var chain []report.Entry
		for offset := 0; ; offset += 9 {
			page, total, err := w.Entries(t.Context(), w.company, report.EntryFilter{SettlementID: w.main}, offset, 9)
			must(t, err)
			if total != 14*4 {
				t.Fatalf("%d entries", total)
			}
			chain = append(chain, page...)
			if len(page) == 0 {
				break
			}
		}
		for i, e := range chain {
			if i > 0 && chain[i-1].Previous != e.Current {
				t.Errorf("%d: %s is followed by %s", i, e.Current, chain[i-1].Previous)
			}
			if e.Credit && e.Moved() != e.Amount || !e.Credit && -e.Moved() != e.Amount+e.Fee {
				t.Errorf("%+v", e)
			}
		}
		if len(chain) != 56 {
			t.Fatalf("the pages hold %d entries", len(chain))
		}
		refund, debit := chain[0], chain[1]
		if !refund.Credit || refund.Amount != 5_010_75 || refund.Fee != -10_75 || !refund.Stands ||
			debit.Credit || debit.Amount != 5_000_00 || debit.Fee != 10_75 || debit.Stands || refund.Reference != debit.Reference {
			t.Errorf("a refused payout is %+v and %+v", debit, refund)
		}
		filtered(t, w)
	})
}

func filtered(t *testing.T, w *world) {
	day := func(n int) time.Time { return firstDay.Truncate(24*time.Hour).AddDate(0, 0, n) }
	for name, c := range map[string]struct {
		filter report.EntryFilter
		want   int
	}{
		"all accounts":    {report.EntryFilter{}, 57},
		"credits":         {report.EntryFilter{Type: "credit"}, 29},
		"debits":          {report.EntryFilter{Type: "debit", SettlementID: w.main}, 28},
		"one day":         {report.EntryFilter{From: day(3), To: day(4)}, 4},
		"from the middle": {report.EntryFilter{From: day(7), SettlementID: w.main}, 28},
		"to the middle":   {report.EntryFilter{To: day(7), Type: "debit"}, 14},
		"to the instant":  {report.EntryFilter{To: firstDay}, 0},
		"another's":       {report.EntryFilter{SettlementID: w.other + 100}, 0},
	} {
		list, total, err := w.Entries(t.Context(), w.company, c.filter, 0, 100)
		must(t, err)
		if total != c.want || len(list) != c.want {
			t.Errorf("%s: %d of %d, want %d", name, len(list), total, c.want)
		}
		tail, _, err := w.Entries(t.Context(), w.company, c.filter, 1, 100)
		must(t, err)
		if c.want > 1 && (len(tail) != c.want-1 || tail[0].ID != list[1].ID) {
			t.Errorf("%s: the second page begins elsewhere", name)
		}
	}
}

func TestAnEntryByItsReference(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1000, "in")
		paid := w.pay(w.main, 300, 10, provider.Confirmed, "out")
		open := w.pay(w.main, 200, 0, provider.Unknown, "open")
		for reference, stands := range map[string]bool{paid: true, open: false} {
			e, err := w.Entry(t.Context(), w.company, reference)
			must(t, err)
			if e.Credit || e.Stands != stands || e.Reference != reference || e.Source != "payout" || e.SettlementID != w.main {
				t.Errorf("%+v", e)
			}
		}
		for _, nothing := range []string{"", "nothing", id.New()} {
			if _, err := w.Entry(t.Context(), w.company, nothing); !fault.Is(err, fault.Missing) {
				t.Errorf("%q: %v", nothing, err)
			}
		}
		if _, err := w.Entry(t.Context(), "another", paid); !fault.Is(err, fault.Missing) {
			t.Errorf("another's: %v", err)
		}
	})
}

func TestAdjacentStatementsShareBalances(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fortnight()
		middle := firstDay.AddDate(0, 0, 6).Add(time.Hour) // the instant of an entry
		whole := w.statement(time.Time{}, time.Time{})
		early, late := w.statement(time.Time{}, middle), w.statement(middle, time.Time{})
		if early.Opening != 0 || early.Closing != late.Opening || late.Closing != whole.Closing ||
			early.Count+late.Count != whole.Count || early.Credits+late.Credits != whole.Credits {
			t.Errorf("%+v\n%+v\n%+v", early, late, whole)
		}
		balance, err := w.book.Balance(t.Context(), w.company, settlement.LedgerAccount(w.main))
		must(t, err)
		if whole.Closing != balance || whole.Credits-whole.Debits != balance {
			t.Errorf("closes at %s, the account holds %s", whole.Closing, balance)
		}
		empty := w.statement(firstDay.AddDate(0, 0, 13).Add(12*time.Hour), firstDay.AddDate(1, 0, 0))
		if empty.Count != 0 || empty.Opening != balance || empty.Closing != balance {
			t.Errorf("%+v", empty)
		}
		readCSV(t, whole)
		readXLSX(t, whole)
		readPDF(t, whole)
		readPDF(t, late)
		for name, period := range map[string][2]time.Time{
			"turned round":       {middle, middle.Add(-time.Second)},
			"in the future":      {firstDay.AddDate(1, 0, 0), time.Time{}},
			"before the account": {time.Time{}, firstDay.AddDate(-1, 0, 0)},
		} {
			if _, err := w.Statement(t.Context(), w.company, w.main, period[0], period[1]); !fault.Is(err, fault.Refused) {
				t.Errorf("a period %s: %v", name, err)
			}
		}
		if _, err := w.Statement(t.Context(), w.company, w.other+100, time.Time{}, time.Time{}); !fault.Is(err, fault.Missing) {
			t.Errorf("of no account: %v", err)
		}
	})
}

func (w *world) statement(from, to time.Time) *report.Statement {
	w.t.Helper()
	s, err := w.Statement(w.t.Context(), w.company, w.main, from, to)
	must(w.t, err)
	n := int64(0)
	must(w.t, s.Each(w.t.Context(), func(report.Entry) error { n++; return nil }))
	if n != s.Count {
		w.t.Errorf("%d entries of %d", n, s.Count)
	}
	return s
}

func kobo(t *testing.T, text string) money.Kobo {
	t.Helper()
	if text = strings.ReplaceAll(text, ",", ""); text == "" {
		return 0
	}
	k, err := money.Parse(text)
	must(t, err)
	return k
}

// readCSV checks that the columns of the CSV file add up.
func readCSV(t *testing.T, s *report.Statement) {
	t.Helper()
	var out bytes.Buffer
	must(t, s.CSV(t.Context(), &out))
	rows, err := csv.NewReader(&out).ReadAll()
	must(t, err)
	readd(t, s, rows[1:])
}

// caller is a writer that calls a function when it is first written to.
type caller struct {
	first  func() error
	writes int
}

func (c *caller) Write(b []byte) (int, error) {
	if c.writes++; c.writes == 1 {
		if err := c.first(); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// If the client closes the connection, the statement stops reading entries.
func TestAClosedConnectionEndsTheReading(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.many(20_000)
		s := w.statement(time.Time{}, time.Time{})
		for name, write := range map[string]func(context.Context, io.Writer) error{"csv": s.CSV, "xlsx": s.XLSX, "pdf": s.PDF} {
			ctx, gone := context.WithCancel(t.Context())
			if err := write(ctx, &caller{first: func() error { gone(); return nil }}); !errors.Is(err, context.Canceled) {
				t.Errorf("%s was read to its end before it was sent: %v", name, err)
			}
			full := &caller{first: func() error { return io.ErrClosedPipe }}
			if err := write(t.Context(), full); !errors.Is(err, io.ErrClosedPipe) || full.writes != 1 {
				t.Errorf("%s: %v after %d pieces into a closed pipe", name, err, full.writes)
			}
		}
	})
}

func TestNoTextIsAFormula(t *testing.T) {
	w := newWorld(t, dbtest.New(t, db.SQLite))
	for _, text := range []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠1", "a = b", "'quoted'", "", "\xff"} {
		w.fund(w.main, 1, text)
	}
	w.clock.Advance(time.Hour)
	s := w.statement(time.Time{}, time.Time{})
	readCSV(t, s)
	var out bytes.Buffer
	must(t, s.CSV(t.Context(), &out))
	rows, err := csv.NewReader(&out).ReadAll()
	must(t, err)
	for _, r := range rows[1:] {
		for _, text := range r {
			if strings.TrimLeft(text, "=+-@\t\r\n＝＋－＠") != text {
				t.Errorf("%q would be a formula", text)
			}
		}
	}
	if rows[2][3] != "'=1+1" || rows[13][3] != "a = b" {
		t.Errorf("%q", rows)
	}
}

// readd checks that the rows of a table add up to the closing balance.
func readd(t *testing.T, s *report.Statement, rows [][]string) {
	t.Helper()
	if len(rows) != int(s.Count)+2 {
		t.Fatalf("%d rows for %d entries", len(rows), s.Count)
	}
	running := kobo(t, rows[0][6])
	for _, r := range rows[1 : len(rows)-1] {
		running += kobo(t, r[5]) - kobo(t, r[4])
		if running != kobo(t, r[6]) {
			t.Fatalf("%q: the balance should be %s", r, running)
		}
	}
	if last := rows[len(rows)-1]; running != kobo(t, last[6]) || running != s.Closing {
		t.Errorf("%q after %s", last, running)
	}
}
