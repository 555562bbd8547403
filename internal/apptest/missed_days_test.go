package apptest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
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
