package request

import (
	"context"
	"math"
	"time"
)

// Filter selects entries. A field that is zero does not filter.
type Filter struct {
	Method         string
	Least, Most    int64 // the statuses from Least up to Most
	RequestID      string
	IdempotencyKey string
	From, To       time.Time // includes From and excludes To
}

// reach is the number of entries at which one call of List looks. So the effort for a page does not
// depend on how seldom an entry matches.
const reach = 10_000

// last is above every ID.
const last = "g"

// List returns up to limit entries of a company, the newest first. It begins below the entry with the ID
// before, or with the newest entry if before is "". The result next is the value of before for the
// following page, or "" after the last entry. List looks at 10,000 entries at most, so a page with a
// filter may have few entries or none, and still a next page.
func (s *Service) List(ctx context.Context, company string, f Filter, before string, limit int) (list []Entry, next string, err error) {
	if before == "" {
		before = last
	}
	if !f.To.IsZero() {
		before = min(before, position(f.To))
	}
	after := position(f.From)
	if f.Most == 0 {
		f.Most = math.MaxInt64
	}
	if list, err = s.page(ctx, company, f, after, before, limit); err != nil {
		return nil, "", err
	}
	if len(list) == limit {
		return list, list[limit-1].ID, nil
	}
	seen, lowest, err := s.seen(ctx, company, after, before)
	if seen == reach {
		next = lowest
	}
	return list, next, err
}
