// Package inbox receives notifications from providers, such as "money came into this account" or
// "your payment went through".
//
// The callback handler stores a notification without parsing it and responds immediately. A job
// then processes the notification. A notification proves nothing, since anyone who knows the
// address can send one. So the job asks the bank, and the bank's reply decides what is credited.
// A repeated notification changes nothing. Notifications can get lost, so a credit poll also
// reads the bank's own list of credits.
package inbox

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/batch"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// House is the company ID of the fintech itself. Rows without a company, or whose company is not
// known yet, have House as their company.
const House = "house"

// The inbox's kinds of job.
const (
	WorkJob  = "inbox.work"  // processes the notification that the subject names
	PollJob  = "inbox.sweep" // polls the credits of the provider that the subject names
	ClearJob = "inbox.clear" // deletes old notifications
)

// State is the state of a notification.
type State string

// The states of a notification. A notification leaves New once, and once more after each Replay.
const (
	New     State = "NEW"
	Worked  State = "WORKED"
	Ignored State = "IGNORED" // nothing had to be credited or updated
	Asked   State = "CASE"    // a case about the notification is open
)

// Subject returns the subject of a case about a transfer, which the bank identifies by a session
// ID. The subject contains the bank's name, since two banks may use the same session ID.
func Subject(providerName, session string) string { return providerName + "/" + session }

// Notification is a message that a provider has sent to the callback.
type Notification struct {
	company    string      `db:"company_id,key"` // always House
	ID         string      `db:"id,key"`
	Provider   string      `db:"provider"`
	Body       secret.Text // decrypted
	sealed     string      `db:"body"`
	State      State       `db:"state"`
	Detail     string      `db:"detail"` // the result, for operators; contains no secret
	ReceivedAt time.Time   `db:"received_at"`
	WorkedAt   time.Time   `db:"worked_at"` // zero while new
}

// Doubt is the reason why the inbox opens a case.
type Doubt string

// The reasons of the inbox's cases.
const (
	Unreadable Doubt = "UNREADABLE_NOTIFICATION" // the case's subject is the notification's ID
	Mismatch   Doubt = "CONTRADICTION"           // the case's subject is the bank and its session
	Unfinished Doubt = "UNRESOLVED"              // the case's subject is the bank and its session
)

// Config is what the inbox needs.
type Config struct {
	DB    *db.DB
	Keys  *secret.Keyring
	Clock clock.Clock
	Log   *slog.Logger
	// Banks contains the banks by name. The name is part of the path of the bank's callback.
	Banks map[string]provider.Receiver
	// Marks identify the account of each bank, so that no account gets a second name.
	Marks map[string][]string
	// Period is the longest time between two rounds of the credit poll of one account. Zero means that
	// each account is read every five minutes.
	Period time.Duration
	// Numbers returns the numbers of our permanent accounts at a bank, in their order: up to most, and only
	// those after a number. The poll compares them with the bank's list. If it is nil, nothing is compared.
	Numbers func(ctx context.Context, providerName, after string, most int) ([]string, error)
	// Receive books a credit that is Confirmed or Rejected. It may be called several times for
	// the same credit.
	Receive func(ctx context.Context, providerName string, in provider.Inbound) error
	// Ask opens a case. A second call with the same subject and doubt opens no second case.
	Ask func(ctx context.Context, subject string, d Doubt, detail string) error
	// Payout is called for a notification about a payout, with our reference. It must ask the
	// bank for the outcome. It may be called several times for the same payout.
	Payout func(ctx context.Context, reference string) error
	// Stored is called after a notification was stored.
	Stored func()
}

// Service stores and processes notifications, and polls credits.
type Service struct {
	Config
	batcher *batch.Queue[*waiting]
}

// NewService returns an inbox. Begin creates its jobs.
func NewService(cfg Config) *Service {
	s := &Service{Config: cfg}
	s.batcher = batch.New(most, math.MaxInt, s.storeBatch, nil)
	return s
}

// Jobs returns the worker's configuration for the inbox's kinds of job. It reserves workers for
// the kinds that credit money, and the banks share these workers.
func (s *Service) Jobs() job.Config {
	return job.Config{
		Kinds:    map[string]job.Work{WorkJob: s.Work, PollJob: s.Poll, ClearJob: s.Clear},
		Reserved: []string{WorkJob, PollJob}, Sharing: slices.Sorted(maps.Keys(s.Banks)),
	}
}

// Begin adds the inbox's recurring jobs to the job list, unless these jobs exist already.
// Programs on the same database share these jobs. The first poll of a bank covers credits from
// now on. Begin fails if a bank's account has a different name than before.
func (s *Service) Begin(ctx context.Context) error {
	if err := s.keepNames(ctx); err != nil {
		return err
	}
	now := s.Clock.Now()
	var rows []db.Record
	for _, name := range slices.Sorted(maps.Keys(s.Banks)) { // sorted, so that two programs cannot deadlock
		rows = append(rows, polls.Record(poll{company: House, provider: name, doneUntil: now, since: now}))
	}
	if err := errors.Join(s.DB.Insert(ctx, rows...), s.Plan(ctx)); err != nil {
		return err
	}
	return s.startPolls(ctx)
}

// Plan adds the inbox's recurring jobs, as job.Plan does.
func (s *Service) Plan(ctx context.Context) error {
	now := s.Clock.Now()
	jobs := []job.Job{{Company: House, Kind: ClearJob, RunAt: now.Add(clearEvery)}}
	for _, name := range slices.Sorted(maps.Keys(s.Banks)) {
		jobs = append(jobs, job.Job{Company: House, Kind: PollJob, Subject: name, Provider: name, RunAt: now.Add(pollEvery)})
	}
	return job.Plan(ctx, s.DB, jobs...)
}

// Drain waits until all received notifications are stored. No notification may arrive after Drain
// is called.
func (s *Service) Drain() { s.batcher.Drain() }

const (
	most    = 256              // the maximum number of notifications in a transaction
	timeout = 10 * time.Second // the maximum duration of a transaction
)

// waiting is a notification that waits to be stored.
type waiting struct {
	n    Notification
	done chan error
}

// store stores a notification and returns when the notification is on disk. After an error it is
// unknown whether the notification was stored. The provider then sends the notification again.
func (s *Service) store(n Notification) error {
	w := &waiting{n, make(chan error, 1)}
	s.batcher.Add(w)
	return <-w.done
}

// storeBatch stores, in one transaction, notifications that arrive together.
func (s *Service) storeBatch(list []*waiting) (late []*waiting) {
	notifications := make([]Notification, len(list))
	for i, w := range list {
		notifications[i] = w.n
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	err := s.storeAll(ctx, notifications)
	for _, w := range list {
		w.done <- err
	}
	return nil
}
