package card_test

import (
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// If two programs find at the same time that a company has no active settlement account, they
// open only one account.
func TestTwoProgramsOpenOneEmptyAccount(t *testing.T) {
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			url := dbtest.URL(t, dialect)
			w := newWorld(t, dbtest.Open(t, url))
			programs := []*world{w, w.another(dbtest.Open(t, url))}
			id := w.card().ID
			for round := 1; round <= 5; round++ {
				_, err := w.db.Exec(t.Context(), `UPDATE settlement_account SET status = 'INACTIVE' WHERE company_id = $1`, w.company)
				must(t, err)
				begin := make(chan struct{})
				var all sync.WaitGroup
				for i := range 16 {
					all.Go(func() {
						<-begin
						_, err := programs[i%2].fund(id, 100)
						w.refused(err, "Insufficient balance")
					})
				}
				close(begin)
				all.Wait()
				accounts, err := w.settlements.Accounts(t.Context(), w.company)
				must(t, err)
				if len(accounts) != 1+round || !accounts[round].IsDefault || accounts[round].Name != "Main account" {
					t.Errorf("in round %d: %+v", round, accounts)
				}
			}
		})
	}
}
