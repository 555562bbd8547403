package payout_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/secret"
)

// The largest bulk payout is one unit of the ledger, and its lines are read in pages.
func TestTheLargestBulkPayout(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		lines := make([]payout.LineOrder, 1000)
		for i := range lines {
			lines[i] = payout.LineOrder{
				BankCode: "000014", AccountNumber: fmt.Sprintf("%08d00", i), Amount: 1,
				Labels: operation.Labels{ExternalReference: fmt.Sprintf("line-%d", i), Metadata: `{"branch":"Ikeja"}`},
			}
		}
		b := w.bulk(lines)
		for range 5 {
			w.check(b.ID)
		}
		began := time.Now()
		_, err := w.confirm(b.ID)
		must(t, err)
		t.Logf("the confirmation took %s", time.Since(began))
		for range 6 {
			w.push(b.ID)
		}
		if p := w.page(b.ID); p.State != payout.BulkCompleted || p.Succeeded != 1000 {
			t.Errorf("%+v", p.Bulk)
		}
		if got := w.references(); len(got) != 1000 {
			t.Errorf("the bank got %d orders", len(got))
		}
		page, err := w.Bulk(t.Context(), w.company, b.ID, 990, 7)
		if must(t, err); len(page.Page) != 7 || page.NextAfter != 997 {
			t.Errorf("%d lines, next after %d", len(page.Page), page.NextAfter)
		}
		page, err = w.Bulk(t.Context(), w.company, b.ID, 997, 7)
		if must(t, err); len(page.Page) != 3 || page.NextAfter != 0 {
			t.Errorf("%d lines, next after %d", len(page.Page), page.NextAfter)
		}
		w.holds(map[string]money.Kobo{w.own(): 990 * money.Naira})
	})
}

func TestWrongBulkPayouts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		good := payout.LineOrder{BankCode: "000014", AccountNumber: "0123456789", Amount: 100}
		negative, large := good, good
		negative.Amount, large.Amount = 0, money.Max
		for want, o := range map[string]payout.BulkOrder{
			`"lines" must contain 1 to 1000 lines`: {},
			`"lines[1].amount" is out of range`:    {Lines: []payout.LineOrder{good, negative}},
			"The sum of the lines":                 {Lines: []payout.LineOrder{large, large}},
		} {
			o.Company, o.SettlementID, o.PIN = w.company, w.account, secret.NewText(pin)
			if _, err := w.OpenBulk(t.Context(), o); err == nil || !strings.HasPrefix(fault.Of(err).Message, want) {
				t.Errorf("want %q, got %v", want, err)
			}
		}
		for _, o := range []payout.BulkOrder{
			{SettlementID: w.account, PIN: secret.NewText("9999")}, {SettlementID: w.account + 1, PIN: secret.NewText(pin)},
		} {
			o.Company, o.Lines = w.company, []payout.LineOrder{good}
			if _, err := w.OpenBulk(t.Context(), o); err == nil {
				t.Errorf("%+v is accepted", o)
			}
		}
		if _, err := w.confirm("nothing"); !fault.Is(err, fault.Missing) {
			t.Error(err)
		}
	})
}

// A person who may not pay the sum alone is refused by the sum that is debited, whatever was shown before. While names are
// asked for, the sum of the good lines is smaller.
func TestABulkPayoutIsConfirmedAloneOnlyBySumOfItsLines(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.bulkOf("0000000001", "0000000002", "0000000003")
		if early := w.page(b.ID).Amount; early != 0 {
			t.Fatalf("%s is shown before the check", early)
		}
		w.check(b.ID)
		var asked []money.Kobo
		least := 300 * money.Naira
		confirm := func() error {
			_, err := w.ConfirmBulk(t.Context(), payout.Confirmation{
				Company: w.company, BulkID: b.ID, PIN: secret.NewText(pin),
				Alone: func(_ context.Context, amount money.Kobo) (bool, error) {
					asked = append(asked, amount)
					return amount < least, nil
				},
			})
			return err
		}
		before := w.kinds()
		if err := confirm(); !errors.Is(err, payout.ErrNotAlone) {
			t.Errorf("confirmed alone: %v", err)
		}
		if now := w.page(b.ID); now.State != payout.BulkChecked || !maps.Equal(before, w.kinds()) {
			t.Errorf("the refusal changed %+v", now)
		}
		least++
		if err := confirm(); err != nil || !slices.Equal(asked, []money.Kobo{300 * money.Naira, 300 * money.Naira}) {
			t.Errorf("%v; asked for %v", err, asked)
		}
	})
}
