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
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// plantLine writes a line on the bank's statement that belongs to nothing.
func plantLine(t *testing.T, p *apptest.Program, kind, reference string, naira int) {
	t.Helper()
	a, err := p.Raw(t.Context(), http.MethodPost, "/sandbox/statement-line",
		map[string]any{"reference": reference, "type": kind, "amount": naira})
	if err != nil || a.Status != http.StatusOK {
		t.Fatalf("%s, %v", a, err)
	}
}

// breaks are what a comparison finds: reason, company and subject.
func breaks(t *testing.T, p *apptest.Program) (found []string) {
	t.Helper()
	all, err := p.App.Reconcile(t.Context(), app.Reach)
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, b := range all[0].Breaks {
		found = append(found, fmt.Sprint(b.Reason, " ", b.Company, " ", b.Subject))
	}
	return sorted(found)
}

func sorted(list []string) []string { slices.Sort(list); return list }

// cases are the open cases in the same words.
func cases(t *testing.T, p *apptest.Program) (open []string) {
	t.Helper()
	list, _, err := p.App.Operations.Cases(t.Context(), operation.Open, 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		open = append(open, fmt.Sprint(c.Reason, " ", c.Company, " ", c.Subject))
	}
	return sorted(open)
}

// A day on which everything that can go wrong did, and was followed to its end,
// is a day without a break; three lines that do not belong are three cases, once.
func TestTheBanksStatementIsHeldAgainstTheBook(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect, apptest.Window(2*time.Second))
		charge(t, p)
		bundle, references := p.Bundle(), map[string]string{}
		for _, s := range stories {
			references[s.ending] = verify(t, p.Client, s.ending)
			send(p.Client, references[s.ending], 1000).Want(t, s.status)
			p.Buy(p.Order(bundle, "reconcile-"+s.ending, s.ending))
		}
		returned := verify(t, p.Client, "20")
		send(p.Client, returned, 1000).Want(t, http.StatusOK)
		if a, err := p.Raw(t.Context(), http.MethodPost, "/sandbox/reverse", map[string]string{"reference": returned}); err != nil || a.Status != http.StatusOK {
			t.Fatalf("%s, %v", a, err)
		}
		pay(t, p.Client, p.SettlementAccountNumber, 5000, map[string]any{"duplicate": 2})
		pay(t, p.Client, p.SettlementAccountNumber, 400, map[string]any{"silent": true})
		p.Advance(time.Minute)
		p.Advance(15 * time.Minute)
		p.Advance(time.Hour)
		if found := breaks(t, p); len(found) > 0 {
			t.Errorf("a clean day has breaks:\n%s", strings.Join(found, "\n"))
		}

		plantLine(t, p, "Credit", "stray-session", 700)
		plantLine(t, p, "Debit", references["10"], 1000)
		plantLine(t, p, "Debit", references["01"], 1000)
		if found := breaks(t, p); len(found) > 0 {
			t.Errorf("judged too soon:\n%s", strings.Join(found, "\n"))
		}
		want := sorted([]string{
			"MISSING_CREDIT " + settlement.House + " safehaven/stray-session",
			"DUPLICATE_DEBIT " + p.Reference + " " + references["10"],
			"FAILED_REVERSAL " + p.Reference + " " + references["01"],
		})
		p.Advance(23 * time.Hour) // the daily comparison
		apptest.Eventually(t, func() string {
			if open := cases(t, p); !slices.Equal(open, want) {
				return "cases:\n" + strings.Join(open, "\n")
			}
			return ""
		})
		for range 2 {
			if found := breaks(t, p); !slices.Equal(found, want) {
				t.Errorf("breaks:\n%s", strings.Join(found, "\n"))
			}
		}
		if open := cases(t, p); !slices.Equal(open, want) {
			t.Errorf("found again, these are the cases:\n%s", strings.Join(open, "\n"))
		}
		if old, err := p.App.Reports.Overdue(t.Context()); err != nil || len(old) > 0 {
			t.Errorf("overdue: %+v, %v", old, err)
		}
	})
}
