package apptest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// silentBank is a bank whose statement cannot be read for a while.
type silentBank struct {
	provider.Bank
	isSilent *atomic.Bool
}

func (b silentBank) Statement(ctx context.Context, from, to time.Time, page int) ([]provider.StatementLine, bool, error) {
	if b.isSilent.Load() {
		return nil, false, errors.New("the statement cannot be read")
	}
	return b.Bank.Statement(ctx, from, to, page)
}

// The bank's statement cannot be read for longer than a comparison reaches back. The first one after that covers the days that
// were missed.
func TestDaysThatWereNotComparedAreComparedLater(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		var isSilent atomic.Bool
		p := apptest.Start(t, dialect, apptest.Window(2*time.Second), apptest.AroundBanks(func(b provider.Bank) provider.Bank { return silentBank{b, &isSilent} }))
		p.Advance(25 * time.Hour) // one comparison succeeds
		plantLine(t, p, "Credit", "stray-session", 700, "")
		isSilent.Store(true)
		for range 6 {
			p.Advance(24 * time.Hour)
		}
		found(t, p, nil)
		isSilent.Store(false)
		p.Advance(25 * time.Hour)
		found(t, p, []string{"MISSING_CREDIT " + settlement.House + " safehaven/stray-session"})
	})
}

// lateBank adds a line to its statement after the line's day was compared.
type lateBank struct {
	provider.Bank
	late *atomic.Pointer[provider.StatementLine]
}

func (b lateBank) Statement(ctx context.Context, from, to time.Time, page int) ([]provider.StatementLine, bool, error) {
	lines, more, err := b.Bank.Statement(ctx, from, to, page)
	if l := b.late.Load(); l != nil && page == 0 && !l.At.Before(from) && l.At.Before(to) {
		lines = append(lines, *l)
	}
	return lines, more, err
}

// The bank adds a charge to a day whose case is open. Two people decide about what the case had, when a usual comparison does not reach
// back to the day any more. The next one opens a case: about the rest if the first amount was booked, and otherwise about the whole.
func TestAChargeThatCameDuringItsCaseIsComparedAfterTheDecision(t *testing.T) {
	for outcome, want := range map[string]money.Kobo{operation.Booked: 1075, operation.Dismissed: 1475} {
		t.Run(outcome, func(t *testing.T) {
			each(t, func(t *testing.T, dialect db.Dialect) {
				var late atomic.Pointer[provider.StatementLine]
				p := apptest.Start(t, dialect, apptest.Window(2*time.Second), apptest.AroundBanks(func(b provider.Bank) provider.Bank { return lateBank{b, &late} }))
				day := p.App.Clock.Now()
				plantLine(t, p, "Debit", "sms-1", 4, "SMS alert charge")
				p.Advance(49 * time.Hour)
				first := opens(t, p, operation.UnbookedCharge, 1)[0]
				late.Store(&provider.StatementLine{ID: "sms-2", Reference: "sms-2", Amount: 1075, Narration: "SMS alert charge", At: day})
				for range 3 {
					p.Advance(24 * time.Hour)
				}
				agree(t, p, first.ID, operation.Finding{Outcome: outcome})
				p.Advance(25 * time.Hour)
				second := opens(t, p, operation.UnbookedCharge, 1)[0]
				if first.Amount != 400 || second.Amount != want || second.Subject != first.Subject {
					t.Errorf("%+v\n%+v", first, second)
				}
			})
		})
	}
}
