package job

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
)

// early is the pause above which a job that follows a payment or an opening was planned while the clock was ahead.
// The longest pause on the resolver's schedule is 90 minutes.
const early = 2 * time.Hour

// Plan adds recurring jobs to the job list, unless the list contains them already. Each runs no later than its RunAt, because a
// program whose clock was ahead may have planned it far in the future, or may hold its lease until then.
func Plan(ctx context.Context, d *db.DB, jobs ...Job) error {
	rows := make([]db.Record, len(jobs))
	for i, j := range jobs {
		rows[i] = j.Record()
	}
	if err := d.Insert(ctx, rows...); err != nil {
		return err
	}
	for _, j := range jobs {
		if err := bringForward(ctx, d, j, j.RunAt); err != nil {
			return err
		}
	}
	return nil
}

// Recover lets jobs of the given kinds run now that a program planned while its clock was ahead, and ends the leases of such a program.
// It changes one job at a time, so it cannot get into a deadlock with a commit. It goes through the whole list, because some jobs return
// to their time in the future again and again.
func Recover(ctx context.Context, d *db.DB, now time.Time, kinds ...string) error {
	for after := (Job{}); ; {
		list, err := planned(ctx, d, now.Add(longest), now.Add(early), kinds, after)
		for _, j := range list {
			if err == nil {
				err = bringForward(d.At(ctx, j.Company), d, j, now)
			}
			after = j
		}
		if err != nil || len(list) < mostAhead {
			return err
		}
	}
}

// mostAhead is how many jobs Recover reads at once.
const mostAhead = 1000

// longest is longer than every lease that has just begun, also by the clock of another program.
const longest = lease + time.Minute
