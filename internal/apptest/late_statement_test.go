package apptest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// A provider replies that it does not know a purchase, so the company gets a refund. Later the
// provider accepts the purchase after all: it takes the money and has no outcome yet. If it then
// refuses the purchase and gives the money back, there is nothing for operators to decide. If it
// keeps the money, the comparison of the next day opens a case.
func TestAPurchaseAcceptedAfterTheRefund(t *testing.T) {
	for ending, kept := range map[string]bool{"07": false, "08": true} {
		t.Run(map[bool]string{false: "is refused and given back", true: "stays without an outcome"}[kept], func(t *testing.T) {
			each(t, func(t *testing.T, dialect db.Dialect) {
				var bank provider.Bank
				p := apptest.Start(t, dialect, apptest.Window(4*time.Second), apptest.AroundBanks(func(b provider.Bank) provider.Bank {
					bank = b
					return b
				}))
				late(t, p, 2*time.Hour)
				bundle := p.Bundle()
				reference := p.Bought(p.Buy(p.Order(bundle, "late", ending))).TransactionID
				p.Advance(16 * time.Minute)
				polls := refunded(t, p, map[string]payment{reference: {name: "the purchase"}})
				p.Advance(61 * time.Minute)  // the first recheck does not find the purchase
				p.Advance(100 * time.Minute) // the provider has taken the money for more than half an hour
				if asked := p.Outcome(reference).Attempts - polls[reference]; asked != 1 {
					t.Fatalf("rechecked %d times", asked)
				}
				if lines := statementOf(t, p, bank, reference); !slices.Equal(lines, []money.Kobo{-bundle.Price}) {
					t.Fatalf("the statement has %v", lines)
				}
				if got := breaks(t, p); len(got) > 0 {
					t.Errorf("while the provider is still asked: %v", got)
				}
				p.Advance(22 * time.Hour) // the daily comparison runs, and the last recheck finds the purchase without an outcome
				p.Advance(2 * time.Hour)  // the provider is asked once more
				p.Advance(24 * time.Hour)
				var want []string
				shown := []money.Kobo{-bundle.Price, bundle.Price}
				if kept {
					want, shown = []string{"FAILED_REVERSAL " + p.Reference + " " + reference}, shown[:1]
				}
				if lines := statementOf(t, p, bank, reference); !slices.Equal(lines, shown) {
					t.Errorf("a day later the statement has %v, not %v", lines, shown)
				}
				if got := breaks(t, p); !slices.Equal(got, want) {
					t.Errorf("a day later the breaks are %v, not %v", got, want)
				}
				found(t, p, want)
				holds(t, p, p.Client, apptest.DevFloat)
			})
		})
	}
}

// statementOf returns the amounts of the lines that the bank's statement has about an operation. A
// debit is negative.
func statementOf(t *testing.T, p *apptest.Program, bank provider.Bank, reference string) (amounts []money.Kobo) {
	t.Helper()
	now := p.App.Clock.Now()
	lines, more, err := bank.(provider.Bookkeeper).Statement(t.Context(), now.Add(-app.Reach), now, 0)
	if err != nil || more {
		t.Fatalf("more: %t, %v", more, err)
	}
	for _, l := range lines {
		switch {
		case !strings.Contains(l.Narration, reference):
		case l.Credit:
			amounts = append(amounts, l.Amount)
		default:
			amounts = append(amounts, -l.Amount)
		}
	}
	return amounts
}
