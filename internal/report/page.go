package report

import (
	"context"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
)

// Entries returns a page of the entries of the company's settlement accounts, newest first, and
// the total count. Only a filter by type makes it a heavy read. Otherwise the numbers of the entries
// give the total count.
func (s *Service) Entries(ctx context.Context, company string, f EntryFilter, offset, limit int) (list []Entry, total int, err error) {
	if f.Type == "" {
		return entries(ctx, s.db, company, f, offset, limit)
	}
	err = s.db.Heavy(ctx, company, func(q db.Querier) error {
		list, total, err = entries(ctx, q, company, f, offset, limit)
		return err
	})
	return list, total, err
}

func entries(ctx context.Context, q db.Querier, company string, f EntryFilter, offset, limit int) ([]Entry, int, error) {
	spans, err := spansOf(ctx, q, company, f)
	if err != nil {
		return nil, 0, err
	}
	total, err := count(ctx, q, company, spans, f.Type)
	if err != nil || int64(offset) >= total {
		return nil, int(total), err
	}
	list, err := newest(ctx, q, company, spans, f.Type, offset, limit)
	return list, int(total), err
}

// count returns the number of entries of a type in the spans. An entry is a credit or a debit, so only
// credits are counted, of which settlement accounts usually have fewer.
func count(ctx context.Context, q db.Querier, company string, spans []span, kind string) (total int64, err error) {
	for _, p := range spans {
		n := p.len()
		if kind != "" && n > 0 {
			credits, err := creditCount(ctx, q, company, p)
			if err != nil {
				return 0, err
			}
			if n -= credits; kind == "credit" {
				n = credits
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
func newest(ctx context.Context, q db.Querier, company string, spans []span, kind string, offset, limit int) (all []Entry, err error) {
	if len(spans) == 1 && kind == "" {
		spans[0].end -= int64(offset)
		offset = 0
	}
	if offset > nearby {
		if offset, err = skip(ctx, q, company, spans, kind, offset); err != nil {
			return nil, err
		}
	}
	for _, p := range spans {
		list, err := lastEntries(ctx, q, company, p, kind, offset+limit)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	if len(spans) > 1 { // the entries of one account are in the order of their numbers, also if a program's clock was behind
		slices.SortStableFunc(all, func(a, b Entry) int { return b.CreatedAt.Compare(a.CreatedAt) })
	}
	return all[min(offset, len(all)):min(offset+limit, len(all))], nil
}

// skip moves the ends of the spans close to the beginning of a page, and returns the offset that
// remains. It is a binary search by time. Each step divides the spans at an instant, and continues
// with the part in which the page begins.
func skip(ctx context.Context, q db.Querier, company string, spans []span, kind string, offset int) (int, error) {
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
		at, err := entryTime(ctx, q, company, p.account, p.first+p.len()/2)
		if err != nil {
			return 0, err
		}
		older, newer, err := cut(ctx, q, company, where, at)
		if err != nil {
			return 0, err
		}
		n, err := count(ctx, q, company, newer, kind)
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
func cut(ctx context.Context, q db.Querier, company string, spans []span, at time.Time) (older, newer []span, err error) {
	older, newer = slices.Clone(spans), slices.Clone(spans)
	for i, p := range spans {
		first, err := entryAt(ctx, q, company, p, at)
		if err != nil {
			return nil, nil, err
		}
		older[i].end, newer[i].first = first, first
	}
	return older, newer, nil
}
