package apptest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// plantLine adds a line to the bank's statement that matches no operation.
func plantLine(t *testing.T, p *apptest.Program, kind, reference string, naira int, narration string) {
	t.Helper()
	a, err := p.Raw(t.Context(), http.MethodPost, "/sandbox/statement-line",
		map[string]any{"reference": reference, "type": kind, "amount": naira, "narration": narration})
	if err != nil || a.Status != http.StatusOK {
		t.Fatalf("%s, %v", a, err)
	}
}

// breaks returns the breaks of a reconciliation, each as reason, company and subject.
func breaks(t *testing.T, p *apptest.Program) (list []string) {
	t.Helper()
	all, err := p.App.Reconcile(t.Context(), app.Reach)
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, b := range all[0].Breaks {
		list = append(list, fmt.Sprint(b.Reason, " ", b.Company, " ", b.Subject))
	}
	return sorted(list)
}

func sorted(list []string) []string { slices.Sort(list); return list }

// cases returns the open cases in the same form as breaks.
func cases(t *testing.T, p *apptest.Program) (open []string) {
	t.Helper()
	list, _, err := p.App.Operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open}, 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		open = append(open, fmt.Sprint(c.Reason, " ", c.Company, " ", c.Subject))
	}
	return sorted(open)
}

// A day with every kind of outcome has no reconciliation break after all operations have ended.
// Three statement lines that belong to no operation open only three cases, even if the comparison
// runs again. The bank's charges of one day open one case.
func TestTheStatementIsComparedWithTheLedger(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect, apptest.Window(2*time.Second))
		charge(t, p)
		references, charges := eventfulDay(t, p)
		if got := breaks(t, p); len(got) > 0 {
			t.Errorf("a clean day has breaks:\n%s", strings.Join(got, "\n"))
		}
		borne, err := p.App.Book.Balance(t.Context(), p.Reference, settlement.ChargeAccount("safehaven"))
		if err != nil || borne != -charges {
			t.Errorf("the bank's charges are %s, not %s: %v", borne, -charges, err)
		}

		plantLine(t, p, "Credit", "stray-session", 700, "")
		plantLine(t, p, "Credit", straySession, 300, "")
		plantLine(t, p, "Debit", references["10"], 10_000, "")
		plantLine(t, p, "Debit", references["01"], 10_000, "")
		for i := range 5 {
			plantLine(t, p, "Debit", fmt.Sprint("sms-", i), 4, "SMS alert charge")
		}
		if got := breaks(t, p); len(got) > 0 {
			t.Errorf("judged too soon:\n%s", strings.Join(got, "\n"))
		}
		want := sorted([]string{
			"MISSING_CREDIT " + settlement.House + " safehaven/stray-session",
			"MISSING_CREDIT " + settlement.House + " safehaven/" + straySession,
			"DUPLICATE_DEBIT " + p.Reference + " " + references["10"],
			"FAILED_REVERSAL " + p.Reference + " " + references["01"],
		})
		day := p.App.Clock.Now()
		p.Advance(23 * time.Hour) // until the daily reconciliation has run
		found(t, p, want)
		want = sorted(append(want, "UNBOOKED_CHARGE "+settlement.House+" safehaven/"+
			day.In(time.FixedZone("Africa/Lagos", 3600)).Format(time.DateOnly)))
		p.Advance(25 * time.Hour)
		found(t, p, want)
		for range 2 {
			if again := breaks(t, p); !slices.Equal(again, want) {
				t.Errorf("breaks:\n%s", strings.Join(again, "\n"))
			}
		}
		found(t, p, want)
		if old, err := p.App.Reports.Overdue(t.Context()); err != nil || len(old) > 0 {
			t.Errorf("overdue: %+v, %v", old, err)
		}
		decided(t, p)
		// The statement now begins after the line of the credit, but the compared period still includes
		// the credit's ledger entries.
		p.Advance(47 * time.Hour)
		if got := breaks(t, p); len(got) > 0 {
			t.Errorf("later:\n%s", strings.Join(got, "\n"))
		}
	})
}

// straySession is the session ID of a credit of which the bank sends no notification.
const straySession = "000013300102030405000000000001"

// A day without a break opens no case, whenever the period of the daily reconciliation begins. It
// may begin between a payout and the payout's outcome, before the payout is returned, or at
// midnight.
func TestQuietDaysStayQuiet(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		for i := range 6 * 6 {
			id := verify(t, p.Client, "10")
			send(p.Client, id, 6000).Want(t, http.StatusOK)
			pay(t, p.Client, p.SettlementAccountNumber, 50_000, nil)
			p.Advance(3*time.Hour + 53*time.Minute)
			if i%3 > 0 {
				continue
			}
			if a, err := p.Raw(t.Context(), http.MethodPost, "/sandbox/reverse", map[string]string{"reference": id}); err != nil || a.Status != http.StatusOK {
				t.Fatalf("%s, %v", a, err)
			}
			p.Advance(7 * time.Minute)
			if got := breaks(t, p); len(got) > 0 {
				t.Fatalf("after %d payouts:\n%s", i+1, strings.Join(got, "\n"))
			}
		}
		if open := cases(t, p); len(open) > 0 {
			t.Errorf("cases:\n%s", strings.Join(open, "\n"))
		}
	})
}

// Before it compares, the reconciliation asks the bank about credits and returned payouts of which
// no notification came. It opens a case only for those that the bank does not explain.
func TestACreditWithoutANotificationIsNoBreak(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		id := verify(t, p.Client, "10")
		send(p.Client, id, 6000).Want(t, http.StatusOK)
		p.Advance(time.Hour)
		a, err := p.Raw(t.Context(), http.MethodPost, "/sandbox/reverse", map[string]any{"reference": id, "silent": true})
		if err != nil || a.Status != http.StatusOK {
			t.Fatalf("%s, %v", a, err)
		}
		pay(t, p.Client, p.SettlementAccountNumber, 700, map[string]any{"silent": true})
		p.App.Clock.(*clock.Movable).MoveTo(p.App.Clock.(*clock.Movable).Offset() + 8*time.Hour) // this way of moving the clock runs no jobs
		if got := breaks(t, p); len(got) > 0 {
			t.Errorf("breaks: %q", got)
		}
		holds(t, p, p.Client, apptest.DevFloat+700*money.Naira)
		if got := status(p.Client, id); got.Status != "REVERSED" || !got.Refunded {
			t.Errorf("the payout: %+v", got)
		}
	})
}

// eventfulDay makes a payout and a purchase for each behaviour of the sandbox, a returned payout,
// and credits with two notifications or none. The bank charges for each payout that it executes,
// including the returned payout.
func eventfulDay(t *testing.T, p *apptest.Program) (references map[string]string, charges money.Kobo) {
	t.Helper()
	const naira, price = 10_000, 1075
	bundle := p.Bundle()
	references = map[string]string{}
	for _, s := range stories {
		references[s.ending] = verify(t, p.Client, s.ending)
		send(p.Client, references[s.ending], naira).Want(t, s.status)
		p.Buy(p.Order(bundle, "reconcile-"+s.ending, s.ending))
		if s.end == "SUCCESS" {
			charges += price
		}
	}
	returned := verify(t, p.Client, "20")
	send(p.Client, returned, naira).Want(t, http.StatusOK)
	if a, err := p.Raw(t.Context(), http.MethodPost, "/sandbox/reverse", map[string]string{"reference": returned}); err != nil || a.Status != http.StatusOK {
		t.Fatalf("%s, %v", a, err)
	}
	pay(t, p.Client, p.SettlementAccountNumber, 5000, map[string]any{"duplicate": 2})
	pay(t, p.Client, p.SettlementAccountNumber, 400, map[string]any{"silent": true})
	p.Advance(time.Minute)
	p.Advance(15 * time.Minute)
	p.Advance(time.Hour)
	return references, charges + price
}

// found waits until exactly these cases are open.
func found(t *testing.T, p *apptest.Program, want []string) {
	t.Helper()
	apptest.Eventually(t, func() string {
		if open := cases(t, p); !slices.Equal(open, want) {
			return "cases:\n" + strings.Join(open, "\n")
		}
		return ""
	})
}

// decided closes every case with the decisions of two operators. The charges are booked, the credit
// with a known session ID is assigned to the company, and all other breaks are dismissed. After
// that the statement and the ledger differ only by the dismissed breaks, and no case opens.
func decided(t *testing.T, p *apptest.Program) {
	t.Helper()
	list, _, err := p.App.Operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open}, 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	before := shown(t, p)
	held, err := p.App.Book.Balance(t.Context(), p.Reference, settlement.LedgerAccount(p.SettlementID))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		f := operation.Finding{Outcome: operation.Dismissed}
		switch {
		case c.Reason == operation.UnbookedCharge:
			f.Outcome = operation.Booked
		case c.Subject == "safehaven/"+straySession:
			f = operation.Finding{Outcome: operation.Assigned, Target: p.Reference, TargetID: p.SettlementID}
		}
		for _, by := range []operator.Operator{operator.Local("ada"), operator.Local("bob")} {
			if _, err := p.App.Operations.ResolveCase(t.Context(), c.ID, f, "seen", by.Name, by.Note); err != nil {
				t.Fatal(err)
			}
		}
		if c.Reason == operation.UnbookedCharge && shown(t, p) != before {
			t.Errorf("the company sees %s, not %s", shown(t, p), before)
		}
	}
	apptest.Eventually(t, func() string {
		if now, err := p.App.Book.Balance(t.Context(), p.Reference, settlement.LedgerAccount(p.SettlementID)); err != nil || now != held+300*money.Naira {
			return fmt.Sprintf("%s, %v", now, err)
		}
		return ""
	})
	p.Advance(time.Hour)
	all, err := p.App.Reconcile(t.Context(), app.Reach)
	if err != nil || len(all) != 1 || len(all[0].Breaks) != 3 || all[0].Undecided() != 0 {
		t.Errorf("settled: %+v, %v", all, err)
	}
	for _, b := range all[0].Breaks {
		if c := b.Case; c.Outcome != operation.Dismissed || c.ProposedBy != "local:ada" || c.ResolvedBy != "local:bob" || c.Amount != b.Bank-b.Book {
			t.Errorf("%s: %+v", b.Subject, c)
		}
	}
	if open := cases(t, p); len(open) > 0 {
		t.Errorf("opened again: %q", open)
	}
	for _, company := range []string{p.Reference, settlement.House} {
		if i, err := p.App.Reports.Integrity(t.Context(), company); err != nil || !i.Intact() {
			t.Errorf("%q, %v", i.Wrongs, err)
		}
	}
}

// shown returns the state of the company's ledger as the API shows it.
func shown(t *testing.T, p *apptest.Program) string {
	t.Helper()
	i, err := p.App.Reports.Integrity(t.Context(), p.Reference)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(i.Own(), i.Entries)
}
