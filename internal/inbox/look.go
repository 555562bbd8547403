package inbox

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/text"
)

const (
	pageRows = 50
	// lookRows is how many notifications one page looks through if a filter is set. The next page goes on
	// behind them.
	lookRows = 5000
	// excerpt is how much of a redacted body people see, in bytes.
	excerpt = 4 << 10
)

// Filter selects notifications. An empty field selects all.
type Filter struct {
	State    State
	Provider string
}

// List returns a page of the notifications without their bodies, newest first, and the cursor of the next
// page. The cursor is "" after the last page. A page may be empty, and have a next one.
func (s *Service) List(ctx context.Context, f Filter, after string) (list []Notification, next string, err error) {
	at, of, err := placeOf(after)
	if err != nil {
		return nil, "", err
	}
	limit := pageRows + 1
	if f != (Filter{}) {
		limit = lookRows
	}
	seen, err := s.before(ctx, at, of, limit)
	for i, n := range seen {
		if len(list) == pageRows || i == limit-1 {
			return list, next, err
		}
		next = strconv.FormatInt(clock.Micros(n.ReceivedAt), 10) + "." + n.ID
		if (f.State == "" || f.State == n.State) && (f.Provider == "" || f.Provider == n.Provider) {
			list = append(list, n.shown())
		}
	}
	return list, "", err
}

// idShape matches the ID of a notification: a keyed hash, and the key's own ID before it.
var idShape = regexp.MustCompile(`^[0-9a-f$]{16,128}$`)

// placeOf reads a cursor. "" is before the newest notification.
func placeOf(after string) (at int64, of string, err error) {
	if after == "" {
		return clock.Micros(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)), "", nil
	}
	number, of, _ := strings.Cut(after, ".")
	if at, err = strconv.ParseInt(number, 10, 64); err != nil || !idShape.MatchString(of) {
		return 0, "", db.ErrCursor
	}
	return at, of, nil
}

// ofCredit matches what came of a notification about a credit. The session ID of a transfer names nobody, and leads to the credit.
var ofCredit = regexp.MustCompile(`^credit of session [0-9]{30}$`)

// shown returns the notification without its body, and with words that name nobody.
func (n Notification) shown() Notification {
	n.sealed = ""
	if !ofCredit.MatchString(n.Detail) {
		n.Detail = text.RedactedBody([]byte(n.Detail), excerpt)
	}
	return n
}

var errNoNotification = fault.New(fault.Missing, "Notification not found")

// Find returns a notification, and its body without what may be a secret or may name a person.
func (s *Service) Find(ctx context.Context, notificationID string) (n Notification, body string, err error) {
	n, err = s.find(ctx, notificationID)
	if errors.Is(err, db.ErrNone) {
		return n, "", errNoNotification
	}
	if err != nil {
		return n, "", err
	}
	body = text.RedactedBody([]byte(n.Body.Reveal()), excerpt)
	return n.shown(), body, nil
}

var errBusy = fault.New(fault.Conflict, "The notification is being worked")

// Replay lets a finished notification be worked again. Work ignores what it has done already, so no credit is
// booked twice. The function note adds a line to the audit log in the same transaction.
func (s *Service) Replay(
	ctx context.Context, notificationID string, note func(ctx context.Context, q db.Querier, subject string, details map[string]string) error,
) (Notification, error) {
	n, _, err := s.Find(ctx, notificationID)
	if err != nil {
		return n, err
	}
	if s.Banks[n.Provider] == nil {
		return n, fault.Newf(fault.Refused, "%s is not configured", n.Provider)
	}
	err = s.DB.Tx(ctx, func(q db.Querier) error {
		switch moved, err := reopen(ctx, q, n.ID); {
		case err != nil:
			return err
		case !moved:
			return errBusy
		}
		work := job.Job{Company: House, Kind: WorkJob, Subject: n.ID, Provider: n.Provider, RunAt: s.Clock.Now()}
		switch added, err := work.Add(ctx, q); {
		case err != nil:
			return err
		case !added: // the program that has worked it has not ended the job yet
			return errBusy
		}
		return note(ctx, q, n.ID, map[string]string{"provider": n.Provider, "was": string(n.State)})
	})
	if err != nil {
		return n, err
	}
	s.Stored()
	n.State = New
	return n, nil
}
