package report

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// A page far down the list of all purchases begins at a number from the oldest purchase: purchases are never removed, and
// new ones only come at the end. So the keys of some of them, such as each ten-thousandth, stay the same for ever. They are
// the milestones. The page is read from the nearest one, and skips fewer rows than lie between two of them.

const (
	// stride is the number of purchases between two milestones.
	stride = 10_000
	// settled is the age from which no purchase comes before another one any more, whichever program commits it.
	settled = 10 * time.Minute
)

// milestone is the key of a purchase in the order of the list.
type milestone struct {
	createdAt int64
	id        string
}

// milestones are those of each company that somebody has asked for, the oldest first.
type milestones struct {
	mu   sync.Mutex
	kept map[string][]milestone
}

const (
	// nextMilestone selects the purchase that is $5 and one more behind the purchase with the key $2, $3.
	nextMilestone = `SELECT p.created_at, p.id FROM vtu_purchase AS p WHERE p.company_id = $1 AND (p.created_at, p.id) > ($2, $3) AND p.created_at < $4
		ORDER BY p.created_at, p.id LIMIT 1 OFFSET $5`

	milestonePage = pageBegin + `FROM vtu_purchase AS p WHERE p.company_id = $1 AND (p.created_at, p.id) <= ($2, $3)
		ORDER BY p.created_at DESC, p.id DESC LIMIT $4 OFFSET $5` + pageRest
)

func scanMilestone(sc db.Scanner) (m milestone, err error) {
	err = sc.Scan(&m.createdAt, &m.id)
	return m, err
}

// milestone returns the milestone with a number, from 1 on. It finds those before it first. It returns db.ErrNone if the purchase
// is too new to be one.
func (s *Service) milestone(ctx context.Context, q db.Querier, company string, number int64) (milestone, error) {
	s.milestones.mu.Lock()
	defer s.milestones.mu.Unlock()
	all := s.milestones.kept[company]
	for int64(len(all)) < number {
		last := milestone{createdAt: math.MinInt64}
		if len(all) > 0 {
			last = all[len(all)-1]
		}
		next, err := db.One(ctx, q, scanMilestone, nextMilestone, company, last.createdAt, last.id, clock.Micros(s.clock.Now().Add(-settled)), s.stride-1)
		if err != nil {
			return milestone{}, err
		}
		all = append(all, next)
		s.milestones.kept[company] = all
	}
	return all[number-1], nil
}

// deepPurchases returns a page far down the list of all purchases, of which there are total.
func (s *Service) deepPurchases(ctx context.Context, q db.Querier, company string, total int64, offset, limit int) ([]vtu.Transaction, error) {
	first := total - int64(offset) // the number of the first row on the page, counted from the oldest purchase
	number := (first + s.stride - 1) / s.stride
	m, err := s.milestone(ctx, q, company, number)
	if errors.Is(err, db.ErrNone) {
		return db.All(ctx, q, scanPurchase, purchasePage, company, 0, int64(math.MaxInt64), "", 0, "", limit, offset)
	}
	if err != nil {
		return nil, err
	}
	return db.All(ctx, q, scanPurchase, milestonePage, company, m.createdAt, m.id, limit, number*s.stride-first)
}
