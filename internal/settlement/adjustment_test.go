package settlement_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// asks makes the operator ada request an adjustment of an account.
func (h *house) asks(a settlement.Account, amount int64, way settlement.Direction) settlement.Adjustment {
	h.t.Helper()
	asked, err := h.Adjust(h.t.Context(), ada, settlement.Adjustment{
		Company: a.Company, SettlementID: a.ID, Amount: money.Kobo(amount), Direction: way, Reason: "missed credit",
	})
	if err != nil || asked.State != settlement.Pending {
		h.t.Fatalf("%+v, %v", asked, err)
	}
	return asked
}

// decided fails the test unless the adjustment has this state, deciding operator and note.
func (h *house) decided(id string, state settlement.AdjustmentState, by, note string) {
	h.t.Helper()
	a, err := h.Adjustment(h.t.Context(), id)
	if err != nil || a.State != state || a.CreatedBy != "ada" || a.DecidedBy != by || a.Note != note || a.DecidedAt.IsZero() != (by == "") {
		h.t.Errorf("kept is %+v, %v; want %s by %q", a, err, state, by)
	}
}

func TestConcurrentApprovalsPayOnce(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.account(h.company())
		asked := h.asks(a, 700, settlement.DirectionCredit)
		for _, by := range []operator.Operator{ada, operator.Local("ada")} {
			if _, err := h.Approve(t.Context(), by, asked.ID); !fault.Is(err, fault.Refused) {
				t.Errorf("approved by who asked, as %s: %v", by.Name, err)
			}
		}
		var all sync.WaitGroup
		errs := make([]error, 2)
		for i := range errs {
			all.Go(func() { _, errs[i] = h.Approve(context.Background(), bob, asked.ID) })
		}
		all.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Errorf("both or none: %v", errs)
		}
		h.holds(a, 700)
		h.decided(asked.ID, settlement.Approved, "bob", "")
		h.intact(a.Company)
	})
}

// If operators approve and reject an adjustment at the same time, only the first decision counts.
// The balance agrees with that decision.
func TestConcurrentApprovalAndRejection(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.account(h.company())
		held, approved := int64(0), 0
		for range 20 {
			asked := h.asks(a, 100, settlement.DirectionCredit)
			var all sync.WaitGroup
			var yes, no, own error
			all.Go(func() { _, yes = h.Approve(context.Background(), bob, asked.ID) })
			all.Go(func() { _, no = h.Reject(context.Background(), bob, asked.ID, "not on the statement") })
			all.Go(func() { _, own = h.Reject(context.Background(), ada, asked.ID, "my mistake") })
			all.Wait()
			won := 0
			for _, err := range []error{yes, no, own} {
				switch {
				case err == nil:
					won++
				case !fault.Is(err, fault.Refused) || !strings.HasSuffix(fault.Of(err).Message, " already"):
					t.Errorf("who lost was told: %v", err)
				}
			}
			switch {
			case won != 1:
				t.Fatalf("%d won: %v, %v, %v", won, yes, no, own)
			case yes == nil:
				approved++
				held += 100
				h.decided(asked.ID, settlement.Approved, "bob", "")
			case no == nil:
				h.decided(asked.ID, settlement.Rejected, "bob", "not on the statement")
			default:
				h.decided(asked.ID, settlement.Rejected, "ada", "my mistake")
			}
			h.holds(a, money.Kobo(held))
		}
		t.Logf("%d of 20 were approved", approved)
		h.intact(a.Company)
	})
}

func TestARejectionIsKept(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		a := h.account(h.company())
		debit := h.asks(a, 700, settlement.DirectionDebit)
		if _, err := h.Approve(ctx, bob, debit.ID); !fault.Is(err, fault.Refused) || fault.Of(err).Message != "Insufficient balance" {
			t.Errorf("a debit that the account cannot bear: %v", err)
		}
		h.decided(debit.ID, settlement.Pending, "", "")
		for _, note := range []string{"", " no ", strings.Repeat("n", 501)} {
			if _, err := h.Reject(ctx, bob, debit.ID, note); !fault.Is(err, fault.Invalid) {
				t.Errorf("%.10q: %v", note, err)
			}
		}
		if _, err := h.Reject(ctx, ada, debit.ID, " asked by mistake "); err != nil {
			t.Fatal(err)
		}
		h.decided(debit.ID, settlement.Rejected, "ada", "asked by mistake")
		if _, err := h.Approve(ctx, bob, debit.ID); err == nil || fault.Of(err).Message != "The adjustment is rejected already" {
			t.Errorf("approved after all: %v", err)
		}
		if _, err := h.Reject(ctx, bob, debit.ID, "once more"); err == nil || fault.Of(err).Message != "The adjustment is rejected already" {
			t.Errorf("rejected twice: %v", err)
		}
		if _, err := h.Reject(ctx, bob, "none", "a note"); !fault.Is(err, fault.Missing) {
			t.Errorf("one that does not exist: %v", err)
		}
		list, total, err := h.Adjustments(ctx, settlement.Rejected, 10, 0)
		if err != nil || total != 1 || len(list) != 1 || list[0].Note != "asked by mistake" {
			t.Errorf("%+v, %v", list, err)
		}
		h.holds(a, 0)
	})
}

// An inactive account keeps its balance, but receives no credits while another account is active.
func TestAnInactiveAccount(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		a := h.fed("8000000011")
		second := h.account(a.Company)
		h.receives(h.inbound("s-1", "8000000011", 700))
		off, err := h.SetStatus(ctx, ada, a.Company, a.ID, settlement.Inactive, "the company asked")
		if err != nil || off.Status != settlement.Inactive || off.IsDefault || off.Balance != 700 {
			t.Fatalf("%+v, %v", off, err)
		}
		if active, err := h.Active(ctx, a.Company, a.ID); err != nil || active {
			t.Errorf("active: %v, %v", active, err)
		}
		if d, err := h.Default(ctx, a.Company); err != nil || d.ID != second.ID {
			t.Errorf("the default one is %+v, %v", d, err)
		}
		h.receives(h.inbound("s-2", "8000000011", 300)) // this credit goes into the default account
		h.holds(a, 700)
		h.holds(second, 300)
		if _, err := h.Approve(ctx, bob, h.asks(a, 100, settlement.DirectionDebit).ID); err != nil {
			t.Errorf("operators cannot correct it: %v", err)
		}
		if _, err := h.SetStatus(ctx, ada, a.Company, second.ID, settlement.Inactive, ""); err != nil {
			t.Fatal(err)
		}
		h.receives(h.inbound("s-3", "8000000011", 50)) // no account is active, so the bank account's own settlement account gets the credit
		h.holds(a, 650)
		if first, err := h.Landing(ctx, a.Company, 0); err != nil || first != a.ID {
			t.Errorf("a credit without a chosen account goes to %d, %v", first, err)
		}
		for range 2 {
			if on, err := h.SetStatus(ctx, ada, a.Company, a.ID, settlement.Active, ""); err != nil || !on.IsDefault {
				t.Errorf("on again: %+v, %v", on, err)
			}
		}
		foreign := h.foreign()
		for _, id := range []int64{0, -1, 99, foreign.ID} {
			if _, err := h.SetStatus(ctx, ada, a.Company, id, settlement.Inactive, ""); !fault.Is(err, fault.Missing) {
				t.Errorf("account %d: %v", id, err)
			}
		}
		if _, err := h.SetStatus(ctx, ada, a.Company, a.ID, "CLOSED", ""); !fault.Is(err, fault.Invalid) {
			t.Errorf("a state that does not exist: %v", err)
		}
		h.intact(a.Company)
	})
}

// A form that is sent twice asks for one adjustment, as after a crash or at two programs, and gets it as it is by then. The same form of
// another operator, or with another amount, does not get it.
func TestAFormAsksForOneAdjustment(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx, a, form := t.Context(), h.account(h.company()), id.New()
		ask := func(by operator.Operator, amount money.Kobo) (settlement.Adjustment, error) {
			return h.Adjust(ctx, by, settlement.Adjustment{Company: a.Company, SettlementID: a.ID, Amount: amount, Direction: settlement.DirectionCredit, Reason: " missed credit"})
		}
		var all sync.WaitGroup
		asked, errs := make([]settlement.Adjustment, 4), make([]error, 4)
		for i := range asked {
			all.Go(func() { asked[i], errs[i] = ask(ada.Sending(form), 700) })
		}
		all.Wait()
		for i, one := range asked {
			if errs[i] != nil || one.ID != asked[0].ID || one.ID == "" || one.State != settlement.Pending || one.Reason != "missed credit" {
				t.Errorf("%d: %+v, %v", i, one, errs[i])
			}
		}
		if _, err := h.Approve(ctx, bob, asked[0].ID); err != nil {
			t.Fatal(err)
		}
		if late, err := ask(ada.Sending(form), 700); err != nil || late.ID != asked[0].ID || late.State != settlement.Approved {
			t.Errorf("after the approval: %+v, %v", late, err)
		}
		if _, err := ask(ada.Sending(form), 701); !fault.Is(err, fault.Conflict) {
			t.Errorf("another amount: %v", err)
		}
		ids := map[string]bool{asked[0].ID: true}
		for _, by := range []operator.Operator{bob.Sending(form), ada.Sending(id.New()), ada, ada} {
			one, err := ask(by, 700)
			if err != nil || ids[one.ID] {
				t.Errorf("%+v, %v", one, err)
			}
			ids[one.ID] = true
		}
		if _, total, err := h.Adjustments(ctx, "", 100, 0); err != nil || total != int64(len(ids)) {
			t.Errorf("%d adjustments, %v", total, err)
		}
		h.holds(a, 700)
		h.intact(a.Company)
	})
}
