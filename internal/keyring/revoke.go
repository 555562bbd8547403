package keyring

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
)

// RevokeJob is the kind of the recurring job that revokes what is left of older keys.
const RevokeJob = "keyring.revoke"

const (
	// notice is how long before the revocation a company is told, at least.
	notice = 7 * 24 * time.Hour
	// revokeEvery is the time between two runs of the job.
	revokeEvery = time.Hour
)

// renewal is the data of the event that tells a company what it has to use or to replace.
type renewal struct {
	CompanyID   string        `json:"companyId"`
	APIKeyIDs   []string      `json:"apiKeyIds"`
	IsPINUnused bool          `json:"isPinUnused"`
	RevokedAt   clock.Instant `json:"revokedAt"`
}

// PlanRevocation sets the time at which all that is left of the older keys is revoked: API keys,
// PINs and operators' keys whose hashes were not renewed by a use. A zero time cancels the plan.
func (s *Service) PlanRevocation(ctx context.Context, at time.Time) error {
	now := s.Clock.Now()
	if !at.IsZero() && at.Before(now.Add(notice)) {
		return fault.Newf(fault.Invalid, "the companies are told a week before, so the date is %s or later", clock.Text(now.Add(notice)))
	}
	ring := s.master()
	if err := s.rekeyable(ctx, ring); err != nil {
		return err
	}
	return planRevocation(ctx, s.DB, Master, ring.Keys.Current(), at)
}

// Plan adds the recurring job to the job list, unless the list contains it already.
func (s *Service) Plan(ctx context.Context) error {
	return job.Plan(ctx, s.DB, job.Job{Company: inbox.House, Kind: RevokeJob, RunAt: s.Clock.Now().Add(revokeEvery)})
}

// Revoke runs a RevokeJob. A week before the planned time, it tells each company what depends on an
// older key. At that time, or a week after the companies were told, it revokes what is left.
func (s *Service) Revoke(ctx context.Context, _ job.Job) (next time.Time, err error) {
	now := s.Clock.Now()
	lines, err := s.Lines(ctx, Master)
	for _, l := range lines {
		if err != nil || l.RevokeAt.IsZero() || !l.RevokedAt.IsZero() || !l.RemovedAt.IsZero() {
			continue
		}
		due := l.RevokeAt
		if late := l.ToldAt.Add(notice); !l.ToldAt.IsZero() && late.After(due) {
			due = late // the job could not run a week before
		}
		switch {
		case l.ToldAt.IsZero() && !now.Before(l.RevokeAt.Add(-notice-2*revokeEvery)):
			if late := now.Add(notice); late.After(due) {
				due = late
			}
			err = s.tellAll(ctx, l, due)
		case !l.ToldAt.IsZero() && !now.Before(due):
			err = s.revokeAll(ctx, l)
		}
	}
	return now.Add(revokeEvery), err
}

// tellAll tells each company that depends on a key when the rest is revoked.
func (s *Service) tellAll(ctx context.Context, l Line, due time.Time) error {
	companies, err := companiesOf(ctx, s.DB, l.ID)
	for _, company := range companies {
		if err == nil {
			err = s.Tell(ctx, company, l.ID, due)
		}
	}
	if err != nil {
		return err
	}
	s.Log.Warn("all that is left of an older master key will be revoked", "key", l.ID, "at", due)
	return noteTold(ctx, s.DB, Master, l.ID, s.Clock.Now())
}

// Tell tells a company what it has to use or to replace before a time, if something of the company
// depends on the key.
func (s *Service) Tell(ctx context.Context, company, keyID string, due time.Time) error {
	keys, err := keysOf(ctx, s.DB, company, keyID, s.Clock.Now())
	if err != nil {
		return err
	}
	pin, err := hasPINOf(ctx, s.DB, company, keyID)
	if err != nil || len(keys) == 0 && !pin {
		return err
	}
	u := ledger.For(company)
	keys = append([]string{}, keys...)                                         // JSON shows an empty list as [] and not as null
	u.Count(fmt.Sprintf("keyring/told/%s/%d", keyID, clock.Micros(due)), 1, 1) // a repeated run tells nobody twice
	event.Emit(&u, event.RenewalDue, renewal{company, keys, pin, clock.Instant{Time: due}})
	return ledger.Except(s.Book.Commit(ctx, u), ledger.Over)
}

// revokeAll revokes what is left of a key. After an interruption the next run continues, because
// what is revoked is not found again.
func (s *Service) revokeAll(ctx context.Context, l Line) error {
	companies, err := companiesOf(ctx, s.DB, l.ID)
	if err != nil {
		return err
	}
	for _, company := range companies {
		keys, err := keysOf(ctx, s.DB, company, l.ID, s.Clock.Now())
		for _, keyID := range keys {
			if err == nil {
				err = s.Companies.RevokeKey(ctx, operator.Itself(), company, keyID)
			}
		}
		if err == nil {
			err = s.Companies.RetirePIN(ctx, operator.Itself(), company, l.ID)
		}
		if err != nil {
			return err
		}
	}
	if err := s.Operators.RetireKeys(ctx, l.ID); err != nil {
		return err
	}
	s.Log.Warn("all that was left of an older master key is revoked", "key", l.ID)
	return noteRevoked(ctx, s.DB, Master, l.ID, s.Clock.Now())
}

// Current returns the ID of the master key with which the program writes.
func (s *Service) Current() string { return s.master().Keys.Current() }

func (s *Service) master() *Ring {
	return s.Rings[slices.IndexFunc(s.Rings, func(r *Ring) bool { return r.Name == Master })]
}
