package webhook

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/wire"
)

const (
	// most is how many endpoints a company may have.
	most = 20
	// mostNew is how many endpoints a company creates on one day in Lagos. The row of a deleted endpoint stays
	// with its deliveries.
	mostNew = 100
	// count is the name of the counter that limits how many endpoints a company may have. created is the
	// beginning of the names of the counters of each day.
	count   = "webhooks"
	created = "webhooks/new/"
	// overlap is how long messages are also signed with the old secret after a rotation.
	overlap = 24 * time.Hour
)

// Draft contains the fields of an endpoint that a company can set. A nil field changes nothing.
type Draft struct {
	URL         *string
	Description *string
	Kinds       *[]string
	Active      *bool
}

// Create adds an endpoint. The endpoint gets the company's events from now on.
func (s *Service) Create(ctx context.Context, company string, d Draft, key *idempotency.Key) (Endpoint, error) {
	now := s.Clock.Now()
	e := Endpoint{ID: id.New(), Company: company, State: Active, CreatedAt: clock.Instant{Time: now}, UpdatedAt: clock.Instant{Time: now}}
	if err := s.apply(ctx, &e, d); err != nil {
		return Endpoint{}, err
	}
	if err := s.freshSecret(&e); err != nil {
		return Endpoint{}, err
	}
	head, err := s.Book.LastEvent(ctx, company)
	if err != nil {
		return Endpoint{}, err
	}
	u := ledger.For(company)
	key.Answer(&u, e, nil)
	u.Count(count, 1, most)
	u.Count(created+now.In(clock.Lagos).Format(time.DateOnly), 1, mostNew)
	u.Append(
		endpointTable.Record(e),
		queueTable.Record(queue{company: company, endpoint: e.ID, id: queueEvents, kind: queueEvents, sequence: head}),
		queueTable.Record(queue{company: company, endpoint: e.ID, id: queueRetries, kind: queueRetries}),
		s.audit(ctx, "create", e, now),
	)
	err = idempotency.Taken(s.Book.Commit(ctx, u))
	switch {
	case err == nil:
		s.sender.learn([]string{company}, map[string]bool{company: true})
	case ledger.IsOver(err, count):
		err = fault.Newf(fault.Refused, "A company has at most %d webhooks", most).With(fault.QuotaReached)
	case ledger.Is(err, ledger.Over):
		err = fault.Newf(fault.Refused, "At most %d webhooks can be created on a day", mostNew).With(fault.QuotaReached)
	}
	return e, err
}

// freshSecret gives the endpoint a new secret. The current secret becomes the old secret.
func (s *Service) freshSecret(e *Endpoint) error {
	value := newSecret()
	sealed, err := s.Keys.Seal(e.place(), value)
	e.oldSecret, e.secret, e.Secret = e.secret, sealed, Secret{secret.NewText(value)}
	return err
}

// apply checks a draft and copies its fields into an endpoint.
func (s *Service) apply(ctx context.Context, e *Endpoint, d Draft) error {
	if d.URL != nil {
		if err := s.guard.check(ctx, *d.URL); err != nil {
			return err
		}
		e.URL = *d.URL
	}
	if d.Description != nil {
		if utf8.RuneCountInString(*d.Description) > 200 {
			return fault.New(fault.Refused, "The description is longer than 200 characters").With(fault.InvalidRequest)
		}
		e.Description = wire.Text(*d.Description)
	}
	if d.Kinds != nil {
		kinds := slices.Compact(slices.Sorted(slices.Values(*d.Kinds)))
		if strings.ContainsAny(strings.Join(kinds, ""), " ,") {
			return fault.New(fault.Refused, "An event's name has no space and no comma").With(fault.InvalidRequest)
		}
		e.kinds = strings.Join(kinds, ",")
	}
	e.Kinds = splitKinds(e.kinds)
	switch {
	case d.Active == nil:
	case !*d.Active:
		e.State = Paused
	case e.State == Paused:
		e.State = Active
	}
	return nil
}

// Update changes an endpoint. An endpoint that becomes active again continues from
// its position in the feed.
func (s *Service) Update(ctx context.Context, company, endpointID string, d Draft, key *idempotency.Key) (Endpoint, error) {
	before := ""
	e, err := s.change(ctx, "update", company, endpointID, key, func(e *Endpoint, _ *ledger.Unit) error {
		before = e.URL
		return s.apply(ctx, e, d)
	})
	if err == nil && e.URL != before {
		s.endRest(ctx, e) // the attempts at the old address failed, but the new address may work
	}
	return e, err
}

// endRest makes the waiting events and retries of an endpoint due now, if attempts at the endpoint
// had failed. It is called when the endpoint may work again. If endRest itself fails, the events
// and retries are sent at their planned time.
func (s *Service) endRest(ctx context.Context, e Endpoint) {
	if e.FailingAt.IsZero() {
		return
	}
	now := s.Clock.Now()
	if err := s.sendWaiting(context.WithoutCancel(ctx), e.key(), now, now); err != nil {
		s.Log.Warn("the waiting deliveries of a webhook were not brought forward", "company", e.Company, "webhook", e.ID, "error", err)
	}
	s.nudge()
}

// Rotate gives an endpoint a new secret. For a day, messages are signed with both secrets, so
// that the company has time to install the new secret.
func (s *Service) Rotate(ctx context.Context, company, endpointID string, key *idempotency.Key) (Endpoint, error) {
	return s.change(ctx, "rotate_secret", company, endpointID, key, func(e *Endpoint, _ *ledger.Unit) error {
		e.OldUntil.Time = s.Clock.Now().Add(overlap)
		return s.freshSecret(e)
	})
}

// Delete marks an endpoint as deleted, and then removes its delivery queues. Its deliveries remain stored. A visit to
// a removed queue ends without storing the result of its attempt. If Delete cannot remove a queue, or a replay begins at
// this moment, Clear removes the queue.
func (s *Service) Delete(ctx context.Context, company, endpointID string) error {
	e, err := s.change(ctx, "delete", company, endpointID, nil, func(e *Endpoint, u *ledger.Unit) error {
		e.State = Deleted
		u.Count(count, -1, 0)
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.removeQueuesOf(context.WithoutCancel(ctx), e.key()); err != nil {
		s.Log.Warn("the delivery queues of a deleted webhook stay for an hour", "company", company, "webhook", endpointID, "error", err)
	}
	return nil
}

// change reads an endpoint, edits it and commits it with a row of the audit log. If two requests
// change an endpoint concurrently, the second request is refused. Otherwise the second request
// could undo a change by the first request, such as a new address. A company could also receive a
// secret that is never used.
func (s *Service) change(
	ctx context.Context, what, company, endpointID string, key *idempotency.Key, edit func(e *Endpoint, u *ledger.Unit) error,
) (Endpoint, error) {
	before, err := s.Find(ctx, company, endpointID)
	if err != nil {
		return Endpoint{}, err
	}
	e, u := before, ledger.For(company)
	e.UpdatedAt.Time = s.Clock.Now()
	if err := edit(&e, &u); err != nil {
		return Endpoint{}, err
	}
	key.Answer(&u, e, nil)
	u.Transition(endpointTable.Record(e), string(before.State)).Expect("url", before.URL).
		Expect("description", string(before.Description)).Expect("kinds", before.kinds).Expect("secret", before.secret)
	u.Append(s.audit(ctx, what, e, e.UpdatedAt.Time))
	err = idempotency.Taken(s.Book.Commit(ctx, u))
	if ledger.Is(err, ledger.Moved) {
		err = fault.New(fault.Conflict, "The webhook is being changed")
	}
	return e, err
}

// Address returns the endpoint's url for operators. It omits the query, since companies put
// secrets there.
func (e Endpoint) Address() string {
	address, _, more := strings.Cut(e.URL, "?")
	if more {
		address += "?…"
	}
	return address
}

// audit returns the row of the audit log about a change, with the endpoint as it is after the
// change. The row contains only the host of the url, since companies put secrets into the rest.
func (s *Service) audit(ctx context.Context, what string, e Endpoint, at time.Time) db.Record {
	host := ""
	if u, err := url.Parse(e.URL); err == nil {
		host = u.Scheme + "://" + u.Host
	}
	return operator.SelfAudit(ctx, e.Company, "webhook."+what, e.ID, map[string]string{
		"host": host, "events": e.kinds, "status": string(e.State),
	}, at)
}
