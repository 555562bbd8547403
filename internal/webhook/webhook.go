// Package webhook tells companies of their events: each event of a company's
// feed is posted, signed, to the addresses that the company has named
// (completion.md §4.5, on the Standard Webhooks specification).
//
// An endpoint is such an address. Its queue is not a list but a place in the
// feed: "everything up to number 41 has been sent". So an event costs nothing
// when it happens, and a queue of a million is one row. What was sent is a
// delivery; one that was not taken is sent again and again for three days.
//
// The work is done in lanes, each held by a lease of its own: an endpoint's new
// events, one after the other and in their order; what failed before; and a
// replay. Nobody waits in a lane for anybody else's endpoint.
//
// Nothing is dropped silently. A delivery that is given up is kept as FAILED, its
// endpoint is flagged FAILING, and an event tells the company.
package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// State is how an endpoint stands.
type State string

// The states of an endpoint. A FAILING one is still tried.
const (
	Active  State = "ACTIVE"
	Failing State = "FAILING" // a delivery was given up, and nothing has been taken since
	Paused  State = "PAUSED"  // by the company: its place in the feed is kept
	Deleted State = "DELETED"
)

// Endpoint is an address that a company's events are posted to.
type Endpoint struct {
	ID          string
	Company     string
	URL         string
	Description string
	Kinds       []string // the events it wants; empty for all
	State       State
	Failures    int64     // attempts that failed since the last that was taken
	FailingAt   time.Time // the first of them; zero when there is none
	OldUntil    time.Time // the secret before the last rotation signs until then
	CreatedAt   time.Time
	UpdatedAt   time.Time

	secret, oldSecret string // sealed
}

// wants tells whether the endpoint is to hear of this kind.
func (e Endpoint) wants(kind string) bool {
	return len(e.Kinds) == 0 || slices.Contains(e.Kinds, kind)
}

// live tells whether anything is sent to it.
func (e Endpoint) live() bool { return e.State == Active || e.State == Failing }

// Config is what the service stands on.
type Config struct {
	DB     *db.DB
	Book   *ledger.Book
	Events *event.Service
	Keys   *secret.Keyring
	Clock  clock.Clock
	Log    *slog.Logger
	// Loopback also lets endpoints be on this very machine, over plain HTTP: for
	// the sandbox.
	Loopback bool
	// Resolver looks hosts up; nil is the machine's own.
	Resolver *net.Resolver
	// Keep is how long deliveries are kept that nothing more comes of.
	Keep time.Duration
	// Audit makes the line of the audit log for what a company does with its
	// endpoints (operator.SelfNote).
	Audit func(ctx context.Context, company, action, subject string, details map[string]string, at time.Time) db.Record
}

// Service keeps the endpoints and sends to them.
type Service struct {
	Config
	guard   guard
	client  *http.Client
	sender  *sender
	figures *figures
}

// New is the service; Run sends.
func New(c Config) *Service {
	g := newGuard(c.Loopback, c.Resolver)
	return &Service{Config: c, guard: g, client: g.client(), sender: newSender(), figures: newFigures()}
}

var errNoEndpoint = fault.New(fault.Missing, "Webhook not found")

// Find is one endpoint of the company.
func (s *Service) Find(ctx context.Context, company, endpointID string) (Endpoint, error) {
	e, err := s.findEndpoint(ctx, company, endpointID)
	if errors.Is(err, db.ErrNone) || err == nil && e.State == Deleted {
		return Endpoint{}, errNoEndpoint
	}
	return e, err
}

// List is a company's endpoints, the newest first.
func (s *Service) List(ctx context.Context, company string) ([]Endpoint, error) {
	return s.endpoints(ctx, company)
}

// All is a page of the endpoints of all companies, newest first, and how many
// there are: those in a state, or any for "".
func (s *Service) All(ctx context.Context, state State, limit, offset int) ([]Endpoint, int64, error) {
	total, err := s.allCount(ctx, state)
	if err != nil {
		return nil, 0, err
	}
	list, err := s.all(ctx, state, limit, offset)
	return list, total, err
}

// Backlog is what an endpoint has still to be told.
type Backlog struct {
	Sequence int64 // the last event it was told of, or spared
	Behind   int64 // events after that
	Retrying int64 // deliveries that will be tried again
	Failed   int64 // deliveries that were given up
}

// Backlog tells how far an endpoint is behind its company's feed.
func (s *Service) Backlog(ctx context.Context, e Endpoint) (Backlog, error) {
	var b Backlog
	l, err := s.findLane(ctx, e.Company, e.ID, laneEvents)
	if err != nil {
		return b, err
	}
	head, err := s.Book.Head(ctx, e.Company)
	if err != nil {
		return b, err
	}
	b.Sequence, b.Behind = l.sequence, max(head-l.sequence, 0)
	if b.Retrying, err = s.pendingCount(ctx, e.Company, e.ID); err != nil {
		return b, err
	}
	b.Failed, err = s.failedCount(ctx, e.Company, e.ID)
	return b, err
}
