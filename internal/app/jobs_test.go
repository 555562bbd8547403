package app

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Bulk payouts, changes of cards, the money of terminated cards, deposits and notifications go on at once after a clock that was ten days
// ahead is right again.
func TestJobsOfAClockAheadGoOn(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	a, _, err := OpenDev(ctx, DevConfig(t.TempDir(), ""), false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, kind := range []string{
		operation.ResolveJob, payout.BulkCheckJob, payout.BulkSendJob, card.ChangeJob, card.ReturnJob,
		crypto.ConfirmJob, crypto.WatchJob, settlement.AssignJob, inbox.WorkJob,
	} {
		later := a.Clock.Now().Add(10 * 24 * time.Hour)
		if err := a.DB.Insert(ctx, job.Job{Kind: kind, Subject: "ahead", RunAt: later}.For(settlement.House)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.planJobs(ctx); err != nil {
		t.Fatal(err)
	}
	waiting, err := db.All(ctx, a.DB, db.Value[string], `SELECT kind FROM job WHERE company_id = $1 AND subject = 'ahead' AND run_at > $2 ORDER BY kind`,
		settlement.House, clock.Micros(a.Clock.Now()))
	if err != nil || len(waiting) > 0 {
		t.Errorf("%v wait for ten days, %v", waiting, err)
	}
}
