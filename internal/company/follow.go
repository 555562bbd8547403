package company

import (
	"context"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/ledger"
)

const (
	// lookBack is how far back Follow reads changes: longer than a commit takes and clocks differ.
	lookBack = 2 * time.Minute
	// mostChanges is the number of changes that Follow compares with the cache. After more changes it
	// empties the cache.
	mostChanges = 10_000
)

// entry is a company in the cache, with what its access tokens need.
type entry struct {
	Company
	revoked []string // the IDs of the revoked API keys
}

// accepts reports whether the API key of a token is not revoked.
func (e entry) accepts(v verified) bool { return !slices.Contains(e.revoked, v.keyID) }

// revision is the time of a company's last change.
type revision struct {
	Company string
	At      time.Time
}

// Follow removes from the cache the companies that have changed since they were read, in whichever program.
// Each change of a company's access sets the company's updated_at in its commit, so no change depends on
// the age of the cache. A program calls Follow several times a second.
func (s *Service) Follow(ctx context.Context) error {
	list, err := s.changed(ctx, s.clock.Now().Add(-lookBack), mostChanges)
	if err != nil {
		return err
	}
	if len(list) == mostChanges {
		s.gate.InvalidateAll()
		return nil
	}
	for _, r := range list {
		if e, found := s.gate.GetIfPresent(r.Company); found && !e.UpdatedAt.Equal(r.At) {
			s.gate.Invalidate(r.Company)
		}
	}
	return nil
}

// touch makes a unit set the time of the company's last change. The ledger refuses the unit if the
// company's KYB moves meanwhile.
func (s *Service) touch(ctx context.Context, u *ledger.Unit) error {
	c, err := s.Find(ctx, u.Company)
	if err != nil {
		return err
	}
	c.UpdatedAt = s.clock.Now()
	u.Transition(companies.Record(c), string(c.KYB)).Only("updated_at")
	u.Then(func() { s.gate.Invalidate(c.Reference) })
	return nil
}
