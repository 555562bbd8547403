package card_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
)

const load = 300 * money.Naira

// guarded returns the counter of a card's open fundings of the amount load.
func (w *world) guarded(cardID string) int64 {
	w.t.Helper()
	n, err := w.book.Last(w.t.Context(), w.company, ledger.Next("card/"+cardID+"/"+load.Decimal()))
	must(w.t, err)
	return n
}

// miscount writes a wrong value to this counter, as a manual change of the database would.
func (w *world) miscount(cardID string, n int64) {
	w.t.Helper()
	_, err := w.db.Exec(w.t.Context(), `INSERT INTO ledger_counter (company_id, name, value) VALUES ($1, $2, $3)
		ON CONFLICT (company_id, name) DO UPDATE SET value = $3`, w.company, "card/"+cardID+"/"+load.Decimal(), n)
	must(w.t, err)
}

// soon funds a card, and gives up after a minute.
func (w *world) soon(cardID string) (card.Funding, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	return w.Fund(ctx, card.Order{Company: w.company, CardID: cardID, Amount: load})
}

// begun returns the reference of a funding. If the funding was refused, begun returns the
// reference of the open funding that stopped it.
func begun(t *testing.T, f card.Funding, err error) string {
	t.Helper()
	if err == nil {
		return f.Reference
	}
	data, _ := fault.Of(err).Extra["data"].(map[string]string)
	if data["reference"] == "" {
		t.Errorf("no reference: %v", err)
	}
	return data["reference"]
}

// If the counter of a card's open fundings is too high, Kobo corrects it. The wrong counter neither
// stops a funding nor allows a double funding.
func TestAGuardThatCountsTooMuchIsCorrected(t *testing.T) {
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			url := dbtest.URL(t, dialect)
			w := newWorld(t, dbtest.Open(t, url))
			id := w.card().ID
			w.miscount(id, 1)
			f, err := w.soon(id)
			must(t, err)
			if f.Status != operation.Success || w.guarded(id) != 0 {
				t.Errorf("%+v; the guard counts %d", f, w.guarded(id))
			}
			w.holds(700*money.Naira, 0, load)

			// Many concurrent requests to two programs find the wrong counter. Only one funding
			// begins.
			w.miscount(id, 2)
			w.issuer.answer = silence
			programs := []*world{w, w.another(dbtest.Open(t, url))}
			var mu sync.Mutex
			references := map[string]int{}
			var all sync.WaitGroup
			for i := range 16 {
				all.Go(func() {
					f, err := programs[i%2].soon(id)
					mu.Lock()
					defer mu.Unlock()
					references[begun(t, f, err)]++
				})
			}
			all.Wait()
			if len(references) != 1 || w.guarded(id) != 1 {
				t.Errorf("references %v; the guard counts %d", references, w.guarded(id))
			}
			w.holds(400*money.Naira, load, load)
		})
	}
}

// Kobo finds an open funding by its money in the clearing account. A lost or changed row of
// card_funding therefore does not lead to a second debit.
func TestAnOpenFundingIsFoundByItsMoney(t *testing.T) {
	for name, alter := range map[string]string{
		"lost":   `DELETE FROM card_funding WHERE company_id = $1 AND id = $2`,
		"closed": `UPDATE card_funding SET state = 'CLOSED' WHERE company_id = $1 AND id = $2`,
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				id := w.card().ID
				w.issuer.answer = silence
				first, err := w.soon(id)
				must(t, err)
				_, err = d.Exec(t.Context(), alter, w.company, first.Reference)
				must(t, err)
				w.miscount(id, 3)
				for range 2 {
					f, err := w.soon(id)
					w.refused(err, confirming)
					if begun(t, f, err) != first.Reference {
						t.Errorf("%+v, %v", f, err)
					}
				}
				if w.guarded(id) != 1 || len(w.issuer.funded) != 1 {
					t.Errorf("the guard counts %d, the issuer was asked %d times", w.guarded(id), len(w.issuer.funded))
				}
				w.holds(700*money.Naira, load, 0)
			})
		})
	}
}
