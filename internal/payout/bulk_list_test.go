package payout_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/secret"
)

// The list has each bulk payout of the company once, the newest first, with the same numbers as the bulk
// payout alone.
func TestBulkPayoutsAreListed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		must(t, w.SetFees(t.Context(), me, w.company, payout.Schedule{{Flat: 10 * money.Naira}}))
		var want []string
		for i := range 5 {
			b := w.bulkOf("0000000001", "0000000099", fmt.Sprintf("000000000%d", i+2))
			want = append([]string{b.ID}, want...)
		}
		w.check(want[1])
		w.check(want[3])
		_, err := w.confirm(want[3])
		must(t, err)
		_, err = w.CancelBulk(t.Context(), w.company, want[4], nil)
		must(t, err)
		other, _ := w.join("other", 100*money.Naira)
		for _, limit := range []int{1, 2, 5, 20} {
			var got []string
			for next, first := "", true; first || next != ""; first = false {
				var list []payout.Bulk
				list, next, err = w.Bulks(t.Context(), w.company, "", next, limit)
				must(t, err)
				if len(list) > limit || len(list) == 0 {
					t.Fatalf("%d of %d", len(list), limit)
				}
				for _, b := range list {
					got = append(got, b.ID)
					if one := w.page(b.ID).Bulk; one != b {
						t.Errorf("the list has\n%+v, alone it is\n%+v", b, one)
					}
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("by %d: %v, want %v", limit, got, want)
			}
		}
		for state, n := range map[payout.BulkState]int{
			payout.BulkChecking: 2, payout.BulkChecked: 1, payout.BulkConfirmed: 1, payout.BulkCancelled: 1, payout.BulkCompleted: 0,
		} {
			list, next, err := w.Bulks(t.Context(), w.company, state, "", 20)
			if err != nil || len(list) != n || next != "" {
				t.Errorf("%s: %d, %q, %v", state, len(list), next, err)
			}
		}
		if list, next, err := w.Bulks(t.Context(), other, "", "", 20); err != nil || len(list) != 0 || next != "" {
			t.Errorf("another company sees %v, %q, %v", list, next, err)
		}
	})
}

// A line names the newest payout of the last seven days to the same account with the same amount, and the
// first line of the bulk payout that has both. The line can be sent nevertheless.
func TestALineNamesItsDoubles(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		line := func(bank, account string, amount money.Kobo) payout.LineOrder {
			return payout.LineOrder{BankCode: bank, AccountNumber: account, Amount: amount * money.Naira}
		}
		paid := w.bulk([]payout.LineOrder{line("000014", "0000000001", 100), line("000014", "0000000002", 100)})
		w.check(paid.ID)
		if p := w.page(paid.ID); p.Page[0].DoubleOf != "" || p.Page[0].DoubleOfLine != 0 {
			t.Errorf("no payout before: %+v", p.Page[0])
		}
		_, err := w.confirm(paid.ID)
		must(t, err)
		first := string(w.page(paid.ID).Page[0].Reference)
		seen := func(want ...string) string {
			t.Helper()
			b := w.bulk([]payout.LineOrder{
				line("000014", "0000000001", 100), line("000014", "0000000001", 101), line("000014", "0000000003", 100),
				line("000014", "0000000001", 100), line("000014", "0000000003", 100),
			})
			w.check(b.ID)
			p := w.page(b.ID)
			var got []string
			for _, l := range p.Page {
				got = append(got, fmt.Sprintf("%s %s %d", l.Verdict, l.DoubleOf, l.DoubleOfLine))
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || p.Good != 5 {
				t.Errorf("%d good, got\n%q, want\n%q", p.Good, got, want)
			}
			return b.ID
		}
		waiting := w.bulk([]payout.LineOrder{line("000014", "0000000007", 70)})
		w.check(waiting.ID)
		meanwhile := w.bulk([]payout.LineOrder{line("000014", "0000000007", 70)})
		w.check(meanwhile.ID)
		_, err = w.confirm(meanwhile.ID)
		must(t, err)
		if l, paid := w.page(waiting.ID).Page[0], w.page(meanwhile.ID).Page[0]; string(l.DoubleOf) != string(paid.Reference) || paid.Reference == "" {
			t.Errorf("the line that waits does not name the payout that came later: %+v", l)
		}
		later := w.bulk([]payout.LineOrder{line("000014", "0000000007", 70)})
		w.check(later.ID)
		_, err = w.confirm(later.ID)
		must(t, err)
		w.bank.says(yes, yes)
		w.push(later.ID)
		if l, paid := w.page(waiting.ID).Page[0], w.page(meanwhile.ID).Page[0]; string(l.DoubleOf) != string(paid.Reference) || w.page(later.ID).Succeeded != 1 {
			t.Errorf("the payout without an outcome is behind a newer one that is paid: %+v", l)
		}
		again := seen("GOOD "+first+" 0", "GOOD  0", "GOOD  0", "GOOD "+first+" 1", "GOOD  3")
		if part, err := w.Bulk(t.Context(), w.company, again, 3, 1); err != nil || part.Page[0].DoubleOfLine != 1 {
			t.Errorf("a page of its own: %+v, %v", part, err)
		}
		c, err := w.confirm(again)
		must(t, err)
		newer := string(w.page(again).Page[3].Reference)
		if c.Good != 5 || newer == first {
			t.Errorf("%+v", c)
		}
		if l := w.page(again).Page[0]; string(l.DoubleOf) != first {
			t.Errorf("the mark is lost by the confirmation: %+v", l)
		}
		w.forward(7*24*time.Hour + time.Second)
		seen("GOOD  0", "GOOD  0", "GOOD  0", "GOOD  1", "GOOD  3")
	})
}

// A refunded payout is no double, and neither is a payout of another company.
func TestARefundedPayoutIsNoDouble(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		mine := w.company
		other, account := w.join("other", 1_000*money.Naira)
		must(t, w.companies.SetPIN(t.Context(), me, other, secret.NewText(pin)))
		w.company, w.account, account = other, account, w.account
		theirs := w.bulkOf("0000000001")
		w.check(theirs.ID)
		_, err := w.confirm(theirs.ID)
		must(t, err)
		w.company, w.account = mine, account
		b := w.bulkOf("0000000001")
		w.check(b.ID)
		if l := w.page(b.ID).Page[0]; l.DoubleOf != "" {
			t.Errorf("another company's payout is a double: %+v", l)
		}
		_, err = w.confirm(b.ID)
		must(t, err)
		w.bank.says(no, no)
		w.push(b.ID)
		after := w.bulkOf("0000000001")
		w.check(after.ID)
		if l := w.page(after.ID).Page[0]; l.DoubleOf != "" || w.page(b.ID).Failed != 1 {
			t.Errorf("refunded, and still a double: %+v of %+v", l, w.page(b.ID).Bulk)
		}
	})
}
