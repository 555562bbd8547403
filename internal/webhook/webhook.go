// Package webhook posts each event of a company's feed, signed, to the addresses that the company
// has registered. It follows completion.md §4.5 and the Standard Webhooks specification.
//
// An endpoint is such an address. A delivery is an event that is posted to an endpoint. The
// service retries a delivery until the endpoint accepts it, for up to three days.
//
// An endpoint has one delivery queue for new events, one for retries and one for each replay. A
// queue of events is not a list. It is a position in the feed, such as "everything up to number
// 41 has been sent". So a new event adds no row to the queue, and a queue of a million events is
// one row. A program processes a queue under a lease. Each queue belongs to one endpoint, so an
// endpoint never waits for another endpoint's queue.
//
// A delivery is never dropped silently. After three days of failed attempts, the delivery becomes
// FAILED and its endpoint FAILING. An event reports that to the company.
package webhook

import (
	"context"
	"encoding/json"
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
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/wire"
)

// State is the state of an endpoint.
type State string

// The states of an endpoint. The service still posts to a FAILING endpoint.
const (
	Active  State = "ACTIVE"
	Failing State = "FAILING" // a delivery has FAILED, and the endpoint has not accepted a delivery since
	Paused  State = "PAUSED"  // paused by the company; the queue keeps its position in the feed
	Deleted State = "DELETED"
)

// Endpoint is an address to which a company's events are posted, as the API shows it.
type Endpoint struct {
	Company     string    `db:"company_id,key" json:"-"`
	ID          string    `db:"id,key" json:"id"`
	URL         string    `db:"url,changes" json:"url"`
	Description wire.Text `db:"description,changes" json:"description"`
	Kinds       []string  `json:"events"`      // the kinds of events that the endpoint gets; empty for all
	kinds       string    `db:"kinds,changes"` // Kinds, separated by commas
	State       State     `db:"state,state" json:"status"`

	// Secret is the signing secret. A company sees it only in the response to the request that
	// created the secret.
	Secret    Secret        `json:"secret,omitzero"`
	secret    string        `db:"secret,changes"`                          // encrypted
	oldSecret string        `db:"old_secret,changes"`                      // the secret before the last rotation, encrypted
	FailingAt clock.Instant `db:"failed_at" json:"failingSince"`           // when the first attempt since the last success failed
	OldUntil  clock.Instant `db:"old_until,changes" json:"oldSecretUntil"` // messages are also signed with the old secret until then
	Failures  int64         `db:"failures" json:"-"`                       // the number of failed attempts since the last success
	Backlog   *Backlog      `json:"backlog,omitempty"`                     // nil if it was not requested
	CreatedAt clock.Instant `db:"created_at" json:"createdAt"`
	UpdatedAt clock.Instant `db:"updated_at,changes" json:"updatedAt"`
}

// Secret is a signing secret that is visible in JSON.
type Secret struct{ secret.Text }

// MarshalJSON reveals the secret.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.Reveal()) }

// wants reports whether events of this kind are sent to the endpoint.
func (e Endpoint) wants(kind string) bool {
	return len(e.Kinds) == 0 || slices.Contains(e.Kinds, kind)
}

// isLive reports whether the service sends to the endpoint.
func (e Endpoint) isLive() bool { return e.State == Active || e.State == Failing }

// hasChanged reports whether a visit that has read e must read the endpoint again, which is now as in now:
// nothing is sent to it any more, or its messages go elsewhere, are others or are signed with another secret.
func (e Endpoint) hasChanged(now Endpoint) bool {
	return !now.isLive() || now.URL != e.URL || now.kinds != e.kinds || now.secret != e.secret
}

// Config is what the service needs.
type Config struct {
	DB     *db.DB
	Book   *ledger.Book
	Events *event.Service
	Keys   *secret.Keyring
	Clock  clock.Clock
	Log    *slog.Logger
	// Loopback allows endpoints on this machine, even over plain HTTP. It is for the sandbox.
	Loopback bool
	// Resolver looks up host names. If it is nil, the machine's resolver is used.
	Resolver *net.Resolver
	// Keep is how long finished deliveries are kept.
	Keep time.Duration
}

// Service manages endpoints and sends to them.
type Service struct {
	Config
	guard   guard
	client  *http.Client
	sender  *sender
	figures *figures
	hours   *hours
	sweep   job.Sweep[endpointKey] // the way of the ClearJob through the endpoints
}

// New returns a service. The service sends nothing until Run is called.
func New(c Config) *Service {
	g := newGuard(c.Loopback, c.Resolver)
	return &Service{Config: c, guard: g, client: g.client(), sender: newSender(), figures: newFigures(), hours: &hours{sums: map[hourKey]int64{}}, sweep: job.Sweep[endpointKey]{Limit: clearLimit}}
}

var errNoEndpoint = fault.New(fault.Missing, "Webhook not found")

// Find returns one endpoint of the company, unless the endpoint is deleted.
func (s *Service) Find(ctx context.Context, company, endpointID string) (Endpoint, error) {
	e, err := s.findEndpoint(ctx, company, endpointID)
	if errors.Is(err, db.ErrNone) || err == nil && e.State == Deleted {
		return Endpoint{}, errNoEndpoint
	}
	return e, err
}

// Backlog contains an endpoint's position in the feed, and the numbers of waiting and failed
// deliveries.
type Backlog struct {
	Sequence int64 `json:"sequence"` // the last event that was sent or skipped
	Behind   int64 `json:"behind"`   // the number of events after Sequence
	Retrying int64 `json:"retrying"` // the number of deliveries that wait for a retry
	Failed   int64 `json:"failed"`   // the number of deliveries that are FAILED
}

// Backlog returns how far an endpoint is behind its company's feed.
func (s *Service) Backlog(ctx context.Context, e Endpoint) (Backlog, error) {
	var b Backlog
	q, err := s.findQueue(ctx, e.Company, e.ID, queueEvents)
	if errors.Is(err, db.ErrNone) {
		return b, errNoEndpoint // the endpoint was deleted meanwhile
	}
	if err != nil {
		return b, err
	}
	head, err := s.Book.LastEvent(ctx, e.Company)
	if err != nil {
		return b, err
	}
	b.Sequence, b.Behind = q.sequence, max(head-q.sequence, 0)
	if b.Retrying, err = s.pendingCount(ctx, e.Company, e.ID); err != nil {
		return b, err
	}
	b.Failed, err = s.failedCount(ctx, e.Company, e.ID)
	return b, err
}
