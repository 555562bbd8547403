package archive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
)

// Range is a range of evidence numbers, with its first and its last number.
type Range struct{ First, Last int64 }

// ranges returns numbers as text, such as "5-9,12".
func ranges(numbers []int64) string {
	slices.Sort(numbers)
	var out []string
	for i := 0; i < len(numbers); {
		first, last := numbers[i], numbers[i]
		for i++; i < len(numbers) && numbers[i] == last+1; i++ {
			last++
		}
		if text := fmt.Sprint(first); first == last {
			out = append(out, text)
		} else {
			out = append(out, text+"-"+fmt.Sprint(last))
		}
	}
	return strings.Join(out, ",")
}

var errRanges = errors.New("archive: the evidence numbers of a month are not ranges")

// Ranges returns the evidence numbers of the month's events.
func (m Month) Ranges() ([]Range, error) {
	var out []Range
	for part := range strings.SplitSeq(m.Leaves, ",") {
		first, last, two := strings.Cut(part, "-")
		if !two {
			last = first
		}
		var r Range
		if err := db.Numbers([]string{first, last}, &r.First, &r.Last); err != nil || r.First < 1 || r.Last < r.First {
			return nil, errRanges
		}
		out = append(out, r)
	}
	return out, nil
}

// Content returns the content of the month's MAC. It consists of the canonical contents of the
// month's row and of its counts.
func (m Month) Content() []byte {
	out := db.Content(nil, months.Table, months.Record(m).Values)
	for _, kind := range slices.Sorted(maps.Keys(m.kinds)) {
		out = db.Content(out, kinds.Table, kinds.Record(count{m.Company, m.Name, kind, m.kinds[kind]}).Values)
	}
	return out
}

// Months returns the archived months of a company with their counts, the oldest first.
func Months(ctx context.Context, q db.Querier, company string) ([]Month, error) {
	list, err := monthsOf(ctx, q, company)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	counts, err := countsOf(ctx, q, company)
	for i := range list {
		list[i].kinds = map[string]int64{}
		for _, c := range counts {
			if c.month == list[i].Name {
				list[i].kinds[c.kind] = c.events
			}
		}
	}
	return list, err
}
