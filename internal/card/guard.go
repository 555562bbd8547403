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

// guard returns the name of the limit counter that prevents double fundings. The limit counter is
// the number of open fundings of a card and an amount. Each commit that opens a funding raises it,
// and each commit that closes a funding lowers it. Only a change that bypasses the ledger can make
// the limit counter wrong, such as a partly restored database dump. In that case the operations
// show the right number, because each operation is committed together with its transfers.
func guard(cardID string, amount money.Kobo) string { return "card/" + cardID + "/" + amount.Decimal() }

// correct lowers the guard to the number of open fundings, if the guard is too high. It returns the
// reference of the oldest open funding, or "" if no funding is open. If a funding opens or ends
// during the correction, the guard stays right, because the funding's commit changes it too. If two
// programs read the same wrong guard, only one of them corrects it. Each correction changes the
// time in the card's row, and is refused if that time has changed since the row was read.
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

// unresolved returns the references of the open fundings of a card and an amount, the oldest
// first. It includes fundings whose card is unknown, because they may belong to this card.
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

// takeOff lowers the guard by the excess, unless the card's row has changed since it was read.
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
		return nil // a concurrent change of the card's row came first, so the caller reads again
	}
	if err == nil {
		s.Log.Error("a guard counted card fundings that are not open", "company", seen.Company, "card", seen.ID, "excess", excess)
	}
	return err
}
