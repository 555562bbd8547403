package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

const ours = "0192f3a0-0000-7000-8000-000000000001" // a payout of 100 naira

var (
	noon  = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	early = noon.Add(-72 * time.Hour)
)

// out, back and in are lines of the statement, five hours before noon.
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

// payout is ours in a state, asked for and settled long before noon.
func payout(state operation.State, booked money.Kobo, began ...time.Time) []Payment {
	p := Payment{Booked: booked * money.Naira}
	p.Company, p.ID, p.Kind, p.Provider, p.State, p.Amount = "c1", ours, "payout", "bank", state, 100*money.Naira
	p.CreatedAt = noon.Add(-5 * time.Hour)
	if len(began) > 0 {
		p.CreatedAt = began[0]
	}
	p.UpdatedAt = p.CreatedAt
	return []Payment{p}
}

// credit is a session of 100 naira.
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
		{"a payout", lines{out(ours, 100)}, payout("SUCCESS", 100), nil, ""},
		{"a sale, which the bank names in its own way", lines{says(out("dbt-1", 100), "VAS sale "+ours)}, payout("SUCCESS", 100), nil, ""},
		{"refused", nil, payout("FAILED", 0), nil, ""},
		{"came back", lines{out(ours, 100), back(ours, 100)}, payout("REVERSED", 0), nil, ""},
		{"open", lines{out(ours, 100), out(ours, 100)}, payout("PENDING", 0), nil, ""},
		{"a credit", lines{in("s1", 100)}, nil, credit(100, told), ""},
		{"suspended, then assigned", lines{in("s1", 100)}, nil, append(credit(100, told), Receipt{Company: "house", Session: "s1", Amount: 100 * money.Naira, At: told, Settled: told}), ""},
		{"settled just now", nil, payout("SUCCESS", 100, now), nil, ""},
		{"a line of just now", lines{out(ours, 100), at(back(ours, 100), now)}, payout("SUCCESS", 100), nil, ""},
		{"an unknown line of just now", lines{at(in("x", 5), now)}, nil, nil, ""},
		{"credited just now", nil, nil, credit(100, now), ""},

		{"not taken", nil, payout("SUCCESS", 100), nil, "NOT_ON_STATEMENT c1 " + ours + " 0 100"},
		{"taken twice", lines{out(ours, 100), out(ours, 100)}, payout("SUCCESS", 100), nil, "DUPLICATE_DEBIT c1 " + ours + " 200 100"},
		{"taken twice, one came back", lines{out(ours, 100), out(ours, 100), back(ours, 100)}, payout("SUCCESS", 100), nil, ""},
		{"too much", lines{out(ours, 110)}, payout("SUCCESS", 100), nil, "AMOUNT_DIFFERS c1 " + ours + " 110 100"},
		{"too little", lines{out(ours, 90)}, payout("SUCCESS", 100), nil, "AMOUNT_DIFFERS c1 " + ours + " 90 100"},
		{"failed, and the bank kept it", lines{out(ours, 100)}, payout("FAILED", 0), nil, "FAILED_REVERSAL c1 " + ours + " 100 0"},
		{"reversed here only", lines{out(ours, 100)}, payout("REVERSED", 0), nil, "FAILED_REVERSAL c1 " + ours + " 100 0"},
		{"reversed there only", lines{out(ours, 100), back(ours, 100)}, payout("SUCCESS", 100), nil, "FAILED_REVERSAL c1 " + ours + " 0 100"},
		{"the ledger differs", lines{out(ours, 100)}, payout("SUCCESS", 90), nil, "AMOUNT_DIFFERS c1 " + ours + " 100 90"},

		{"paid before the statement begins", nil, payout("SUCCESS", 100, old), nil, ""},
		{"paid before, taken again", lines{out(ours, 100)}, payout("SUCCESS", 100, old), nil, "DUPLICATE_DEBIT c1 " + ours + " 200 100"},
		{"paid before, came back", lines{back(ours, 100)}, payout("SUCCESS", 100, old), nil, "FAILED_REVERSAL c1 " + ours + " 0 100"},
		{"paid before, reversed", lines{back(ours, 100)}, payout("REVERSED", 0, old), nil, ""},
		{"failed before, taken", lines{out(ours, 100)}, payout("FAILED", 0, old), nil, "FAILED_REVERSAL c1 " + ours + " 100 0"},
		{"credited before", nil, nil, credit(100, old), ""},

		{"a credit in no book", lines{in("x", 100)}, nil, nil, "MISSING_CREDIT house x 100 0"},
		{"its narration is the sender's", lines{out(ours, 100), says(in("x", 100), "for "+ours)}, payout("SUCCESS", 100), nil, "MISSING_CREDIT house x 100 0"},
		{"a debit of nobody's", lines{out("x", 60), out("x", 40)}, nil, nil, "UNKNOWN_DEBIT house x 100 0"},
		{"a debit of nobody's that came back", lines{out("x", 100), back("x", 100)}, nil, nil, ""},
		{"a credit that the bank does not show", nil, nil, credit(100, told), "NOT_ON_STATEMENT c1 s1 0 100"},
		{"a credit of another amount", lines{in("s1", 70)}, nil, credit(100, told), "AMOUNT_DIFFERS c1 s1 70 100"},
		{"a credit the ledger lacks", lines{in("s1", 100)}, nil, credit(0, told), "AMOUNT_DIFFERS c1 s1 100 0"},
		{
			"each its own",
			lines{out(ours, 100), in("s1", 100), in("y", 1), out("x", 2)},
			payout("SUCCESS", 100), credit(100, told), "UNKNOWN_DEBIT house x 2 0; MISSING_CREDIT house y 1 0",
		},
	} {
		var got []string
		for _, b := range compare(early, noon, c.lines, c.paid, c.received) {
			got = append(got, fmt.Sprintf("%s %s %s %d %d", b.Reason, b.Company, b.Subject, b.Bank/money.Naira, b.Book/money.Naira))
			if b.Detail == "" {
				t.Errorf("%s: no detail", c.name)
			}
		}
		if said := strings.Join(got, "; "); said != c.want {
			t.Errorf("%s: %q, not %q", c.name, said, c.want)
		}
	}
}
