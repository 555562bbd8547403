package webhook

import (
	"context"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// health is how an endpoint has been doing.
type health struct {
	failures  int64
	failingAt time.Time
}

// after is the health with what came of one more attempt.
func (h health) after(d Delivery) health {
	if d.State == Delivered {
		return health{}
	}
	h.failures++
	if h.failingAt.IsZero() {
		h.failingAt = d.UpdatedAt
	}
	return h
}

// rest is until when new events wait for an endpoint in trouble: as long as it
// has been in trouble already, at least five seconds and at most an hour. The
// zero time means that they do not.
func (h health) rest(now time.Time) time.Time {
	if h.failures < tolerance {
		return time.Time{}
	}
	return now.Add(min(max(now.Sub(h.failingAt), 5*time.Second), time.Hour))
}

// flush writes down what has been tried, and how far the lane has come. It does
// so even when the program is being stopped.
func (v *visit) flush(ctx context.Context) error {
	if len(v.done) == 0 && v.lane.sequence == v.written {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	for _, d := range v.done {
		if d.State == GivenUp {
			// Before it is written down that nobody will try again.
			if err := v.flag(ctx, d); err != nil {
				return err
			}
			break
		}
	}
	before, now, err := v.record(ctx)
	if err != nil {
		return err
	}
	worked := slices.ContainsFunc(v.done, func(d Delivery) bool { return d.State == Delivered })
	v.figures.count(v.done)
	v.lane.due = time.Time{}
	if v.lane.kind != laneRetries && len(v.done) > 0 {
		v.lane.due = now.rest(v.Clock.Now())
	}
	v.done, v.held, v.written = v.done[:0], 0, v.lane.sequence
	if worked && v.endpoint.State == Failing {
		if err := v.cleared(ctx); err != nil {
			return err
		}
	}
	if worked && before.failures >= tolerance {
		return v.recovered(ctx, v.endpoint, v.Clock.Now())
	}
	return nil
}

// record is one transaction: the deliveries, the endpoint's health and the
// lane's place. It is refused when somebody else holds the lane by now; what was
// sent is then sent again, under the same ids.
func (v *visit) record(ctx context.Context) (before, after health, err error) {
	l := v.lane
	err = v.DB.Run(ctx, func(p db.Pipeline) error {
		held, retriesDue := false, int64(0)
		before = health{}
		err := p.Read(ctx,
			db.Lookup{
				Table: endpointTable, By: endpointTable.KeyNames(), Columns: []string{"failures", "failed_at"}, Lock: true,
				Keys: [][]any{{l.company, l.endpoint}},
				Found: func(row []any) error {
					before = health{row[2].(int64), clock.Time(row[3].(int64))}
					return nil
				},
			},
			db.Lookup{
				Table: laneTable, By: laneTable.KeyNames(), Columns: []string{"fence", "due_at"}, Lock: true,
				Keys: v.lanes(),
				Found: func(row []any) error {
					if row[2] == l.id {
						held = row[3] == l.fence
					}
					if row[2] == laneRetries {
						retriesDue = row[4].(int64)
					}
					return nil
				},
			})
		if err != nil {
			return err
		}
		if !held {
			p.Rollback()
			return errOver
		}
		after = before
		for _, d := range v.done {
			after = after.after(d)
		}
		return p.Commit(ctx, v.writes(before, after, retriesDue)...)
	})
	return before, after, err
}

// lanes are the keys of the lanes that the visit writes to, in their order.
func (v *visit) lanes() [][]any {
	own := []any{v.lane.company, v.lane.endpoint, v.lane.id}
	if v.lane.kind == laneRetries {
		return [][]any{own}
	}
	retries := []any{v.lane.company, v.lane.endpoint, laneRetries}
	if v.lane.id < laneRetries {
		return [][]any{own, retries}
	}
	return [][]any{retries, own}
}

// writes are what record commits. A delivery that failed for the first time
// brings the lane for retries forward.
func (v *visit) writes(before, after health, retriesDue int64) []db.Write {
	l, now := v.lane, v.Clock.Now()
	rows := make([][]any, len(v.done))
	for i, d := range v.done {
		rows[i] = d.record().Values
	}
	deliveries := db.Write{Table: deliveryTable, Rows: rows}
	if l.kind == laneRetries {
		deliveries.By, deliveries.Set = deliveryTable.KeyNames(), deliveryTable.Names()[deliveryTable.Key:]
	}
	writes := []db.Write{deliveries, {
		Table: laneTable, By: laneTable.KeyNames(), Set: []string{"sequence", "lease_until"},
		Rows: [][]any{{l.company, l.endpoint, l.id, l.sequence, clock.Micros(now.Add(lease))}},
	}}
	if after != before {
		writes = append(writes, db.Write{
			Table: endpointTable, By: endpointTable.KeyNames(), Set: []string{"failures", "failed_at"},
			Rows: [][]any{{l.company, l.endpoint, after.failures, clock.Micros(after.failingAt)}},
		})
	}
	due := retriesDue
	for _, d := range v.done {
		if at := clock.Micros(d.NextAt); at != 0 && (due == 0 || at < due) {
			due = at
		}
	}
	if due != retriesDue && l.kind != laneRetries {
		writes = append(writes, db.Write{
			Table: laneTable, By: laneTable.KeyNames(), Set: []string{"due_at"},
			Rows: [][]any{{l.company, l.endpoint, laneRetries, due}},
		})
	}
	return writes
}

// failing is what a company is told of an endpoint that takes nothing.
type failing struct {
	ID        string `json:"id"`
	URL       string `json:"url"`
	Status    State  `json:"status"`
	Delivery  string `json:"deliveryId"`
	EventID   string `json:"eventId"`
	Trouble   string `json:"error"`
	FailingAt string `json:"failingSince"`
}

// flag marks the endpoint of a delivery that was given up, and tells the
// company, unless that has been done already.
func (v *visit) flag(ctx context.Context, d Delivery) error {
	if v.endpoint.State != Active {
		return nil
	}
	e := v.endpoint
	since := e.FailingAt
	if since.IsZero() {
		since = d.CreatedAt
	}
	err := v.Book.Commit(ctx, ledger.Unit{
		Company: e.Company,
		Moves:   []ledger.Move{e.move(Active, Failing)},
		Notes: []db.Record{event.New(e.Company, event.WebhookFailing, failing{
			e.ID, e.URL, Failing, d.ID, d.EventID, d.Trouble, clock.Text(since),
		})},
	})
	if ledger.Is(err, ledger.Moved) {
		return nil // flagged, paused or deleted meanwhile
	}
	if err == nil {
		v.endpoint.State = Failing
		v.Log.Warn("a webhook is failing", "company", e.Company, "webhook", e.ID, "since", since, "trouble", d.Trouble)
	}
	return err
}

// cleared takes the mark off an endpoint that takes deliveries again.
func (v *visit) cleared(ctx context.Context) error {
	e := v.endpoint
	err := v.Book.Commit(ctx, ledger.Unit{Company: e.Company, Moves: []ledger.Move{e.move(Failing, Active)}})
	if ledger.Is(err, ledger.Moved) {
		return nil
	}
	if err == nil {
		v.endpoint.State = Active
		v.Log.Info("a webhook works again", "company", e.Company, "webhook", e.ID)
	}
	return err
}

func (e Endpoint) move(from, to State) ledger.Move {
	return ledger.Move{Table: endpointTable, Key: []any{e.Company, e.ID}, From: []string{string(from)}, To: string(to)}
}
