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

const (
	notificationColumns = `company_id, id, provider, body, state, detail, received_at, worked_at`
	nameColumns         = `company_id, mark, provider`
	pollColumns         = `company_id, provider, done_until, round_at, page, next_until, finished_at`
)

var (
	notifications = db.Declare[Notification]("inbox_notification", db.Reads(notificationColumns), db.KeepFirst())
	names         = db.Declare[name]("inbox_bank", db.Reads(nameColumns), db.KeepFirst())
	polls         = db.Declare[poll]("inbox_sweep", db.Reads(pollColumns), db.KeepFirst())
)

// sealedAs is the column name that is part of the encryption of a body. A ciphertext can be
// decrypted only as the content of this column.
const sealedAs = "inbox_notification.body"

func (n Notification) place() secret.Place {
	return secret.Place{Company: House, Column: sealedAs, Row: n.ID}
}

// storeAll stores notifications with their jobs. It does not change notifications that are stored
// already. It sorts the rows, so that two programs which store the same notifications cannot
// deadlock.
func (s *Service) storeAll(ctx context.Context, list []Notification) error {
	slices.SortFunc(list, func(a, b Notification) int { return strings.Compare(a.ID, b.ID) })
	list = slices.CompactFunc(list, func(a, b Notification) bool { return a.ID == b.ID })
	var rows []db.Record
	for _, n := range list {
		var err error
		if n.sealed, err = s.Keys.Seal(n.place(), n.Body.Reveal()); err != nil {
			return err
		}
		work := job.Job{Company: House, Kind: WorkJob, Subject: n.ID, Provider: n.Provider, RunAt: n.ReceivedAt}
		rows = append(rows, notifications.Record(n), work.Record())
	}
	return s.DB.Insert(ctx, rows...)
}

// find returns a notification with its body decrypted.
func (s *Service) find(ctx context.Context, notificationID string) (Notification, error) {
	n, err := db.One(ctx, s.DB, notifications.Scan, `SELECT `+notificationColumns+` FROM inbox_notification
		WHERE company_id = $1 AND id = $2`, House, notificationID)
	if err == nil {
		n.Body, err = s.Keys.Open(n.place(), n.sealed)
	}
	return n, err
}

// end changes a notification from NEW to its final state.
func (s *Service) end(ctx context.Context, notificationID string, state State, detail string) error {
	_, err := s.DB.Exec(ctx, `
		UPDATE inbox_notification SET state = $3, detail = $4, worked_at = $5
		WHERE company_id = $1 AND id = $2 AND state = 'NEW'`,
		House, notificationID, string(state), detail, clock.Micros(s.Clock.Now()))
	return err
}

// clear deletes up to limit finished notifications that were received before a time, and returns
// how many it deleted.
func (s *Service) clear(ctx context.Context, before time.Time, limit int) (int64, error) {
	return s.DB.Exec(ctx, `
		DELETE FROM inbox_notification WHERE company_id = $1 AND id IN (
			SELECT id FROM inbox_notification
			WHERE company_id = $1 AND received_at < $2 AND state <> 'NEW' ORDER BY received_at LIMIT $3)`,
		House, clock.Micros(before), limit)
}

func (s *Service) findPoll(ctx context.Context, provider string) (poll, error) {
	return db.One(ctx, s.DB, polls.Scan, `SELECT `+pollColumns+` FROM inbox_sweep
		WHERE company_id = $1 AND provider = $2`, House, provider)
}

// advance stores the progress of a poll, unless another program has changed the progress
// meanwhile.
func (s *Service) advance(ctx context.Context, from, to poll) error {
	_, err := s.DB.Exec(ctx, `
		UPDATE inbox_sweep SET done_until = $5, round_at = $6, page = $7, next_until = $8, finished_at = $9
		WHERE company_id = $1 AND provider = $2 AND round_at = $3 AND page = $4`,
		House, to.provider, clock.Micros(from.roundAt), from.page,
		clock.Micros(to.doneUntil), clock.Micros(to.roundAt), to.page, clock.Micros(to.nextUntil), clock.Micros(to.finished))
	return err
}

// findNames returns the banks with a credit poll, and the stored names of bank accounts.
func (s *Service) findNames(ctx context.Context) (polled []string, named []name, err error) {
	polled, err = db.All(ctx, s.DB, db.Value[string], `SELECT provider FROM inbox_sweep WHERE company_id = $1`, House)
	if err == nil {
		named, err = db.All(ctx, s.DB, names.Scan, `SELECT `+nameColumns+` FROM inbox_bank WHERE company_id = $1`, House)
	}
	return polled, named, err
}
