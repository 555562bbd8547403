package card

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// ResolveJob is the kind of job that follows a card whose creation was not
// answered.
const ResolveJob = "card.resolve"

// pauses are between two looks at the issuer's list; after the last it is every
// hour.
var pauses = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour,
}

const (
	// A card that is not on the issuer's list was not made, after both of these.
	graceAge   = 15 * time.Minute
	graceLooks = 3
	// A card whose list cannot be read for this long is a human's.
	tooOld = 72 * time.Hour
	// slack is how far the issuer's clock may be behind ours.
	slack = 5 * time.Minute
)

// Resolve is the work of a ResolveJob.
func (s *Service) Resolve(ctx context.Context, j job.Job) (next time.Time, err error) {
	c, err := s.findCard(ctx, j.Company, j.Subject)
	if err != nil || c.state != creating {
		return time.Time{}, err
	}
	now := s.clock.Now()
	if now.Before(c.calledUntil) {
		return c.calledUntil, nil
	}
	if c, err = s.lookUp(ctx, c); err != nil || c.state != creating {
		return time.Time{}, err
	}
	if now.Sub(c.CreatedAt) > tooOld {
		err = s.operations.OpenCase(ctx, c.Company, c.ID, operation.Unresolved, "a card whose creation is not known after 72 hours")
	}
	return now.Add(pauses[min(int(j.Attempts), len(pauses)-1)]), err
}

// lookUp looks for a card, whose creation was not answered, among its customer's
// at the issuer. A card that is not found stays as it is, until it has been
// missing often and long enough.
func (s *Service) lookUp(ctx context.Context, c Card) (Card, error) {
	h, err := s.findHolder(ctx, c.Company, c.CustomerID)
	if err != nil {
		return c, err
	}
	now := s.clock.Now()
	if h.providerID == "" && !now.Before(c.calledUntil) {
		// The issuer was never asked for it: it does not know the customer.
		c.state, c.message = failed, "the customer could not be made known to the issuer"
		return s.decide(ctx, c)
	}
	by, err := s.issuer(c.provider)
	if err != nil || h.providerID == "" {
		return c, err
	}
	list, err := by.Cards(ctx, h.providerID)
	if err != nil {
		s.log.Warn("a cardholder's cards could not be read", "company", c.Company, "card", c.ID, "error", err)
		return c, nil // nothing is known that was not known before
	}
	made, err := s.pick(ctx, c, list)
	if err != nil {
		return c, err
	}
	if made != nil {
		return s.issue(ctx, c, *made)
	}
	if c.missing++; c.missing < graceLooks || now.Before(c.CreatedAt.Add(graceAge)) {
		return s.noted(ctx, c)
	}
	c.state, c.message = failed, "the card was not made"
	return s.decide(ctx, c)
}

// pick is the card on an issuer's list: the one with our reference. An issuer
// that does not give references back shows it all the same: it is as new as our
// request, of its type, and none that we know, and only one is made at a time.
func (s *Service) pick(ctx context.Context, c Card, list []provider.IssuedCard) (*provider.IssuedCard, error) {
	if i := slices.IndexFunc(list, func(l provider.IssuedCard) bool { return l.Reference == c.ID }); i >= 0 {
		return &list[i], nil
	}
	for i, l := range list {
		if l.Reference != "" || l.CreatedAt.Before(c.CreatedAt.Add(-slack)) || !strings.EqualFold(l.Type, c.Type) {
			continue
		}
		_, taken, err := s.owner(ctx, c.provider, l.ID)
		if err != nil {
			return nil, err
		}
		if !taken {
			return &list[i], nil
		}
	}
	return nil, nil
}
