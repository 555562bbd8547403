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
	pollColumns         = `company_id, provider, done_until, round_at, page, next_until, finished_at, since_at, listed, listing, unlisted`
	sourceColumns       = `company_id, provider, account, account_number, main, done_until, round_at, page, next_until, due_at, polled_at,
		newest_at, from_at, failures, listing, retired_at`
)

var (
	notifications = db.Declare[Notification]("inbox_notification", db.Reads(notificationColumns), db.KeepFirst())
	names         = db.Declare[name]("inbox_bank", db.Reads(nameColumns), db.KeepFirst())
	polls         = db.Declare[poll]("inbox_sweep", db.Reads(pollColumns), db.KeepFirst())
	sources       = db.Declare[source]("inbox_account", db.Reads(sourceColumns), db.KeepFirst())
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

// before returns up to limit notifications that came before a place, newest first.
func (s *Service) before(ctx context.Context, at int64, notificationID string, limit int) ([]Notification, error) {
	return db.All(ctx, s.DB, notifications.Scan, `SELECT `+notificationColumns+` FROM inbox_notification
		WHERE company_id = $1 AND received_at <= $2 AND (received_at < $2 OR id < $3)
		ORDER BY received_at DESC, id DESC LIMIT $4`, House, at, notificationID, limit)
}

// reopen changes a finished notification to NEW.
func reopen(ctx context.Context, q db.Querier, notificationID string) (moved bool, err error) {
	n, err := q.Exec(ctx, `UPDATE inbox_notification SET state = 'NEW', detail = '', worked_at = 0
		WHERE company_id = $1 AND id = $2 AND state <> 'NEW'`, House, notificationID)
	return n > 0, err
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

// startPolls sets the time from which a poll that an earlier program began reads the credits of each
// account. That program has read all credits before this time. A time in the future is the work of a
// clock that was ahead.
func (s *Service) startPolls(ctx context.Context) error {
	_, err := s.DB.Exec(ctx, `UPDATE inbox_sweep SET since_at = CASE WHEN done_until > $2 THEN $2 ELSE done_until END
		WHERE company_id = $1 AND since_at = 0`, House, clock.Micros(s.Clock.Now()))
	return err
}

func (s *Service) setSince(ctx context.Context, at poll) error {
	_, err := s.DB.Exec(ctx, `UPDATE inbox_sweep SET since_at = $3 WHERE company_id = $1 AND provider = $2`, House, at.provider, clock.Micros(at.since))
	return err
}

// addAccounts adds accounts to a poll. It marks those that the poll has already with the number of the
// listing. Retired accounts among them come back, and are read from where they were read; addAccounts
// returns their identifiers at the bank.
func (s *Service) addAccounts(ctx context.Context, at poll, list []source) (returned []string, err error) {
	rows, ids := make([]db.Record, len(list)), make([]string, len(list))
	for i, a := range list {
		rows[i], ids[i] = sources.Record(a), a.account
	}
	if err := s.DB.Insert(ctx, rows...); err != nil {
		return nil, err
	}
	err = s.DB.Tx(ctx, func(q db.Querier) (err error) {
		returned, err = db.All(ctx, q, db.Value[string], `UPDATE inbox_account SET retired_at = 0, failures = 0, due_at = $4, polled_at = $4
			WHERE company_id = $1 AND provider = $2 AND account = ANY($3) AND retired_at <> 0 RETURNING account`,
			House, at.provider, ids, clock.Micros(s.Clock.Now()))
		if err != nil {
			return err
		}
		_, err = q.Exec(ctx, `UPDATE inbox_account SET listing = $4
			WHERE company_id = $1 AND provider = $2 AND account = ANY($3) AND listing < $4`, House, at.provider, ids, at.listing)
		return err
	})
	return returned, err
}

// turnPage stores how far the bank's list of accounts was read. It returns false if another program has
// read the list meanwhile.
func (s *Service) turnPage(ctx context.Context, from, to poll) (bool, error) {
	n, err := s.DB.Exec(ctx, `UPDATE inbox_sweep SET listed = $3, listing = $4
		WHERE company_id = $1 AND provider = $2 AND listed = $5 AND listing = $6`,
		House, from.provider, to.listed, to.listing, from.listed, from.listing)
	return n == 1, err
}

// retire takes accounts out of the poll which the last whole listings lacked, and whose credits the bank
// has not listed when it was last asked. It returns their identifiers at the bank.
func (s *Service) retire(ctx context.Context, at poll) (retired []string, err error) {
	err = s.DB.Tx(ctx, func(q db.Querier) (err error) {
		retired, err = db.All(ctx, q, db.Value[string], `UPDATE inbox_account SET retired_at = $3
			WHERE company_id = $1 AND provider = $2 AND retired_at = 0 AND main = 0 AND failures > 0 AND listing <= $4 RETURNING account`,
			House, at.provider, clock.Micros(s.Clock.Now()), at.listing-gone)
		return err
	})
	return retired, err
}

// listedOf returns those of some account numbers which a listing had, or which are retired.
func (s *Service) listedOf(ctx context.Context, at poll, numbers []string) ([]string, error) {
	return db.All(ctx, s.DB, db.Value[string], `SELECT DISTINCT account_number FROM inbox_account
		WHERE company_id = $1 AND provider = $2 AND account_number = ANY($3) AND (listing >= $4 OR retired_at <> 0)`,
		House, at.provider, numbers, at.listing)
}

func (s *Service) setUnlisted(ctx context.Context, provider string, n int64) error {
	_, err := s.DB.Exec(ctx, `UPDATE inbox_sweep SET unlisted = $3 WHERE company_id = $1 AND provider = $2`, House, provider, n)
	return err
}

// forgetFuture repairs what programs have stored whose clock was ahead. Nobody knows which credits came
// meanwhile, so such an account is due now, and is read from the time of the poll's begin. Times after
// ahead are in the future. An account that is due after late is due now.
func (s *Service) forgetFuture(ctx context.Context, at poll, now, ahead, late time.Time) (int64, error) {
	n, err := s.DB.Exec(ctx, `UPDATE inbox_account SET due_at = $3, done_until = $5, newest_at = $5, round_at = 0, page = 0, next_until = 0, from_at = 0,
			polled_at = CASE WHEN polled_at > $3 THEN $3 ELSE polled_at END
		WHERE company_id = $1 AND provider = $2 AND (done_until > $4 OR round_at > $4 OR polled_at > $4)`,
		House, at.provider, clock.Micros(now), clock.Micros(ahead), clock.Micros(at.since))
	if err != nil {
		return 0, err
	}
	_, err = s.DB.Exec(ctx, `UPDATE inbox_account SET due_at = $3 WHERE company_id = $1 AND provider = $2 AND due_at > $4`,
		House, at.provider, clock.Micros(now), clock.Micros(late))
	return n, err
}

// setMain stores which account of a bank is our own, because the configuration may have changed. An earlier
// own account is then one of the others.
func (s *Service) setMain(ctx context.Context, provider, account string) error {
	_, err := s.DB.Exec(ctx, `UPDATE inbox_account SET main = 1 - main
		WHERE company_id = $1 AND provider = $2 AND (main = 1) <> (account = $3)`, House, provider, account)
	return err
}

func (s *Service) countAccounts(ctx context.Context, provider string) (int64, error) {
	return db.One(ctx, s.DB, db.Value[int64], `SELECT count(*) FROM inbox_account WHERE company_id = $1 AND provider = $2 AND retired_at = 0`, House, provider)
}

// dueAccounts returns up to most accounts whose next round may begin: our own account first, and then
// those that have been due for the longest time. It leaves out the failing accounts.
func (s *Service) dueAccounts(ctx context.Context, provider string, at time.Time, most int) ([]source, error) {
	return db.All(ctx, s.DB, sources.Scan, `SELECT `+sourceColumns+` FROM inbox_account
		WHERE company_id = $1 AND provider = $2 AND due_at <= $3 AND retired_at = 0 AND (failures = 0 OR main = 1)
		ORDER BY main DESC, due_at LIMIT $4`, House, provider, clock.Micros(at), most)
}

// failingAccounts returns up to most accounts that could not be read, and that may be read again.
func (s *Service) failingAccounts(ctx context.Context, provider string, at time.Time, most int) ([]source, error) {
	return db.All(ctx, s.DB, sources.Scan, `SELECT `+sourceColumns+` FROM inbox_account
		WHERE company_id = $1 AND provider = $2 AND due_at <= $3 AND retired_at = 0 AND failures > 0 AND main = 0
		ORDER BY due_at LIMIT $4`, House, provider, clock.Micros(at), most)
}

// staleAccounts returns up to most accounts whose last finished round did not begin after a time: our
// own account first, and then those that were not read for the longest time.
func (s *Service) staleAccounts(ctx context.Context, provider string, at time.Time, most int) ([]source, error) {
	return db.All(ctx, s.DB, sources.Scan, `SELECT `+sourceColumns+` FROM inbox_account
		WHERE company_id = $1 AND provider = $2 AND polled_at <= $3 AND retired_at = 0 ORDER BY main DESC, polled_at LIMIT $4`, House, provider, clock.Micros(at), most)
}

// advance stores the progress of an account, unless another program has changed the progress
// meanwhile.
func (s *Service) advance(ctx context.Context, from, to source) error {
	_, err := s.DB.Exec(ctx, `
		UPDATE inbox_account SET done_until = $7, round_at = $8, page = $9, next_until = $10, due_at = $11, polled_at = $12,
			newest_at = $13, from_at = $14, failures = 0, retired_at = 0
		WHERE company_id = $1 AND provider = $2 AND account = $3 AND round_at = $4 AND page = $5 AND done_until = $6`,
		House, to.provider, to.account, clock.Micros(from.roundAt), from.page, clock.Micros(from.doneUntil),
		clock.Micros(to.doneUntil), clock.Micros(to.roundAt), to.page, clock.Micros(to.nextUntil), clock.Micros(to.due), clock.Micros(to.polled),
		clock.Micros(to.newest), clock.Micros(to.from))
	return err
}

// postpone makes an account due later, because it could not be read now. It also stores how many reads
// in a row have failed.
func (s *Service) postpone(ctx context.Context, at source, failures int64, pause time.Duration) error {
	_, err := s.DB.Exec(ctx, `UPDATE inbox_account SET due_at = $4, failures = $5 WHERE company_id = $1 AND provider = $2 AND account = $3`,
		House, at.provider, at.account, clock.Micros(s.Clock.Now().Add(pause)), failures)
	return err
}

// hasten makes an account due within pollEvery, because it has received a credit. A retired account comes
// back. It returns false if the poll does not have the account.
func (s *Service) hasten(ctx context.Context, provider, number string) (bool, error) {
	soon := clock.Micros(s.Clock.Now().Add(pollEvery))
	_, err := s.DB.Exec(ctx, `UPDATE inbox_account SET due_at = $4, failures = 0,
			polled_at = CASE WHEN retired_at <> 0 THEN retired_at ELSE polled_at END, retired_at = 0
		WHERE company_id = $1 AND provider = $2 AND account_number = $3 AND (due_at > $4 OR retired_at <> 0)`, House, provider, number, soon)
	if err != nil {
		return false, err
	}
	n, err := db.One(ctx, s.DB, db.Value[int64], `SELECT count(*) FROM inbox_account
		WHERE company_id = $1 AND provider = $2 AND account_number = $3`, House, provider, number)
	return n > 0, err
}

// finish stores that no account of a bank is due. The ledger has all credits of the bank before the
// earliest time of its accounts. A program of an earlier schema then begins a new round at that time.
func (s *Service) finish(ctx context.Context, provider string) error {
	_, err := s.DB.Exec(ctx, `
		UPDATE inbox_sweep SET finished_at = $3, round_at = 0, page = 0, next_until = 0,
			done_until = coalesce((SELECT min(a.done_until) FROM inbox_account AS a WHERE a.company_id = $1 AND a.provider = $2 AND a.retired_at = 0), done_until)
		WHERE company_id = $1 AND provider = $2`, House, provider, clock.Micros(s.Clock.Now()))
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
