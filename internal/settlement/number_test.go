package settlement_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// next opens an account and fails the test unless the account gets this number.
func (h *house) next(company string, want int64) {
	h.t.Helper()
	if a := h.account(company); a.ID != want {
		h.t.Errorf("the next account is %d, want %d", a.ID, want)
	}
}

func TestRefusedAccountsTakeNoNumber(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		company := h.company()
		if err := quota.New(h.db, h.book, h.clock).Set(t.Context(), ada, company, quota.SettlementAccount, 3); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		opened := 0
		for range 10 {
			all.Go(func() {
				_, err := h.CreateOwn(t.Context(), company, "Payroll", nil)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					opened++
				} else if !fault.Is(err, fault.Limited) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if opened != 3 {
			t.Errorf("%d accounts were opened", opened)
		}
		h.next(company, 4)
	})
}

func TestAKeyTakesOneNumber(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ring, err := secret.Parse(secret.Generate())
		if err != nil {
			t.Fatal(err)
		}
		keys, company := idempotency.NewService(h.db, h.book, h.clock, ring), h.company()
		h.next(company, 1)
		equal := make([]*idempotency.Key, 8)
		for i := range equal {
			key, _, err := keys.Open(t.Context(), company, "payroll-1", "print")
			if err != nil {
				t.Fatal(err)
			}
			equal[i] = key
			key.Render(func(result any, _ error) idempotency.Answer {
				return idempotency.Answer{Status: 200, Body: fmt.Append(nil, result.(settlement.Account).ID)}
			})
		}
		errs := make(chan error, len(equal))
		for _, key := range equal {
			go func() {
				_, err := h.CreateOwn(t.Context(), company, "Payroll", key)
				errs <- err
			}()
		}
		opened := 0
		for range cap(errs) {
			if err := <-errs; err == nil {
				opened++
			} else if !fault.Is(err, fault.Conflict) {
				t.Error(err)
			}
		}
		if _, answer, err := keys.Open(t.Context(), company, "payroll-1", "print"); err != nil || opened != 1 || string(answer.Body) != "2" {
			t.Errorf("%d were opened, %v %v", opened, answer, err)
		}
		h.next(company, 3)
	})
}

// When two programs open accounts of one company at the same time, the account numbers have no
// duplicates and no gaps.
func TestProgramsShareTheNumbers(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		company, book := h.company(), ledger.New(h.db, h.clock)
		t.Cleanup(book.Drain)
		programs := []*settlement.Service{h.Service, settlement.New(settlement.Config{DB: h.db, Book: book, Clock: h.clock, Operations: h.operations})}
		var all sync.WaitGroup
		for i := range 24 {
			all.Go(func() {
				if _, err := programs[i%2].Create(t.Context(), ada, company, "Main"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		h.next(company, 25)
	})
}
