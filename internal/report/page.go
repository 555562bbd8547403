package report

import (
	"context"
	"slices"
	"time"
)

// Entries returns a page of the entries of the company's settlement accounts, newest first, and
// the total count.
func (s *Service) Entries(ctx context.Context, company string, f EntryFilter, offset, limit int) ([]Entry, int, error) {
	spans, err := s.spans(ctx, company, f)
	if err != nil {
		return nil, 0, err
	}
	total, err := s.count(ctx, company, spans, f.Type)
	if err != nil || int64(offset) >= total {
		return nil, int(total), err
	}
	list, err := s.newest(ctx, company, spans, f.Type, offset, limit)
	return list, int(total), err
}

func (s *Service) count(ctx context.Context, company string, spans []span, kind string) (total int64, err error) {
	for _, p := range spans {
		n := p.len()
		if kind != "" && n > 0 {
			if n, err = entryCount(ctx, s.db, company, p, kind); err != nil {
				return 0, err
			}
		}
		total += n
	}
	return total, nil
}

// nearby is the largest offset at which newest also reads the entries that precede the page. For a
// larger offset, newest calls skip first.
const nearby = 500

// newest returns one page. Without a filter, the page of one account is a range of entry
// numbers, which is fast at any offset. Otherwise newest reads as many entries of each account
// as the page may need, and merges them.
func (s *Service) newest(ctx context.Context, company string, spans []span, kind string, offset, limit int) (all []Entry, err error) {
	if len(spans) == 1 && kind == "" {
		spans[0].end -= int64(offset)
		offset = 0
	}
	if offset > nearby {
		if offset, err = s.skip(ctx, company, spans, kind, offset); err != nil {
			return nil, err
		}
	}
	for _, p := range spans {
		list, err := lastEntries(ctx, s.db, company, p, kind, offset+limit)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return all[min(offset, len(all)):min(offset+limit, len(all))], nil
}

// skip moves the ends of the spans close to the beginning of a page, and returns the offset that
// remains. It is a binary search by time. Each step divides the spans at an instant, and continues
// with the part in which the page begins.
func (s *Service) skip(ctx context.Context, company string, spans []span, kind string, offset int) (int, error) {
	where := slices.Clone(spans) // the page begins in one of these spans
	for {
		widest := 0
		var left int64
		for i, p := range where {
			left += p.len()
			if p.len() > where[widest].len() {
				widest = i
			}
		}
		if left <= nearby {
			return offset, nil
		}
		p := where[widest]
		at, err := entryTime(ctx, s.db, company, p.account, p.first+p.len()/2)
		if err != nil {
			return 0, err
		}
		older, newer, err := s.cut(ctx, company, where, at)
		if err != nil {
			return 0, err
		}
		n, err := s.count(ctx, company, newer, kind)
		switch {
		case err != nil:
			return 0, err
		case n <= int64(offset):
			offset -= int(n)
			where = older
			for i := range spans {
				spans[i].end = older[i].end
			}
		case older[widest].len() == 0:
			return offset, nil // all remaining entries have the same instant
		default:
			where = newer
		}
	}
}

// cut divides each span at an instant. Entries of exactly that instant belong to the newer part.
func (s *Service) cut(ctx context.Context, company string, spans []span, at time.Time) (older, newer []span, err error) {
	older, newer = slices.Clone(spans), slices.Clone(spans)
	for i, p := range spans {
		first, err := s.firstAt(ctx, company, p, at)
		if err != nil {
			return nil, nil, err
		}
		older[i].end, newer[i].first = first, first
	}
	return older, newer, nil
}
