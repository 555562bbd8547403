package ledger

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
)

// audit checks a company's ledger. The balances must add up to zero, the entries must rebuild every
// balance without a gap, and no balance may be below its floor.
func audit(t testing.TB, d *db.DB, company string) {
	t.Helper()
	var report Report
	must(t, d.Snapshot(t.Context(), func(q db.Querier) (err error) {
		report, err = Verify(t.Context(), q, company)
		return err
	}))
	for _, w := range report.Wrongs {
		t.Error(w)
	}
}

// Eight writers commit random units through two ledgers, like two processes. Some units are
// refused, for example because an account is short of money or a row exists already. The ledger
// stays correct.
func TestRandomJournals(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		first := open(t, d)
		books := []*Book{first, New(d, first.clock)}
		companies := []string{"c1", "c2", "c3"}
		accounts := []string{settlement, clearing, outside, "settlement/2", "fee"}
		for _, c := range companies {
			found(t, first, c)
			fund(t, first, c, 5_000)
		}
		const writers, each = 8, 60
		var mu sync.Mutex
		accepted := map[string]int{}
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(w), 7))
				for i := range each {
					company := companies[rng.IntN(len(companies))]
					u := Unit{Company: company}
					if rng.IntN(4) == 0 {
						u.open = []Account{{"settlement/2", 0}, {"fee", 0}}
					}
					for range 1 + rng.IntN(3) {
						from := rng.IntN(len(accounts))
						to := (from + 1 + rng.IntN(len(accounts)-1)) % len(accounts)
						u.transfers = append(u.transfers, Transfer{
							Reference: id.New(), Debit: accounts[from], Credit: accounts[to],
							Amount: money.Kobo(1 + rng.IntN(900)), Leave: money.Kobo(rng.IntN(2)),
						})
					}
					claim := fmt.Sprint(rng.IntN(writers * each))
					u.inserts = []db.Record{thing(company, fmt.Sprintf("%d-%d", w, i), claim, "NEW")}
					err := books[w%2].Commit(context.Background(), u)
					if err == nil {
						mu.Lock()
						accepted[company+" "+claim]++
						mu.Unlock()
					} else if Refused(err) == nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		for claim, n := range accepted {
			if n != 1 {
				t.Errorf("claim %s was accepted %d times", claim, n)
			}
		}
		if len(accepted) < writers*each/8 {
			t.Errorf("only %d units were accepted: the test tries too little", len(accepted))
		}
		for _, c := range companies {
			audit(t, d, c)
			things, err := db.One(t.Context(), d, db.Value[int64], `SELECT count(*) FROM ledger_thing WHERE company_id = $1`, c)
			must(t, err)
			want := int64(1) // found inserts one thing itself
			for claim := range accepted {
				if claim[:2] == c {
					want++
				}
			}
			if things != want {
				t.Errorf("%s has %d claims for %d accepted units", c, things, want)
			}
		}
	})
}
