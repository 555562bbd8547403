package report

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Cursor returns the place of an entry in the list of the company's entries. The number of the settlement account and that of
// the entry say which of the entries of one instant it is.
func (e Entry) Cursor() string {
	return db.Place{At: clock.Micros(e.CreatedAt), ID: strconv.FormatInt(e.SettlementID, 10) + "/" + strconv.FormatInt(e.sequence, 10)}.Cursor()
}

// EntriesAfter returns at most limit entries of the company's settlement accounts that match a filter, the newest first. They
// follow the entry with the cursor after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid.
func (s *Service) EntriesAfter(ctx context.Context, company string, f EntryFilter, after string, limit int) (list []Entry, err error) {
	at, account, sequence, err := entryPlace(after)
	if err != nil {
		return nil, err
	}
	read := func(q db.Querier) error {
		spans, err := spansOf(ctx, q, company, f)
		if err == nil && after != "" {
			err = end(ctx, q, company, spans, at, account, sequence)
		}
		if err != nil {
			return err
		}
		list, err = newest(ctx, q, company, spans, f.Type, 0, limit)
		return err
	}
	if f.Type == "" {
		return list, read(s.db)
	}
	err = s.db.Heavy(ctx, company, read)
	return list, err
}

// entryPlace reads a cursor: the instant of an entry, its account and its number.
func entryPlace(cursor string) (at time.Time, account string, sequence int64, err error) {
	p, err := db.PlaceOf(cursor)
	if err != nil || cursor == "" {
		return at, "", 0, err
	}
	id, number, _ := strings.Cut(p.ID, "/")
	settlementID, wrongID := strconv.ParseInt(id, 10, 64)
	sequence, wrongNumber := strconv.ParseInt(number, 10, 64)
	if wrongID != nil || wrongNumber != nil {
		return at, "", 0, db.ErrCursor
	}
	return time.UnixMicro(p.At).UTC(), settlement.LedgerAccount(settlementID), sequence, nil
}

// end ends the spans before an entry of one account. Of its instant, the list has the entries of accounts in their order.
func end(ctx context.Context, q db.Querier, company string, spans []span, at time.Time, account string, sequence int64) (err error) {
	for i, p := range spans {
		switch {
		case p.account == account:
			spans[i].end = max(p.first, min(p.end, sequence))
			continue
		case p.account > account:
			at = at.Add(time.Microsecond)
		}
		if spans[i].end, err = entryAt(ctx, q, company, p, at); err != nil {
			return err
		}
		if p.account > account {
			at = at.Add(-time.Microsecond)
		}
	}
	return nil
}
