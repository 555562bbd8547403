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

// The guard against double funding is a running sum: how many fundings of a card
// and an amount are not known yet. The commits that open and close a funding raise
// and lower it, so the sum and the open operations agree. They differ only when
// rows were changed outside the ledger: by hand, or by half of a dump. Then the
// operations are right, since they hold the money.

// open counts the fundings of a card and an amount whose outcome is not known.
// An alone one does not begin beside another.
func open(cardID string, amount money.Kobo, add int64, alone bool) ledger.Tally {
	t := ledger.Tally{Name: "card/" + cardID + "/" + amount.Decimal(), Add: add}
	if alone {
		t.Most = 1
	}
	return t
}

// correct lowers the guard to the number of open fundings, and returns the
// reference of the oldest one; "" for none. A funding that opens or ends meanwhile
// changes guard and funding alike. The card's own row lets one correction through:
// a second correction with an old reading is refused.
func (s *Service) correct(ctx context.Context, company, cardID string, amount money.Kobo) (reference string, err error) {
	var seen Card
	var counted int64
	var list []string
	guard := open(cardID, amount, 0, false)
	err = s.db.Snapshot(ctx, func(q db.Querier) (err error) {
		if seen, err = readCard(ctx, q, company, cardID); err != nil {
			return err
		}
		if counted, err = ledger.Last(ctx, q, company, ledger.Next(guard.Name)); err != nil {
			return err
		}
		list, err = unresolved(ctx, q, seen, amount)
		return err
	})
	if err != nil {
		return "", err
	}
	if guard.Add = int64(len(list)) - counted; guard.Add < 0 {
		err = s.takeOff(ctx, seen, guard)
	}
	if len(list) > 0 {
		reference = list[0]
	}
	return reference, err
}

// unresolved are the fundings of a card and an amount that hold money, the oldest
// first. One whose card is not known any more may be of this one.
func unresolved(ctx context.Context, q db.Querier, c Card, amount money.Kobo) (out []string, err error) {
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

// takeOff is the commit of a correction, if the card's row is as it was seen.
func (s *Service) takeOff(ctx context.Context, seen Card, guard ledger.Tally) error {
	later := s.clock.Now()
	if !later.After(seen.UpdatedAt) {
		later = seen.UpdatedAt.Add(time.Microsecond)
	}
	err := s.book.Commit(ctx, ledger.Unit{Company: seen.Company, Tallies: []ledger.Tally{guard}, Moves: []ledger.Move{{
		Table: cardTable, Key: []any{seen.Company, seen.ID}, From: []string{string(issued)}, To: string(issued),
		Still: []ledger.Change{{Column: "updated_at", Value: clock.Micros(seen.UpdatedAt)}},
		Set:   []ledger.Change{{Column: "updated_at", Value: clock.Micros(later)}},
	}}})
	if ledger.Is(err, ledger.Moved) {
		return nil // somebody else was faster: look again
	}
	if err == nil {
		s.log.Error("a guard counted card fundings that are not open", "company", seen.Company, "card", seen.ID, "excess", -guard.Add)
	}
	return err
}
