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
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

const (
	// most is how many endpoints a company may have, and count the running sum of
	// those it has.
	most  = 20
	count = "webhooks"
	// overlap is how long the secret before a rotation still signs.
	overlap = 24 * time.Hour
)

// Draft is what a company says of an endpoint. A nil field leaves what is there.
type Draft struct {
	URL         *string
	Description *string
	Kinds       *[]string
	Active      *bool
}

// Answered is the claim that keeps a request's answer in the commit of its
// effect (idempotency.Key.Answered).
type Answered func(result any, err error) []db.Record

// Secret is an endpoint with the secret that signs what is sent to it, shown
// when it is made and never again.
type Secret struct {
	Endpoint
	Value secret.Text
}

// Create adds an endpoint. It hears of what happens from now on.
func (s *Service) Create(ctx context.Context, company string, d Draft, answered Answered) (Secret, error) {
	now := s.Clock.Now()
	e := Endpoint{ID: id.New(), Company: company, State: Active, CreatedAt: now}
	if err := s.apply(ctx, &e, d, now); err != nil {
		return Secret{}, err
	}
	value, err := s.freshSecret(&e)
	if err != nil {
		return Secret{}, err
	}
	head, err := s.Book.Head(ctx, company)
	if err != nil {
		return Secret{}, err
	}
	made := Secret{e, value}
	err = s.Book.Commit(ctx, ledger.Unit{
		Company: company,
		Claims:  answered(made, nil),
		Tallies: []ledger.Tally{{Name: count, Add: 1, Most: most}},
		Notes: []db.Record{
			e.record(),
			lane{company: company, endpoint: e.ID, id: laneEvents, kind: laneEvents, sequence: head}.record(),
			lane{company: company, endpoint: e.ID, id: laneRetries, kind: laneRetries}.record(),
			s.audit(ctx, "create", e, now),
		},
	})
	if ledger.Is(err, ledger.Over) {
		err = fault.Newf(fault.Refused, "A company has at most %d webhooks", most)
	}
	if err != nil {
		return Secret{}, err
	}
	return made, nil
}

// freshSecret gives the endpoint a new secret; the one it had becomes the old.
func (s *Service) freshSecret(e *Endpoint) (secret.Text, error) {
	value := newSecret()
	sealed, err := s.Keys.Seal(e.Company, sealedAs, value)
	if err != nil {
		return secret.Text{}, err
	}
	e.oldSecret, e.secret = e.secret, sealed
	return secret.NewText(value), nil
}

// apply puts a draft into an endpoint, if every part of it may be.
func (s *Service) apply(ctx context.Context, e *Endpoint, d Draft, now time.Time) error {
	e.UpdatedAt = now
	if d.URL != nil {
		if err := s.guard.check(ctx, *d.URL); err != nil {
			return err
		}
		e.URL = *d.URL
	}
	if d.Description != nil {
		if utf8.RuneCountInString(*d.Description) > 200 {
			return fault.New(fault.Refused, "The description is longer than 200 characters")
		}
		e.Description = *d.Description
	}
	if d.Kinds != nil {
		e.Kinds = slices.Compact(slices.Sorted(slices.Values(*d.Kinds)))
		if strings.ContainsAny(strings.Join(e.Kinds, ""), " ,") {
			return fault.New(fault.Refused, "An event's name has no space and no comma")
		}
	}
	switch {
	case d.Active == nil:
	case !*d.Active:
		e.State = Paused
	case e.State == Paused:
		e.State = Active
	}
	return nil
}

// Update changes an endpoint. One that is made active again goes on from where
// it was paused.
func (s *Service) Update(ctx context.Context, company, endpointID string, d Draft, answered Answered) (Endpoint, error) {
	e, err := s.Find(ctx, company, endpointID)
	if err != nil {
		return Endpoint{}, err
	}
	before := e
	if err := s.apply(ctx, &e, d, s.Clock.Now()); err != nil {
		return Endpoint{}, err
	}
	err = s.change(ctx, "update", before, e, answered(e, nil),
		ledger.Change{Column: "url", Value: e.URL},
		ledger.Change{Column: "description", Value: e.Description},
		ledger.Change{Column: "kinds", Value: strings.Join(e.Kinds, ",")},
	)
	if err == nil && e.URL != before.URL {
		s.unrest(ctx, e) // that the old address answered nothing says nothing of this one
	}
	return e, err
}

// unrest has what waits for an endpoint in trouble sent now, since it may well
// answer again. If that fails, or the program stops before it, what waits is sent
// in its time.
func (s *Service) unrest(ctx context.Context, e Endpoint) {
	if e.FailingAt.IsZero() {
		return
	}
	if err := s.recovered(context.WithoutCancel(ctx), e, s.Clock.Now()); err != nil {
		s.Log.Warn("what waits for a webhook waits on", "company", e.Company, "webhook", e.ID, "error", err)
	}
	s.nudge()
}

// Rotate gives an endpoint a new secret. For a day both sign, so that whoever
// verifies has time to change over.
func (s *Service) Rotate(ctx context.Context, company, endpointID string, answered Answered) (Secret, error) {
	e, err := s.Find(ctx, company, endpointID)
	if err != nil {
		return Secret{}, err
	}
	before, now := e, s.Clock.Now()
	value, err := s.freshSecret(&e)
	if err != nil {
		return Secret{}, err
	}
	e.OldUntil, e.UpdatedAt = now.Add(overlap), now
	made := Secret{e, value}
	return made, s.change(ctx, "rotate_secret", before, e, answered(made, nil),
		ledger.Change{Column: "secret", Value: e.secret},
		ledger.Change{Column: "old_secret", Value: e.oldSecret},
		ledger.Change{Column: "old_until", Value: clock.Micros(e.OldUntil)},
	)
}

// Delete ends an endpoint. What was sent to it stays on record.
func (s *Service) Delete(ctx context.Context, company, endpointID string) error {
	e, err := s.Find(ctx, company, endpointID)
	if err != nil {
		return err
	}
	before := e
	e.State, e.UpdatedAt = Deleted, s.Clock.Now()
	return s.change(ctx, "delete", before, e, nil)
}

// change commits an endpoint's new self over the one it was, and who did it. Of
// two who change it at once the second is told so: else the secret that one of
// them was shown would never sign anything, or an address would be the old one
// again.
func (s *Service) change(ctx context.Context, what string, before, e Endpoint, claims []db.Record, set ...ledger.Change) error {
	var gone []ledger.Tally
	if e.State == Deleted {
		gone = []ledger.Tally{{Name: count, Add: -1}}
	}
	err := s.Book.Commit(ctx, ledger.Unit{Company: e.Company, Claims: claims, Tallies: gone, Moves: []ledger.Move{{
		Table: endpointTable, Key: []any{e.Company, e.ID}, From: []string{string(before.State)}, To: string(e.State),
		Still: []ledger.Change{
			{Column: "url", Value: before.URL},
			{Column: "description", Value: before.Description},
			{Column: "kinds", Value: strings.Join(before.Kinds, ",")},
			{Column: "secret", Value: before.secret},
		},
		Set: append(set, ledger.Change{Column: "updated_at", Value: clock.Micros(e.UpdatedAt)}),
	}}, Notes: []db.Record{s.audit(ctx, what, e, e.UpdatedAt)}})
	if ledger.Is(err, ledger.Moved) {
		return fault.New(fault.Conflict, "The webhook is being changed")
	}
	return err
}

// Address is the endpoint's url without what people put secrets into, for
// operators: its query is left out.
func (e Endpoint) Address() string {
	address, _, more := strings.Cut(e.URL, "?")
	if more {
		address += "?…"
	}
	return address
}

// audit is the audit log's line for a change: the endpoint as it is afterwards.
// Of its address it has the host only, since people put secrets into the rest.
func (s *Service) audit(ctx context.Context, what string, e Endpoint, at time.Time) db.Record {
	host := ""
	if u, err := url.Parse(e.URL); err == nil {
		host = u.Scheme + "://" + u.Host
	}
	return s.Audit(ctx, e.Company, "webhook."+what, e.ID, map[string]string{
		"host": host, "events": strings.Join(e.Kinds, ","), "status": string(e.State),
	}, at)
}
