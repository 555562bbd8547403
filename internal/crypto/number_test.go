package crypto_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// numbered checks that the company's transactions have the numbers from 1 to n.
func (w *world) numbered(company string, n int) {
	w.t.Helper()
	list, _, err := w.Transactions(w.t.Context(), company, crypto.TransactionFilter{}, 0, 100)
	var got, want []int64
	for i, one := range slices.Backward(list) {
		got, want = append(got, one.ID), append(want, int64(len(list)-i))
	}
	if err != nil || len(got) != n || !slices.Equal(got, want) {
		w.t.Errorf("the numbers are %v, want 1 to %d (%v)", got, n, err)
	}
}

// receive sends each movement to each program, in a separate notification. All notifications are
// sent concurrently.
func (w *world) receive(programs []*crypto.Service, movements ...provider.Movement) {
	w.t.Helper()
	var all sync.WaitGroup
	for _, m := range movements {
		body, err := json.Marshal([]provider.Movement{m})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, p := range programs {
			all.Go(func() {
				if err := p.Receive(w.t.Context(), "node", http.Header{"Signed": {"yes"}}, body); err != nil {
					w.t.Error(err)
				}
			})
		}
	}
	all.Wait()
	w.settled()
}

func TestRepeatedDepositsTakeNoNumber(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		six := slices.Repeat([]*crypto.Service{w.Service}, 6)
		for i := range 3 {
			w.receive(six, moved(to, fmt.Sprint("0xa", i), 1, 100))
		}
		w.numbered(a, 3)
	})
}

// If several programs concurrently receive notifications of many deposits, each number is used
// exactly once and without a gap.
func TestDepositsAtOnceAreNumberedInARow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to, beside := w.address(a, eth), *w
		beside.book = ledger.New(d, w.clock)
		t.Cleanup(beside.book.Drain)
		var movements []provider.Movement
		for i := range 24 {
			movements = append(movements, moved(to, fmt.Sprint("0xa", i), 1, 100))
		}
		w.receive([]*crypto.Service{w.Service, beside.program(d)}, movements...)
		w.numbered(a, 24)
	})
}

// Earlier releases numbered the transactions of all companies together. The next transaction of a
// company gets the number after the company's highest number.
func TestTransactionsGoOnAboveTheHighest(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		w.tell(moved(to, "0xa0", 1, 0))
		if _, err := d.Exec(t.Context(), `UPDATE crypto_transaction SET id = 40 WHERE company_id = $1`, a); err != nil {
			t.Fatal(err)
		}
		w.tell(moved(to, "0xa1", 1, 0))
		list, _, err := w.Transactions(t.Context(), a, crypto.TransactionFilter{}, 0, 10)
		if err != nil || list[0].ID != 41 || list[0].Hash != "0xa1" {
			t.Errorf("%+v %v", list, err)
		}
	})
}
