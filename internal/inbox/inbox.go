// Package inbox receives the notifications of providers: "money came into this
// account", "your payment went through".
//
// The callback handler stores a notification unread and answers at once. A job then
// processes it. A notification proves nothing, since anybody with the address can
// send one. The job asks the bank, and the bank's answer is credited. A repeated
// notification changes nothing. Notifications get lost, so a credit poll compares the
// bank's own list of credits with the ledger.
package inbox

import (
	"context"
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

// House is the fintech itself. Rows that belong to no company, or not yet, have it as
// their company.
const House = "house"

// The kinds of job.
const (
	WorkJob  = "inbox.work"  // processes the notification that the subject names
	PollJob  = "inbox.sweep" // polls the credits of the provider that the subject names
	ClearJob = "inbox.clear" // removes old notifications
)

// State is the state of a notification.
type State string

// The states of a notification. It leaves New once.
const (
	New     State = "NEW"
	Worked  State = "WORKED"
	Ignored State = "IGNORED" // needs no work
	Asked   State = "CASE"    // there is a case about it
)

// Subject returns the subject of a case about a bank's session. Two banks may use the same
// session number.
func Subject(providerName, session string) string { return providerName + "/" + session }

// Notification is a message of a provider.
type Notification struct {
	company    string      `db:"company_id,key"` // the house
	ID         string      `db:"id,key"`
	Provider   string      `db:"provider"`
	Body       secret.Text // decrypted
	sealed     string      `db:"body"`
	State      State       `db:"state"`
	Detail     string      `db:"detail"` // the result, for operators; nothing secret
	ReceivedAt time.Time   `db:"received_at"`
	WorkedAt   time.Time   `db:"worked_at"` // zero while new
}

// Doubt is the reason of a case.
type Doubt string

// The doubts.
const (
	Unreadable Doubt = "UNREADABLE_NOTIFICATION" // the case's subject is the notification
	Mismatch   Doubt = "CONTRADICTION"           // the case's subject is the bank and its session
	Unfinished Doubt = "UNRESOLVED"              // the case's subject is the bank and its session
)

// Config is what the inbox needs.
type Config struct {
	DB    *db.DB
	Keys  *secret.Keyring
	Clock clock.Clock
	Log   *slog.Logger
	// Banks are the banks, by the name in the path of their callback.
	Banks map[string]provider.Receiver
	// Marks identify the account of each bank, so that no account gets a second name.
	Marks map[string][]string
	// Receive records a credit that is Confirmed or Rejected. It gets the same credit
	// more than once.
	Receive func(ctx context.Context, providerName string, in provider.Inbound) error
	// Ask opens a case, once for each subject and doubt.
	Ask func(ctx context.Context, subject string, d Doubt, detail string) error
	// Payout learns of a notification about a payout, by our reference. It asks the bank
	// itself, and is called more than once for a payout.
	Payout func(ctx context.Context, reference string) error
	// Stored is called when a notification is stored.
	Stored func()
}

// Service is the inbox.
type Service struct {
	Config
	batcher *batch.Queue[*waiting]
}

// NewService returns an inbox without jobs. Begin adds them.
func NewService(cfg Config) *Service {
	s := &Service{Config: cfg}
	s.batcher = batch.New(most, math.MaxInt, s.storeBatch, nil)
	return s
}

// Jobs returns the inbox's kinds of job. Workers are reserved for the kinds that bring money
// in, and the banks share these workers.
func (s *Service) Jobs() job.Config {
	return job.Config{
		Kinds:    map[string]job.Work{WorkJob: s.Work, PollJob: s.Poll, ClearJob: s.Clear},
		Reserved: []string{WorkJob, PollJob}, Sharing: slices.Sorted(maps.Keys(s.Banks)),
	}
}

// Begin puts the standing jobs on the to-do list, unless the list has them. Programs
// on one database share the jobs. The first poll of a bank begins at the present.
// Begin fails if the account of a bank has another name than before.
func (s *Service) Begin(ctx context.Context) error {
	if err := s.keepNames(ctx); err != nil {
		return err
	}
	now := s.Clock.Now()
	rows := []db.Record{job.Job{Company: House, Kind: ClearJob, RunAt: now.Add(clearEvery)}.Record()}
	for _, name := range slices.Sorted(maps.Keys(s.Banks)) { // sorted, so that two programs cannot deadlock
		work := job.Job{Company: House, Kind: PollJob, Subject: name, Provider: name, RunAt: now.Add(pollEvery)}
		rows = append(rows, polls.Record(poll{company: House, provider: name, doneUntil: now}), work.Record())
	}
	return s.DB.Insert(ctx, rows...)
}

// Drain waits until no notification is being stored. None may arrive after it.
func (s *Service) Drain() { s.batcher.Drain() }

const (
	most    = 256              // notifications in a transaction
	timeout = 10 * time.Second // of a transaction
)

// waiting is a notification that waits to be stored.
type waiting struct {
	n    Notification
	done chan error
}

// store stores a notification and returns when it is on disk. After an error the
// notification may be stored or not, and the provider sends it again.
func (s *Service) store(n Notification) error {
	w := &waiting{n, make(chan error, 1)}
	s.batcher.Add(w)
	return <-w.done
}

// storeBatch stores notifications that arrive together in one transaction.
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
