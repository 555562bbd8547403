package card

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
)

// The guard against double funding is a limit counter: the fundings of a card and an
// amount without an outcome. The commits that open and close a funding raise and
// lower the counter, so that it agrees with the open operations. They differ only
// when rows were changed outside the ledger: by hand, or by half of a dump. Then the
// operations are right, since they hold the money.

// guard is the name of the counter.
func guard(cardID string, amount money.Kobo) string { return "card/" + cardID + "/" + amount.Decimal() }

// correct lowers the guard to the number of open fundings, and returns the
// reference of the oldest one; "" for none. A funding that opens or ends meanwhile
// changes guard and funding alike. The card's own row lets one correction through:
// a second correction with an old reading is refused.
func (s *Service) correct(ctx context.Context, company, cardID string, amount money.Kobo) (reference string, err error) {
	var seen stored
	var counted int64
	var list []string
	err = s.DB.Snapshot(ctx, func(q db.Querier) (err error) {
		if seen, err = findCard(ctx, q, company, cardID); err != nil {
			return err
		}
		if counted, err = ledger.Last(ctx, q, company, ledger.Next(guard(cardID, amount))); err != nil {
			return err
		}
		list, err = unresolved(ctx, q, seen, amount)
		return err
	})
	if err != nil {
		return "", err
	}
	if excess := counted - int64(len(list)); excess > 0 {
		err = s.takeOff(ctx, seen, guard(cardID, amount), excess)
	}
	if len(list) > 0 {
		reference = list[0]
	}
	return reference, err
}

// unresolved are the fundings of a card and an amount that hold money, the oldest
// first. A funding without a known card counts, since it may be of this one.
func unresolved(ctx context.Context, q db.Querier, c stored, amount money.Kobo) (out []string, err error) {
	list, err := operation.PendingOf(ctx, q, c.Company, Kind, amount)
	for _, reference := range list {
		of, err := cardOf(ctx, q, c.Company, reference)
		if err != nil && !errors.Is(err, db.ErrNone) {
			return nil, err
		}
		if err != nil || of == c.ID {
			out = append(out, reference)
		}
	}
	return out, err
}

// takeOff commits a correction, if the card's row is as it was seen.
func (s *Service) takeOff(ctx context.Context, seen stored, guard string, excess int64) error {
	later := seen
	if later.UpdatedAt.Time = s.Clock.Now(); !later.UpdatedAt.After(seen.UpdatedAt.Time) {
		later.UpdatedAt.Time = seen.UpdatedAt.Add(time.Microsecond)
	}
	u := ledger.For(seen.Company)
	u.Count(guard, -excess, 0)
	u.Transition(cards.Record(later), string(issued)).Only("updated_at").Expect("updated_at", clock.Micros(seen.UpdatedAt.Time))
	err := s.Book.Commit(ctx, u)
	if ledger.Is(err, ledger.Moved) {
		return nil // another correction was faster: the caller reads again
	}
	if err == nil {
		s.Log.Error("a guard counted card fundings that are not open", "company", seen.Company, "card", seen.ID, "excess", excess)
	}
	return err
}
