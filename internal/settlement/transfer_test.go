package settlement_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// pair returns two accounts of a new company. The first account holds an amount.
func (h *house) pair(amount money.Kobo) (a, b settlement.Account) {
	h.t.Helper()
	a = h.account(h.company())
	b = h.account(a.Company)
	if err := h.Fund(h.t.Context(), ada, a.Company, a.ID, amount, bank, "opening"); err != nil {
		h.t.Fatal(err)
	}
	return a, b
}

func between(a, b settlement.Account, amount money.Kobo) settlement.Transfer {
	return settlement.Transfer{Company: a.Company, From: a.ID, To: b.ID, Amount: amount}
}

// A transfer moves the whole amount in one step, may empty the account, and leaves the sum of the
// company's money unchanged. Both accounts have an entry with the same reference.
func TestATransferMovesMoneyBetweenOwnAccounts(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a, b := h.pair(500)
		h.clock.Advance(time.Minute)
		done, err := h.Move(t.Context(), between(a, b, 500), nil)
		if err != nil {
			t.Fatal(err)
		}
		h.holds(a, 0)
		h.holds(b, 500)
		h.intact(a.Company)
		list, _, err := report.New(h.db, h.clock).Entries(t.Context(), a.Company, report.EntryFilter{}, 0, 2)
		if err != nil || len(list) != 2 || list[0].ID == list[1].ID {
			t.Fatalf("%+v, %v", list, err)
		}
		for _, e := range list {
			if e.Reference != done.Reference || e.Source != "transfer" || e.Amount != 500 || e.Fee != 0 || !e.Stands {
				t.Errorf("%+v", e)
			}
		}
		events := len(h.events(a.Company))
		if first, err := report.New(h.db, h.clock).Entry(t.Context(), a.Company, done.Reference); err != nil || first.Credit || first.SettlementID != a.ID || events != 0 {
			t.Errorf("%+v, %v, %d events", first, err, events)
		}
	})
}

// A refused transfer changes nothing: no balance, no entry and no row.
func TestATransferIsRefused(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a, b := h.pair(500)
		foreign := h.foreign()
		inactive := h.account(a.Company)
		if _, err := h.SetStatus(t.Context(), ada, a.Company, inactive.ID, settlement.Inactive, "closed"); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name   string
			from   int64
			to     int64
			amount money.Kobo
			want   fault.Reason
		}{
			{"the same account", a.ID, a.ID, 1, fault.InvalidRequest},
			{"more than the balance", a.ID, b.ID, 501, fault.InsufficientBalance},
			{"to another company's account", a.ID, foreign.ID, 1, fault.NotFound},
			{"from another company's account", foreign.ID, b.ID, 1, fault.NotFound},
			{"to no account", a.ID, 0, 1, fault.NotFound},
			{"to an inactive account", a.ID, inactive.ID, 1, fault.NotFound},
			{"from an inactive account", inactive.ID, b.ID, 1, fault.NotFound},
			{"nothing", a.ID, b.ID, 0, fault.InvalidRequest},
			{"less than nothing", b.ID, a.ID, -1, fault.InvalidRequest},
		} {
			_, err := h.Move(t.Context(), settlement.Transfer{Company: a.Company, From: c.from, To: c.to, Amount: c.amount}, nil)
			if err == nil || fault.Of(err).Reason() != c.want {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		h.holds(a, 500)
		h.holds(b, 0)
		h.holds(foreign, 0)
		n, err := db.One(t.Context(), h.db, db.Value[int64], `SELECT count(*) FROM settlement_transfer`)
		if err != nil || n != 0 {
			t.Errorf("%d transfers, %v", n, err)
		}
	})
}

// Concurrent transfers in opposite directions all end, never overdraw an account, and keep the sum.
func TestOppositeTransfersEnd(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a, b := h.pair(30)
		var all sync.WaitGroup
		for i := range 40 {
			order := between(a, b, money.Kobo(1+i%5))
			if i%2 == 1 {
				order = between(b, a, money.Kobo(1+i%7))
			}
			all.Go(func() {
				if _, err := h.Move(context.Background(), order, nil); err != nil && fault.Of(err).Reason() != fault.InsufficientBalance {
					t.Error(err)
				}
			})
		}
		all.Wait()
		balances, err := h.book.Balances(t.Context(), a.Company)
		one, other := balances[settlement.LedgerAccount(a.ID)], balances[settlement.LedgerAccount(b.ID)]
		if err != nil || one < 0 || other < 0 || one+other != 30 {
			t.Errorf("%s and %s, %v", one, other, err)
		}
		h.intact(a.Company)
	})
}

// Equal requests with one Idempotency-Key move the money once.
func TestATransferWithAKeyMovesOnce(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ring, err := secret.Parse(secret.Generate())
		if err != nil {
			t.Fatal(err)
		}
		keys := idempotency.NewService(h.db, h.book, h.clock, ring)
		a, b := h.pair(500)
		equal := make([]*idempotency.Key, 8)
		for i := range equal {
			if equal[i], _, err = keys.Open(t.Context(), a.Company, "salaries", "print"); err != nil {
				t.Fatal(err)
			}
			equal[i].Render(func(result any, _ error) idempotency.Answer {
				return idempotency.Answer{Status: 200, Body: fmt.Append(nil, result.(settlement.Transfer).Amount)}
			})
		}
		var all sync.WaitGroup
		for _, key := range equal {
			all.Go(func() {
				if _, err := h.Move(context.Background(), between(a, b, 100), key); err != nil && !errors.Is(err, idempotency.ErrInFlight) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		h.holds(a, 400)
		h.holds(b, 100)
	})
}

// Verify finds a transfer between own accounts whose row was altered or deleted, and a row without
// its transfer.
func TestVerifyFindsAlteredTransfers(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a, b := h.pair(500)
		if _, err := h.Move(t.Context(), between(a, b, 200), nil); err != nil {
			t.Fatal(err)
		}
		undo := errors.New("undo")
		for _, c := range []struct{ alteration, found string }{
			{`SELECT 1 WHERE $1 <> ''`, ""},
			{`UPDATE settlement_transfer SET amount_kobo = 100 WHERE company_id = $1`, "transfer owner"},
			{`UPDATE settlement_transfer SET to_id = 9 WHERE company_id = $1`, "transfer owner"},
			{`DELETE FROM settlement_transfer WHERE company_id = $1`, "transfer owner"},
			{`INSERT INTO settlement_transfer SELECT company_id, 'another', from_id, to_id, amount_kobo, created_at
				FROM settlement_transfer WHERE company_id = $1`, "own transfer money"},
		} {
			err := h.db.Tx(t.Context(), func(q db.Querier) error {
				if _, err := q.Exec(t.Context(), c.alteration, a.Company); err != nil {
					return err
				}
				v, err := report.Verify(t.Context(), q, h.db.Signer(), a.Company, h.clock.Now())
				if lines := strings.Join(v.Lines(), "\n"); err == nil && (!strings.Contains(lines, c.found) || c.found == "" && !v.Sound()) {
					t.Errorf("%s: %q in %q", c.alteration, c.found, lines)
				}
				return errors.Join(err, undo)
			})
			if !errors.Is(err, undo) {
				t.Error(err)
			}
		}
	})
}

// An account that is closed to debits cannot pay for a transfer, but it can receive one.
func TestAClosedAccountOnlyReceivesTransfers(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a, b := h.pair(500)
		u := ledger.For(a.Company)
		u.CloseDebits(settlement.LedgerAccount(b.ID))
		if err := h.book.Commit(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Move(t.Context(), between(a, b, 100), nil); err != nil {
			t.Error(err)
		}
		if _, err := h.Move(t.Context(), between(b, a, 100), nil); err == nil || fault.Of(err).Reason() != fault.AccountClosed {
			t.Error(err)
		}
		h.holds(b, 100)
	})
}
