package report_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
)

// A payout knows the other ones of the same amount to the same account within seven days, before it and after it, first those
// whose money is not back. Another account, amount, company or week is none.
func TestAPayoutKnowsThoseOfTheSameAmount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_000_000_00, "float")
		sent := func(outcome provider.Outcome) string {
			w.send(w.company, w.main, outcome, operation.Labels{}, false)
			paid, _, err := w.Payouts(t.Context(), w.company, report.PayoutFilter{}, 0, 1)
			must(t, err)
			w.clock.Advance(time.Minute)
			return paid[0].Reference
		}
		change := func(statement string, args ...any) {
			t.Helper()
			n, err := d.Exec(t.Context(), statement, args...)
			if must(t, err); n == 0 {
				t.Fatal("nothing changed")
			}
		}
		old := sent(provider.Confirmed)
		w.clock.Advance(7 * 24 * time.Hour)
		paid, refused, lost := sent(provider.Confirmed), sent(provider.Rejected), sent(provider.Unknown)
		account, amount := sent(provider.Confirmed), sent(provider.Confirmed)
		change(`UPDATE payout_verification SET account_number = '0123456780' WHERE id = $1`, account)
		change(`UPDATE operation SET amount_kobo = 9999 WHERE id = $1`, amount)

		same := func(reference string) (out []string, more bool) {
			b, err := w.Belongings(t.Context(), w.company, reference)
			must(t, err)
			y, err := w.Timeline(t.Context(), reference)
			must(t, err)
			if !slices.Equal(y.Same, b.Same) || y.MoreSame != b.MoreSame {
				t.Errorf("the timeline has %+v, and the company %+v", y.Same, b.Same)
			}
			for _, p := range b.Same {
				out = append(out, p.Word+" "+p.Reference)
			}
			return out, b.MoreSame
		}
		for _, c := range []struct {
			of   string
			want []string
		}{
			{paid, []string{"unknown " + lost, "failed " + refused}},
			{refused, []string{"unknown " + lost, "paid " + paid}},
			{old, nil},
			{account, nil},
			{amount, nil},
			{"no such thing", nil},
		} {
			if c.of == "no such thing" {
				if b, err := w.Belongings(t.Context(), w.company, c.of); err != nil || len(b.Same) > 0 {
					t.Error(b, err)
				}
				continue
			}
			if got, more := same(c.of); !slices.Equal(got, c.want) || more {
				t.Errorf("%v %v\nwant %v", got, more, c.want)
			}
		}
		if b, err := w.Belongings(t.Context(), "another", paid); err != nil || len(b.Same) > 0 {
			t.Error("another company reads", b, err)
		}
		for range 4 {
			sent(provider.Confirmed)
		}
		if got, more := same(paid); len(got) != 5 || !more || slices.Contains(got, "failed "+refused) {
			t.Error(got, more)
		}
	})
}

// A credit and a card funding lead to their customer, and a payout to its line of a bulk payout.
func TestAPaymentKnowsItsCustomer(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		for _, statement := range []string{
			`INSERT INTO customer_transaction (company_id, number, id, customer_id, settlement_id, amount_kobo, kind, status, narration, session_id, created_at) VALUES ($1, 900, 't1', 'ada', 1, 100, 'CREDIT', 'SUCCESS', '', 's', 1)`,
			`INSERT INTO card (company_id, id, customer_id, state, provider, provider_card_id, account, kind, brand, currency, masked_pan, expiry_month, expiry_year, status,
				message, load_kobo, called_until, missing, created_at, updated_at)
				VALUES ($1, 'k1', 'bola', 'ISSUED', 'sudo', 'p', '', 'virtual', 'Verve', 'NGN', '506099******1234', '05', '2031', 'active', '', 0, 0, 0, 1, 1)`,
			`INSERT INTO card_funding (company_id, id, card_id, amount_kobo, state, created_at) VALUES ($1, 'f1', 'k1', 100, 'OPEN', 1)`,
			`INSERT INTO payout_bulk (company_id, id, state, settlement_id, provider, credentials, created_at, expires_at, checked_at, confirmed_at, send_until, ended_at)
				VALUES ($1, 'b1', 'CONFIRMED', 1, 'bank', 1, 1000000, 9000000, 2000000, 3000000, 9000000, 0)`,
			`INSERT INTO payout_bulk_line (company_id, bulk_id, line, verdict, reference, bank_code, account_number, amount_kobo, narration, external_reference, metadata, bank_name, account_name, session, named_at, attempts, reason)
				VALUES ($1, 'b1', 3, 'GOOD', 'p1', '', '', 100, '', '', '', '', '', '', 0, 0, '')`,
		} {
			_, err := d.Exec(t.Context(), statement, w.company)
			must(t, err)
		}
		for reference, want := range map[string]string{"t1": "ada 0", "f1": "bola 0", "p1": "b1 3", "none": " 0"} {
			b, err := w.Belongings(t.Context(), w.company, reference)
			if got := fmt.Sprintf("%s%s %d", b.Customer, b.Bulk, b.BulkLine); err != nil || got != want {
				t.Errorf("%s: %q %v, want %q", reference, got, err, want)
			}
		}
	})
}
