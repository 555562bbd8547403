package inbox

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/secret"
)

var (
	notificationTable = &db.Table{
		Name: "inbox_notification", Key: 2, Lenient: true,
		Columns: append(db.Texts("company_id", "id", "provider", "body", "state", "detail"), db.Ints("received_at", "worked_at")...),
	}
	sweepTable = &db.Table{
		Name: "inbox_sweep", Key: 2, Lenient: true,
		Columns: append(db.Texts("company_id", "provider"), db.Ints("done_until", "round_at", "page", "next_until")...),
	}
)

// sealedAs is the column that the body is sealed for.
const sealedAs = "inbox_notification.body"

// storeAll writes notifications and the jobs that work them. What is there
// already stays as it is. The rows are sorted, so that two programs that store
// the same ones never wait for each other in a circle.
func (s *Service) storeAll(ctx context.Context, batch []Notification) error {
	slices.SortFunc(batch, func(a, b Notification) int { return strings.Compare(a.ID, b.ID) })
	batch = slices.CompactFunc(batch, func(a, b Notification) bool { return a.ID == b.ID })
	var rows []db.Record
	for _, n := range batch {
		sealed, err := s.Keys.Seal(House, sealedAs, n.Body.Reveal())
		if err != nil {
			return err
		}
		rows = append(rows, db.Record{Table: notificationTable, Values: []any{
			House, n.ID, n.Provider, sealed, string(n.State), "", clock.Micros(n.ReceivedAt), int64(0),
		}}, job.NewFor(n.Provider, House, WorkJob, n.ID, n.ReceivedAt))
	}
	return s.DB.Insert(ctx, rows...)
}

// find is a notification with its body opened.
func (s *Service) find(ctx context.Context, notificationID string) (Notification, error) {
	n, err := db.One(ctx, s.DB, func(sc db.Scanner) (Notification, error) {
		var n Notification
		var body string
		var received, worked int64
		err := sc.Scan(&n.ID, &n.Provider, &body, &n.State, &n.Detail, &received, &worked)
		n.Body, n.ReceivedAt, n.WorkedAt = secret.NewText(body), clock.Time(received), clock.Time(worked)
		return n, err
	}, `SELECT id, provider, body, state, detail, received_at, worked_at FROM inbox_notification
		WHERE company_id = $1 AND id = $2`, House, notificationID)
	if err == nil {
		n.Body, err = s.Keys.Open(House, sealedAs, n.Body.Reveal())
	}
	return n, err
}

// end gives a new notification its last state.
func (s *Service) end(ctx context.Context, notificationID string, state State, detail string) error {
	_, err := s.DB.Exec(ctx, `
		UPDATE inbox_notification SET state = $3, detail = $4, worked_at = $5
		WHERE company_id = $1 AND id = $2 AND state = 'NEW'`,
		House, notificationID, string(state), detail, clock.Micros(s.Clock.Now()))
	return err
}

// clear removes up to limit notifications that were received before an instant
// and worked, and tells how many it removed.
func (s *Service) clear(ctx context.Context, before time.Time, limit int) (int64, error) {
	return s.DB.Exec(ctx, `
		DELETE FROM inbox_notification WHERE company_id = $1 AND id IN (
			SELECT id FROM inbox_notification
			WHERE company_id = $1 AND received_at < $2 AND state <> 'NEW' ORDER BY received_at LIMIT $3)`,
		House, clock.Micros(before), limit)
}

func (w sweep) record() db.Record {
	return db.Record{Table: sweepTable, Values: []any{
		House, w.provider, clock.Micros(w.doneUntil), int64(0), int64(0), int64(0),
	}}
}

func (s *Service) findSweep(ctx context.Context, provider string) (sweep, error) {
	return db.One(ctx, s.DB, func(sc db.Scanner) (sweep, error) {
		w := sweep{provider: provider}
		var done, round, next int64
		err := sc.Scan(&done, &round, &w.page, &next)
		w.doneUntil, w.roundAt, w.nextUntil = clock.Time(done), clock.Time(round), clock.Time(next)
		return w, err
	}, `SELECT done_until, round_at, page, next_until FROM inbox_sweep WHERE company_id = $1 AND provider = $2`, House, provider)
}

// advance writes how far a sweep has come, unless another program has taken it
// further meanwhile.
func (s *Service) advance(ctx context.Context, from, to sweep) error {
	_, err := s.DB.Exec(ctx, `
		UPDATE inbox_sweep SET done_until = $5, round_at = $6, page = $7, next_until = $8
		WHERE company_id = $1 AND provider = $2 AND round_at = $3 AND page = $4`,
		House, to.provider, clock.Micros(from.roundAt), from.page,
		clock.Micros(to.doneUntil), clock.Micros(to.roundAt), to.page, clock.Micros(to.nextUntil))
	return err
}
