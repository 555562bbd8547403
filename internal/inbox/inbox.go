// Package inbox takes what providers send of their own accord: "money came into
// this account", "your payment went through".
//
// A notification is written down as it came, before anybody looks into it, and
// answered at once; a job then works it. It proves nothing, since anybody who
// knows the address can send one: it only says where to look, and what is
// credited is what the bank says when it is asked. The same notification any
// number of times changes nothing. And because a notification may never come, a
// sweep compares the bank's own list of credits with our books.
package inbox

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// House is the fintech itself: the company under which is kept what belongs to
// no company, or not yet.
const House = "house"

// The kinds of job.
const (
	WorkJob  = "inbox.work"  // works the notification that the subject names
	SweepJob = "inbox.sweep" // reads the list of the provider that the subject names
	ClearJob = "inbox.clear" // removes old notifications
)

// State is where a notification stands.
type State string

// The states. A notification leaves New once.
const (
	New     State = "NEW"
	Worked  State = "WORKED"
	Ignored State = "IGNORED" // of no use to us
	Asked   State = "CASE"    // a human has been asked
)

// Subject is what a case about a bank's session is about. Another bank may use
// the same session for something else.
func Subject(providerName, session string) string { return providerName + "/" + session }

// Notification is what a provider sent.
type Notification struct {
	ID         string
	Provider   string
	Body       secret.Text
	State      State
	Detail     string // what came of it, for operators; nothing secret
	ReceivedAt time.Time
	WorkedAt   time.Time // zero while new
}

// Doubt is why a human is asked.
type Doubt string

// The doubts, in the words of the cases they become.
const (
	Unreadable Doubt = "UNREADABLE_NOTIFICATION" // the subject is the notification
	Mismatch   Doubt = "CONTRADICTION"           // the subject is the bank and its session
	Unfinished Doubt = "UNRESOLVED"              // likewise
)

// Config is what the inbox stands on.
type Config struct {
	DB    *db.DB
	Keys  *secret.Keyring
	Clock clock.Clock
	Log   *slog.Logger
	// Banks are asked about what they notified, by the name in their callback's path.
	Banks map[string]provider.Receiver
	// Receive takes a credit with which the bank is done, Confirmed or Rejected.
	// It is told the same credit often.
	Receive func(ctx context.Context, providerName string, in provider.Inbound) error
	// Ask asks a human, once for each subject and doubt.
	Ask func(ctx context.Context, subject string, d Doubt, detail string) error
}

// Service is the inbox.
type Service struct {
	Config
	lane     lane
	onPayout func(ctx context.Context, reference string) error
	stored   func()
}

// NewService is an inbox that is not at work yet.
func NewService(cfg Config) *Service {
	s := &Service{Config: cfg, stored: func() {}}
	s.lane.store = s.storeAll
	return s
}

// OnPayout sets who is told that a payout of ours moved on, by our reference. It
// is told more than once, and asks the bank itself. Call it before the first
// notification.
func (s *Service) OnPayout(fn func(ctx context.Context, reference string) error) { s.onPayout = fn }

// Stored sets what is called when there is new work. Call it before the first
// notification.
func (s *Service) Stored(fn func()) { s.stored = fn }

// Handle teaches a worker the inbox's kinds of work, and has it keep room for
// those that bring money in.
func (s *Service) Handle(w *job.Worker) {
	w.Handle(WorkJob, s.Work)
	w.Handle(SweepJob, s.Sweep)
	w.Handle(ClearJob, s.Clear)
	w.Reserve(WorkJob, SweepJob)
}

// Begin puts the standing jobs on the list, unless they are there: however many
// programs share the database, each job is done by one at a time. The first
// sweep of a bank goes back no further than now.
func (s *Service) Begin(ctx context.Context) error {
	now := s.Clock.Now()
	rows := []db.Record{job.New(House, ClearJob, "", now.Add(clearEvery))}
	for _, name := range slices.Sorted(maps.Keys(s.Banks)) { // of two programs neither waits for the other
		rows = append(rows, sweep{provider: name, doneUntil: now}.record(), job.NewFor(name, House, SweepJob, name, now.Add(sweepEvery)))
	}
	return s.DB.Insert(ctx, rows...)
}

// Drain waits until nothing is being stored. Nothing may arrive after it.
func (s *Service) Drain() { s.lane.idle.Wait() }

// lane stores what arrives together in one transaction: while one batch is at
// the database the next gathers, and nobody waits for a timer.
type lane struct {
	store   func(ctx context.Context, batch []Notification) error
	mu      sync.Mutex
	queue   []waiting
	running bool
	idle    sync.WaitGroup
}

type waiting struct {
	n    Notification
	done chan error
}

const (
	most     = 256              // how many notifications share a transaction
	patience = 10 * time.Second // how long a transaction may take
)

// add stores a notification and returns when it is on disk, or when nobody can
// say that it is: then the provider sends it again.
func (l *lane) add(n Notification) error {
	w := waiting{n, make(chan error, 1)}
	l.mu.Lock()
	l.queue = append(l.queue, w)
	if !l.running {
		l.running = true
		l.idle.Add(1)
		go l.run()
	}
	l.mu.Unlock()
	return <-w.done
}

func (l *lane) run() {
	defer l.idle.Done()
	for batch := l.take(); batch != nil; batch = l.take() {
		notifications := make([]Notification, len(batch))
		for i, w := range batch {
			notifications[i] = w.n
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		err := l.store(ctx, notifications)
		cancel()
		for _, w := range batch {
			w.done <- err
		}
	}
}

func (l *lane) take() []waiting {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		l.running = false
		return nil
	}
	n := min(len(l.queue), most)
	batch := l.queue[:n:n]
	l.queue = l.queue[n:]
	return batch
}
