package report

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

const ours = "0192f3a0-0000-7000-8000-000000000001" // the id of a payout of 100 naira

var (
	noon  = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	early = noon.Add(-72 * time.Hour)
)

// out returns a debit on the statement, back returns a returned debit, and in returns a credit.
// Each line is dated five hours before noon.
func out(reference string, naira money.Kobo) provider.StatementLine {
	return provider.StatementLine{Reference: reference, Amount: naira * money.Naira, At: noon.Add(-5 * time.Hour)}
}

func in(reference string, naira money.Kobo) provider.StatementLine {
	l := out(reference, naira)
	l.Credit = true
	return l
}

func back(reference string, naira money.Kobo) provider.StatementLine {
	l := in(reference, naira)
	l.Reversal = true
	return l
}

func at(l provider.StatementLine, at time.Time) provider.StatementLine { l.At = at; return l }

func says(l provider.StatementLine, narration string) provider.StatementLine {
	l.Narration = narration
	return l
}

// paidOut returns a payout in a state. The payout began and ended at the time began, which is five
// hours before noon if it is omitted.
func paidOut(state operation.State, booked money.Kobo, began ...time.Time) []Payment {
	p := Payment{Booked: booked * money.Naira}
	p.Company, p.ID, p.Kind, p.Provider, p.State, p.Amount = "c1", ours, "payout", "bank", state, 100*money.Naira
	p.CreatedAt = noon.Add(-5 * time.Hour)
	if len(began) > 0 {
		p.CreatedAt = began[0]
	}
	p.UpdatedAt = p.CreatedAt
	return []Payment{p}
}

// between is the session ID between the banks that the function through gives to a payout.
const between = "090286260102070000000000000001"

func through(paid []Payment) []Payment {
	paid[0].ProviderReference = between
	return paid
}

// askedAgain says that the provider had no record of a payment, and is asked about it again.
func askedAgain(paid []Payment) []Payment {
	paid[0].NextAt = noon.Add(time.Hour)
	return paid
}

// credit returns a credit of 100 naira of which the ledger has booked the amount booked.
func credit(booked money.Kobo, told time.Time) []Receipt {
	return []Receipt{{Company: "c1", Session: "s1", Amount: 100 * money.Naira, Booked: booked * money.Naira, At: told, Settled: told}}
}

func TestCompare(t *testing.T) {
	type lines = []provider.StatementLine
	told, old, now := noon.Add(-5*time.Hour), early.Add(-24*time.Hour), noon.Add(-10*time.Minute)
	for _, c := range []struct {
		name     string
		lines    lines
		paid     []Payment
		received []Receipt
		want     string
	}{
		{"nothing", nil, nil, nil, ""},
		{"a payout", lines{out(ours, 100)}, paidOut("SUCCESS", 100), nil, ""},
		{"a payout, by its session", lines{out(between, 100)}, through(paidOut("SUCCESS", 100)), nil, ""},
		{"came back by its session", lines{out(ours, 100), back(between, 100)}, through(paidOut("SUCCESS", 100)), nil, "FAILED_REVERSAL c1 " + ours + " 0 100"},
		{
			"a payout from one company to another",
			lines{out(between, 100), in(between, 100)},
			through(paidOut("SUCCESS", 100)),
			[]Receipt{{Company: "c2", Session: between, Amount: 100 * money.Naira, Booked: 100 * money.Naira, At: told, Settled: told}},
			"",
		},
		{"and nobody told of the credit", lines{out(ours, 100), in(between, 100)}, through(paidOut("SUCCESS", 100)), nil, "MISSING_CREDIT house " + between + " 100 0"},
		{"a sale, which the bank names in its own way", lines{says(out("dbt-1", 100), "VAS sale "+ours)}, paidOut("SUCCESS", 100), nil, ""},
		{"refused", nil, paidOut("FAILED", 0), nil, ""},
		{"came back", lines{out(ours, 100), back(ours, 100)}, paidOut("REVERSED", 0), nil, ""},
		{"open", lines{out(ours, 100), out(ours, 100)}, paidOut("PENDING", 0), nil, ""},
		{"a credit", lines{in("s1", 100)}, nil, credit(100, told), ""},
		{"suspended, then assigned", lines{in("s1", 100)}, nil, append(credit(100, told), Receipt{Company: "house", Session: "s1", Amount: 100 * money.Naira, At: told, Settled: told}), ""},
		{"settled just now", nil, paidOut("SUCCESS", 100, now), nil, ""},
		{"a line of just now", lines{out(ours, 100), at(back(ours, 100), now)}, paidOut("SUCCESS", 100), nil, ""},
		{"an unknown line of just now", lines{at(in("x", 5), now)}, nil, nil, ""},
		{"credited just now", nil, nil, credit(100, now), ""},

		{"not taken", nil, paidOut("SUCCESS", 100), nil, "NOT_ON_STATEMENT c1 " + ours + " 0 100"},
		{"taken twice", lines{out(ours, 100), out(ours, 100)}, paidOut("SUCCESS", 100), nil, "DUPLICATE_DEBIT c1 " + ours + " 200 100"},
		{"taken twice, one came back", lines{out(ours, 100), out(ours, 100), back(ours, 100)}, paidOut("SUCCESS", 100), nil, ""},
		{"too much", lines{out(ours, 110)}, paidOut("SUCCESS", 100), nil, "AMOUNT_DIFFERS c1 " + ours + " 110 100"},
		{"too little", lines{out(ours, 90)}, paidOut("SUCCESS", 100), nil, "AMOUNT_DIFFERS c1 " + ours + " 90 100"},
		{"failed, and the bank kept it", lines{out(ours, 100)}, paidOut("FAILED", 0), nil, "FAILED_REVERSAL c1 " + ours + " 100 0"},
		{"failed, asked again, taken today", lines{out(ours, 100)}, askedAgain(paidOut("FAILED", 0)), nil, ""},
		{"failed, asked again, taken yesterday", lines{at(out(ours, 100), noon.Add(-25*time.Hour))}, askedAgain(paidOut("FAILED", 0)), nil, "FAILED_REVERSAL c1 " + ours + " 100 0"},
		{"failed, asked again, came back", lines{at(out(ours, 100), noon.Add(-25*time.Hour)), back(ours, 100)}, askedAgain(paidOut("FAILED", 0)), nil, ""},
		{"reversed here only", lines{out(ours, 100)}, paidOut("REVERSED", 0), nil, "FAILED_REVERSAL c1 " + ours + " 100 0"},
		{"reversed there only", lines{out(ours, 100), back(ours, 100)}, paidOut("SUCCESS", 100), nil, "FAILED_REVERSAL c1 " + ours + " 0 100"},
		{"the ledger differs", lines{out(ours, 100)}, paidOut("SUCCESS", 90), nil, "AMOUNT_DIFFERS c1 " + ours + " 100 90"},

		{"paid before the statement begins", nil, paidOut("SUCCESS", 100, old), nil, ""},
		{"paid before, taken again", lines{out(ours, 100)}, paidOut("SUCCESS", 100, old), nil, "DUPLICATE_DEBIT c1 " + ours + " 200 100"},
		{"paid before, came back", lines{back(ours, 100)}, paidOut("SUCCESS", 100, old), nil, "FAILED_REVERSAL c1 " + ours + " 0 100"},
		{"paid before, reversed", lines{back(ours, 100)}, paidOut("REVERSED", 0, old), nil, ""},
		{"failed before, taken", lines{out(ours, 100)}, paidOut("FAILED", 0, old), nil, "FAILED_REVERSAL c1 " + ours + " 100 0"},
		{"credited before", nil, nil, credit(100, old), ""},

		{"a credit in no book", lines{in("x", 100)}, nil, nil, "MISSING_CREDIT house x 100 0"},
		{"its narration is the sender's", lines{out(ours, 100), says(in("x", 100), "for "+ours)}, paidOut("SUCCESS", 100), nil, "MISSING_CREDIT house x 100 0"},
		{"a debit of nobody's", lines{out("x", 60), out("x", 40)}, nil, nil, "UNKNOWN_DEBIT house x 100 0"},
		{"a debit of nobody's that came back", lines{out("x", 100), back("x", 100)}, nil, nil, ""},
		{"a credit that the bank does not show", nil, nil, credit(100, told), "NOT_ON_STATEMENT c1 s1 0 100"},
		{"a credit of another amount", lines{in("s1", 70)}, nil, credit(100, told), "AMOUNT_DIFFERS c1 s1 70 100"},
		{"a credit the ledger lacks", lines{in("s1", 100)}, nil, credit(0, told), "AMOUNT_DIFFERS c1 s1 100 0"},
		{
			"each its own",
			lines{out(ours, 100), in("s1", 100), in("y", 1), out("x", 2)},
			paidOut("SUCCESS", 100), credit(100, told), "UNKNOWN_DEBIT house x 2 0; MISSING_CREDIT house y 1 0",
		},
	} {
		if said := verdicts(t, c.lines, c.paid, c.received, nil); said != c.want {
			t.Errorf("%s: %q, not %q", c.name, said, c.want)
		}
	}
}

// verdicts compares the statement with the payments and credits of the last three days, at noon,
// and returns the breaks.
func verdicts(t *testing.T, lines []provider.StatementLine, paid []Payment, received []Receipt, owners map[string]string) string {
	t.Helper()
	var got []string
	w := window{begin: early, from: midnight(early), to: noon}
	for _, b := range compare(w, lines, record{paid: paid, received: received, owners: owners}) {
		got = append(got, fmt.Sprintf("%s %s %s %d %d", b.Reason, b.Company, b.Subject, b.Bank/money.Naira, b.Book/money.Naira))
		if b.Detail == "" {
			t.Errorf("%s: no detail", b.Subject)
		}
	}
	return strings.Join(got, "; ")
}

// Movements near the beginning of the statement are compared correctly, even if the clocks of the
// bank and the program differ.
func TestMovementsAtTheBeginOfTheStatement(t *testing.T) {
	const ten = 10 * time.Minute
	old, before, after := early.Add(-24*time.Hour), early.Add(-ten), early.Add(ten)
	twice := "DUPLICATE_DEBIT c1 " + ours + " 200 100"
	kept := "FAILED_REVERSAL c1 " + ours + " 100 0"
	type lines = []provider.StatementLine
	for _, c := range []struct {
		name  string
		lines lines
		paid  []Payment
		want  string
	}{
		{"just after it, and its line too", lines{at(out(ours, 100), after)}, paidOut("SUCCESS", 100, after), ""},
		{"just after it, the line before", nil, paidOut("SUCCESS", 100, after), ""},
		{"just before it, the line after", lines{at(out(ours, 100), after)}, paidOut("SUCCESS", 100, before), ""},
		{"just after it, taken twice", lines{at(out(ours, 100), after), at(out(ours, 100), after)}, paidOut("SUCCESS", 100, after), twice},
		{"asked for long before, done after", lines{out(ours, 100)}, ended(paidOut("SUCCESS", 100, old), after), ""},
		{"asked for long before, done after, debited before", nil, ended(paidOut("SUCCESS", 100, old), after), ""},
		{"open for days, refused at last, the bank took it", lines{out(ours, 100)}, ended(paidOut("FAILED", 0, old), after), kept},
		{"reversed later, all before but the return", lines{back(ours, 100)}, ended(paidOut("REVERSED", 0, old), after), ""},
		{"reversed at the edge", lines{back(ours, 100)}, ended(paidOut("REVERSED", 0, before), after), ""},
		{"reversed at the edge, both lines there", lines{at(out(ours, 100), after), back(ours, 100)}, ended(paidOut("REVERSED", 0, before), after), ""},
		{"refused, all came back, taken before", lines{back(ours, 100), back(ours, 10)}, ended(paidOut("FAILED", 0, before), after), ""},
		{"refused, came back twice, taken before", lines{back(ours, 100), back(ours, 100)}, ended(paidOut("FAILED", 0, before), after), "AMOUNT_DIFFERS c1 " + ours + " -100 0"},
		{"refused, only a charge came back", lines{back(ours, 10)}, ended(paidOut("FAILED", 0, before), after), "FAILED_REVERSAL c1 " + ours + " 90 0"},
		{"reversed, the return not there", lines{at(out(ours, 100), after)}, ended(paidOut("REVERSED", 0, before), after), kept},
	} {
		if said := verdicts(t, c.lines, c.paid, nil, nil); said != c.want {
			t.Errorf("%s: %q, not %q", c.name, said, c.want)
		}
	}
}

// The bank's charges are compared as sums of each day. Both charges for payments and other charges
// count.
func TestCharges(t *testing.T) {
	day := early.Add(30 * time.Hour)
	on := func(list ...provider.StatementLine) []provider.StatementLine {
		for i := range list {
			list[i].At = day
		}
		return list
	}
	charged := func(p []Payment, naira money.Kobo) []Payment { p[0].Charged = naira * money.Naira; return p }
	paid := func(state operation.State, booked money.Kobo) []Payment { return paidOut(state, booked, day) }
	young := charged(paidOut("SUCCESS", 100), 10)
	in := func(bank, book int) string {
		return fmt.Sprintf("UNBOOKED_CHARGE house 2029-12-31 %d %d", bank, book)
	}
	short := func(bank, book int) string {
		return fmt.Sprintf("NOT_ON_STATEMENT house 2029-12-31 %d %d", bank, book)
	}
	sms, yesterdays := says(out("x1", 4), "SMS ALERT CHARGE"), says(out("y", 5), "VAT")
	dear := says(out("z", 20_000), "account maintenance")
	for _, c := range []struct {
		name  string
		lines []provider.StatementLine
		paid  []Payment
		want  string
	}{
		{"booked, a line of its own", on(out(ours, 100), out(ours, 10)), charged(paid("SUCCESS", 100), 10), ""},
		{"booked, in two lines", on(out(ours, 100), out(ours, 9), out(ours, 1)), charged(paid("SUCCESS", 100), 10), ""},
		{"booked, within the debit", on(out(ours, 110)), charged(paid("SUCCESS", 100), 10), ""},
		{"as dear as the payout", on(out(ours, 100), out(ours, 100)), charged(paid("SUCCESS", 100), 100), ""},
		{"dearer than the payout", on(out(ours, 100), out(ours, 120)), charged(paid("SUCCESS", 100), 120), ""},
		{"not booked", on(out(ours, 100), out(ours, 10)), paid("SUCCESS", 100), in(10, 0)},
		{"more than booked", on(out(ours, 100), out(ours, 10)), charged(paid("SUCCESS", 100), 8), in(2, 0)},
		{"less than booked", on(out(ours, 100), out(ours, 8)), charged(paid("SUCCESS", 100), 10), short(0, 2)},
		{"booked and not taken", on(out(ours, 100)), charged(paid("SUCCESS", 100), 10), short(0, 10)},
		{"booked, and nothing on the statement", nil, charged(paid("SUCCESS", 100), 10), "NOT_ON_STATEMENT c1 " + ours + " 0 100"},
		{"all of a day in one line", on(out(ours, 100), says(out("eod", 10), "NIP charges of the day")), charged(paid("SUCCESS", 100), 10), ""},
		{"reversed, the charge kept", on(out(ours, 100), out(ours, 10), back(ours, 100)), charged(paid("REVERSED", 0), 10), ""},
		{"reversed, the charge came back", on(out(ours, 100), out(ours, 10), back(ours, 100), back(ours, 10)), charged(paid("REVERSED", 0), 10), short(0, 10)},
		{"refused, all came back", on(out(ours, 100), out(ours, 10), back(ours, 100), back(ours, 10)), paid("FAILED", 0), ""},
		{"refused, the charge kept", on(out(ours, 100), out(ours, 10), back(ours, 100)), paid("FAILED", 0), in(10, 0)},
		{"taken twice, charged once", on(out(ours, 100), out(ours, 100), out(ours, 10)), charged(paid("SUCCESS", 100), 10), "DUPLICATE_DEBIT c1 " + ours + " 200 100"},
		{"a part came back", on(out(ours, 100), out(ours, 10), back(ours, 40)), charged(paid("SUCCESS", 100), 10), "FAILED_REVERSAL c1 " + ours + " 60 100"},

		{"the bank's own", on(sms, sms, says(out("x2", 6), "Stamp Duty")), nil, in(14, 0)},
		{"the bank's own, and given back", on(sms, says(back("x1", 4), "Rvsl SMS charge")), nil, ""},
		{"each day its own", append(on(sms), at(yesterdays, day.Add(-24*time.Hour))), nil, "UNBOOKED_CHARGE house 2029-12-30 5 0; " + in(4, 0)},
		{"a day that is hardly over", []provider.StatementLine{at(sms, noon.Add(-24*time.Hour))}, nil, ""},
		{"a credit that calls itself a fee", on(says(provider.StatementLine{Reference: "c", Credit: true, Amount: 500}, "school fees")), nil, "MISSING_CREDIT house c 5 0"},
		{"too much for a charge", on(dear), nil, "UNKNOWN_DEBIT house z 20000 0"},
		{"a lost payment whose words are the company's", on(says(out(ours, 100), "School fees")), nil, "UNKNOWN_DEBIT house " + ours + " 100 0"},
		{"a lost payment, dressed up", on(says(out(" "+strings.ToUpper(ours), 100), "Commission June")), nil, "UNKNOWN_DEBIT house " + strings.ToUpper(ours) + " 100 0"},
		{"a lost payment that came back", on(says(out(ours, 100), "School fees"), says(back(ours, 100), "School fees")), nil, ""},
		{"a lost payment and its charge", on(says(out(ours, 100), "School fees"), says(out(ours, 10), "Transfer charge")), nil, "UNKNOWN_DEBIT house " + ours + " 100 0; " + in(10, 0)},
		{"a charge that names a payment", on(says(out("charge "+ours, 10), "Transfer charge"), says(out(between, 5), "NIP charge")), nil, in(15, 0)},
		{"a charge of today, booked", []provider.StatementLine{out(ours, 100)}, young, ""},
	} {
		if said := verdicts(t, c.lines, c.paid, nil, nil); said != c.want {
			t.Errorf("%s: %q, not %q", c.name, said, c.want)
		}
	}
}

// A charge that operators have booked for a day counts as a charge of that day. A negative charge,
// which the bank has returned, counts too.
func TestChargesBookedByOperatorsCount(t *testing.T) {
	day := early.Add(30 * time.Hour)
	sms, back := at(says(out("x1", 4), "SMS ALERT CHARGE"), day), at(says(back("x1", 4), "Rvsl SMS charge"), day)
	type lines = []provider.StatementLine
	w := window{begin: early, from: midnight(early), to: noon}
	for _, c := range []struct {
		name   string
		lines  lines
		booked money.Kobo
		want   string
	}{
		{"nothing yet", lines{sms}, 0, "UNBOOKED_CHARGE 4 0"},
		{"all of it", lines{sms}, 4, ""},
		{"given back by the bank", lines{back}, -4, ""},
		{"and another came", lines{sms, sms}, 4, "UNBOOKED_CHARGE 8 4"},
		{"and the bank gave it back", lines{sms, back}, 4, "NOT_ON_STATEMENT 0 4"},
		{"and the bank took it off the statement", nil, 4, "NOT_ON_STATEMENT 0 4"},
	} {
		got := ""
		for _, b := range compare(w, c.lines, record{corrected: map[time.Time]money.Kobo{midnight(day): c.booked * money.Naira}}) {
			got += fmt.Sprintf("%s %d %d", b.Reason, b.Bank/money.Naira, b.Book/money.Naira)
			if b.Asked().Amount != b.Bank-b.Book || !b.At.Equal(midnight(day)) || c.booked != 0 && !strings.Contains(b.Detail, "was booked for the day since") {
				t.Errorf("%s: %+v", c.name, b)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
}

func ended(p []Payment, at time.Time) []Payment { p[0].UpdatedAt = at; return p }

// A line belongs to the operation whose reference the line contains. A line without a known
// reference is a break, and the detail of that break names the operation that the line may belong
// to.
func TestTheOwnerOfALine(t *testing.T) {
	const session = "000013300102050000000000000003"
	upper, told := strings.ToUpper(ours), noon.Add(-5*time.Hour)
	type lines = []provider.StatementLine
	received := []Receipt{{Company: "c1", Session: session, Amount: 100 * money.Naira, Booked: 100 * money.Naira, At: told, Settled: told}}
	for _, c := range []struct {
		name     string
		lines    lines
		paid     []Payment
		received []Receipt
		want     string
	}{
		{"dressed up", lines{out("TRF/"+upper+"/1", 100)}, paidOut("SUCCESS", 100), nil, ""},
		{"blanks", lines{out(" "+ours+" ", 100)}, paidOut("SUCCESS", 100), nil, ""},
		{"within a word of its narration", lines{says(out("dbt-1", 100), "VAS:"+ours+";MTN")}, paidOut("SUCCESS", 100), nil, ""},
		{"a credit dressed up", lines{in("NIP/"+session, 100)}, nil, received, ""},
		{"a credit twice on the statement", lines{in(session, 100), in(session, 100)}, nil, received, "AMOUNT_DIFFERS c1 " + session + " 200 100"},
		{"a credit that was taken back", lines{in(session, 100), out(session, 100)}, nil, received, "AMOUNT_DIFFERS c1 " + session + " 0 100"},
		{"a credit whose company is known", lines{in("s9", 100)}, nil, nil, "MISSING_CREDIT c9 s9 100 0"},
		{"a credit in no book, dressed up", lines{in("NIP/"+session+"/x", 100)}, nil, nil, "MISSING_CREDIT house " + session + " 100 0"},
		{"two sessions in one", lines{in(session+" "+session[:29]+"4", 100)}, nil, nil, "MISSING_CREDIT house " + session + " " + session[:29] + "4 100 0"},
		{"a line without a name", lines{out("", 100)}, nil, nil, "UNKNOWN_DEBIT house a line of 2030-01-02T07:00:00.000Z 100 0"},
	} {
		if said := verdicts(t, c.lines, c.paid, c.received, map[string]string{"s9": "c9"}); said != c.want {
			t.Errorf("%s: %q, not %q", c.name, said, c.want)
		}
	}
	w := window{begin: early, from: midnight(early), to: noon}
	found := compare(w, lines{out("wrong", 100), in("also wrong", 100)}, record{paid: paidOut("SUCCESS", 100), received: received})
	if len(found) != 4 || !strings.Contains(found[0].Detail, "may be wrong") || !strings.Contains(found[1].Detail, "may be also wrong") ||
		!strings.Contains(found[2].Detail, session) || !strings.Contains(found[3].Detail, ours) {
		t.Errorf("%+v", found)
	}
}

// The bank took money for a payment that a restore has lost, and gave it back. Both cases name our reference, so that people see that they
// belong together. The words of the sender of a credit prove nothing, so no reference is taken from them.
func TestACaseAboutALostPaymentNamesIt(t *testing.T) {
	w := window{begin: early, from: midnight(early), to: noon}
	const words = "; the bank's words have the reference " + ours
	found := compare(w, []provider.StatementLine{
		says(out("dbt-1", 100), "VAS sale "+ours), says(back("rev-1", 100), "VAS sale "+ours), says(in("gift", 5), "for "+ours),
	}, record{})
	var got []string
	for _, b := range found {
		got = append(got, b.Subject+" "+string(b.Reason)+b.Detail[strings.LastIndex(b.Detail, " "):])
	}
	want := "dbt-1 UNKNOWN_DEBIT " + ours + ", gift MISSING_CREDIT ledger, rev-1 MISSING_CREDIT " + ours
	if strings.Join(got, ", ") != want || !strings.HasSuffix(found[0].Detail, words) || !strings.HasSuffix(found[2].Detail, words) {
		t.Errorf("%+v", found)
	}
}

func TestTheStatementBeginsWithTheOldestOperation(t *testing.T) {
	day := time.Date(2030, 1, 2, 0, 0, 0, 0, clock.Lagos)
	if m := midnight(time.Date(2030, 1, 1, 23, 30, 0, 0, time.UTC)); !m.Equal(day) {
		t.Errorf("midnight in Lagos is %s", m)
	}
	for open, want := range map[time.Duration]time.Duration{
		-time.Hour: settling, 80 * time.Hour: 80*time.Hour + settling, 30 * 24 * time.Hour: settling,
	} {
		if got := beginning(day, paidOut("FAILED", 0, day.Add(-open))); !got.Equal(day.Add(-want)) {
			t.Errorf("open for %s: the statement begins %s", open, got)
		}
	}
}

// A day that says "agrees" has no credit of its first minutes that the statement lacks, also if nothing else moved for days.
func TestACreditAfterMidnightIsNotBeforeTheStatement(t *testing.T) {
	day := midnight(early)
	w := window{begin: beginning(day, nil), from: day, to: noon}
	r := Receipt{Company: "c1", Session: "s1", Amount: 100, Booked: 100, At: day.Add(10 * time.Minute), Settled: day.Add(10 * time.Minute)}
	if found := compare(w, nil, record{received: []Receipt{r}}); len(found) != 1 || found[0].Reason != operation.NotOnStatement {
		t.Errorf("%+v", found)
	}
}

// pages is a bank that shows its statement page by page. After the last page, the bank returns an
// error.
type pages [][]provider.StatementLine

func (p pages) Statement(_ context.Context, _, _ time.Time, page int) ([]provider.StatementLine, bool, error) {
	if page >= len(p) {
		return nil, false, &provider.Error{Code: provider.CodeTimeout}
	}
	return p[page], p[page] != nil, nil
}

func TestAnIncompleteStatementIsAnError(t *testing.T) {
	type lines = []provider.StatementLine
	one, two := provider.StatementLine{ID: "1", Amount: 5}, provider.StatementLine{ID: "2", Amount: 5}
	nameless, next := provider.StatementLine{Reference: "r", Amount: 5, Balance: 10, At: noon}, provider.StatementLine{Reference: "r", Amount: 5, Balance: 5, At: noon}
	for _, c := range []struct {
		name string
		bank pages
		want int // -1 means an error
	}{
		{"nothing", pages{nil}, 0},
		{"two pages, of different length", pages{lines{one}, lines{two}, nil}, 2},
		{"a line moved on to the next page", pages{lines{one, two}, lines{two}, nil}, 2},
		{"lines without an id", pages{lines{nameless, next}, lines{next}, nil}, 2},
		{"an empty page in the middle", pages{lines{one}, lines{}, lines{two}, nil}, 2},
		{"an error in the middle", pages{lines{one}, lines{two}}, -1},
	} {
		got, err := wholeStatement(t.Context(), c.bank, early, noon)
		if c.want < 0 && (err == nil || got != nil) || c.want >= 0 && (err != nil || len(got) != c.want) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}
