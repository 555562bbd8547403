package report_test

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// A credit that the bank reported has its payer in the list of entries and in each format of the
// statement. Other entries have none. A payer's name is never a formula of a spreadsheet.
func TestEntriesAndStatementsHaveThePayer(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		const session = "000013300301090000123456789012"
		must(t, w.settlements.Receive(t.Context(), "bank", provider.Inbound{
			Outcome: provider.Confirmed, SessionID: session, CreditAccount: "0123456789", Amount: 5000_00, At: w.clock.Now(),
			SenderName: "=BOLA SAMPLE", SenderAccount: "0099887766", SenderBank: "000013", Narration: "Invoice 7",
		}))
		must(t, w.settlements.Receive(t.Context(), "bank", provider.Inbound{
			Outcome: provider.Confirmed, SessionID: "short", CreditAccount: "0123456789", Amount: 1_00, At: w.clock.Now(),
		}))
		w.pay(w.main, 20_00, 1_00, provider.Confirmed, "paid")
		w.clock.Advance(time.Hour)
		list, _, err := w.Entries(t.Context(), w.company, report.EntryFilter{SettlementID: w.main}, 0, 10)
		must(t, err)
		whole := settlement.Sender{Name: "=BOLA SAMPLE", Bank: "000013", Account: "0099887766"}
		for i, want := range []struct {
			settlement.Sender
			session string
		}{{}, {session: "short"}, {whole, session}} {
			if got := list[i]; got.Sender != want.Sender || got.SessionID != want.session {
				t.Errorf("entry %d has %+v %q, want %+v", i, got.Sender, got.SessionID, want)
			}
		}
		one, err := w.Entry(t.Context(), w.company, list[2].Reference)
		must(t, err)
		if one.Sender != whole || one.SessionID != session {
			t.Errorf("one entry has %+v %q", one.Sender, one.SessionID)
		}

		_, err = d.Exec(t.Context(), `INSERT INTO payout_bank (provider, code, name, active, updated_at) VALUES ('bank', '000013', 'Guaranty Trust Bank', 1, 0)`)
		must(t, err)
		s := w.statement(time.Time{}, time.Time{})
		var out bytes.Buffer
		must(t, s.CSV(t.Context(), &out))
		rows, err := csv.NewReader(&out).ReadAll()
		must(t, err)
		book, err := workbook(t, s, 1<<20).GetRows("Statement")
		must(t, err)
		// A spreadsheet reads a CSV field as a formula, but a cell of a workbook has its own type.
		last := func(row []string) []string { return row[max(len(row)-4, 0):] }
		heads := []string{"Sender name", "Sender bank", "Sender account", "Session ID"}
		for _, file := range []struct {
			name, bank    string
			heads, values []string
		}{
			{"csv", whole.Bank, last(rows[0]), last(rows[2])},
			{"xlsx", "Guaranty Trust Bank (000013)", last(book[10]), last(book[11])},
		} {
			payer := strings.TrimPrefix(file.values[0], "'")
			if !slices.Equal(file.heads, heads) || payer != whole.Name || !slices.Equal(file.values[1:], []string{file.bank, whole.Account, session}) {
				t.Errorf("%s has %q and %q", file.name, file.heads, file.values)
			}
		}
		if !strings.HasPrefix(last(rows[2])[0], "'=") {
			t.Errorf("the CSV has the name %q", last(rows[2])[0])
		}
		if len(rows[1]) != len(rows[0]) || len(rows[5]) != len(rows[0]) {
			t.Errorf("the rows have different lengths: %q", rows)
		}
		readPDF(t, s)
		p := readPaper(t, pdf(t, s))
		var printed []string
		for _, word := range p.pages[0] {
			printed = append(printed, word.text)
		}
		text := strings.Join(printed, " ")
		for _, want := range []string{"From =BOLA SAMPLE 0099887766 Guaranty Trust Bank", session, "Session short"} {
			if !strings.Contains(text, want) {
				t.Errorf("the PDF does not have %q, but %q", want, text)
			}
		}
	})
}
